"""The proof of overlap from a fit: never wrong on separated sets, nearly always found on overlapping ones."""

from __future__ import annotations

import numpy as np
import pytest
from tests.models.logistic.test_logistic import quiet

import separatrix as sx
from separatrix.models.logistic import existence


def quasi_separated(rng):
    """A hyperplane has rows of both classes on it, and some strictly on their sides; nothing overlaps it.

    Grid rows, w a grid vector: y is the sign of w.x exactly, and any label on the hyperplane itself.
    """
    n, d = int(rng.integers(6, 40)), int(rng.integers(1, 5))
    X = rng.integers(-3, 4, (n, d)).astype(np.float64)
    w = rng.integers(-2, 3, d).astype(np.float64)
    if not w.any():
        w[0] = 1.0
    s = X @ w
    y = np.where(s > 0, 1, -1).astype(np.int8)
    y[s == 0] = rng.choice([-1, 1], int((s == 0).sum()))
    return X, y, bool((s != 0).any())


def test_a_fit_never_says_that_separated_classes_overlap():
    """Whatever the weights of the rows, how far a fit goes, and however rare the row that separates."""
    rng = np.random.default_rng(7)
    tried = 0
    while tried < 400:
        X, y, moved = quasi_separated(rng)
        if not moved or len(np.unique(y)) < 2:
            continue
        tried += 1
        weights = None if tried % 3 else np.exp(rng.uniform(-30, 0, len(y)))
        steps = int(rng.integers(1, 40))
        model = quiet(sx.LogisticRegression(max_iter=steps, on_separation="ignore"), X, y, sample_weight=weights)
        assert model.separation_.verdict in ("complete", "quasi")


@pytest.mark.parametrize("steps", [3, 8, 20, 40])
def test_hidden_separation_by_a_single_rare_row_is_not_passed(steps):
    """5,000 overlapping rows and one whose dummy occurs in one class only."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5000, 4))
    X[:, 3] = 0.0
    X[17, 3] = 1.0
    y = np.where(rng.random(5000) < 0.5, 1, -1).astype(np.int8)
    model = quiet(sx.LogisticRegression(max_iter=steps, on_separation="ignore"), X, y)
    assert model.separation_.verdict == "quasi"


@pytest.mark.parametrize("seed", range(20))
def test_overlap_is_proved_by_the_fit_itself(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 400)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-4, 5, d)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    assert quiet(sx.LogisticRegression(), X, y).separation_.by == "bound"


def test_classes_that_nearly_separate_are_decided_by_a_few_more_steps(monkeypatch):
    """The search has not ended when it is asked first; separability is not asked."""
    rng, by = np.random.default_rng(5), []
    monkeypatch.setattr(existence, "_ask", lambda given, against: pytest.fail("separability was asked"))
    for _ in range(12):
        X = rng.standard_normal((200, 5))
        S = 8.0 * X @ rng.standard_normal((5, 4)) / 3.0
        y = np.argmax(S + rng.gumbel(size=(200, 4)), axis=1)
        by.append(quiet(sx.LogisticRegression(), X, y).separation_.by)
    assert by == ["bound"] * 12


def nearly_dependent(kind, eps, rng):
    """Classes that only the last digits of a column separate."""
    x, y = rng.standard_normal(80), rng.integers(0, 2, 80)
    if kind == "copy":
        return np.column_stack([x, x + eps * (2 * y - 1)]), y
    if kind == "sum":
        z = rng.standard_normal(80)
        return np.column_stack([x, z, x + z + eps * (2 * y - 1)]), y
    return eps**12 * np.column_stack([x, 2 * y - 1.0]), y  # whose squares underflow


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("kind", ["copy", "sum", "tiny"])
@pytest.mark.parametrize("eps", [1e-4, 1e-8, 1e-11, 1e-14])
def test_columns_left_out_by_rounding_prove_nothing(kind, eps, lift):
    X, y = nearly_dependent(kind, eps, np.random.default_rng(0))
    model = quiet(sx.LogisticRegression(fit_intercept=lift), X, y)
    assert model.separation_.verdict == sx.separability(X, y, fit_intercept=lift).verdict == "complete"


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["dummies", "copy", "constant", "half"])
def test_columns_that_follow_exactly_are_left_out_of_the_proof(kind, classes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 2))
    y = np.argmax(X @ rng.standard_normal((2, classes)) + rng.gumbel(size=(300, classes)), axis=1)
    more = {
        "dummies": np.eye(3)[rng.integers(0, 3, 300)],
        "copy": X[:, :1],
        "constant": np.full((300, 1), 3.7),
        "half": 0.5 * X[:, :1] - 0.25,
    }
    model = quiet(sx.LogisticRegression(), np.hstack([X, more[kind]]), y)
    by = "separability" if kind == "half" else "bound"  # half of a column but for rounding
    assert (model.separation_.verdict, model.separation_.by) == ("overlap", by)


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scale", [0.0, 1e-170])
def test_columns_without_a_square_leave_nothing_but_an_intercept(scale, classes, lift):
    X = scale * np.random.default_rng(0).standard_normal((12, 2))
    y = np.arange(12) % classes
    model = quiet(sx.LogisticRegression(fit_intercept=lift), X, y)
    assert (model.coef_ == 0).all()
    multiclass = None if classes == 2 else "kesler"
    assert model.separation_.verdict == sx.separability(X, y, fit_intercept=lift, multiclass=multiclass).verdict
