"""Advice that a person can act on: rare classes that can be ranked, labels that are only rare, what was not tried."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest

import separatrix
from commands import separatrix as separatrix_command
from separatrix.auditing.assumptions import _firm
from separatrix.auditing.efficiency_answer import NeighbourFacts
from separatrix.auditing.inputs import task_for_audit
from separatrix.auditing.phrasing import EstimateFacts
from separatrix.auditing.prediction_answers import ComparedLearner, PredictionFacts
from separatrix.auditing.recommendation import _about_neighbour


def rare(shift: float, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.zeros(6000, dtype=int)
    y[:12] = 1
    return rng.normal(size=(6000, 2)) + shift * y[:, None], y


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """Twelve rare rows of 6,000, of which most lie where the others are few."""
    return separatrix.audit(*rare(1.5), ledger=tmp_path_factory.mktemp("ranked") / "ledger", budget=600)


def test_a_rare_class_that_scores_rank_is_advised_by_its_scores(ranked):
    facts = ranked.facts.prediction
    own = facts.learner(facts.chosen).estimates
    assert own["average_precision"].low <= facts.baseline  # twelve rows: a wide interval
    assert own["roc_auc"].low > 0.5
    assert facts.ranks
    assert not facts.better
    cautions = " ".join(ranked.facts.recommendation.cautions)
    assert "not shown to be above that of a random order; it ranks rows better than chance" in cautions
    assert "Use its scores, not its labels: those find 0% of the rows of '1'" in cautions
    assert "better than guessing" not in ranked.answers["prediction"].answer


def test_rows_of_a_rare_class_are_not_suspect_because_it_is_rare(ranked):
    facts = ranked.facts.assumptions.suspects
    assert facts.rejected_by_all >= 6  # predicted as the common class by all learners
    assert len(facts.rows) < facts.rejected_by_all / 2


def test_a_row_is_suspect_where_its_columns_speak_against_its_label():
    shares = np.array([0.99, 0.01])
    p = np.array([[0.99, 0.01], [0.9999, 0.0001], [0.03, 0.97], [0.2, 0.8], [0.97, 0.03]])
    codes = np.array([1, 1, 0, 0, 0])
    #        as rare as its class; a hundred times rarer; common, with rare cells; not sure; labelled as predicted
    assert _firm(p, codes, np.arange(2), shares).tolist() == [False, True, True, False, False]
    even = np.array([0.5, 0.5])
    assert _firm(p, codes, np.arange(2), even).tolist() == [True, True, True, False, False]
    three = np.array([0.4, 0.2, 0.4])  # a class that a fold has never seen
    assert _firm(p, np.array([1, 1, 0, 0, 0]), np.array([0, 2]), three).tolist()[:2] == [True, True]


def test_the_fewest_mistakes_are_held_against_a_constant(ledger):
    x = np.arange(30.0)
    found = separatrix.audit({"x": x, "y": (np.abs(x - 15) < 2).astype(int)}, ledger=ledger)
    assert found.facts.best.mistakes.upper == 3
    assert "Always predicting '0' makes no more mistakes." in " ".join(found.answers["best"].lines)


def test_a_quick_learner_far_from_the_minimum_is_not_called_good(ledger):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] * X[:, 1] > 0).astype(int)}, ledger=ledger)
    lines = " ".join(found.answers["algorithm"].lines)
    assert "is fast but not close to the minimum: it makes" in lines
    assert "A good one" not in lines
    assert "ridge logistic on poly:2 stores 6 numbers" in lines.replace("Ridge", "ridge")
    assert found.facts.algorithm.neighbour.linear_multiplications == 5


@pytest.mark.parametrize(
    ("compared", "says"),
    [
        (
            (),
            "is not linear. Use nearest neighbours, trees or another method that is not linear, or try --map poly:2 "
            "or --map splines, which were not compared.",
        ),
        (
            ("splines",),
            "is not linear, nor are splines of the columns enough. Use nearest neighbours, trees or another "
            "method that is not linear, or try --map poly:2, which was not compared.",
        ),
        (
            ("splines", "poly:2"),
            "is not linear, nor are squares and products and splines of the columns enough. Use "
            "nearest neighbours, trees or another method that is not linear.",
        ),
    ],
)
def test_only_maps_that_were_compared_are_said_to_be_too_little(compared, says):
    high, low = EstimateFacts(0.97, 0.96, 0.98), EstimateFacts(0.8, 0.79, 0.81)
    neighbour = NeighbourFacts(100, 10, 100, 10, 1e-5, 1e-8, 100, "accuracy", high, low)
    names = ["ridge logistic", *(f"ridge logistic on {kind}" for kind in compared)]
    learners = [ComparedLearner(name, {"accuracy": low}, [], {}, name == "ridge logistic") for name in names]
    facts = PredictionFacts("accuracy", None, 0.1, 0.1, learners=learners, chosen="ridge logistic")
    (said,) = _about_neighbour(neighbour, facts)
    assert said.endswith(says)


def test_dates_are_said_and_shown_as_days(ledger, tmp_path):
    rng = np.random.default_rng(0)
    lines = ["since,x,y"]
    for i in range(60):
        day = date(2025, 1, 31) + timedelta(days=3 * i)
        lines.append(f"{day.isoformat()},{rng.normal():.3f},{'ab'[int(rng.random() < 0.5)]}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    found = separatrix.audit(str(tmp_path / "t.csv"), "y", ledger=ledger)
    assert "'since' as dates" in found.facts.table.notes
    page = found.report()
    assert "2025-0" in page
    assert "00:00<" not in page


def test_the_later_class_of_an_ordered_category_is_the_positive_one():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    labels = np.where(x + rng.normal(size=40) > -0.7, "mild", "grave")  # grave is rarer
    for order, positive in ((["mild", "grave"], "grave"), (["grave", "mild", "unused"], "mild")):
        ordered = pandas.Categorical(labels, categories=order, ordered=True)
        for table in (
            pandas.DataFrame({"x": x, "y": ordered}),
            polars.DataFrame({"x": x, "y": polars.Series(labels.tolist(), dtype=polars.Enum(order))}),
        ):
            notes = task_for_audit(table, "y", None, None)
            assert notes.positive == positive
            assert notes.guesses == [f"positive = {positive} (the later of an ordered category)"]
    free = pandas.DataFrame({"x": x, "y": pandas.Categorical(labels, categories=["grave", "mild"])})
    assert task_for_audit(free, "y", None, None).guesses == ["positive = grave (the rarer)"]


def test_a_quantity_given_to_a_classifier_names_the_learner(tmp_path):
    lines = [f"{i % 7},{1000 + 13 * i}" for i in range(200)]
    (tmp_path / "t.csv").write_text("x,price\n" + "\n".join(lines) + "\n")
    said = separatrix_command("fit", "t.csv", "-t", "price", "-l", "perceptron", cwd=tmp_path).stderr
    assert said.endswith("Learn it as a quantity, by regression, or choose another target.\n")
