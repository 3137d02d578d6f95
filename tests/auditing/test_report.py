"""The page: many classes by their labels, ticks that do not collide, digits that do not round to certainty."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

import separatrix
from separatrix.auditing import efficiency_answer
from separatrix.auditing.facts import Excerpt
from separatrix.auditing.hyperplane_answers import MistakeFacts
from separatrix.auditing.phrasing import EstimateFacts, estimate
from separatrix.auditing.report import curves, figures
from separatrix.auditing.report.drawing import axes, plain_ticks, svg


@pytest.fixture(scope="module")
def letters(ledger):
    rng = np.random.default_rng(0)
    names = np.array([chr(65 + k) for k in range(26)])
    codes = np.repeat(np.arange(26), 20)
    X = rng.normal(size=(26, 3))[codes] * 4 + rng.normal(size=(520, 3))
    table = {f"x{j}": X[:, j] for j in range(3)} | {"letter": names[codes]}
    return separatrix.audit(table, "letter", ledger=ledger, budget=30)


@pytest.fixture(scope="module")
def prices(ledger):
    rng = np.random.default_rng(1)
    x, z = rng.uniform(0, 6, 300), rng.uniform(0, 6, 300)
    table = {"x": x, "z": z, "price": 400_000 * np.sin(2 * x) * np.cos(2 * z) + 3e6 + rng.normal(0, 9000, 300)}
    return separatrix.audit(table, "price", ledger=ledger, budget=30)


def test_many_classes_are_marked_by_their_labels_and_have_whole_tables(letters):
    drawn = figures.projection(letters.facts)
    assert set(re.findall(r">([A-Z])</text>", drawn)) == {chr(65 + k) for k in range(26)}
    page = letters.report()
    matrix = page.split('class="confusion many"')[1].split("</table>")[0]
    assert matrix.count("<tr>") == 27
    assert all(f"<th>{chr(65 + k)}</th>" in matrix for k in range(26))
    assert "Each class on the held-out test rows" in page


def test_a_quantity_has_ticks_that_are_written_out_and_are_few(prices):
    page = prices.report()
    assert "1e6" not in page
    for figure in (curves.predicted, curves.fitted, figures.learners):
        assert "×" not in figure(prices.facts)
    assert "share of the variance explained" in page


def test_long_labels_make_few_ticks():
    def labels(high):
        with axes() as ax:
            ax.plot([0, high], [0, 1])
            plain_ticks(ax.xaxis)
            ax.set_yticks([])

        return [text for text in re.findall(r">([^<>]+)</text>", svg(ax, "")) if text[0].isdigit()]

    assert 4 <= len(labels(1.0)) <= 6
    assert 2 <= len(labels(3_000_000.0)) <= 4


def test_nearest_neighbours_that_are_far_better_are_advised(prices):
    cautions = " ".join(prices.facts.recommendation.cautions)
    assert "The nearest neighbour is far better than every compared learner (RMSE " in cautions
    assert "--map" not in cautions  # feature maps were compared already
    assert "RMSE " in prices.answers["prediction"].answer


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        (EstimateFacts(0.9999, 0.99974, 0.99996), "0.9999 [0.9997, 1.0000]"),
        (EstimateFacts(0.99, 0.976, 1.0), "0.990 [0.976, 1.000]"),
        (EstimateFacts(1.0, 0.98, 1.0), "1.000 [0.980, 1.000]"),
    ],
)
def test_nothing_below_one_is_rounded_to_it(facts, shown):
    assert estimate(facts) == shown


def test_many_classes_do_not_resample_every_ranking():
    rng = np.random.default_rng(0)
    y = rng.integers(26, size=400)
    P = rng.dirichlet(np.ones(26), size=400)
    P[np.arange(400), y] += 0.1
    found = separatrix.evaluate(y, probabilities=P / P.sum(axis=1, keepdims=True))
    assert found.average_precision.method == "jackknife, logit"
    assert found.average_precision.low < found.average_precision.value < found.average_precision.high


@pytest.mark.parametrize("seed", range(3))
def test_the_chart_the_page_and_the_screen_have_the_same_bound(ledger, seed):
    """A bound of 945.6 is 945 mistakes wherever it is shown."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2)) * [1.0, 3.0]
    y = np.where(X[:, 0] > 0.1, "up", "down")
    X[:, 0] += np.where(y == "up", 0.2, -0.2)
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "y": y}, ledger=ledger, budget=5)
    drawn = sorted(re.findall(r">bound ([\d,]+)</text>", figures.mistakes(found.facts)))
    runs = found.facts.algorithm.perceptron, found.facts.algorithm.perceptron_standardised
    exact = sorted(f"{int(run.bound.mistakes):,}" for run in runs)
    assert len(drawn) == 2
    assert drawn == exact
    page, said = found.report(), " ".join(found.answers["algorithm"].lines)
    for most in drawn:
        assert f'<td class="n">{most}</td>' in page
        assert re.search(rf"(at most|the bound to) {most}\b", said), said


def test_the_header_says_what_a_hyperplane_is_here(letters, prices):
    assert "compared with a threshold; its boundary is a hyperplane." in letters.report()
    assert "A linear model is a weighted sum of the columns; its graph is a hyperplane." in prices.report()


def test_the_mistakes_of_a_quick_learner_are_compared_with_the_best_found():
    found = MistakeFacts(5, 40, [], Excerpt([], []), False, 1, 0.1)
    for made, said in ((40, "as many as the best"), (41, "1 more than the best")):
        facts = SimpleNamespace(linear=["logistic"], training_mistakes={"logistic": made}, seconds={"logistic": 0.1})
        assert said in efficiency_answer._good_one(facts, found, None)[0]


@pytest.mark.slow  # half a minute, and what it shows is cut by the clock of a busy machine
def test_coefficients_of_a_feature_map_have_intervals(ledger):
    rng = np.random.default_rng(2)
    x, z = rng.normal(size=(2, 400))
    table = {"x": x, "z": 50 * z, "ill": np.where(x + x * z + rng.logistic(size=400) > 0, "yes", "no")}
    found = separatrix.audit(table, "ill", feature_map="poly:2", positive="no", ledger=ledger, budget=30)
    drawn, page = found.facts.pictures.coefficients, found.report()
    assert "Coefficients of logistic in the units of the table" in page
    assert "95% intervals (profile likelihood)" in page
    columns = np.column_stack([x, 50 * z, x**2, 50 * x * z, 2500 * z**2])
    summary = separatrix.LogisticRegression().fit(columns, table["ill"] == "no").summary(intervals="profile")
    rows = {row.name: row for row in drawn.features}
    for j, name in enumerate(("x", "z", "x^2", "x × z", "z^2")):
        row = rows[name]
        expected = summary.coef[j], summary.low[j], summary.high[j]
        assert (row.estimate, row.low, row.high) == pytest.approx(expected, rel=1e-3)


def test_coefficients_of_a_ridge_on_a_map_are_of_standardised_columns(ledger):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 9)) * 50
    table = {f"x{j}": X[:, j] for j in range(9)} | {
        "ill": np.where(X[:, 0] + 20 * rng.normal(size=60) > 0, "yes", "no")
    }
    page = separatrix.audit(table, "ill", feature_map="poly:2", ledger=ledger, budget=30).report()
    assert "Coefficients of ridge logistic on poly:2, whose columns are standardised" in page


def test_times_are_in_the_unit_that_they_round_to():
    from separatrix.auditing.phrasing import seconds

    assert [seconds(s) for s in (999.4e-9, 999.6e-9, 999.4e-6, 999.9e-6)] == ["999 ns", "1 µs", "999 µs", "1.0 ms"]
