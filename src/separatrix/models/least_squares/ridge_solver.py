"""Least squares: ordinary, ridge and of minimum norm, solved as accurately as the given doubles allow.

    minimise  sum c_i (y_i - w.x_i - b)^2 + alpha |w|^2          (b free)
    minimise  sum c_i (y_i - w.x_i - b)^2 + alpha (|w|^2 + b^2)  (b penalised)

With alpha = 0 and dependent columns the solution is the minimiser of least norm: of w where b is free, of (w, b) where
it is not. Which method is used is decided in choose.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.least_squares.choose import LIMITS, by_condition, choose, direct, most_steps
from separatrix.models.least_squares.gram_of_rows import CentredRows, RowsAbout, by_products, is_resolved
from separatrix.models.least_squares.iterative import solve_cg, solve_lsqr
from separatrix.models.least_squares.orthogonal_factors import OrthogonalFactors, counted_rows, dense, rows_of
from separatrix.models.least_squares.singular_values import solve_svd
from separatrix.models.least_squares.twofold_refinement import refine, residual_sum, residuals_of
from separatrix.numerics.moments import Totals
from separatrix.numerics.normal_equations import LeastSquaresProblem, NormalEquations, Solution, normal_equations
from separatrix.rows.protocol import Rows

CHUNK = 2**16  # numbers of rows that stay in the cache between the two products

MakeTotals = Callable[[], Totals]  # one pass over the rows, made where a method asks for it


def solve_least_squares(problem: LeastSquaresProblem, totals: MakeTotals, solver: str = "auto") -> Solution:
    """The minimiser; ``totals`` are those of the rows and targets."""
    if choose(problem, solver) == "cg" and (found := solve_cg(problem, most_steps(problem))) is not None:
        return found
    return solve_directly(problem, totals, solver)


def solve_directly(problem: LeastSquaresProblem, totals: MakeTotals, solver: str = "auto") -> Solution:
    """The same to the last digits, without conjugate gradients."""
    method = direct(problem, solver)
    if method == "lsqr":
        return solve_lsqr(problem)
    if method == "wide":
        return _solve_wide(problem)
    found = totals()  # what follows a fit asks for them, whatever the method
    if method == "qr":
        return _solve_qr(problem)
    if method == "svd":
        return solve_svd(problem, CentredRows.of(problem), "svd")
    normal = normal_equations(found, problem)
    return from_moments(normal) if solver == "moments" else _by_condition(problem, normal)


def _by_condition(problem: LeastSquaresProblem, normal: NormalEquations) -> Solution:
    method = by_condition(normal)
    if method == "corrected" and (corrected := _corrected(problem, normal)) is not None:
        return corrected
    found = None if method == "qr" else by_passes(rows_of(problem), normal, method)
    return found or _solve_qr(problem)


def by_passes(rows: Rows, normal: NormalEquations, method: str) -> Solution | None:
    """The minimiser from normal equations and passes over rows of any place; None where corrections do not shrink."""
    lifted, known = normal.solve(), list[float | None]()
    if method == "moments" and not normal.loses_bias(lifted):
        rss = normal.rss(lifted)
        return _of_normal(rows, lifted, None if np.any(rss < 1e-3 * normal.spread) else rss, normal, method)
    for k, start in enumerate(lifted):
        found = refine(residuals_of(rows, k), start, normal)
        if found is None:
            return None
        lifted[k], squares = found
        known.append(squares)
    return _of_normal(rows, lifted, known, normal, "refined")


def _of_normal(rows: Rows, lifted: Floats, rss: Any, normal: NormalEquations, name: str) -> Solution:
    if rss is None or isinstance(rss, list):
        rss = residual_sum(rows, lifted, rss or ())
    return Solution(lifted, rss, normal.p, normal.later_condition(), name, normal.later_basis())


def solve_path(problem: LeastSquaresProblem, alphas: Floats, totals: MakeTotals, solver: str = "auto") -> Floats:
    """Lifted weights (m, k, d + 1) for m penalties, from one pass over the rows where they are made from moments.

    The condition falls as the penalty grows (the scaled matrix moves towards the identity), so that what can be trusted
    at the smallest penalty can be trusted at all.
    """
    totals = cache(totals)
    least = replace(problem, alpha=float(alphas.min()))
    trusted = choose(least, solver) == "moments" and by_condition(normal_equations(totals(), least)) == "moments"
    out = np.empty((len(alphas), problem.Y.shape[1], problem.X.shape[1] + 1))
    for k, alpha in enumerate(alphas):
        one = replace(problem, alpha=float(alpha))
        made = trusted and choose(one, solver) == "moments"
        out[k] = normal_equations(totals(), one).solve() if made else solve_least_squares(one, totals, solver).lifted
    return out


def from_moments(normal: NormalEquations) -> Solution:
    """The solution from moments alone: of least norm, with the rank by the rule."""
    lifted, rank, dependent = normal.solve_by_rank()
    full = rank == normal.p
    basis = normal.basis() if full else None
    return Solution(lifted, normal.rss(lifted), rank, normal.condition, "moments", basis, dependent)


def _solve_wide(problem: LeastSquaresProblem) -> Solution:
    """By the rows as they are where that loses no digits, by a centred copy, or by singular values."""
    plain = problem.weights is None and problem.free and problem.counted <= problem.X.shape[1]
    if problem.sparse or plain:
        found = by_products(problem, RowsAbout.of(problem))
        if found is not None:
            return found
    if problem.sparse and problem.counted * problem.p > LIMITS.table:
        return solve_lsqr(problem)
    design = CentredRows.of(problem)
    return by_products(problem, design) or solve_svd(problem, design, "wide")


def _corrected(problem: LeastSquaresProblem, normal: NormalEquations) -> Solution | None:
    """All targets at once; of the nine digits or more that Cholesky keeps, one correction makes twelve to fifteen.

    None where that does not show. It wins 1.0 to 1.5 times for one target and 2 to 2.8 for eight.
    """
    start = normal.solve()
    gradient, rss = _gradients(problem, start)
    lifted = start + normal.corrections(gradient)
    if normal.loses_bias(lifted) or normal.loses_digits(lifted, rss):
        return None
    own = None if np.any(rss < 1e-6 * normal.size2) else rss
    return _of_normal(rows_of(problem), lifted, own, normal, "corrected")


def _gradients(problem: LeastSquaresProblem, lifted: Floats) -> tuple[Floats, Floats]:
    """Minus half the gradients at lifted weights (k, d + 1), and the residual sums of squares (k,)."""
    X, Y, c = problem.X, problem.Y, problem.weights
    gradient, rss = np.zeros_like(lifted), np.zeros(len(lifted))
    step = problem.n if problem.sparse else max(256, CHUNK // (problem.p + 2 * Y.shape[1]))
    w, b = lifted[:, :-1], lifted[:, -1]
    for begin in range(0, problem.n, step):
        part = slice(begin, begin + step)
        rows = X if problem.sparse else np.asarray(X[part], dtype=np.float64)
        R = Y[part] - b - np.asarray(rows @ w.T)
        weighted = R if c is None else R * c[part, None]
        gradient[:, :-1] += np.asarray(rows.T @ weighted).T
        gradient[:, -1] += weighted.sum(axis=0)
        rss += (R * weighted).sum(axis=0)
    penalised = slice(None) if problem.lift and not problem.free else slice(None, -1)
    gradient[:, penalised] -= problem.alpha * lifted[:, penalised]
    if not problem.lift:
        gradient[:, -1] = 0.0
    return gradient, rss


def _solve_qr(problem: LeastSquaresProblem) -> Solution:
    """By orthogonal factors; by singular values where columns are dependent and the penalty is not resolved."""
    X, Y, c = counted_rows(problem)
    X = dense(X)
    factors = OrthogonalFactors(X, c, problem.alpha, problem.lift, problem.free)
    plain = factors
    if problem.alpha and not is_resolved(problem, X, c):
        plain = OrthogonalFactors(X, c, 0.0, problem.lift, problem.free)
    if not plain.full_rank and len(X) < problem.p:
        return _solve_wide(problem)
    if not plain.full_rank:
        found = solve_svd(problem, CentredRows.of(problem), "svd")
        dependent = () if problem.alpha else factors.dependent()
        return replace(found, rank=plain.rank, condition=np.inf, dependent=dependent)
    lifted, rss = np.zeros((Y.shape[1], X.shape[1] + 1)), np.empty(Y.shape[1])
    for k, y in enumerate(Y.T):
        x, u, settled = factors.solve(np.ascontiguousarray(y))
        if problem.alpha and not settled:
            return solve_svd(problem, CentredRows.of(problem), "svd")
        lifted[k, : len(x)] = x
        rss[k] = float(c @ (u * u))
    return Solution(lifted, rss, factors.rank, factors.condition, "qr", factors.basis())
