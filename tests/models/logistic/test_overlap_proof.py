"""The proof of overlap from a fit: never wrong on separated sets, nearly always found on overlapping ones."""

from __future__ import annotations

import numpy as np
import pytest
from tests.models.logistic.test_logistic import quiet

import separatrix as sx
from separatrix.models.logistic.binary_loss import BinaryLoss
from separatrix.models.logistic.circulation import ClassRows, TwoClassRows, proves_overlap
from separatrix.models.logistic.newton import newton


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


def fitted_wrong(X, y, steps):
    objective = BinaryLoss(X, y)
    run = newton(objective, objective.point(np.zeros(objective.length)), steps)
    return run.state.point.wrong


def lifted(X):
    return np.column_stack([X, np.ones(len(X))])


def test_never_says_exists_on_ten_thousand_separated_sets():
    """With a ridge of noise in the weights too: any positive q must not pass."""
    rng = np.random.default_rng(7)
    tried = 0
    for k in range(10_000):
        X, y, moved = quasi_separated(rng)
        if not moved:
            continue
        tried += 1
        q = fitted_wrong(X, y, 30) if k % 40 == 0 else np.exp(rng.uniform(-30, 0, len(y)))
        if k % 3 == 0:
            q = np.exp(-np.abs(X @ rng.standard_normal(X.shape[1])) * rng.uniform(0, 30))
        assert not proves_overlap(TwoClassRows(y[:, None] * lifted(X)), q)
    assert tried > 9_000


def test_hidden_separation_by_a_single_rare_row_is_not_passed():
    """5,000 overlapping rows and one whose dummy occurs in one class only."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5000, 4))
    X[:, 3] = 0.0
    X[17, 3] = 1.0
    y = np.where(rng.random(5000) < 0.5, 1, -1).astype(np.int8)
    for steps in (3, 8, 20, 40):
        assert not proves_overlap(TwoClassRows(y[:, None] * lifted(X)), fitted_wrong(X, y, steps))


@pytest.mark.parametrize("seed", range(20))
def test_fires_at_the_maximum_of_overlapping_sets(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 400)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-4, 5, d)
    y = np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    assert proves_overlap(TwoClassRows(y[:, None] * lifted(X)), fitted_wrong(X, y, 100))


def test_underflowed_and_missing_weights_prove_nothing():
    Z = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 1.0]])
    assert not proves_overlap(TwoClassRows(Z), np.zeros(3))
    assert not proves_overlap(TwoClassRows(Z), np.array([1.0, np.nan, 1.0]))
    assert not proves_overlap(TwoClassRows(Z * 1e200), np.ones(3))


@pytest.mark.parametrize(("n", "p", "classes"), [(30, 3, 3), (12, 1, 5), (40, 6, 4)])
def test_what_is_made_of_the_rows_of_many_classes_is_what_kesler_has(n, p, classes):
    """One row  x (x) (e_y - e_k)  written out for each class k but y, the vector of the last class left out."""
    rng = np.random.default_rng(n)
    X, codes = rng.standard_normal((n, p)), np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    q, t = rng.random((n, classes)), rng.standard_normal((classes - 1) * p)
    q[np.arange(n), codes] = 0.0
    E, pairs = np.eye(classes), [(i, k) for i in range(n) for k in range(classes) if k != codes[i]]
    Z = np.array([np.kron(E[codes[i]] - E[k], X[i])[: (classes - 1) * p] for i, k in pairs])
    rows, chosen = ClassRows(X, codes, classes), tuple(np.transpose(pairs))
    weights = q[chosen]
    np.testing.assert_allclose(rows.gram(q), Z.T @ (weights[:, None] * Z), atol=1e-12)
    np.testing.assert_allclose(rows.sums(q), Z.T @ weights, atol=1e-12)
    np.testing.assert_allclose(rows.scores(t)[chosen], Z @ t, atol=1e-12)
    np.testing.assert_allclose(rows.sizes(t)[chosen], np.abs(Z) @ np.abs(t), atol=1e-12)


def test_probabilities_never_prove_overlap_of_many_classes_that_are_separated():
    """Any positive q on grid rows of a linear machine; many parameters take Cholesky's factor, not the eigenvalues."""
    rng = np.random.default_rng(11)
    for k in range(400):
        classes, d = (12, 10) if k % 20 == 0 else (int(rng.integers(3, 6)), int(rng.integers(1, 4)))
        X = rng.integers(-3, 4, (80 if classes == 12 else 40, d)).astype(np.float64)
        scores = lifted(X) @ rng.integers(-2, 3, (d + 1, classes))
        codes = np.argmax(scores + 0.1 * rng.random(scores.shape), axis=1)  # ties are on the border
        if not (scores.max(axis=1) > scores.min(axis=1)).any():
            continue
        q = np.exp(rng.uniform(-20, 0, (len(X), classes)))
        q[np.arange(len(X)), codes] = 0.0
        assert not proves_overlap(ClassRows(lifted(X), codes, classes), q)


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
    by = "separability" if kind == "half" else "circulation"  # half of a column but for rounding
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
