"""Wide and about square tables through the inner products of their rows.

One Cholesky factor serves:

    (A'A + alpha)^-1 A'y = A'K^-1 y,    (A'A + alpha)^-1 g = (g - A'K^-1 A g)/alpha,    K = A A' + alpha

The first gives the solution, the second the corrections by gradients in twofold precision (twofold_refinement.py),
which shrink as long as the squared condition is far below 1/eps. Without a penalty the first alone, for residuals in
twofold precision, corrects the solution of least norm, where K shows that the rows are independent.

Of rows with many columns that are not alike K is made in single precision, in half the time, and what its factor solves
is corrected by residuals in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.gram_matrix import EPS, Precision, inner_products
from separatrix.numerics.normal_equations import LeastSquaresProblem

REFINABLE = 1e10  # the greatest condition of K, as LAPACK estimates it in the 1-norm
BLOCK = 64  # rows of K that are changed at once
# Columns for each row, and multiplications, from which products in single precision save time; rows that tell how much
# their greatest and least spread differ, and by how much at most.
WIDE, MANY, SOME, UNLIKE = 2, 2**28, 64, 30.0
ROUNDS, FALL = 6, 0.1  # corrections of what such products solve, and what each may leave of the one before
KEPT = 2048  # rows whose factor is kept until the condition is asked for
INDEPENDENT = 1e10  # the same where residuals are corrected; rows of so small a condition count as independent


class CopiedRows:
    """A, centred and weighted where that applies."""

    def __init__(self, A: Floats) -> None:
        self.A, self.shape = A, A.shape

    def products(self, number: Precision = np.float64) -> Floats:
        return inner_products(self.A, number)

    def every(self, step: int) -> Floats:
        return self.A[::step]

    def times(self, g: Floats) -> Floats:
        return np.asarray(self.A @ g)

    def back(self, v: Floats) -> Floats:
        """A'v"""
        return np.asarray(self.A.T @ v)


class ShiftedRows:
    """A = X - 1 m', without a copy: m are the means of the columns, which are near zero beside the spread."""

    def __init__(self, X: Floats) -> None:
        self.X, self.shape = X, X.shape
        self.mean = np.full(len(X), 1.0 / len(X)) @ X
        self.squares = 0.0  # sum of squares of X, known after the products

    def every(self, step: int) -> Floats:
        return np.asarray(self.X[::step] - self.mean)

    def products(self, number: Precision = np.float64) -> Floats:
        K = inner_products(self.X, number)
        self.squares = float(np.trace(K))
        away = self.X @ self.mean - 0.5 * float(self.mean @ self.mean)
        for begin in range(0, len(K), BLOCK):
            K[begin : begin + BLOCK] -= away[begin : begin + BLOCK, None] + away
        return K

    def times(self, g: Floats) -> Floats:
        return np.asarray(self.X @ g - self.mean @ g)

    def back(self, v: Floats) -> Floats:
        """A'v"""
        return np.asarray(self.X.T @ v - np.multiply.outer(self.mean, v.sum(axis=0)))


class ProductsFactor:
    """The Cholesky factor of K = A A' + alpha, and whether the condition of K is at most ``most``.

    One array holds both: the factor on and below the diagonal, K above it. Fresh pages of memory would cost as much as
    the factorisation.
    """

    def __init__(self, products: Floats, alpha: float, most: float, also: Floats | None = None) -> None:
        linalg = scipy_linalg()
        K = products.T  # in Fortran's order
        size, own = float(linalg.lapack.dlange("1", K)) + alpha, np.arange(len(K))
        self.diagonal = K[own, own] + alpha
        if also is not None:  # the direction in which centred rows do not vary, below the diagonal alone
            share = float(np.trace(K)) / len(K) / float(also @ also)
            K = linalg.blas.dsyr(share, also, a=K, lower=1, overwrite_a=1)
            size += share * float(also.max() * also.sum())
        K[own, own] += alpha
        self.factor, failed = linalg.lapack.dpotrf(K, lower=1, clean=0, overwrite_a=1)
        self.share = 0.0  # the condition's inverse
        if not failed and np.isfinite(size):
            self.share = float(linalg.lapack.dpocon(self.factor, size, uplo="L")[0])
        self.usable = self.share * most >= 1.0

    def solve(self, right: Floats) -> Any:
        return scipy_linalg().lapack.dpotrs(self.factor, right, lower=1)[0]


class IndependentRows:
    """Steps within the space of independent rows: A'(A A' + alpha)^-1 for residuals, as of ``RowSpace``."""

    independent = True

    def __init__(self, A: Floats, alpha: float, roots: Floats | None) -> None:
        self.products = ProductsFactor(CopiedRows(A).products(), alpha, INDEPENDENT, roots)

    def step(self, right: Floats) -> Floats:
        return np.asarray(self.products.solve(right))


def large_and_unlike(A: CopiedRows | ShiftedRows) -> bool:
    """Whether inner products in single precision save time: a few of the rows tell whether rows are alike."""
    n, columns = A.shape
    if columns < WIDE * n or n * n * columns < MANY:
        return False
    some = A.every(-(-n // SOME))
    with np.errstate(all="ignore"):
        products = some @ some.T
    if not np.isfinite(products).all():  # what is wrong with such rows is said where all of them are looked at
        return False
    spread = np.linalg.eigvalsh(products)
    return bool(0 < spread[-1] <= UNLIKE * spread[0])


def lifted_step(inverse_times: Callable[[Floats], Floats], g: Floats, inverse: Any) -> Floats:
    """The lifted step for a lifted gradient, by the inverse for centred rows or for rows as they are."""
    if inverse.shift is not None:
        w = inverse_times(g[:-1] - inverse.shift * g[-1])
        return np.append(w, g[-1] / inverse.weight - inverse.shift @ w)
    return inverse_times(g) if inverse.lift else np.append(inverse_times(g[:-1]), 0.0)


class RowProducts:
    """(A'A + alpha)^-1 through the Cholesky factor of A A' + alpha; A has at most as many rows as columns."""

    def __init__(
        self, A: CopiedRows | ShiftedRows, problem: LeastSquaresProblem, weights: Floats, shift: Floats | None
    ) -> None:
        self.A, self.alpha, self.lift, self.free = A, problem.alpha, problem.lift, problem.free
        self.weight, self.shift, self.scale = float(weights.sum()), shift, np.ones(A.shape[1])
        self.also = np.sqrt(weights) if self.free else None
        self.rough = large_and_unlike(A)
        self.products = self._factor(np.float32 if self.rough else np.float64)
        if self.rough and not self.products.usable:
            self._in_double_precision()

    def _factor(self, number: Precision) -> ProductsFactor:
        return ProductsFactor(self.A.products(number), self.alpha, REFINABLE, self.also)

    def _in_double_precision(self) -> None:
        self.rough, self.products = False, self._factor(np.float64)

    @property
    def usable(self) -> bool:
        return self.products.usable

    def _solve(self, right: Floats) -> Any:
        x = self.products.solve(right)
        if not self.rough or self._refined(x, right):
            return x
        self._in_double_precision()
        return self.products.solve(right)

    def _refined(self, x: Floats, right: Floats) -> bool:
        """Whether residuals in double precision have corrected what a factor in single precision has solved."""
        before = 1.0
        for _ in range(ROUNDS):
            r = right - self.A.times(self.A.back(x)) - self.alpha * x
            if self.also is not None:  # what rounding leaves in the direction in which centred rows do not vary
                r -= np.multiply.outer(self.also, self.also @ r) / (self.also @ self.also)
            step = self.products.solve(r)
            x += step
            size = float(np.abs(step).max()) / (float(np.abs(x).max()) or 1.0)
            if size * size / before <= EPS:  # more than the next step
                return True
            if not size <= FALL * before:
                return False
            before = size
        return False

    @property
    def spread(self) -> float:
        """The sum of squares of A."""
        return float(self.products.diagonal.sum()) - self.alpha * len(self.products.diagonal)

    @property
    def contraction(self) -> float:
        """How much of an error a correction leaves: ten times what rounding makes of sums of so many terms (Higham and
        Mary 2019) at the estimated condition."""
        return 10 * float(np.sqrt(sum(self.A.shape))) * EPS / self.products.share

    def later_condition(self) -> float | Callable[[], float]:
        """The condition; when it is asked for, where the factor takes little memory."""
        later = partial(_condition, self.products, self.alpha)
        return later if self.A.shape[0] <= KEPT else later()

    def weights(self, y: Floats) -> Floats:
        return self.A.back(self._solve(y))

    def _inverse_times(self, g: Floats) -> Floats:
        return np.asarray((g - self.A.back(self._solve(self.A.times(g)))) / self.alpha)

    def correction(self, g: Floats) -> Floats:
        return lifted_step(self._inverse_times, g, self)


def _condition(products: ProductsFactor, alpha: float) -> float:
    """sqrt((s^2 + alpha)/alpha) with the largest singular value s: A'A is singular, since A is wide or centred."""
    return float(np.sqrt(largest_eigenvalue(products) / alpha))


def largest_eigenvalue(products: ProductsFactor) -> float:
    """That of K, by Lanczos's (1950) method; K takes the place of its factor, which is gone then."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    K, size = products.factor, len(products.diagonal)
    np.fill_diagonal(K, products.diagonal)
    if size < 3:
        return float(np.linalg.eigvalsh(K, "U")[-1])
    unit = float(products.diagonal.max()) or 1.0  # squares of large numbers overflow
    times = scipy_linalg().blas.dsymv
    scaled = LinearOperator((size, size), lambda v: times(1.0, K, v.ravel(), lower=0) / unit, dtype=np.float64)
    return unit * float(eigsh(scaled, 1, which="LA", v0=1.0 + np.arange(size) % 3, return_eigenvectors=False)[0])
