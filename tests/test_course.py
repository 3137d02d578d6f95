"""The numbers of the course: each chapter is run as it stands, and what it says beside them is held."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import SeparatrixWarning

COURSE = Path(__file__).parent.parent / "examples" / "course"
mpl.use("agg")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs a chapter and gives its variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger.jsonl"))

    def variables(name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SeparatrixWarning)
            return SimpleNamespace(**runpy.run_path(str(COURSE / f"{name}.py")))

    yield variables
    plt.close("all")


def test_prediction_least_squares_and_descent(run):
    c = run("chapter_1_prediction")
    assert c.w @ c.x + c.b == np.append(c.x, 1) @ np.append(c.w, c.b) == -0.5
    assert np.allclose(np.append(c.model.coef_, c.model.intercept_), c.beta)
    assert np.isclose(c.model.sigma2_, c.residuals @ c.residuals / (50 - 3))
    assert np.allclose(np.append(c.ridge.coef_, c.ridge.intercept_), c.textbook)
    assert np.allclose(c.ridge.normal_matrix_, c.lifted.T @ c.lifted + c.lam * np.eye(3))
    assert np.allclose(c.ridge.moment_vector_, c.lifted.T @ c.y)
    assert np.allclose(c.short.coef_, c.wide.T @ np.linalg.solve(c.wide @ c.wide.T, c.target))
    assert np.allclose(c.short.predict(c.wide), c.target)
    assert np.allclose(c.found.theta, 0, atol=1e-5)
    assert np.allclose(c.found.theta, c.numerical.theta, atol=1e-6)
    assert len(c.found.path) == c.found.steps + 1
    assert c.ends[0.2] < 1e-6
    assert c.ends[0.3] > 1e6
    assert np.isclose(c.heavy.predict(c.X[:1])[0], c.y.mean())
    assert np.abs(c.lifted.T @ c.residuals).max() < 1e-10  # exercise 1
    penalised = sx.LeastSquares(alpha=1e12, penalize_intercept=True).fit(c.X, c.y)
    assert abs(penalised.predict(c.X[:1])[0]) < 1e-8


def test_the_perceptron_and_its_versions(run):
    c = run("chapter_2_perceptron")
    assert c.risk == (0, 1)
    assert c.model.coef_.tolist() == [[3, 1]]
    assert c.model.trace_.rows.tolist() == [0, 2, 4]
    assert c.model.trace_.replay(c.X, c.y).weights[:, :2].tolist() == [[0, 0], [1, -2], [2, -1], [3, 1]]
    assert (c.default.coef_.tolist(), c.default.intercept_.tolist(), c.default.mistakes_) == ([[4, 1]], [0], 4)
    w, row = np.array([1.0, -2.0]), c.X[2]
    assert (w + row) @ row - w @ row == row @ row == 2
    assert all(run.errors_ == 0 for run in c.recipes.values())
    assert all(sx.Perceptron.recipe(name).max_iter == 100 for name in ("repeated", "batch"))
    assert c.mistakes == [0, 2, 4]
    assert c.stream.coef_.tolist() == [[3, 1]]
    assert (c.with_bias.verdict, c.without.verdict == "complete") == ("complete", False)
    assert (c.back.coef_.tolist(), c.back.trace_.rows.tolist(), c.back.errors_) == ([[2, 0]], [1, 5], 0)
    assert c.restart.row[:2].tolist() == [0, 0]
    assert (c.tenfold.trace_.rows.tolist(), c.tenfold.coef_.tolist()) == ([0, 2, 4], [[30, 10]])


def test_margins_and_the_bound(run):
    c = run("chapter_3_margins")
    assert c.found.verdict == "complete"
    assert (c.crossed.verdict, c.crossed.witness.tolist()) == ("overlap", [0, 1, 2, 3])
    assert sx.separability(c.lifted, c.xor.y).verdict == "complete"
    assert c.kernel.errors_ == 0
    assert (c.best.squared, c.best.support.tolist()) == (1, [1, 3])
    assert (c.y * (c.X @ c.best.coef + c.best.intercept)).tolist() == [1] * 6
    assert c.proof.inner.tolist() == [0, 1, 2, 3]
    assert c.proof.norms2.tolist() == [0, 5, 5, 10]
    assert (c.proof.inner >= c.proof.inner_bound).all()
    assert (c.proof.norms2 <= c.proof.norms2_bound).all()
    assert c.proof.bound == c.bound.most == 5
    assert np.isclose(c.unit.bound, 1 / c.unit.margin[0] ** 2)
    assert c.run.mistakes_ <= c.unit.most
    assert c.model.visits_ == 12 <= c.bound.most_visits == 6 * c.bound.most + 6
    assert all(made <= most for made, most in c.slow.values())
    assert np.diff([most for _, most in c.slow.values()]).min() > 0
    assert sx.separability(c.flipped.X, c.flipped.y).verdict == "overlap"
    assert c.fewest.errors_ <= 20
    assert c.twelve.mistakes_ == 367 <= c.lifted_bound.most
    assert sx.margin(c.line, c.labels, exact=True).squared == 9
    unit_rows = c.X / np.linalg.norm(c.X, axis=1)[:, None]
    assert sx.separability(unit_rows, c.y, fit_intercept=False).verdict == "complete"
    assert (c.least.lower, c.least.upper) == (1, 1)


def test_discriminants_and_logistic_regression(run):
    c = run("chapter_4_probabilities")
    assert np.allclose(c.lda.coef_[0], c.w)
    assert np.isclose(c.lda.intercept_[0], c.b)
    assert np.allclose(c.lda.predict_proba(c.X)[:, 1], 1 / (1 + np.exp(-c.f)))
    assert (c.lda.predict(c.X) == np.where(c.f > 0, 1, -1)).all()
    assert np.allclose(c.pooled, c.weighted)
    assert (c.ball.predict(c.X) == c.by_threshold).all()
    assert np.allclose(2 * c.z @ c.mean + np.log(30 / 60), c.f)
    assert c.qda.score(c.wide, c.kind) > 0.9
    forms = [
        sx.numerics.logistic_gradient(c.X, c.y, c.guess[:2], c.guess[2], form=form) for form in ("targets", "signs")
    ]
    probability = 1 / (1 + np.exp(-c.lifted @ c.guess))
    assert np.allclose(forms[0], forms[1])
    assert np.allclose(forms[0], ((1 + c.y) / 2 - probability) @ c.lifted)
    assert np.abs(c.ascent_direction(c.beta)).max() < 1e-8
    assert np.allclose(c.ascent.theta, c.beta, atol=1e-5)
    assert c.separated.separation_.verdict == "complete"
    assert c.mistakes[0] > 1.5 * c.mistakes[1]
    assert np.isclose(np.log(c.p / (1 - c.p)), c.score)
    assert np.isclose(c.p, c.symmetric)
    other = np.linalg.solve(c.pooled * 90 / 88, c.m1 - c.m0)  # exercise 3: w is scaled by one factor
    assert np.allclose(other / c.lda.coef_[0], 88 / 90)


def test_evaluation_and_the_five_questions(run):
    c = run("chapter_5_evaluation")
    assert (c.TP, c.FN, c.FP, c.TN) == (8, 2, 4, 26)
    assert np.isclose(c.result.accuracy.value, (c.TP + c.TN) / 40)
    assert np.isclose(c.result.precision.value, c.TP / (c.TP + c.FP))
    assert np.isclose(c.result.recall.value, c.TP / (c.TP + c.FN))
    assert np.isclose(c.result.f1.value, 2 * c.TP / (2 * c.TP + c.FP + c.FN))
    assert np.isclose(c.judged.roc_auc.value, c.by_hand)
    assert c.degrees[c.grown.best] in (3, 5)
    tree, linear = c.judged_on["DecisionTreeClassifier"], c.judged_on["LogisticRegression"]
    assert tree[0] == 1 > linear[0]
    assert tree[1] < linear[1]
    assert c.sizes == {"train": 240, "validation": 80, "test": 80}
    assert c.cv.folds == 5
    assert (c.cv.predictions() == c.spam.y).mean() == c.cv["accuracy"].value
    assert c.audit.answers["separation"].answer == "No (proved)"
    assert c.audit.answers["best"].answer.startswith("16 mistakes is the minimum")
    assert "not unique" in c.audit.answers["best"].lines[0]
    measured = [c.ill.accuracy.value, c.ill.precision.value, c.ill.recall.value, c.ill.f1.value]
    assert np.allclose(measured, [0.965, 0.6, 0.9, 0.72])
    assert c.choice.best_score_ > 0.5
    assert sx.evaluate([0, 0, 1], scores=[0.0, 0.0, 0.0]).roc_auc.value == 0.5


def test_one_neuron_does_and_and_or_and_two_layers_do_xor(run):
    c = run("history")
    assert c.both.tolist() == [0, 0, 0, 1]
    assert c.either.tolist() == [0, 1, 1, 1]
    assert c.exclusive.tolist() == [0, 1, 1, 0]
