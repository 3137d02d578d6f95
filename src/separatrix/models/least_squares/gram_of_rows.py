"""Wide and about square tables through the inner products of their rows.

One Cholesky factor serves:

    (A'A + alpha)^-1 A'y = A'K^-1 y,    (A'A + alpha)^-1 g = (g - A'K^-1 A g)/alpha,    K = A A' + alpha

The first gives the solution, the second the corrections by gradients in twofold precision (twofold_refinement.py),
which shrink as long as the squared condition is far below 1/eps. Without a penalty the first alone, for residuals in
twofold precision, corrects the solution of least norm (row_space.py), where K shows that the rows are independent.
It wins 3 to 11 times over singular values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.least_squares.orthogonal_factors import centre_of, counted_rows, dense, rows_of
from separatrix.models.least_squares.row_space import Combination, refine_combination
from separatrix.models.least_squares.twofold_refinement import refine, residual_sum, residuals_of
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.normal_equations import LeastSquaresProblem, Solution
from separatrix.rows.places import TableRows

RESOLVED = 1e-17  # of the sum of squares: the smallest penalty whose effect twofold gradients resolve in all directions
SOLVABLE = 1e10  # the greatest condition of K, as LAPACK estimates it in the 1-norm; rows below it are independent
FAR = 16.0  # sums of squares about zero beside those about the mean: how many digits are lost
CLOSE = 1e-9  # corrections below this size are rounding of the gradients
BLOCK = 64  # rows of K that are changed at once
KEPT = 2048  # rows whose factor is kept until the condition is asked for


@dataclass(frozen=True, slots=True)
class CentredRows:
    """Rows of positive weight, and A, their centred copy times the roots of the weights.

    Where the bias is penalised, A has a column for it and is not centred.
    """

    X: Any
    Y: Floats
    c: Floats
    A: Floats
    targets: Floats  # of A
    shift: Floats | None  # means of the columns, where b is free
    rest: Floats  # rounding errors of these means
    level: Floats

    @staticmethod
    def of(problem: LeastSquaresProblem) -> CentredRows:
        X, Y, c = counted_rows(problem)
        X = dense(X)
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

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.A), self.A.shape[1]

    def products(self) -> tuple[Floats, bool]:
        """A A', and whether it has all its digits."""
        with np.errstate(over="ignore", invalid="ignore"):  # of what overflows no factor is used
            return np.asarray(np.dot(self.A, self.A.T)), True

    def times(self, g: Floats) -> Floats:
        return np.asarray(self.A @ g)

    def back(self, v: Floats) -> Floats:
        """A'v"""
        return np.asarray(self.A.T @ v)

    def lifted(self, w: Floats) -> Floats:
        """Weights of A (columns) as lifted weights (rows), with the means of their targets."""
        out = np.zeros((w.shape[1], self.X.shape[1] + 1))
        out[:, : len(w)] = w.T
        if self.shift is not None:
            out[:, -1] = self.level - self.shift @ w - self.rest @ w
        return out

    def without_spread(self) -> Any:
        """Columns that do not vary, or are zero where they are not centred."""
        candidates = np.flatnonzero(self.A[0] == 0)
        return candidates[~self.A[:, candidates].any(axis=0)]


@dataclass(frozen=True, slots=True)
class RowsAbout:
    """The same, A = s (X - 1 m') as products with the rows, dense or sparse, without a copy."""

    X: Any
    Y: Floats
    c: Floats
    Z: Any  # X, with a column of ones where the bias is penalised
    targets: Floats
    shift: Floats | None
    level: Floats
    roots: Floats | None  # of the weights, where there are any

    @staticmethod
    def of(problem: LeastSquaresProblem) -> RowsAbout:
        X, Y, c = counted_rows(problem)
        roots = None if problem.weights is None else np.sqrt(c)
        shift, level, Z = None, np.zeros(Y.shape[1]), X
        if problem.free:
            shift = np.asarray((c / c.sum()) @ X)
            level = (c @ (Y - Y[0])) / c.sum() + Y[0]
        elif problem.lift:
            from scipy import sparse

            Z = sparse.hstack([X, sparse.csr_array(np.ones((len(c), 1)))]).tocsr()
        targets = Y - level if roots is None else roots[:, None] * (Y - level)
        return RowsAbout(X, Y, c, Z, targets, shift, level, roots)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.Z.shape[0]), int(self.Z.shape[1])

    def products(self) -> tuple[Floats, bool]:
        """A A', and whether the columns are so near zero that it has all its digits."""
        with np.errstate(over="ignore", invalid="ignore"):  # of what overflows no factor is used
            K = self.Z @ self.Z.T
            K = np.ascontiguousarray(K if isinstance(K, np.ndarray) else K.toarray())
            about_zero = float(self.c @ np.diagonal(K))
            if self.shift is not None:
                away = self.Z @ self.shift - 0.5 * float(self.shift @ self.shift)
                for begin in range(0, len(K), BLOCK):
                    K[begin : begin + BLOCK] -= away[begin : begin + BLOCK, None] + away
            if self.roots is not None:
                K *= self.roots
                K *= self.roots[:, None]
            return K, about_zero <= FAR * float(np.trace(K))

    def times(self, g: Floats) -> Floats:
        out = np.asarray(self.Z @ np.ravel(g))
        out = out if self.shift is None else out - float(self.shift @ np.ravel(g))
        return out if self.roots is None else self.roots * out

    def back(self, v: Floats) -> Floats:
        """A'v"""
        v = v if self.roots is None else (self.roots * v.T).T
        out = np.asarray(self.Z.T @ v)
        return out if self.shift is None else out - np.multiply.outer(self.shift, v.sum(axis=0))

    def lifted(self, w: Floats) -> Floats:
        """Weights of A (columns) as lifted weights (rows), with the means of their targets."""
        out = np.zeros((w.shape[1], self.X.shape[1] + 1))
        out[:, : len(w)] = w.T
        if self.shift is not None:
            out[:, -1] = self.level - self.shift @ w
        return out

    def without_spread(self) -> Any:
        """Columns that do not vary; sparse ones that are empty have exact weights of zero already."""
        if not isinstance(self.X, np.ndarray):
            return []
        flat = np.flatnonzero(self.X[0] == self.X[-1])
        return flat[(self.X[:, flat] == self.X[0, flat]).all(axis=0)]


Design = CentredRows | RowsAbout


class GramOfRows:
    """The Cholesky factor of K = A A' + alpha, and what it solves; A has at most as many rows as columns.

    One array holds both: the factor on and below the diagonal, K above it. Fresh pages of memory would cost as much as
    the factorisation.
    """

    independent = True  # steps of the solution of least norm are for residuals, not for their gradients

    def __init__(self, design: Design, problem: LeastSquaresProblem) -> None:
        self.design, self.alpha, self.lift, self.free = design, problem.alpha, problem.lift, problem.free
        self.weight, self.shift, self.scale = float(design.c.sum()), design.shift, np.ones(design.shape[1])
        products, precise = design.products()
        linalg = scipy_linalg()
        K = products.T  # in Fortran's order
        size, own = float(linalg.lapack.dlange("1", K)) + self.alpha, np.arange(len(K))
        self.diagonal = K[own, own] + self.alpha
        if self.free:  # the direction in which centred rows do not vary, below the diagonal alone
            also = np.sqrt(design.c)
            share = float(np.trace(K)) / len(K) / float(also @ also)
            K = linalg.blas.dsyr(share, also, a=K, lower=1, overwrite_a=1)
            size += share * float(also.max() * also.sum())
        K[own, own] += self.alpha
        self.factor, failed = linalg.lapack.dpotrf(K, lower=1, clean=0, overwrite_a=1)
        self.share = 0.0  # the condition's inverse
        if not failed and np.isfinite(size):
            self.share = float(linalg.lapack.dpocon(self.factor, size, uplo="L")[0])
        self.usable = precise and self.share * SOLVABLE >= 1.0

    def step(self, right: Floats) -> Floats:
        """K^-1 times residuals"""
        return np.asarray(scipy_linalg().lapack.dpotrs(self.factor, right, lower=1)[0])

    def weights(self, y: Floats) -> Floats:
        return self.design.back(self.step(y))

    def correction(self, g: Floats) -> Floats:
        """The lifted step for a lifted gradient."""
        if self.shift is not None:
            w = self._inverse_times(g[:-1] - self.shift * g[-1])
            return np.append(w, g[-1] / self.weight - self.shift @ w)
        return self._inverse_times(g) if self.lift else np.append(self._inverse_times(g[:-1]), 0.0)

    def _inverse_times(self, g: Floats) -> Floats:
        return np.asarray((g - self.design.back(self.step(self.design.times(g)))) / self.alpha)

    @property
    def contraction(self) -> float:
        """How much of an error a correction leaves: ten times what rounding makes of sums of so many terms (Higham and
        Mary 2019) at the estimated condition."""
        return 10 * float(np.sqrt(sum(self.design.shape))) * EPS / self.share

    def later_condition(self) -> float | Callable[[], float]:
        """sqrt((s^2 + alpha)/alpha) with the largest singular value s of A, which is wide or centred and so singular.

        When it is asked for, where the factor takes little memory.
        """
        later = partial(_condition, self.factor, self.diagonal, self.alpha)
        return later if len(self.diagonal) <= KEPT else later()


def _condition(factor: Floats, diagonal: Floats, alpha: float) -> float:
    """By Lanczos's (1950) method for the largest eigenvalue of K, which takes the place of its factor."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    np.fill_diagonal(factor, diagonal)
    if len(diagonal) < 3:
        return float(np.sqrt(np.linalg.eigvalsh(factor, "U")[-1] / alpha))
    unit = float(diagonal.max()) or 1.0  # squares of large numbers overflow
    times = scipy_linalg().blas.dsymv
    shape = (len(diagonal), len(diagonal))
    scaled = LinearOperator(shape, lambda v: times(1.0, factor, v.ravel(), lower=0) / unit, dtype=np.float64)
    start = 1.0 + np.arange(len(diagonal)) % 3
    return float(np.sqrt(unit * float(eigsh(scaled, 1, which="LA", v0=start, return_eigenvectors=False)[0]) / alpha))


def is_resolved(problem: LeastSquaresProblem, X: Any, c: Floats) -> bool:
    """Whether the penalty is large enough beside the (weighted) sum of squares of the columns that it penalises."""
    with np.errstate(over="ignore"):
        if not isinstance(X, np.ndarray):
            squares = float(np.repeat(c, np.diff(X.indptr)) @ np.square(X.data))
        else:
            plain = problem.weights is None
            squares = float(np.vdot(X, X)) if plain else float(c @ np.einsum("ij,ij->i", X, X))
    if not np.isfinite(squares):
        raise DataError("the squares of the numbers in X overflow: scale the columns.")
    return problem.alpha > RESOLVED * (squares + (float(c.sum()) if problem.lift and not problem.free else 0.0))


def by_products(problem: LeastSquaresProblem, design: Design) -> Solution | None:
    """The solution; None where the products of rows do not show that they are independent enough."""
    resolved = is_resolved(problem, design.X, design.c)
    if resolved and design.shape[0] - int(problem.free) >= design.shape[1]:
        return None
    gram = GramOfRows(design, problem)
    if not gram.usable:
        return None
    found = (_ridge if resolved else _least_norm)(problem, design, gram)
    if found is None:
        return None
    lifted, sums = found
    lifted[:, design.without_spread()] = 0.0
    rank, condition = (problem.p, gram.later_condition()) if resolved else (design.shape[0], np.inf)
    return Solution(lifted, residual_sum(rows_of(problem), lifted, sums), rank, condition, "wide", None)


_Found = tuple[Floats, list[float | None]]  # lifted weights, and residual sums as far as they are known


def _ridge(problem: LeastSquaresProblem, design: Design, gram: GramOfRows) -> _Found | None:
    """Weights corrected in twofold precision; None where corrections do not shrink."""
    lifted = design.lifted(gram.weights(design.targets))
    sums: list[float | None] = []
    rows = TableRows(design.X, weights=None if problem.weights is None else design.c, targets=design.Y)
    for k, start in enumerate(lifted):
        found = refine(residuals_of(rows, k), start, gram, CLOSE)
        if found is None:
            return None
        lifted[k] = found[0]
        sums.append(found[1])
    return lifted, sums


def combination(problem: LeastSquaresProblem, design: Design, k: int) -> Combination:
    """The start of the iteration in the row space for one target."""
    y, level = np.ascontiguousarray(design.Y[:, k]), float(design.level[k])
    return Combination(kernels.rows(design.X), y, design.c, problem.alpha, design.shift, problem.lift, level)


def _least_norm(problem: LeastSquaresProblem, design: Design, gram: GramOfRows) -> _Found | None:
    """The solution of least norm of rows that are far from dependent, in whatever units."""
    lifted = np.empty((design.Y.shape[1], problem.X.shape[1] + 1))
    for k in range(len(lifted)):
        found = refine_combination(combination(problem, design, k), gram, np.zeros((0, 1)))
        if found is None:
            return None
        lifted[k] = found
    return lifted, []
