"""Rows as a checker has them: classes by name, non-zeros, fingerprints, and files with numbers to the last bit."""

from __future__ import annotations

import csv
import hashlib
from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from separatrix import checker
from separatrix.errors import DataError

LINES = 4096  # that are written together


def class_names(classes: NDArray[Any]) -> list[str]:
    """The classes by name, as a file would have them."""
    try:
        names = [checker.label_name(str(c)) for c in classes.tolist()]
    except ValueError as error:
        raise DataError(f"y: {error}.") from None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"y has several classes that read as {twice!r}: give them different names.")
    return names


def sparse_rows(X: Any) -> list[checker.SparseRow]:
    """Each row as its non-zeros, for the checker."""
    if not isinstance(X, np.ndarray):
        bounds, columns, values = X.indptr.tolist(), array("Q", X.indices.tolist()), X.data.tolist()
        return [checker.SparseRow.of(columns[start:end], values[start:end]) for start, end in pairwise(bounds)]
    every = array("Q", range(X.shape[1]))
    full = (X != 0).all(axis=1).tolist()
    return [
        checker.SparseRow(every, array("d", row.tobytes())) if whole else checker.SparseRow.of(every, row.tolist())
        for whole, row in zip(full, X.astype(np.float64, copy=False), strict=True)
    ]


def fingerprint(X: Any, codes: NDArray[Any]) -> str:
    """The sha256 of a table, as the checker computes it."""
    n, d = X.shape
    starts = range(0, n, checker.BLOCK)
    blocks = ((X[s : s + checker.BLOCK], codes[s : s + checker.BLOCK]) for s in starts)
    return joined_fingerprint(n, d, (block_digest(*block) for block in blocks))


def joined_fingerprint(n: int, d: int, digests: Iterable[bytes]) -> str:
    """The sha256 of a table from those of its blocks of rows, in order."""
    return hashlib.sha256(b"".join([np.array([n, d], dtype="<u8").tobytes(), *digests])).hexdigest()


def block_digest(X: Any, codes: NDArray[Any]) -> bytes:
    """The sha256 of a block of rows: the number of non-zeros, each with its column, and the class number of each."""
    if isinstance(X, np.ndarray):
        if X.all():  # rows of the same length
            full = np.empty((len(codes), 2 * X.shape[1] + 2), dtype="<u8")
            full[:, 0], full[:, -1] = X.shape[1], codes
            full[:, 1:-1:2] = np.arange(X.shape[1])
            full[:, 2:-1:2] = np.ascontiguousarray(X, dtype="<f8").view("<u8")
            return hashlib.sha256(full.data).digest()
        rows, columns = np.nonzero(X)
        values = X[rows, columns]
    else:
        kept = np.flatnonzero(X.data)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[kept]
        columns, values = X.indices[kept], X.data[kept]
    counts = np.bincount(rows, minlength=len(codes))
    starts = np.cumsum(2 * counts + 2) - (2 * counts + 2)
    words = np.empty(2 * len(rows) + 2 * len(codes), dtype="<u8")
    words[starts] = counts
    words[starts + 2 * counts + 1] = codes
    places = 2 * np.arange(len(rows)) + 2 * rows + 1  # two words for each non-zero, two for each row before
    words[places] = columns
    words[places + 1] = values.astype("<f8").view("<u8")
    return hashlib.sha256(words.data).digest()


def put_csv(file: TextIO, names: Sequence[str], X: NDArray[np.float64], target: str, labels: Sequence[str]) -> None:
    """Write a header, then the columns and the labels, into an open file."""
    quoted = {label: '"' + label.replace('"', '""') + '"' for label in set(labels)}
    csv.writer(file, lineterminator="\n").writerow([*names, target])
    for start in range(0, len(X), LINES):
        block = X[start : start + LINES].tolist()
        lines = [
            ",".join([*map(repr, row), quoted[label]])
            for row, label in zip(block, labels[start : start + LINES], strict=True)
        ]
        file.write("\n".join(lines) + "\n")


def put_svmlight(file: TextIO, X: Any, labels: Sequence[str]) -> None:
    """Write the rows of a CSR matrix as ``label index:value ...``, indices from 1.

    The largest index is the number of columns: the first row states it where no row has the last column.
    """
    ends, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    d = X.shape[1]
    for i, label in enumerate(labels):
        pairs = [f" {columns[k] + 1}:{values[k]!r}" for k in range(ends[i], ends[i + 1])]
        if i == 0 and max(columns, default=-1) < d - 1:
            pairs.append(f" {d}:0.0")
        file.write(label + "".join(pairs) + "\n")
