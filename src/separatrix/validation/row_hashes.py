"""A 64-bit hash of each row, the same in every container that holds it.

Marks describe values, not of containers: arrays of any float or integer type, sparse matrices and frames
with the same numbers give the same marks; zeros leave no trace, text counts by its letters, and all kinds
of missing value are one. The k-th occurrence of equal rows has a mark of its own. Marks tell rows apart
for bookkeeping (two of a million different rows share one with probability 3e-8); they are no defence
against someone who forges rows.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.validation import containers
from separatrix.validation.table import is_sparse

Marks = NDArray[np.uint64]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MISSING = np.uint64(0x7FF8000000000000)


def value_marks(X: Any) -> Marks:
    """One mark a row, the same for equal rows."""
    if is_sparse(X):
        csr = X.tocsr()
        rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        return _sum_by_row(_mixed(_bits(csr.data), csr.indices.astype(np.uint64)), rows, csr.shape[0])
    if containers.is_frame(X):
        has_columns = hasattr(X, "columns") or hasattr(X, "column_names") or hasattr(X, "fetchnumpy")
        columns = containers.columns_of(X)[1] if has_columns else [containers.vector_of(X)]
    else:
        array = np.asarray(X, dtype=object) if isinstance(X, (list, tuple)) and _ragged_or_text(X) else np.asarray(X)
        columns = list(array.reshape(len(array), -1).T)
    total = np.zeros(len(columns[0]), dtype=np.uint64)
    for j, column in enumerate(columns):
        total += _mixed(_column_bits(column), np.full(1, j, dtype=np.uint64))
    return total


def _ragged_or_text(X: Any) -> bool:
    return any(isinstance(v, str) for row in X[:1] for v in (row if isinstance(row, (list, tuple)) else [row]))


def _column_bits(column: NDArray[Any]) -> Marks:
    if column.dtype.kind in "biuf":
        return _bits(column)
    if column.dtype.kind == "O" and all(isinstance(v, (int, float, np.number)) for v in column):
        return _bits(column.astype(np.float64))
    known: dict[Any, int] = {}
    out = np.empty(len(column), dtype=np.uint64)
    for i, value in enumerate(column.tolist()):
        text = "" if value is None or value != value else str(value)
        if text not in known:
            known[text] = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        out[i] = known[text] if text else MISSING
    return out


def _bits(values: NDArray[Any]) -> Marks:
    numbers = values.astype(np.float64) + 0.0  # -0 becomes 0
    bits = np.ascontiguousarray(numbers).view(np.uint64)
    return np.where(np.isnan(numbers), MISSING, bits)


def _mixed(bits: Marks, column: Marks) -> Marks:
    """A well-mixed word for each entry and its column; 0 for a zero (Steele, Lea & Flood 2014)."""
    z = bits ^ _finish((column + np.uint64(1)) * GOLDEN)
    return np.where(bits == 0, np.uint64(0), _finish(z))


def _finish(z: Marks) -> Marks:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))


def _sum_by_row(words: Marks, rows: NDArray[np.intp], n: int) -> Marks:
    total = np.zeros(n, dtype=np.uint64)
    np.add.at(total, rows, words)
    return total


def numbered(marks: Marks, ties: Marks | None = None) -> Marks:
    """Different marks for equal rows, numbered in the order of ``ties`` and then of their position."""
    order = np.argsort(marks, kind="stable") if ties is None else np.lexsort((ties, marks))
    ranked = marks[order]
    first = np.concatenate([[True], ranked[1:] != ranked[:-1]])
    start = np.maximum.accumulate(np.where(first, np.arange(len(marks)), 0))
    occurrence = np.empty(len(marks), dtype=np.uint64)
    occurrence[order] = (np.arange(len(marks)) - start).astype(np.uint64)
    return _finish(marks + (occurrence + np.uint64(1)) * GOLDEN)
