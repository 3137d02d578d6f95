"""A few of many rows that stand for all: each k-th, and every row that a rare column depends on.

Of a column that few rows use, each k-th row may miss nearly all. How many rows tell of column j in a sample is

    (sum x_ij^2)^2 / sum x_ij^4,

the count of the ones for a column of zeros and ones. Where that is small, all rows in which the column is far
above its mean square are taken, with a weight that counts them once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.problem import Task

RARE = 100.0  # rows of a sample that must tell of each column
MOST = 4  # the rows of rare columns are taken where they are at most one in so many
BLOCK = 2**15  # numbers looked at in one go


@dataclass(frozen=True, slots=True)
class Sample:
    """Some rows of a task, their numbers, and the share of all rows for which they stand."""

    task: Task
    rows: NDArray[np.intp]
    share: float


def sampled(task: Task, stride: int) -> Sample:
    """The sample; its weights are so scaled that penalties have to be, by the share."""
    plain = Sample(task.every(stride), np.arange(0, task.n, stride), -(-task.n // stride) / task.n)
    if not isinstance(task.X, np.ndarray):
        return plain
    limits = rare_limits(plain.task.X)
    if not np.isfinite(limits).any():
        return plain
    needed = exceeding(task.X, limits)
    if needed.sum() * MOST > task.n:
        return plain
    chosen = needed.copy()
    chosen[::stride] = True
    rows = np.flatnonzero(chosen)
    weights = np.where(needed[rows], plain.share, 1.0)
    if task.weights is not None:
        weights *= task.weights[rows]
    offset = None if task.offset is None else np.ascontiguousarray(task.offset[rows])
    some = replace(task, X=task.X[rows], codes=task.codes[rows], weights=weights, offset=offset)
    return Sample(some, rows, plain.share)


def rare_limits(X: Any) -> Floats:
    """For each column that too few rows tell of, the size above which its rows are needed; inf for the others."""
    second, fourth = np.zeros((2, X.shape[1]))
    step = max(1, BLOCK // max(1, X.shape[1]))
    with np.errstate(all="ignore"):
        top = np.maximum(X.max(axis=0), -X.min(axis=0)).astype(np.float64)
        unit = 1.0 / np.where(top > 0, top, 1.0)
        for begin in range(0, len(X), step):
            squares = np.square(X[begin : begin + step] * unit)
            second += squares.sum(axis=0)
            fourth += np.square(squares, out=squares).sum(axis=0)
        common = np.square(second) >= RARE * fourth
        limits = top * np.sqrt(second / RARE)
    return np.where(common & (top > 0), np.inf, limits)


def exceeding(X: Any, limits: Floats) -> NDArray[np.bool_]:
    """Rows in which a column is larger than its limit."""
    out = np.empty(len(X), dtype=np.int8)
    kernels.rows_above(kernels.rows(X), limits, out)
    return out.view(np.bool_)
