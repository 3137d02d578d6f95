"""Least squares with weights that are not negative: the conditions of the minimum in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from exact_least_squares import apart, exact_ridge
from sklearn.linear_model import LinearRegression, Ridge

import separatrix as sx
from separatrix.errors import InferenceError, ParameterError


def rounded(values):
    return np.ldexp(np.rint(np.ldexp(values, 20)), -20)


def example(n, d, seed, weighted=False):
    rng = np.random.default_rng(seed)
    X = rounded(rng.normal(size=(n, d)) + rng.normal(size=d))
    y = rounded(X @ rng.normal(size=d) + rng.normal(size=n))
    return X, y, rng.integers(0, 4, n) / 2 if weighted else None


def exact_pull(X, y, c, alpha, w, b):
    """Minus half the gradient at rational weights, column by column."""
    c = np.ones(len(y)) if c is None else c
    rows = [[Fraction(float(v)) for v in row] for row in X]
    left = [
        Fraction(float(ci)) * (Fraction(float(yi)) - b - sum(v * x for v, x in zip(w, row, strict=True)))
        for ci, yi, row in zip(c, y, rows, strict=True)
    ]
    return [sum(r * row[j] for r, row in zip(left, rows, strict=True)) - Fraction(alpha) * w[j] for j in range(len(w))]


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"penalize_intercept": True}])
@pytest.mark.parametrize("alpha", [0.0, 1e-20, 0.5])
@pytest.mark.parametrize(
    ("n", "d", "weighted"), [(20, 6, False), (20, 6, True), (6, 10, False), (12, 12, True), (9, 1, False)]
)
def test_the_minimum_is_exact(n, d, weighted, alpha, options):
    for seed in range(4):
        X, y, c = example(n, d, seed, weighted)
        model = sx.LeastSquares(alpha, positive=True, **options).fit(X, y, sample_weight=c)
        used = np.flatnonzero(model.coef_)
        part = exact_ridge(X[:, used], y, alpha, c, **options)
        assert apart([*model.coef_[used], model.intercept_], part) < 1e-12
        assert all(v > 0 for v in part[: len(used)])
        w = [Fraction(0)] * d
        for j, v in zip(used, part[: len(used)], strict=True):
            w[j] = v
        felt = 0 if alpha != 1e-20 else Fraction(1, 10**12)  # which minimiser of alpha = 0 it tends to is not told
        pull = exact_pull(X, y, c, alpha, w, part[-1])
        assert all(v <= felt for j, v in enumerate(pull) if j not in used)
        assert model.rank_ == len(used) + options.get("fit_intercept", True)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scikit_learn_agrees(fit_intercept):
    X, y, _ = example(80, 8, 1)
    ours = sx.LeastSquares(positive=True, fit_intercept=fit_intercept).fit(X, y)
    theirs = LinearRegression(positive=True, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-10)
    ours = sx.LeastSquares(3.0, positive=True, fit_intercept=fit_intercept).fit(X, y)
    theirs = Ridge(3.0, positive=True, fit_intercept=fit_intercept, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)


def test_chunks_and_sparse_rows():
    X, y, _ = example(60, 7, 2)
    whole = sx.LeastSquares(positive=True).fit(X, y)
    parts = sx.LeastSquares(positive=True).partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(sx.LeastSquares(positive=True).fit(sp.csr_array(X), y).coef_, whole.coef_, rtol=1e-11)
    assert whole.solver_ == "non-negative"
    negative = sx.LeastSquares(positive=True).fit(-np.abs(X), np.abs(X).sum(axis=1))
    assert not negative.coef_.any()
    assert negative.intercept_ == pytest.approx(np.abs(X).sum(axis=1).mean())


def test_columns_that_repeat_or_do_not_vary():
    X, y, _ = example(30, 4, 3)
    X = np.column_stack([X, X[:, 0], np.full(30, 0.1)])
    model = sx.LeastSquares(positive=True).fit(X, y)
    once = sx.LeastSquares(positive=True).fit(X[:, :4], y)
    np.testing.assert_allclose(model.predict(X), once.predict(X[:, :4]), rtol=1e-10)
    assert model.coef_[5] == 0


def test_refusals():
    X, y, _ = example(20, 3, 0)
    model = sx.LeastSquares(positive=True).fit(X, y)
    with pytest.raises(InferenceError, match="positive=True bounds"):
        model.summary()
    with pytest.raises(ParameterError, match="no path"):
        model.path(X, y, [1.0])
    with pytest.raises(ParameterError, match="positive"):
        sx.LeastSquares(positive="yes").fit(X, y)
    with pytest.raises(ParameterError, match="at most 4096 columns"):
        sx.LeastSquares(positive=True).fit(sp.csr_array((3, 5000)), [1.0, 2.0, 3.0])
