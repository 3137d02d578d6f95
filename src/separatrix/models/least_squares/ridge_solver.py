"""Least squares: ordinary, ridge and of minimum norm, solved as accurately as the given doubles allow.

    minimise  sum c_i (y_i - w.x_i - b)^2 + alpha |w|^2          (b free)
    minimise  sum c_i (y_i - w.x_i - b)^2 + alpha (|w|^2 + b^2)  (b penalised)

With alpha = 0 and dependent columns the solution is the minimiser of least norm: of w where b is free, of
(w, b) where it is not. The first method whose condition holds is used:

cg        sparse rows, too many of columns for a matrix of their squares, and a penalty (Hestenes, Stiefel 1952)
dual      the same without a penalty, or with one too small to prove that the steps ended near: through the inner
          products of rows
lsqr      the same where rows are many too (Paige, Saunders 1982)
wide      fewer rows than columns: through the inner products of rows, by singular values where rows are dependent
moments   one pass over the rows, then Cholesky; good where the squared condition is small
corrected the same with a penalty, corrected once by residuals in double precision
refined   the same, corrected by residuals in twofold precision until nothing changes
qr        orthogonal factors, corrected in twofold precision (Bjorck 1967)
svd       as qr, where the columns are dependent

The condition is that of the columns, centred if b is free and scaled to length 1, with the penalty. The
rank counts singular values of the same matrix above 8 p eps times the largest, p its columns.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.least_squares import orthogonal_factors as factored
from separatrix.models.least_squares.singular_values import is_resolved, solve_svd
from separatrix.models.least_squares.sparse_rows import solve_cg, solve_dual, solve_lsqr
from separatrix.models.least_squares.twofold_refinement import refine, residual_sum
from separatrix.numerics.moments import Moments, Totals
from separatrix.numerics.normal_equations import LeastSquaresProblem, NormalEquations, Solution, normal_equations
from separatrix.numerics.sparse_moments import add_at_once, totals_at_once

SMALL = 5 * 10**7  # n p^2 up to which orthogonal factors are cheap
ALIKE = 1e3  # ratio of the lengths of columns up to which residuals in double precision serve all of them
WIDE = 512  # columns up to which it is made even if there are fewer rows
FEW = 500  # rows up to which their inner products are at once decomposed
CHUNK = 2**16  # numbers of rows that stay in the cache between the two products
WIDEST = 4096  # columns up to which a table of their squares is made of sparse rows


def solve_least_squares(problem: LeastSquaresProblem, moments: Moments, solver: str = "auto") -> Solution:
    """The minimiser; ``moments`` (d features, k targets) are empty and hold the rows afterwards, where they were made:
    not of fewer rows than columns, which do not need them."""
    if not makes_squares(problem, solver):
        return _without_squares(problem)
    if problem.counted < problem.p and needs_rows(problem, problem.counted, solver):
        return solve_by_rows(problem, problem.counted)
    add_at_once(moments, problem.X, problem.Y, None, problem.weights)
    counted = int(moments.counts.sum())
    if needs_rows(problem, counted, solver):
        return solve_by_rows(problem, counted)
    return solve_with(problem, counted, totals_at_once(moments), solver)


def makes_squares(problem: LeastSquaresProblem, solver: str) -> bool:
    """Whether a table of all products of two columns is worth making."""
    sparse_and_wide = problem.sparse and problem.p > WIDEST
    return solver == "moments" or not (solver == "auto" and (sparse_and_wide or problem.p > max(problem.n, WIDE)))


def needs_rows(problem: LeastSquaresProblem, counted: int, solver: str) -> bool:
    """Whether the solution is found without the totals of the rows; ``counted`` rows have a weight."""
    return solver == "svd" or (solver == "auto" and counted < problem.p)


def solve_by_rows(problem: LeastSquaresProblem, counted: int) -> Solution:
    """The minimiser by singular values, or by inner products of fewer rows than columns."""
    return solve_svd(problem, "svd" if counted >= problem.p else "wide")


def _without_squares(problem: LeastSquaresProblem) -> Solution:
    if not problem.sparse:
        return solve_svd(problem, "wide")
    found = solve_cg(problem) if problem.alpha and problem.n > FEW else None
    if found is not None:
        return found
    return solve_dual(problem) if problem.n <= WIDEST else solve_lsqr(problem)


def solve_with(problem: LeastSquaresProblem, counted: int, totals: Totals, solver: str = "auto") -> Solution:
    """The minimiser, from the totals of its rows and targets where they suffice; ``counted`` rows have a weight."""
    if needs_rows(problem, counted, solver):
        return solve_by_rows(problem, counted)
    if solver == "qr":
        return _solve_qr(problem)
    normal = normal_equations(totals, problem)
    if solver == "moments":
        return from_moments(normal)
    large, trusted = counted * problem.p**2 > SMALL, normal.is_trusted
    if not trusted and not normal.is_refinable:
        return _solve_qr(problem)
    alike = float(normal.scale.max(initial=1.0)) <= ALIKE * float(normal.scale.min(initial=1.0))
    if problem.alpha and alike and normal.is_correctable and not (trusted and large):
        return _corrected(problem, normal)
    if not trusted or not large:
        return _refined(problem, normal)
    lifted = normal.solve()
    if normal.loses_bias(lifted):
        return _refined(problem, normal)
    rss = normal.rss(lifted)
    if np.any(rss < 1e-3 * normal.spread):
        rss = residual_sum(problem, lifted)
    return _of_normal(lifted, rss, normal, "moments")


def solve_path(problem: LeastSquaresProblem, alphas: Floats, solver: str = "auto") -> Floats:
    """Lifted weights (m, k, d + 1) for m penalties, from one pass over the rows.

    The condition falls as the penalty grows (the scaled matrix moves towards the identity), so that what can
    be trusted at the smallest penalty can be trusted at all.
    """
    if not makes_squares(problem, solver):
        each = [replace(problem, alpha=float(alpha)) for alpha in alphas]
        return np.array([solve_least_squares(one, Moments(1), solver).lifted for one in each])
    moments = Moments(int(problem.X.shape[1]), problem.Y.shape[1])
    add_at_once(moments, problem.X, problem.Y, None, problem.weights)
    counted, totals = int(moments.counts.sum()), totals_at_once(moments)
    least = replace(problem, alpha=float(alphas.min()))
    large = counted * problem.p**2 > SMALL and counted >= problem.p
    trusted = large and normal_equations(totals, least).is_trusted
    out = np.empty((len(alphas), problem.Y.shape[1], problem.X.shape[1] + 1))
    for k, alpha in enumerate(alphas):
        one = replace(problem, alpha=float(alpha))
        out[k] = (
            normal_equations(totals, one).solve()
            if trusted and solver in ("auto", "moments")
            else solve_with(one, counted, totals, solver).lifted
        )
    return out


def from_moments(normal: NormalEquations) -> Solution:
    """The solution from moments alone: of least norm, with the rank by the rule."""
    lifted, rank, dependent = normal.solve_by_rank()
    full = rank == normal.p
    basis = normal.basis() if full else None
    return Solution(lifted, normal.rss(lifted), rank, normal.condition, "moments", basis, dependent)


def _corrected(problem: LeastSquaresProblem, normal: NormalEquations) -> Solution:
    """All targets at once; of the nine digits or more that Cholesky keeps, one correction makes twelve to fifteen."""
    start = normal.solve()
    gradient, rss = _gradients(problem, start)
    lifted = start + normal.corrections(gradient)
    if normal.loses_bias(lifted) or normal.loses_digits(lifted, rss):
        return _refined(problem, normal)
    if np.any(rss < 1e-6 * normal.size2):
        rss = residual_sum(problem, lifted)
    return _of_normal(lifted, rss, normal, "corrected")


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


def _refined(problem: LeastSquaresProblem, normal: NormalEquations) -> Solution:
    starts = normal.solve()
    rows = kernels.rows(problem.X)
    lifted, sums = np.empty_like(starts), list[float | None]()
    for k, start in enumerate(starts):
        y = np.ascontiguousarray(problem.Y[:, k])
        found = refine(rows, y, problem.weights, start, normal)
        if found is None:
            return _solve_qr(problem)
        lifted[k], squares = found
        sums.append(squares)
    return _of_normal(lifted, residual_sum(problem, lifted, sums), normal, "refined")


def _of_normal(lifted: Floats, rss: Floats, normal: NormalEquations, name: str) -> Solution:
    return Solution(lifted, rss, normal.p, normal.later_condition(), name, normal.later_basis())


def _solve_qr(problem: LeastSquaresProblem) -> Solution:
    """By orthogonal factors; by singular values where columns are dependent and the penalty is not resolved."""
    X, Y, c = factored.counted_rows(problem)
    factors = factored.OrthogonalFactors(X, c, problem.alpha, problem.lift, problem.free)
    plain = factors
    if problem.alpha and not is_resolved(problem, X, c):
        plain = factored.OrthogonalFactors(X, c, 0.0, problem.lift, problem.free)
    if not plain.full_rank and len(X) < problem.p:
        return solve_svd(problem, "wide")
    if not plain.full_rank:
        found = solve_svd(problem, "svd")
        dependent = () if problem.alpha else factors.dependent()
        return replace(found, rank=plain.rank, condition=np.inf, dependent=dependent)
    lifted, rss = np.zeros((Y.shape[1], X.shape[1] + 1)), np.empty(Y.shape[1])
    for k, y in enumerate(Y.T):
        x, u, settled = factors.solve(np.ascontiguousarray(y))
        if problem.alpha and not settled:
            return solve_svd(problem, "svd")
        lifted[k, : len(x)] = x
        rss[k] = float(c @ (u * u))
    return Solution(lifted, rss, factors.rank, factors.condition, "qr", factors.basis())
