"""No two numbers of an audit contradict each other: made contradictions are found, and real audits have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks._tour_tables import WORLDS, write
from tests.auditing.random_tables import random_table

import separatrix
from separatrix.auditing.phrasing import EstimateFacts
from separatrix.auditing.self_check import contradictions
from separatrix.cli.main import main
from separatrix.errors import BugError, DataError

QUICK, ALL = 200, 2000
MOST = {"1e6 x 20": 20_000, "fraud 1:10,000": 40_000, "letters": 4000}  # rows of the tables of the tour that are drawn


def test_a_contradiction_is_a_bug_and_nothing_is_printed(ledger, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("separatrix.auditing.fitted_hyperplanes.wrong_rows", lambda *given: np.arange(0))
    with pytest.raises(BugError, match="misclassifies 0 rows, and at least 16 is proved"):
        separatrix.audit("example:spam", ledger=ledger)
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(ledger))
    with pytest.raises(SystemExit) as ended:
        main(["audit", "example:spam", "-o", str(tmp_path / "out")])
    printed = capsys.readouterr()
    assert ended.value.code == 3
    assert "this is a bug of separatrix" in printed.err
    assert printed.out == ""
    assert not (tmp_path / "out").exists()


def changed(facts, path, **values):
    """The facts with one of them otherwise."""
    if not path:
        return replace(facts, **values)
    return replace(facts, **{path[0]: changed(getattr(facts, path[0]), path[1:], **values)})


@pytest.mark.parametrize(
    ("path", "values", "says"),
    [
        (("best", "mistakes"), {"lower": 17}, "between 17 and 16 mistakes are the minimum"),
        (("best", "mistakes"), {"upper": 300, "lower": 1}, "a constant makes 170"),
        (("separation",), {"verdict": "complete"}, "rows rule a hyperplane out"),
        (("separation",), {"verdict": "quasi"}, "0 rows are strictly on their side and 400 tied"),
        (("separation",), {"witness": [400]}, "is not one of the 400 rows"),
        (("algorithm",), {"training_mistakes": {"ridge logistic": 3}}, "misclassifies 3 rows, and at least 16 is"),
        (("algorithm", "perceptron"), {"converged": True}, "the perceptron converged"),
        (("prediction",), {"chosen": "ridge logistic", "within_one_error": []}, "is worse than another one"),
        (("prediction", "test"), {"rows": 81}, "81 held-out rows were predicted"),
        (("prediction", "split"), {"development": 300}, "380 rows were learned from, held out or left out, of 400"),
        (("recommendation",), {"learner": "the oracle"}, "the oracle is recommended"),
        (("pictures", "learning_curve"), {"learner": "the oracle"}, "the learning curve is that of the oracle"),
        (("pictures", "scores"), {"confusion": [[40, 0], [0, 40]]}, "80 of 80 rows lie on the diagonal"),
        (("table",), {"rows": 399}, "the classes do not add up to 399 rows"),
    ],
)
def test_numbers_that_contradict_are_found(audited, path, values, says):
    facts = audited("example:spam").facts
    assert contradictions(facts) == []
    assert any(says in text for text in contradictions(changed(facts, path, **values)))


def test_an_estimate_outside_its_interval_is_found(audited):
    facts = audited("example:spam").facts
    learner = facts.prediction.learners[0]
    outside = replace(learner, estimates=learner.estimates | {"accuracy": EstimateFacts(0.5, 0.6, 0.7)})
    found = contradictions(changed(facts, ("prediction",), learners=[outside, *facts.prediction.learners[1:]]))
    assert any("outside its interval from 0.6 to 0.7" in text for text in found)


def test_a_disagreement_of_two_estimates_is_said(audited):
    facts = audited("example:spam").facts
    assert "chance" not in " ".join(facts.answers["prediction"].lines)
    test = facts.prediction.test
    poor = replace(test, estimates=test.estimates | {"accuracy": EstimateFacts(0.6, 0.49, 0.7)})
    said = " ".join(changed(facts, ("prediction",), test=poor).answers["prediction"].lines)
    assert "differs from cross-validation by more than chance explains" in said


def audits_of(seeds, ledger):
    """The audits of random tables; too few rows or one class are refused in words."""
    for seed in seeds:
        try:
            yield separatrix.audit(random_table(seed), "y", ledger=ledger, budget=1.5)
        except DataError:
            continue


def test_random_tables_have_no_contradiction(ledger):
    found = [audit.facts for audit in audits_of(range(QUICK), ledger)]  # a contradiction raises
    assert len(found) > 0.9 * QUICK
    assert sum(facts.prediction.disagree(facts.table.level) for facts in found) <= 1


@pytest.mark.slow
def test_two_thousand_random_tables_have_no_contradiction(ledger):
    disagreements = sum(
        audit.facts.prediction.disagree(audit.facts.table.level) for audit in audits_of(range(QUICK, ALL), ledger)
    )
    assert disagreements <= 3  # of 0.2 expected


@pytest.mark.parametrize("world", [world for world in WORLDS if world.rows <= 2000], ids=lambda world: world.name)
def test_tables_of_the_tour_have_no_contradiction(world, ledger, tmp_path):
    table = str(write(world, tmp_path / "table", min(world.rows, 800), seed=3))
    assert separatrix.audit(table, world.target, ledger=ledger, budget=4).facts.table.features > 0


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_whole_tables_of_the_tour_have_no_contradiction(world, ledger, tmp_path):
    table = str(write(world, tmp_path / "table", MOST.get(world.name, world.rows)))
    assert separatrix.audit(table, world.target, ledger=ledger, budget=20).facts.table.features > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("a9a_test.svm", None),
        ("banknote.csv", "class"),
        ("digits.csv", "digit"),
        ("endometrial.csv", "HG"),
        ("false_witness.csv", "y"),
        ("nist_longley.csv", "y"),
        ("rcv1_small.svm", None),
        ("sms_spam_bow.svm", None),
        ("spector.csv", "GRADE"),
        ("titanic.csv", "survived"),
        ("wine.csv", "class"),
    ],
)
def test_real_tables_have_no_contradiction(audited, file, target):
    assert audited(file, target, budget=20).facts.table.features > 0
