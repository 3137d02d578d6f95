"""Moments of sparse rows that are all there, from the products of their stored numbers.

    S = G - sum_k W_k m_k m_k',    G = sum c_i x_i x_i'

A row with q stored numbers makes q^2/2 products instead of p^2/2 (one-hot columns: counts). The subtraction loses
digits where a column is far from zero beside its spread; rows that come in chunks need moments whose bits do not depend
on the chunks. In both cases rows are added one block after another (:mod:`separatrix.numerics.moments`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.moments import Moments

THIN = 8  # columns for each stored number of a row, from which on its products are fewer than blocks would make
FAR = 16.0  # sums of squares about zero beside those about the mean: how many digits are lost


def add_at_once(
    moments: Moments, X: Any, targets: Floats | None, codes: NDArray[np.int64] | None, weights: Floats | None
) -> Moments:
    """Add all rows to empty moments, of sparse rows by their stored numbers where no digits are lost."""
    made = None if isinstance(X, np.ndarray) else of_stored_numbers(moments, X, targets, codes, weights)
    if made is None:
        return moments.add(X, targets, codes, weights)
    moments.earlier = made
    return moments


def of_stored_numbers(
    like: Moments, X: Any, targets: Floats | None, codes: NDArray[np.int64] | None, weights: Floats | None
) -> Moments | None:
    """The moments, or None where blocks of rows are quicker or keep more digits."""
    n, d = X.shape
    if not like.pooled or THIN * X.nnz > n * d:
        return None
    made = Moments(like.features, like.targets, like.labels)
    c = np.ones(n) if weights is None else weights
    code = np.zeros(n, dtype=np.int64) if codes is None else codes
    count = len(made.weight)
    made.rows[:] = np.bincount(code, c > 0, count)
    made.weight[:] = np.bincount(code, c, count)
    if not made.weight.all():
        return None
    rows, half, sums = kernels.rows(X), np.zeros((d, d)), np.zeros((count, d))
    for k in range(count):
        own = np.arange(n) if count == 1 else np.flatnonzero(code == k)
        kernels.combine(rows, own, c, sums[k])
    kernels.chosen_gram(rows, c, np.arange(d), 0, n, np.zeros(d), half.reshape(-1))
    means = sums / made.weight[:, None]
    half += half.T
    about_zero = np.diagonal(half).copy()
    half -= sums.T @ means
    if not (np.isfinite(half).all() and (about_zero <= FAR * np.diagonal(half)).all()):
        return None
    made.mean[0, :, :d] = means
    made.scatter[0, :d, :d] = half
    if targets is not None:
        _add_targets(made, rows, targets, code, c)
    return made


def _add_targets(made: Moments, rows: kernels.Rows, targets: Floats, code: NDArray[np.int64], c: Floats) -> None:
    """Targets about their means: products with the rows need no subtraction then."""
    d, every = made.features, np.arange(rows.n)
    for k in range(len(made.weight)):
        own = code == k
        level = targets[own][0]
        made.mean[0, k, d:] = level + c[own] @ (targets[own] - level) / made.weight[k]
    away = targets - made.mean[0, code, d:]
    weighted = np.ascontiguousarray((c[:, None] * away).T)
    for t, v in enumerate(weighted):
        column = np.zeros(d)
        kernels.combine(rows, every, v, column)
        made.scatter[0, :d, d + t] = column
    made.scatter[0, d : d + len(weighted), d : d + len(weighted)] = weighted @ away
