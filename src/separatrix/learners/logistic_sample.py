"""A few of many rows that stand for all: each k-th, and every row that a rare column depends on.

Of a column that few rows use, each k-th row may miss nearly all. How many rows tell of column j in a sample is

    (sum x_ij^2)^2 / sum x_ij^4,

the count of the ones for a column of zeros and ones. Where that is small, all rows in which the column is far
above its mean square are taken, with a weight that counts them once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.learners.logistic_task import Task

Floats = NDArray[np.float64]
RARE = 100.0  # rows of a sample that must tell of each column
MOST = 4  # the rows of rare columns are taken where they are at most one in so many
BLOCK = 2**18  # numbers looked at in one go


def sampled(task: Task, stride: int) -> tuple[Task, float]:
    """The sample, and the share of all rows that it stands for: weights and penalties of the sample are so scaled."""
    plain = task.every(stride)
    share = plain.n / task.n
    if not isinstance(task.X, np.ndarray):
        return plain, share
    limits = rare_limits(plain.X)
    rare = np.flatnonzero(np.isfinite(limits))
    if not len(rare):
        return plain, share
    needed = exceeding(task.X, rare, limits[rare])
    if needed.sum() * MOST > task.n:
        return plain, share
    chosen = needed.copy()
    chosen[::stride] = True
    rows = np.flatnonzero(chosen)
    weights = np.where(needed[rows], share, 1.0)
    if task.weights is not None:
        weights *= task.weights[rows]
    offset = None if task.offset is None else np.ascontiguousarray(task.offset[rows])
    return replace(task, X=task.X[rows], codes=task.codes[rows], weights=weights, offset=offset), share


def rare_limits(X: Any) -> Floats:
    """For each column that too few rows tell of, the size above which its rows are needed; inf for the others."""
    with np.errstate(all="ignore"):
        top = np.abs(X).max(axis=0, initial=0.0).astype(np.float64)
        scaled = np.square(X / np.where(top > 0, top, 1.0))
        second, fourth = scaled.sum(axis=0), np.square(scaled).sum(axis=0)
        common = np.square(second) >= RARE * fourth
        limits = top * np.sqrt(second / RARE)
    return np.where(common & (top > 0), np.inf, limits)


def exceeding(X: Any, columns: NDArray[np.intp], limits: Floats) -> NDArray[np.bool_]:
    """Rows in which one of these columns is larger than its limit."""
    out = np.empty(len(X), dtype=bool)
    step = max(1, BLOCK // max(1, X.shape[1]))
    for begin in range(0, len(X), step):
        out[begin : begin + step] = (np.abs(X[begin : begin + step, columns]) > limits).any(axis=1)
    return out
