"""Ridge fits of few rows with many columns go by inner products, and are those of all columns."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.models.logistic.problem import LogisticProblem, by_inner_products


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


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_gradient_is_zero_there(classes, kind, more, C):
    X, y = wide(classes=classes, kind=kind)
    rng = np.random.default_rng(1)
    weights = rng.uniform(0.5, 2.0, len(y)) if more else None
    offset = rng.standard_normal(len(y) if classes == 2 else (len(y), classes)) if more else None
    model = sx.LogisticRegression(C=C, tol=1e-12).fit(X, y, sample_weight=weights, offset=offset)
    assert model.status_ is sx.Status.OPTIMAL
    assert model.gap_ <= 1e-12
    assert ("inner products" in model.plan_) == (C > 1e-2)  # a strong penalty needs a few passes only
    for slopes in gradient(model, X, y, C, weights, offset):
        np.testing.assert_allclose(slopes, 0, atol=1e-4 * max(1.0, C))


def test_dependent_rows_are_fitted_by_columns():
    X, y = wide()
    X[10], y[10] = X[11], 1 - y[11]
    model = sx.LogisticRegression(C=1.0).fit(X, y)
    assert model.status_ is sx.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    for slopes in gradient(model, X, y, 1.0, None, None):
        np.testing.assert_allclose(slopes, 0, atol=1e-2)


def test_without_an_intercept():
    X, y = wide()
    model = sx.LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12).fit(X, y)
    assert model.intercept_ == 0
    np.testing.assert_allclose(gradient(model, X, y, 1.0, None, None)[0], 0, atol=1e-4)


def test_which_shapes_go_that_way():
    def goes(n, d):
        return by_inner_products(problem(n, d))

    def problem(n, d):
        return LogisticProblem(np.ones((n, d)), np.zeros(n, dtype=np.intp), 2, None, None, True)

    assert goes(500, 10_000)
    assert by_inner_products(problem(50, 400), 1.0)
    assert not by_inner_products(problem(50, 400), 10.0)
    assert not goes(500, 800)
    assert not goes(2000, 10_000)
