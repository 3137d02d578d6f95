"""Ridge fits of few rows with many columns go by inner products, and are those of all columns."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import IterationWarning
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.solvers.choose import by_inner_products
from separatrix.solvers.gram_of_rows import by_factor, row_factors
from separatrix.solvers.minimise import minimise


def wide(n=40, d=300, classes=2, kind=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(kind)
    y = np.argmax(X @ rng.standard_normal((d, classes)) + 5.0 * rng.standard_normal((n, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def gradient(model, X, y, C, weights, offset):
    """Of the whole objective, in double precision: slopes and intercepts."""
    scores = X.astype(np.float64) @ model.coef_.T + model.intercept_
    scores = scores if offset is None else scores + (offset[:, None] if scores.shape[1] == 1 else offset)
    scores = np.column_stack([np.zeros(len(X)), scores]) if scores.shape[1] == 1 else scores
    P = np.exp(scores - scores.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    P[np.arange(len(y)), y] -= 1.0
    R = P * (1.0 if weights is None else weights[:, None])
    R = R[:, 1:] if len(model.coef_) == 1 else R
    return C * R.T @ X + model.coef_, C * R.sum(axis=0)


@pytest.mark.parametrize("size", [(40, 300), (150, 800)])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_gradient_is_zero_there(size, classes, kind, more, C):
    X, y = wide(*size, classes=classes, kind=kind)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, len(y)) if more else None
    offset = rng.standard_normal(len(y) if classes == 2 else (len(y), classes)) if more else None
    model = sx.LogisticRegression(C=C, tol=1e-12).fit(X, y, sample_weight=weights, offset=offset)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-12
    assert ("inner products" in model.plan_) == (C > 1e-2)  # a strong penalty needs a few passes only
    for slopes in gradient(model, X, y, C, weights, offset):
        np.testing.assert_allclose(slopes, 0, atol=1e-4 * max(1.0, C))


def test_dependent_rows_are_fitted_by_columns():
    X, y = wide()
    X[10], y[10] = X[11], 1 - y[11]
    model = sx.LogisticRegression(C=1.0).fit(X, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    for slopes in gradient(model, X, y, 1.0, None, None):
        np.testing.assert_allclose(slopes, 0, atol=1e-2)


def test_without_an_intercept():
    X, y = wide()
    model = sx.LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12).fit(X, y)
    assert model.intercept_ == 0
    np.testing.assert_allclose(gradient(model, X, y, 1.0, None, None)[0], 0, atol=1e-4)


def test_which_shapes_go_that_way():
    def goes(n, d, ridge=0.0, classes=2):
        problem = LogisticProblem.of(np.ones((n, d)), np.zeros(n, dtype=np.intp), classes)
        return by_inner_products(problem.objective(ridge))

    assert goes(500, 10_000)
    assert goes(50, 400, 1.0)
    assert not goes(50, 400, 100.0)
    assert goes(50, 400, 100.0, classes=4)  # whose passes cost more
    assert not goes(500, 1500)
    assert goes(500, 1500, classes=3)
    assert not goes(500, 800)
    assert not goes(2000, 10_000)


def searched(loss, seen):
    def search(square, start, most):
        seen.append(square.rows.whole.offset)
        return minimise(square, 1e-14, most, start)

    return search


def test_offsets_make_up_for_products_in_single_precision():
    X, y = wide(n=150, d=800)
    X = X + 30.0  # rows are alike: products have few digits
    loss = LogisticProblem.of(X, y, 2).objective(0.01)
    (leaf,) = loss.rows.leaves()
    factor, seen = next(row_factors(leaf)), []
    exact, rough = X @ X.T, factor @ factor.T
    assert np.abs(exact - rough).max() > 1e-9 * np.abs(exact).max()
    run = by_factor(loss, leaf, factor, 1e-11, 1000, searched(loss, seen))
    assert run.status is sx.numerics.Status.OPTIMAL
    assert run.state.gap <= 1e-11 * run.state.point.value
    assert len(seen) > 1
    assert seen[0] is None
    assert np.abs(seen[-1]).max() > 0


def test_a_rough_factor_that_leads_nowhere_says_so():
    X, y = wide(n=150, d=800)
    loss = LogisticProblem.of(X, y, 2).objective(1.0)
    (leaf,) = loss.rows.leaves()
    run = by_factor(loss, leaf, 10.0 * next(row_factors(leaf)), 1e-8, 1000, searched(loss, []))
    assert run.status is sx.numerics.Status.MAX_ITERATIONS
    assert run.state.gap > 1e-8 * run.state.point.value


def test_all_searches_together_keep_the_limit():
    X, y = wide(n=150, d=800, classes=3)
    for limit in (1, 3):
        with pytest.warns(IterationWarning):
            model = sx.LogisticRegression(C=1e4, max_iter=limit).fit(X + 30.0, y)
        assert model.status_ is sx.numerics.Status.MAX_ITERATIONS
        assert model.n_iter_ <= limit


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_numbers_beyond_single_precision(scale):
    X, y = wide(n=150, d=800)
    model = sx.LogisticRegression(C=scale**-2).fit(X * scale, y)
    plain = sx.LogisticRegression(C=1.0).fit(X, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    np.testing.assert_allclose(model.coef_ * scale, plain.coef_, atol=1e-5)


@pytest.mark.parametrize("size", [(60, 400), (150, 800), (300, 200)])
def test_numbers_whose_squares_overflow_are_said_once(size):
    X, y = wide(*size)
    with pytest.warns(IterationWarning, match="weights overflowed; scale") as said:
        model = sx.LogisticRegression(C=1.0).fit(X * 1e200, y)
    assert model.status_ is sx.numerics.Status.NONFINITE
    assert len(said) == 1


@pytest.mark.parametrize("classes", [2, 3])
def test_a_path_has_the_fits_of_its_penalties(classes):
    X, y = wide(n=150, d=800, classes=classes)
    X[:, 0] += 2.0
    grid = [1e-3, 1.0, 1e3]
    path = sx.LogisticRegression(tol=1e-12).path(X, y, grid)
    assert (path.gap <= 1e-12).all()
    for C, coef, intercept in zip(grid, path.coef, path.intercept, strict=True):
        single = sx.LogisticRegression(C=C, tol=1e-12).fit(X, y)
        np.testing.assert_allclose(coef, single.coef_, atol=1e-5)
        np.testing.assert_allclose(intercept, single.intercept_, atol=1e-5)


def test_a_path_of_dependent_rows():
    X, y = wide()
    X[10], y[10] = X[11], 1 - y[11]
    path = sx.LogisticRegression().path(X, y, [0.1, 10.0])
    assert (path.gap <= 1e-8).all()
    np.testing.assert_allclose(path.coef[1], sx.LogisticRegression(C=10.0).fit(X, y).coef_, atol=1e-3)
