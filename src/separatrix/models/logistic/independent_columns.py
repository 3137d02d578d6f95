"""Which columns the rows tell apart, and how the others follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import weighted_gram
from separatrix.numerics.normal_equations import NormalEquations, rank_limit

LARGEST = 64  # denominators of the shares that are tried in exact arithmetic


@dataclass(frozen=True, slots=True)
class IndependentColumns:
    """``kept`` columns are independent; each other is ``share`` of them plus a constant, up to rounding."""

    kept: NDArray[np.intp]
    others: NDArray[np.intp]
    share: Floats
    constant: Floats

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
    gram = weighted_gram(X, np.ones(X.shape[0]) if weights is None else weights, 0.0, lift)
    return independent_in(gram, X.shape[1], lift)


def independent_in(gram: NormalEquations, d: int, lift: bool) -> IndependentColumns:
    """Pivots of a Cholesky factorisation of the scaled Gram matrix, largest first."""
    A = gram.scaled if lift else gram.scaled[:d, :d]
    flat = np.diagonal(gram.A)[:d] <= _rounding(gram, d)
    A = np.where(flat[:, None] | flat, 0.0, A)
    try:
        pivots = np.diagonal(np.linalg.cholesky(A)) if not flat.any() else np.zeros(1)
        if float(pivots.min()) ** 2 > 1e-7:
            return IndependentColumns(np.arange(d), np.zeros(0, np.intp), np.zeros((d, 0)), np.zeros(0))
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
    return _split(gram, A, np.sort(np.array(kept, dtype=np.intp)), d, lift)


def _split(gram: NormalEquations, A: Floats, kept: NDArray[np.intp], d: int, lift: bool) -> IndependentColumns:
    others = np.setdiff1d(np.arange(d), kept)
    scale = gram.scale[:d]
    share = np.linalg.solve(A[np.ix_(kept, kept)], A[np.ix_(kept, others)]) if len(kept) else np.zeros((0, len(others)))
    share = share / scale[kept, None] * scale[others]
    constant = gram.x_mean[others] - gram.x_mean[kept] @ share if lift else np.zeros(len(others))
    return IndependentColumns(kept, others, share, constant)


def _rounding(gram: NormalEquations, d: int) -> Floats:
    """What a column's scatter may be by rounding alone, when it is constant."""
    return np.asarray(gram.weight * (1e-15 * np.abs(gram.x_mean[:d])) ** 2)
