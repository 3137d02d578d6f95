"""Dual coordinate descent: the minimum of the interior-point method, with a gap that exact arithmetic confirms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from separatrix import MaxMargin
from separatrix.models.max_margin import soft_margin as solvers
from separatrix.models.max_margin.dual_descent import DualDescent, best_bias, is_quicker, patience
from separatrix.models.max_margin.signed_rows import SignedRows
from separatrix.numerics import Status


def draw(n, d, filled, seed, shift=0.3):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < filled, rng.standard_normal((n, d)) + 0.5, 0.0)
    s = X @ rng.standard_normal(d)
    y = np.where(s + 0.5 * s.std() * rng.standard_normal(n) > shift * s.std(), 1, -1).astype(np.int8)
    return X, y, rng


def interior(X, y, cost, bias):
    rows = SignedRows.of(X, y, bias)
    found = solvers.solve_soft_margin(rows, cost * rows.size**2, 200, 1e-12)
    return solvers._in_given_units(rows, found, X, cost * rows.size**2)


def objective(w, b, X, y, cost):
    return 0.5 * w @ w + cost @ np.maximum(0.0, 1 - y * (X @ w + b))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bias", [True, False])
def test_the_minimum_is_that_of_the_interior_point_method(seed, bias, monkeypatch):
    monkeypatch.setattr(solvers, "patience", lambda X: math.inf)
    n, d = (80, 200) if seed % 2 else (150, 40)
    X, y, rng = draw(n, d, 0.2, seed)
    cost = 10.0 ** rng.uniform(-2, 0) * (0.5 + rng.random(n))
    table = sparse.csr_array(X) if seed % 3 else X
    found = solvers.by_descent(table, y, cost, bias, 200)
    other = interior(X, y, cost, bias)
    assert found.status is Status.OPTIMAL
    assert found.gap <= 1e-6
    best = objective(other.w, other.b, X, y, cost)
    assert best * (1 - 1e-9) <= objective(found.w, found.b, X, y, cost) <= best * (1 + 1e-6)
    assert np.linalg.norm(found.w - other.w) <= np.sqrt(2e-6 * best)  # the objective is 1-strongly convex in w
    assert bias or found.b == 0
    np.testing.assert_allclose(found.t, np.maximum(0, 1 - y * (X @ found.w + found.b)), atol=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_the_gap_is_right_in_exact_arithmetic(bias, monkeypatch):
    monkeypatch.setattr(solvers, "patience", lambda X: math.inf)
    X, y, rng = draw(40, 60, 0.15, 9)
    cost = 0.2 + rng.random(40)
    found = solvers.by_descent(sparse.csr_array(X), y, cost, bias, 200)
    z, w, c = ([Fraction(float(v)) for v in a] for a in (found.z, found.w, cost))
    rows = [[Fraction(float(v)) for v in row] for row in X]
    assert all(0 <= a <= top for a, top in zip(z, c, strict=True))
    if bias:
        assert abs(sum(a * int(s) for a, s in zip(z, y, strict=True))) <= Fraction(1, 10**13)
    v = [sum(a * int(s) * row[j] for a, s, row in zip(z, y, rows, strict=True)) for j in range(60)]
    dual = sum(z) - sum(a * a for a in v) / 2
    slack = (
        top * max(0, 1 - int(s) * (sum(a * b for a, b in zip(row, w, strict=True)) + Fraction(found.b)))
        for top, s, row in zip(c, y, rows, strict=True)
    )
    primal = sum(a * a for a in w) / 2 + sum(slack)
    assert float((primal - dual) / primal) == pytest.approx(found.gap, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_best_bias_is_a_minimum(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    s, cost, y = rng.standard_normal(n), rng.random(n), np.where(rng.random(n) < 0.5, 1, -1).astype(np.int8)
    y[:2] = 1, -1
    b = best_bias(s, y, cost)

    def loss(at):
        return cost @ np.maximum(0, 1 - y * (s + at))

    assert loss(b) <= min(loss(at) for at in y - s) + 1e-12


def test_sparse_text_is_fitted_by_descent_and_small_tables_are_not():
    X, y, _ = draw(600, 900, 0.02, 3)
    table = sparse.csr_array(X)
    assert is_quicker(table)
    assert is_quicker(X)
    assert is_quicker(table[:100])
    assert not is_quicker(table[:99])
    assert not is_quicker(table[:, :299])
    assert not is_quicker(np.zeros((900, 600)))
    assert patience(sparse.csr_array((10**5, 10**5))) == np.inf
    model = MaxMargin(C=1.0).fit(table, y)
    assert model.status_ is Status.OPTIMAL
    assert model.gap_[0] <= 1e-6
    other = interior(X, y, np.ones(600), True)
    best = objective(other.w, other.b, X, y, np.ones(600))
    assert objective(model.coef_[0], model.intercept_[0], X, y, np.ones(600)) <= best * (1 + 1e-6)
    again = MaxMargin(C=1.0).fit(table, y)
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_where_descent_is_slow_the_interior_point_method_answers(monkeypatch):
    X, y, _ = draw(80, 100, 0.5, 4)
    cost = np.full(80, 1e6)
    monkeypatch.setattr(solvers, "is_quicker", lambda X: True)
    monkeypatch.setattr(solvers, "patience", lambda X: 1)
    assert solvers.by_descent(X, y, cost, True, 200) is None
    found = solvers.soft_margin(X, y, cost, True, 200)
    assert found.status is Status.OPTIMAL
    assert found.gap <= 1e-6


def test_numbers_beyond_the_doubles_are_left_to_the_interior_point_method():
    X = np.eye(3) * 1e200
    y = np.array([1, -1, 1], dtype=np.int8)
    assert not DualDescent(X, y, np.ones(3), True).is_safe
    assert solvers.by_descent(X, y, np.ones(3), True, 200) is None
