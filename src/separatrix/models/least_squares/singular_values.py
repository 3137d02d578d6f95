"""Ridge and minimum-norm solutions from singular values, for wide rows and dependent columns.

A penalty of more than 1e-17 sum c_i |x_i|^2 is resolved in every direction. Its solution

    A = U L V',   w = V L (L^2 + alpha)^-1 U'y

is corrected by gradients in twofold precision. A smaller penalty cannot be told from rounding in directions in which
the rows do not vary. There the rank rule decides, as it does for alpha = 0, and the solution is computed within the
row space (:mod:`row_space`). The rule applies to A = U L V'D with D the lengths of the columns, so that it does not
depend on their units; the norm to be minimised is that of the unscaled weights. Fewer rows than columns need no
singular values where they are far from dependent: the Cholesky factor of their inner products shows the rank, and
takes the place of U, L and V (:mod:`row_products`). Where corrections do not shrink, the minimum-norm solution comes
from the singular values alone. If few combinations N = D^-1 V_0 vanish, it is D^-1 V_r L_r^-1 U_r'y minus its
projection onto N; otherwise, with Q T = D V_r, it is Q T^-T L_r^-1 U_r'y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, PrecisionWarning, warn_user
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.least_squares.orthogonal_factors import OrthogonalFactors, centre_of, counted_rows, dense
from separatrix.models.least_squares.row_products import (
    CopiedRows,
    IndependentRows,
    RowProducts,
    ShiftedRows,
    lifted_step,
)
from separatrix.models.least_squares.row_space import Combination, RowSpace, refine_combination
from separatrix.models.least_squares.twofold_refinement import refine, residual_sum
from separatrix.numerics.gram_matrix import EPS, rank_limit
from separatrix.numerics.normal_equations import LeastSquaresProblem, Solution, dependent_columns, shortest

RESOLVED = 1e-17  # of the sum of squares: the smallest penalty whose effect twofold gradients resolve in all directions
PRODUCTS = 1e-8  # the least ratio of squared singular values that the products of rows are trusted with
FEW = 100  # twice the rows from which on products pay
FAR = 16.0  # sums of squares about zero beside those about the mean: how many digits are lost
CLOSE = 1e-9  # corrections below this size are rounding of the gradients


@dataclass(frozen=True, slots=True)
class CentredRows:
    """Rows of positive weight, their targets and weights, and the penalised design A times the roots of the weights."""

    X: Floats
    Y: Floats
    c: Floats
    A: Floats
    y: Floats
    shift: Floats | None  # means of the columns, where b is free
    rest: Floats  # rounding errors of these means
    level: Floats

    @staticmethod
    def of(problem: LeastSquaresProblem) -> CentredRows:
        X, Y, c = counted_rows(problem)
        s = np.sqrt(c)[:, None]
        if not problem.free:
            A = np.column_stack([X, np.ones(len(X))]) if problem.lift else X
            weighted = A if problem.weights is None else s * A
            return CentredRows(X, Y, c, weighted, s * Y, None, np.zeros(0), np.zeros(Y.shape[1]))
        with np.errstate(invalid="ignore"):  # an infinity is named where the rows are checked
            A = X - X[0]
            shift = centre_of(X, c, A)
            np.subtract(X, shift, out=A)
        rest = (c @ A) / c.sum()  # would disturb the rank of near-constant columns
        level = (c @ (Y - Y[0])) / c.sum() + Y[0]
        A -= rest
        if problem.weights is not None:
            A *= s
        return CentredRows(X, Y, c, A, s * (Y - level), shift, rest, level)

    def lifted(self, w: Floats, level: Floats) -> Floats:
        """Weights of A (columns) as lifted weights (rows), with the means of their targets."""
        out = np.zeros((w.shape[1], self.X.shape[1] + 1))
        out[:, : len(w)] = w.T
        if self.shift is not None:
            out[:, -1] = level - self.shift @ w - self.rest @ w
        return out

    def combination(self, rows: kernels.Rows, k: int, problem: LeastSquaresProblem) -> Combination:
        """The start of the iteration in the row space for one target."""
        y, level = np.ascontiguousarray(self.Y[:, k]), float(self.level[k])
        return Combination(rows, y, self.c, problem.alpha, self.shift, problem.lift, level)


def solve_svd(problem: LeastSquaresProblem, name: str) -> Solution:
    """By singular values of the centred (b free) or lifted rows."""
    if name == "wide" and (near := _near_zero(problem)) is not None:
        return near
    design = CentredRows.of(problem)
    resolved = is_resolved(problem, design.X, design.c)
    found = _ridge(problem, design, name) if resolved else _shortest(problem, design, name)
    lifted, rank, condition, dependent, sums = found
    candidates = np.flatnonzero(design.A[0] == 0)
    lifted[:, candidates[~design.A[:, candidates].any(axis=0)]] = 0.0  # columns without spread
    return Solution(lifted, residual_sum(problem, lifted, sums), rank, condition, name, None, dependent)


def _near_zero(problem: LeastSquaresProblem) -> Solution | None:
    """The ridge solution by products of rows without a centred copy, where columns are near zero; else None."""
    if not (problem.alpha and problem.free and problem.weights is None and problem.n <= problem.X.shape[1]):
        return None
    X = dense(problem.X)
    with np.errstate(over="ignore", invalid="ignore"):  # those of numbers that overflow are not usable
        rows, ones = ShiftedRows(X), np.ones(len(X))
        products = RowProducts(rows, problem, ones, rows.mean)
    resolved = problem.alpha > RESOLVED * rows.squares and rows.squares <= FAR * products.spread
    if not (resolved and products.usable):
        return None
    level = (problem.Y - problem.Y[0]).mean(axis=0) + problem.Y[0]
    design = CentredRows(X, problem.Y, ones, X, problem.Y - level, rows.mean, np.zeros_like(rows.mean), level)
    lifted, sums, settled = _corrected(problem, design, products)
    if not settled:
        return None
    flat = np.flatnonzero(X[0] == X[-1])
    lifted[:, flat[(X[:, flat] == X[0, flat]).all(axis=0)]] = 0.0  # columns without spread
    return Solution(
        lifted, residual_sum(problem, lifted, sums), problem.p, products.later_condition(), "wide", None, ()
    )


def is_resolved(problem: LeastSquaresProblem, X: Floats, c: Floats) -> bool:
    """Whether the penalty is large enough beside the (weighted) sum of squares of the columns that it penalises."""
    with np.errstate(over="ignore"):
        plain = problem.weights is None
        squares = float(np.vdot(X, X)) if plain else float(c @ np.einsum("ij,ij->i", X, X))
    if not np.isfinite(squares):
        raise DataError("the squares of the numbers in X overflow: scale the columns.")
    return problem.alpha > RESOLVED * (squares + (float(c.sum()) if problem.lift and not problem.free else 0.0))


# lifted weights, rank, condition, dependent columns, and residual sums as far as they are known
_Found = tuple[Floats, int, float | Callable[[], float], tuple[int, ...], Sequence[float | None]]


def _ridge(problem: LeastSquaresProblem, design: CentredRows, name: str) -> _Found:
    if name == "wide" and len(design.A) - int(problem.free) < design.A.shape[1]:
        products = RowProducts(CopiedRows(design.A), problem, design.c, design.shift)
        found = _corrected(problem, design, products) if products.usable else None
        if found is not None and found[2]:
            return found[0], problem.p, products.later_condition(), (), found[1]
    filtered = _Filtered(design, problem)
    lifted, sums, _ = _corrected(problem, design, filtered)
    return lifted, problem.p, filtered.condition, (), sums


def _corrected(
    problem: LeastSquaresProblem, design: CentredRows, inverse: RowProducts | _Filtered
) -> tuple[Floats, list[float | None], bool]:
    """Lifted weights by an inverse, corrected in twofold precision, their residual sums as far as they are known, and
    whether all corrections shrank."""
    lifted = design.lifted(inverse.weights(design.y), design.level)
    sums: list[float | None] = [None] * len(lifted)
    rows, settled = kernels.rows(design.X), True
    weights = None if problem.weights is None else design.c
    for k, start in enumerate(lifted):
        found = refine(rows, np.ascontiguousarray(design.Y[:, k]), weights, start, inverse, CLOSE)
        settled &= found is not None
        if found is not None:
            lifted[k], sums[k] = found
    return lifted, sums, settled


class _Filtered:
    """(A'A + alpha)^-1 by singular values, for every direction."""

    contraction = np.inf  # not bounded beforehand

    def __init__(self, design: CentredRows, problem: LeastSquaresProblem) -> None:
        A, self.alpha, self.lift, self.free = design.A, problem.alpha, problem.lift, problem.free
        self.weight, self.shift = float(design.c.sum()), design.shift
        self.A, products = A, _from_products(A)
        self.V: Floats | None = None
        if products is None:
            self.U, self.values, self.V = _singular(A)
        else:
            self.U, self.values = products
        self.scale = np.ones(A.shape[1])  # corrections shrink last where columns are small
        low = float(self.values[-1]) if len(self.values) == A.shape[1] else 0.0
        self.condition = float(np.sqrt((self.values[0] ** 2 + self.alpha) / (low**2 + self.alpha)))

    def weights(self, y: Floats) -> Floats:
        share = self.values / (self.values**2 + self.alpha)
        return self._back((self.U.T @ y).T * share).T

    def _back(self, z: Floats) -> Floats:
        """V times vectors in the space of the rows (the rows of z), without V where only U is known."""
        return np.asarray(z @ self.V if self.V is not None else ((z / self.values) @ self.U.T) @ self.A)

    def _inverse_times(self, g: Floats) -> Floats:
        inside = self.V @ g if self.V is not None else (self.U.T @ (self.A @ g)) / self.values
        step = self._back(inside / (self.values**2 + self.alpha))
        return np.asarray(step + (g - self._back(inside)) / self.alpha)

    def correction(self, g: Floats) -> Floats:
        return lifted_step(self._inverse_times, g, self)


def _shortest(problem: LeastSquaresProblem, design: CentredRows, name: str) -> _Found:
    if name == "wide" and (found := _of_independent_rows(problem, design)) is not None:
        return found, len(design.A), np.inf, (), ()
    inverse = _Pseudo(design.A)
    lifted = design.lifted(np.zeros((design.A.shape[1], design.Y.shape[1])), design.level)
    if inverse.rank:
        space, rows = inverse.row_space(problem.alpha, problem.free), kernels.rows(design.X)
        for k in range(len(lifted)):
            start = design.combination(rows, k, problem)
            refined = refine_combination(start, space, inverse.dropped)
            lifted[k] = _unrefined(problem, design, inverse, k) if refined is None else refined
    rank = inverse.rank + (1 if problem.free else 0)
    silent = name == "wide" or problem.alpha
    dependent = () if silent else dependent_columns(inverse.null(), design.X.shape[1])
    return lifted, rank, np.inf if name == "wide" else inverse.condition, dependent, ()


def _of_independent_rows(problem: LeastSquaresProblem, design: CentredRows) -> Floats | None:
    """Lifted weights without singular values, where rows are far from dependent, in whatever units; else None."""
    space = IndependentRows(design.A, problem.alpha, np.sqrt(design.c) if problem.free else None)
    if not space.products.usable:
        return None
    lifted, rows, nothing = (
        np.empty((design.Y.shape[1], problem.X.shape[1] + 1)),
        kernels.rows(design.X),
        np.zeros((0, 1)),
    )
    for k in range(len(lifted)):
        start = design.combination(rows, k, problem)
        found = refine_combination(start, space, nothing)
        if found is None:
            return None
        lifted[k] = found
    return lifted


def _unrefined(problem: LeastSquaresProblem, design: CentredRows, inverse: _Pseudo, k: int) -> Floats:
    """The best available solution where corrections in the row space do not shrink."""
    if inverse.rank < design.A.shape[1]:
        if problem.alpha:
            warn_user(
                f"alpha={problem.alpha:g} is lost in rounding for these rows: the weights are those of "
                "alpha=0; scale the columns, or set a larger alpha.",
                PrecisionWarning,
            )
        return np.asarray(design.lifted(inverse.shortest(design.y[:, [k]]), design.level[[k]])[0])
    factors = OrthogonalFactors(design.X, design.c, problem.alpha, problem.lift, problem.free)
    out = np.zeros(design.X.shape[1] + 1)
    out[: problem.p] = factors.solve(np.ascontiguousarray(design.Y[:, k]))[0]
    return out


def _from_products(A: Floats) -> tuple[Floats, Floats] | None:
    """U and the singular values of wide rows from A A', to about half the digits, or None where that is too few.

    Corrections in twofold precision restore the rest. The one direction without length of centred rows is left out.
    """
    if not A.shape[1] > 2 * A.shape[0] > FEW:
        return None
    squares, U = np.linalg.eigh(A @ A.T)
    none = squares <= len(A) * EPS * squares[-1]
    if none.sum() > 1 or not squares[~none][0] > PRODUCTS * squares[-1]:
        return None
    return U[:, ~none][:, ::-1], np.sqrt(squares[~none][::-1])


class _Pseudo:
    """The pseudo-inverse of A with the rank rule on scaled columns."""

    def __init__(self, A: Floats) -> None:
        self.A = A
        lengths = np.linalg.norm(A, axis=0)
        self.scale = np.where(lengths > 0, lengths, 1.0)
        self.U, self.values, self.V = _singular(A / self.scale)
        top = float(self.values[0]) if len(self.values) else 0.0
        self.kept = self.values > rank_limit(max(A.shape)) * top
        self.rank = int(self.kept.sum())
        kept = self.values[self.kept]
        self.condition = float(kept[0] / kept[-1]) if len(kept) else np.inf

    def shortest(self, y: Floats) -> Floats:
        w = self.times(y)
        for _ in range(2 if self.rank >= len(self.A) - 1 else 0):  # solve again for the residuals
            w = w + self.times(y - self.A @ w)
        return w

    def times(self, y: Floats) -> Floats:
        V, right = self.V[self.kept], (self.U[:, self.kept].T @ y) / self.values[self.kept][:, None]
        if len(self.values) == self.A.shape[1]:
            return shortest((V.T @ right) / self.scale[:, None], self.V[~self.kept].T, self.scale)
        M = self.scale[:, None] * V.T
        rows = np.argsort(-np.abs(M).max(axis=1), kind="stable")  # large rows first: small ones keep their digits
        Q, T, order = scipy_linalg().qr(M[rows], mode="economic", pivoting=True)
        w = np.empty((len(M), right.shape[1]))
        w[rows] = Q @ scipy_linalg().solve_triangular(T, right[order], trans=1)
        return w

    def row_space(self, alpha: float, free: bool) -> RowSpace:
        independent = self.rank == len(self.A) - (1 if free else 0)
        kept = self.kept
        return RowSpace(self.U[:, kept], self.values[kept], self.V[kept], self.scale, alpha, independent)

    @property
    def dropped(self) -> Floats:
        """Directions of weights whose singular values count as zero."""
        V = self.V[~self.kept]
        return np.asarray(np.where(np.abs(V) > 1e-12, V, 0.0) / self.scale)

    def null(self) -> Floats:
        """An orthonormal basis of the combinations of scaled columns that vanish."""
        kept = self.V[self.kept]
        return np.asarray(np.eye(self.A.shape[1]) - kept.T @ kept)


def _singular(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Singular values and vectors; of tall matrices through their triangle, of wide ones through products of rows."""
    if A.shape[0] <= A.shape[1]:
        if (found := _from_products(A)) is None:
            return np.linalg.svd(A, full_matrices=False)
        U, values = found
        return U, values, (U.T @ A) / values[:, None]
    Q, R = np.linalg.qr(A)
    U, values, V = np.linalg.svd(R)
    return Q @ U, values, V
