"""For the doubles given: least squares against exact arithmetic, where the condition takes all digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exact_least_squares import digits, exact_gram, rational_gram, solve_exactly

import separatrix as sx


def polynomial(low, high, n, degree, noise, seed=0):
    x = np.linspace(low, high, n)
    X = x[:, None] ** np.arange(1, degree + 1)
    rng = np.random.default_rng(seed)
    y = (X / np.abs(X).max(axis=0)).sum(axis=1) + noise * rng.standard_normal(n)
    return X, y


def scaled_condition(X):
    A = np.column_stack([X, np.ones(len(X))])
    return np.linalg.cond(A / np.linalg.norm(A, axis=0))


@pytest.mark.parametrize("noise", [0.0, 1e-3, 10.0])
@pytest.mark.parametrize(("low", "high"), [(-9.0, -3.0), (-9.0, -4.0), (2.0, 4.0)])
def test_polynomials_of_degree_ten(low, high, noise):
    X, y = polynomial(low, high, 82, 10, noise)
    model = sx.LeastSquares().fit(X, y)
    A = np.column_stack([X, np.ones(len(X))])
    exact = solve_exactly(rational_gram(np.column_stack([A, y])))
    assert model.solver_ == "qr"
    assert digits([*model.coef_, model.intercept_], exact) >= 12


def test_where_lstsq_returns_nothing_right():
    X, y = polynomial(-9.0, -4.0, 82, 10, 1e-3)
    A = np.column_stack([X, np.ones(len(X))])
    exact = solve_exactly(rational_gram(np.column_stack([A, y])))
    assert scaled_condition(X) > 1e10
    assert digits(np.linalg.lstsq(A, y)[0], exact) < 1
    model = sx.LeastSquares().fit(X, y)
    assert digits([*model.coef_, model.intercept_], exact) >= 12


def test_weights_and_no_intercept_and_ridge_are_as_exact():
    X, y = polynomial(2.0, 5.0, 40, 8, 0.1)
    c = np.random.default_rng(1).integers(1, 9, len(y)) / 4
    root = [Fraction(float(v)) for v in c]
    Z = np.column_stack([X, y])
    rows = [[Fraction(float(v)) for v in row] for row in Z]
    G = [[sum(w * row[i] * row[j] for w, row in zip(root, rows, strict=True)) for j in range(9)] for i in range(9)]
    model = sx.LeastSquares(fit_intercept=False).fit(X, y, sample_weight=c)
    assert digits(model.coef_, solve_exactly(G)) >= 12
    for j in range(8):
        G[j][j] += Fraction(1, 2**20)
    model = sx.LeastSquares(2.0**-20, fit_intercept=False).fit(X, y, sample_weight=c)
    assert digits(model.coef_, solve_exactly(G)) >= 12


@pytest.mark.parametrize("noise", [1e-6, 1.0])
def test_many_rows_of_condition_1e12(noise):
    n, d, bits = 10**5, 20, 44
    rng = np.random.default_rng(7)
    U, _ = np.linalg.qr(rng.standard_normal((n, d)))
    V, _ = np.linalg.qr(rng.standard_normal((d, d)))
    X = (U * np.logspace(0, -12, d)) @ V * np.sqrt(n)
    X = np.ldexp(np.rint(np.ldexp(X, bits)), -bits)
    y = np.ldexp(np.rint(np.ldexp(X.sum(axis=1) + noise * rng.standard_normal(n), bits)), -bits)
    assert scaled_condition(X) > 1e11
    A = np.column_stack([X, np.ones(n)])
    exact = solve_exactly(exact_gram(np.column_stack([A, y]), bits))
    model = sx.LeastSquares().fit(X, y)
    assert digits([*model.coef_, model.intercept_], exact) >= 12
