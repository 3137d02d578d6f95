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
from separatrix.numerics.moments import Moments, Totals

THIN = 8  # columns for each stored number of a row, from which on its products take less time than those of blocks
BLOCK = 64  # columns whose part of a matrix stays in the cache
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


def totals_at_once(moments: Moments) -> Totals:
    """The totals of such moments; of sparse rows a view of what was added."""
    whole = moments.earlier
    if whole is None or moments.rows.any() or not moments.pooled:
        return moments.totals()
    columns = moments.features + moments.targets
    scatter = whole.scatter[0, :columns, :columns]
    if not (np.isfinite(np.diagonal(scatter)).all() and np.isfinite(whole.mean).all()):
        return whole.totals()  # says so
    return Totals(whole.rows, whole.weight, whole.mean[0], whole.mean[1], scatter)


def of_stored_numbers(
    like: Moments, X: Any, targets: Floats | None, codes: NDArray[np.int64] | None, weights: Floats | None
) -> Moments | None:
    """The moments, or None where blocks of rows are quicker or keep more digits."""
    n, d = X.shape
    if not like.pooled or (X.nnz / n) ** 2 > (d / THIN) ** 2 + d:  # blocks take a time for each column, too
        return None
    made = Moments(like.features, like.targets, like.labels)
    c = np.ones(n) if weights is None else weights
    code = np.zeros(n, dtype=np.int64) if codes is None else codes
    count = len(made.weight)
    if count == 1:
        made.rows[:], made.weight[:] = np.count_nonzero(c), c.sum()
    else:
        made.rows[:], made.weight[:] = np.bincount(code, c > 0, count), np.bincount(code, c, count)
    if not made.weight.all():
        return None
    rows, sums = kernels.rows(X), np.zeros((count, d))
    for k in range(count):
        own = np.arange(n) if count == 1 else np.flatnonzero(code == k)
        kernels.combine(rows, own, c, sums[k])
    scatter, means, places = made.scatter[0], sums / made.weight[:, None], np.arange(d)
    kernels.chosen_gram(rows, c, places, 0, n, np.zeros(len(scatter)), scatter.reshape(-1))
    about_zero = 2.0 * scatter[places, places]
    _mirror_centred(scatter, sums, means)
    if not (np.isfinite(about_zero).all() and (about_zero <= FAR * scatter[places, places]).all()):
        return None
    made.mean[0, :, :d] = means
    if targets is not None:
        _add_targets(made, rows, targets, code, c)
    return made


def _mirror_centred(half: Floats, sums: Floats, means: Floats) -> None:
    """half + half' - sums' means in place, of a triangle below the diagonal: fresh memory costs more than the sums."""
    d = means.shape[1]
    for begin in range(0, d, BLOCK):
        own, after = slice(begin, min(begin + BLOCK, d)), slice(begin + BLOCK, d)
        square = half[own, own]
        square += square.T.copy()
        square -= sums[:, own].T @ means[:, own]
        half[after, own] -= sums[:, after].T @ means[:, own]
        half[own, after] = half[after, own].T


def _add_targets(made: Moments, rows: kernels.Rows, targets: Floats, code: NDArray[np.int64], c: Floats) -> None:
    """Targets about their means: products with the rows need no subtraction then."""
    d, every = made.features, np.arange(rows.n)
    for k in range(len(made.weight)):
        own = slice(None) if len(made.weight) == 1 else np.flatnonzero(code == k)
        level = targets[own][0]
        made.mean[0, k, d:] = level + c[own] @ (targets[own] - level) / made.weight[k]
    away = targets - made.mean[0, 0 if len(made.weight) == 1 else code, d:]
    weighted = np.ascontiguousarray((c[:, None] * away).T)
    for t, v in enumerate(weighted):
        column = np.zeros(d)
        kernels.combine(rows, every, v, column)
        made.scatter[0, :d, d + t] = made.scatter[0, d + t, :d] = column
    made.scatter[0, d : d + len(weighted), d : d + len(weighted)] = weighted @ away
