"""What a fit does not compute: looks that would change nothing, sums that are known, what only a summary needs."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import separatrix
from separatrix import LeastSquares, LeastSquaresClassifier, kernels
from separatrix.models.least_squares.choose import LIMITS, is_trusted
from separatrix.models.least_squares.gram_of_rows import GramOfRows
from separatrix.models.least_squares.ridge_solver import solve_least_squares
from separatrix.models.least_squares.twofold_refinement import refine, residual_sum, residuals_of
from separatrix.numerics.moments import Moments
from separatrix.numerics.normal_equations import LeastSquaresProblem, normal_equations
from separatrix.rows.places import TableRows


def draw(n, d, seed, offset=0.0, correlated=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + correlated * rng.standard_normal((n, 1)) + offset
    return X, X @ rng.standard_normal(d) + rng.standard_normal(n)


@pytest.mark.parametrize("alpha", [0.0, 2.0])
@pytest.mark.parametrize(("offset", "correlated"), [(0, 0), (100.0, 0), (0, 3.0), (1e5, 5.0)])
@pytest.mark.parametrize(("n", "d"), [(300, 5), (1200, 30), (60, 40)])
def test_a_look_that_is_left_out_would_change_no_bit(n, d, offset, correlated, alpha, monkeypatch):
    X, y = draw(n, d, n + d, offset, correlated)
    problem = LeastSquaresProblem(X, y[:, None], None, alpha, True, True)
    normal = normal_equations(Moments(d, 1).add(X, problem.Y).totals(), problem)
    assert is_trusted(normal) == (normal.squared_condition <= LIMITS.trusted)
    if not is_trusted(normal):  # fits of this condition are solved by orthogonal factors
        return
    looks, residuals = [], residuals_of(TableRows(X, targets=y), 0)

    def looked(high, low):
        looks.append(1)
        return residuals(high, low)

    short = refine(looked, normal.solve()[0], normal)
    few = len(looks)
    monkeypatch.setattr(type(normal), "contraction", np.inf)
    whole = refine(looked, normal.solve()[0], normal)
    assert few <= len(looks) - few
    assert few == 1 or offset
    np.testing.assert_array_equal(short[0], whole[0])
    assert short[1] == pytest.approx(whole[1], rel=1e-15)
    assert short[1] == pytest.approx(residual_sum(TableRows(X, targets=y), short[0][None])[0], rel=1e-14)


@pytest.mark.parametrize(("n", "d"), [(50, 300), (120, 130), (200, 1500)])
def test_wide_ridge_fits_look_once(n, d, monkeypatch):
    X, y = draw(n, d, n + d)
    looks, residuals = [], kernels.residual_gradient
    monkeypatch.setattr(kernels, "residual_gradient", lambda *a: looks.append(1) or residuals(*a))
    short = LeastSquares(1.0).fit(X, y)
    assert (short.solver_, len(looks)) == ("wide", 1)
    monkeypatch.setattr(GramOfRows, "contraction", np.inf)
    whole = LeastSquares(1.0).fit(X, y)
    assert len(looks) > 2
    np.testing.assert_array_equal(short.coef_, whole.coef_)
    assert short.intercept_ == whole.intercept_
    assert short.rss_ == pytest.approx(whole.rss_, rel=1e-14)


def test_the_residual_sum_of_a_perfect_fit_is_computed():
    X, _ = draw(200, 4, 1)
    y = np.round(X * 8) @ np.array([1.0, -2.0, 3.0, 0.5])
    model = LeastSquares().fit(np.round(X * 8), y)
    assert model.solver_ == "refined"
    assert model.rss_ == 0.0
    np.testing.assert_array_equal(model.coef_, [1.0, -2.0, 3.0, 0.5])


@pytest.mark.parametrize(("n", "d", "solver"), [(400, 6, "corrected"), (30, 90, "wide"), (40, 700, "wide")])
def test_the_condition_is_computed_when_it_is_asked_for(n, d, solver, tmp_path):
    X, y = draw(n, d, 3)
    model = LeastSquares(1.0).fit(X, y)
    assert model.solver_ == solver
    assert "condition_" not in vars(model)
    restored = copy.deepcopy(model)
    separatrix.save(model, tmp_path / "model.safetensors")
    loaded = separatrix.load(tmp_path / "model.safetensors")
    A = X - X.mean(axis=0)
    if n > d:
        M = A.T @ A + np.eye(d)
        scale = np.sqrt(np.diagonal(M))
        expected = np.sqrt(np.linalg.cond(M / scale / scale[:, None]))
    else:
        expected = np.sqrt(np.linalg.norm(A, 2) ** 2 + 1.0)
    for one in (model, restored, loaded):
        assert one.condition_ == pytest.approx(expected, rel=1e-6)
        assert vars(one)["condition_"] == one.condition_
    again = model.fit(X[:, :3], y)
    assert again.condition_ != pytest.approx(expected, rel=1e-6)


def test_a_known_inverse_does_not_change_the_answer():
    X, y = draw(5000, 40, 9, correlated=2.0)
    problem = LeastSquaresProblem(X, y[:, None], None, 1.0, True, True)
    totals = Moments(40, 1).add(X, problem.Y).totals()
    normal = normal_equations(totals, problem)
    assert normal.squared_condition <= normal.inverse.bound <= 40 * normal.squared_condition
    plain = np.linalg.solve(normal.A + np.eye(40), normal.c)[:, 0]
    np.testing.assert_allclose(normal.solve()[0, :-1], plain, rtol=1e-11)
    found = solve_least_squares(problem, lambda: totals)
    assert found.condition_now == normal.condition


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("n", [1, 2, 3, 40])
def test_the_condition_of_wide_rows_does_not_depend_on_their_units(n, scale):
    X = np.random.default_rng(n).normal(size=(n, 2 * n + 3))
    model = LeastSquares(scale**2, fit_intercept=False).fit(scale * X, np.arange(float(n)))
    assert model.solver_ == "wide"
    assert model.condition_ == pytest.approx(np.sqrt(np.linalg.norm(X, 2) ** 2 + 1), rel=1e-6)


@pytest.mark.parametrize("d", [30, 90])  # by the inverse, and by Cholesky's factor
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 1e4])
def test_the_squared_condition_is_bounded(d, alpha):
    X, y = draw(2 * d, d, 3, correlated=3.0)
    problem = LeastSquaresProblem(X, y[:, None], None, alpha, True, True)
    normal = normal_equations(Moments(d, 1).add(X, problem.Y).totals(), problem)
    assert normal.squared_condition <= 3 * normal.inverse.bound  # LAPACK's estimate may be below the norm
    assert normal.inverse.bound <= d * normal.squared_condition


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learner", [LeastSquares, LeastSquaresClassifier])
def test_moments_of_few_rows_are_made_when_they_are_asked_for(learner, weighted):
    X, y = draw(50, 70, 4)
    y = y if learner is LeastSquares else (y > 0).astype(int)
    weights = np.random.default_rng(0).integers(0, 3, 50) + 0.0 if weighted else None
    c = np.ones(50) if weights is None else weights
    lifted = np.column_stack([X, np.ones(50)])
    expected = lifted.T @ (c[:, None] * lifted) + np.diag([2.0] * 70 + [0.0])
    whole = learner(2.0).fit(np.vstack([X, X]), np.append(y, y), None if weights is None else np.append(c, c))
    model = learner(2.0).fit(X, y, weights)
    assert "_moments" not in vars(model)
    restored = copy.deepcopy(model)
    again, c = X.copy(), None if weights is None else weights.copy()
    X[:] = 0.0  # rows may be overwritten after a fit
    np.testing.assert_allclose(restored.normal_matrix_, expected, rtol=1e-12, atol=1e-11)
    model.partial_fit(again, y, sample_weight=c)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=0, atol=1e-9)
    assert "_later_moments" not in vars(model)
    model.fit(np.vstack([again, again]), np.append(y, y))
    assert "_moments" in vars(model)
