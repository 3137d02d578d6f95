"""Whether rows that are equal in all columns are copies of one observation.

Honest rows can be equal where their columns take few values. Then rows that differ in a single column are at least as
common as equal ones: to differ from a given row in one column of some is no harder than to agree with it in all, unless
the columns nearly always agree. Copies of a row agree in all columns, and have no such neighbours. The test is one of
signs (McNemar 1947), over the different rows: those that have an equal row and no neighbour, against those that have a
neighbour and no equal row. It calls such honest rows copies in at most one of 1,000 tables. Where all columns follow
from a single one (a place, a product), rows of one value of it count as copies too: they tell about new ones no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Column, Frame

LEVEL = 0.001
FEWEST = 10  # different rows that must have an equal one
Marks = NDArray[np.uint64]


@dataclass(frozen=True)
class Copies:
    """Rows that are copies: ``groups`` numbers the observations, and each row has the number of its own."""

    groups: NDArray[np.int64]
    p: float

    @property
    def observations(self) -> int:
        return int(self.groups.max()) + 1


def find_copies(marks: Marks, cells: Frame | Any, least: float) -> Copies | None:
    """Copies among rows with these marks, equal for equal rows; None where fewer than this share repeat another one.

    ``cells`` are the columns before they are encoded, or sparse rows.
    """
    _, first, groups, times = np.unique(marks, return_index=True, return_inverse=True, return_counts=True)
    repeated = times > 1
    if np.count_nonzero(repeated) < FEWEST or len(marks) - len(times) < least * len(marks):
        return None
    near = _neighbours(cells, first) if isinstance(cells, Frame) else _sparse_neighbours(cells, first)
    copied, alone = int(np.count_nonzero(repeated & ~near)), int(np.count_nonzero(near & ~repeated))
    p = _signs(copied, alone)
    return Copies(groups.astype(np.int64), p) if p < LEVEL else None


def _signs(more: int, less: int) -> float:
    """That ``more`` of so many fair coins show heads, or more of them do."""
    from scipy.special import betainc

    return float(betainc(more, less + 1, 0.5)) if more else 1.0


def _neighbours(frame: Frame, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Which of these different rows differ from another one in one column alone."""
    columns = [_numbered(column.take(rows)) for column in frame.columns]
    if len(columns) < 2:  # any two rows then differ in one column
        return np.ones(len(rows), dtype=bool)
    mixed = [_mixed(codes, j) for j, codes in enumerate(columns)]
    total = np.sum(mixed, axis=0, dtype=np.uint64)
    near = np.zeros(len(rows), dtype=bool)
    for own in mixed:
        near |= _shared(total - own)
    return near


def _numbered(column: Column) -> NDArray[np.uint64]:
    """A number for each value, missing ones included."""
    values = column.values.astype(str) if column.kind == "text" else column.values
    codes = np.unique(values, return_inverse=True)[1] + 1
    return np.where(column.missing, 0, codes).astype(np.uint64)


def _sparse_neighbours(X: Any, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The same of sparse rows, by the places of their numbers: one more, one fewer, or one in another place."""
    csr = X[rows].tocsr()
    places = _mixed(csr.indices.astype(np.uint64), 0)
    owner = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
    total = np.zeros(csr.shape[0], dtype=np.uint64)
    np.add.at(total, owner, places)
    marks = np.concatenate([total, total[owner] - places])
    owners = np.concatenate([np.arange(csr.shape[0]), owner])
    near = np.zeros(csr.shape[0], dtype=bool)
    near[owners[_shared(marks, owners)]] = True
    return near


def _mixed(codes: NDArray[np.uint64], column: int) -> Marks:
    """Marks of the values of a column, which add up to those of rows (Steele, Lea & Flood 2014)."""
    with np.errstate(over="ignore"):
        z = codes + np.uint64((column + 1) * 0x9E3779B97F4A7C15 % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _shared(marks: Marks, owners: NDArray[np.intp] | None = None) -> NDArray[np.bool_]:
    """Which marks occur more than once, with another owner."""
    _, at, times = np.unique(marks, return_inverse=True, return_counts=True)
    shared = times[at] > 1
    if owners is None:
        return np.asarray(shared)
    least, most = np.full(len(times), len(owners)), np.full(len(times), -1)
    np.minimum.at(least, at, owners)
    np.maximum.at(most, at, owners)
    return np.asarray(least[at] < most[at])
