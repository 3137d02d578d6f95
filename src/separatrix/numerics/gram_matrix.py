"""The Gram matrix of rows from moments, with columns of length 1, and which of its columns are independent.

With a free bias it is the centred scatter; otherwise the constant column, if there is one, is in the rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.moments import Moments, Totals

EPS = float(np.finfo(np.float64).eps)
LARGEST = 64  # denominators of the shares that are tried in exact arithmetic
COLUMNS = 2048  # that are multiplied in one go

Precision = type[np.floating[Any]]


class GramMatrix:
    """A of  (A + alpha I) w = c,  with both from moments, and A + alpha I scaled to a diagonal of ones."""

    def __init__(self, totals: Totals, d: int, alpha: float, lift: bool, free: bool) -> None:
        self.alpha, self.lift, self.free, self.d = alpha, lift, free, d
        self.weight, self.rows = float(totals.weight[0]), totals.rows
        mean, S = totals.mean[0], totals.scatter
        self.x_mean, self.y_mean = mean[:d], mean[d:]
        if free:
            self.A, self.c = S[:d, :d], S[:d, d:]
            self.spread = np.diagonal(S[d:, d:]).copy()
        else:
            G = S + self.weight * np.outer(mean, mean)
            self.A, self.c, self.spread = G[:d, :d], G[:d, d:], np.diagonal(G[d:, d:]).copy()
            if lift:
                sums = self.weight * mean
                self.A = np.block([[self.A, sums[:d, None]], [sums[None, :d], np.full((1, 1), self.weight)]])
                self.c = np.vstack([self.c, sums[None, d:]])
        self.p = d + (1 if lift else 0)
        self.scale, self.scaled = unit_diagonal(self.A, alpha)


def unit_diagonal(A: Floats, alpha: float = 0.0) -> tuple[Floats, Floats]:
    """Roots of the diagonal of A + alpha, and that matrix divided by them on both sides."""
    diagonal = np.diagonal(A) + alpha
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled = A / scale
    scaled /= scale[:, None]
    own = np.arange(len(A))
    scaled[own, own] = diagonal / scale / scale
    return scale, scaled


def inner_products(X: Floats, number: Precision) -> Floats:
    """XX', by products of this precision and sums of parts in double precision."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is not a number, and no factor of it is used
        if X.dtype == number == np.float64:
            return np.asarray(np.dot(X, X.T))
        out = np.zeros((len(X), len(X)))
        for begin in range(0, X.shape[1], COLUMNS):
            part = np.ascontiguousarray(X[:, begin : begin + COLUMNS], dtype=number)
            out += part @ part.T
    return out


def least_eigenvalue_above(A: Floats, needed: float) -> bool:
    """Whether a Cholesky factorisation proves it, of a matrix with a diagonal of ones (Rump 2006)."""
    shifted = A.copy()
    shifted[np.diag_indices(len(A))] -= needed + 8.0 * len(A) ** 2 * EPS
    try:
        return bool(np.isfinite(np.linalg.cholesky(shifted)).all())
    except np.linalg.LinAlgError:
        return False


def rank_limit(p: int) -> float:
    """Singular values at or below this share of the largest count as zero."""
    return 8 * p * EPS


def first_pivots(A: Floats, rank: int) -> NDArray[np.intp]:
    """Columns of a scaled Gram matrix that are not linear combinations of columns before them: ``rank`` at most.

    What rounding leaves of a combination depends on the order of the columns, and can exceed the limit by which the
    rank was found with the largest pivots first: the limit then grows until no more columns than the rank are left.
    """
    limit = rank_limit(len(A) + 1)
    while len(pivots := _pivots_above(limit, A)) > rank and limit < 1e-6:
        limit *= 4.0
    return pivots


def _pivots_above(limit: float, A: Floats) -> NDArray[np.intp]:
    d = len(A)
    kept, factor = list[int](), np.zeros((d, 0))
    for j in range(d):
        left = float(A[j, j] - factor[j] @ factor[j])
        if left > limit:
            factor = np.column_stack([factor, (A[:, j] - factor @ factor[j]) / np.sqrt(left)])
            kept.append(j)
    return np.array(kept, dtype=np.intp)


def condition_of(X: Any, weights: Floats | None, lift: bool) -> float:
    """The condition of the columns, scaled and, with ``lift``, centred; that of their squares has half the digits."""
    n, d = X.shape
    totals = Moments(d).add(X, None, None, np.ones(n) if weights is None else weights).totals(last=True)
    values = np.linalg.eigvalsh(GramMatrix(totals, d, 0.0, lift, lift).scaled)
    return float(np.sqrt(max(values[-1], 0.0) / max(values[0], EPS * abs(values[-1]), 1e-300)))


# -- independent columns --


@dataclass(frozen=True, slots=True)
class IndependentColumns:
    """``kept`` columns are independent; each other is ``share`` of them plus a constant, up to rounding.

    ``near`` says that some column may be nearly a combination of others, kept or not.
    """

    kept: NDArray[np.intp]
    others: NDArray[np.intp]
    share: Floats
    constant: Floats
    near: bool = True

    @property
    def dependent(self) -> NDArray[np.intp]:
        """Columns whose coefficients the rows do not determine."""
        used = np.flatnonzero(np.abs(self.share).max(axis=1, initial=0.0) > 1e-8)
        return np.sort(np.concatenate([self.others, self.kept[used]]))

    def spread(self, lifted: Floats) -> Floats:
        """Weights of the kept columns (the bias last) as the shortest w of all columns with the same scores."""
        d = len(self.kept) + len(self.others)
        w = np.zeros(d)
        w[self.kept] = lifted[:-1]
        if not len(self.others):
            return np.append(w, lifted[-1])
        null = np.zeros((d, len(self.others)))
        null[self.others, np.arange(len(self.others))] = 1.0
        null[self.kept] = -self.share
        moved, *_ = np.linalg.lstsq(null, w, rcond=None)
        return np.append(w - null @ moved, lifted[-1] + self.constant @ moved)

    def exact(self, X: Any, lift: bool) -> bool:
        """Whether the other columns provably are such combinations in every row; False proves nothing.

        Rounding also leaves out columns that differ from a combination in their last digits, and by these digits
        classes can be separated.
        """
        rows, signs = kernels.rows(X), np.empty(X.shape[0], dtype=np.int8)
        first = (X[[0]].toarray() if hasattr(X, "toarray") else X[:1])[0].tolist()
        for j, share in zip(self.others.tolist(), self.share.T.tolist(), strict=True):
            quotients = [Fraction(c).limit_denominator(LARGEST) for c in share]
            terms = zip(self.kept.tolist(), quotients, strict=True)
            constant = Fraction(first[j]) - sum((c * Fraction(first[k]) for k, c in terms), Fraction(0))
            m = math.lcm(*(c.denominator for c in quotients))
            whole = [c * m for c in quotients] + [Fraction(-m), constant * m]
            if any(Fraction(float(v)) != v for v in whole) or (constant and not lift):
                return False
            v = np.zeros((1, X.shape[1] + 1))
            v[0, [*self.kept.tolist(), j, -1]] = [float(c) for c in whole]
            v = v if lift else v[:, :-1].copy()
            kernels.exact_signs(rows, np.ones(rows.n, dtype=np.int8), lift, v, None, signs)
            if signs.any():
                return False
        return True


def independent_columns(X: Any, weights: Floats | None, lift: bool) -> IndependentColumns:
    """Columns of which no other is a linear combination, with how the others follow from them."""
    n, d = X.shape
    totals = Moments(d).add(X, None, None, np.ones(n) if weights is None else weights).totals(last=True)
    return independent_in(GramMatrix(totals, d, 0.0, lift, lift))


def independent_in(gram: GramMatrix) -> IndependentColumns:
    """Pivots of a Cholesky factorisation of the scaled matrix, largest first; a constant column is not in it."""
    d = gram.d
    flat = np.diagonal(gram.A) <= gram.weight * (1e-15 * np.abs(gram.x_mean)) ** 2  # constant but for rounding
    A = np.where(flat[:, None] | flat, 0.0, gram.scaled)
    try:
        pivots = np.diagonal(np.linalg.cholesky(A)) if not flat.any() else np.zeros(1)
        if float(pivots.min()) ** 2 > 1e-7:
            return IndependentColumns(np.arange(d), np.zeros(0, np.intp), np.zeros((d, 0)), np.zeros(0), near=False)
    except np.linalg.LinAlgError:
        pass
    left, kept = np.diagonal(A).copy(), []
    factor = np.zeros((d, 0))
    limit = rank_limit(d + 1)
    for _ in range(d):
        j = int(left.argmax())
        if left[j] <= limit:
            break
        column = (A[:, j] - factor @ factor[j]) / np.sqrt(left[j])
        factor = np.column_stack([factor, column])
        left = left - column**2
        left[j] = -np.inf
        kept.append(j)
    return _split(gram, A, np.sort(np.array(kept, dtype=np.intp)))


def _split(gram: GramMatrix, A: Floats, kept: NDArray[np.intp]) -> IndependentColumns:
    others, scale = np.setdiff1d(np.arange(gram.d), kept), gram.scale
    share = np.linalg.solve(A[np.ix_(kept, kept)], A[np.ix_(kept, others)]) if len(kept) else np.zeros((0, len(others)))
    share = share / scale[kept, None] * scale[others]
    constant = gram.x_mean[others] - gram.x_mean[kept] @ share if gram.lift else np.zeros(len(others))
    return IndependentColumns(kept, others, share, constant)
