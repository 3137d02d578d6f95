"""svmlight and libsvm files: ``label [qid:number] index:value … [# comment]``, one row a line.

Feature numbers ascend within a line and begin at 0 or 1; a file in which 0 occurs is taken to begin there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.data.bytes import NEWLINE, bytes_of, line_at, slices, workers
from separatrix.errors import DataError

SLICE = 1 << 24
COLON = 58
FAULTS = {
    1: "the value of a feature is not a finite number",
    2: "a feature is not written index:value with a whole index",
    3: "the indices of features do not ascend",
    5: "the line does not begin with a number",
}


def read_libsvm(
    path: str | os.PathLike[str], *, zero_based: bool | None = None, threads: int | None = None
) -> tuple[Any, NDArray[np.float64]]:
    """All rows as a CSR array, and their labels.

    ``zero_based`` says whether features are counted from 0; None looks whether a 0 occurs.
    """
    from scipy.sparse import csr_array

    text = bytes_of(path)
    name, threads = Path(path).name, threads or workers()
    pairs = kernels.count_byte(text, COLON)
    lines = kernels.count_byte(text, NEWLINE) + 1
    values, indices = np.empty(pairs), np.empty(pairs, dtype=np.int32)
    parts = slices(text, SLICE)
    labels = np.empty(lines + (threads + 1) * len(parts))
    ends = np.empty(len(labels), dtype=np.int64)
    rows = entries = 0
    least, most = None, -1
    for begin, end in parts:
        got = kernels.svmlight_chunk(
            text[begin:end], ends[rows:], indices[entries:], values[entries:], labels[rows:], threads
        )
        _need_sound(got, text, begin, name)
        if got[1]:
            least = got[2] if least is None else min(least, got[2])
        rows, entries, most = rows + got[0], entries + got[1], max(most, got[3])
    if not rows:
        raise DataError(f"{name} has no rows: nothing to learn from.")
    first = _first_index(zero_based, least, name)
    if first:
        indices[:entries] -= 1
    pointers = np.zeros(rows + 1, dtype=np.int32 if entries < 2**31 else np.int64)
    np.cumsum(ends[:rows], out=pointers[1:])
    shape = (rows, max(1, most + 1 - first))
    X = csr_array((values[:entries], indices[:entries].astype(pointers.dtype, copy=False), pointers), shape=shape)
    X.has_canonical_format = True  # the reader has seen every index ascend
    return X, labels[:rows].copy()


def libsvm_chunks(
    path: str | os.PathLike[str], *, features: int, zero_based: bool = False, size: int = SLICE, threads: int = 0
) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """Rows and labels piece by piece, in arrays that the next piece writes over: a file larger than memory."""
    from scipy.sparse import csr_array

    text, name, threads = bytes_of(path), Path(path).name, threads or workers()
    room = np.empty(0), np.empty(0, dtype=np.int32), np.empty(0), np.empty(0, dtype=np.int64)
    for begin, end in slices(text, size):
        piece = text[begin:end]
        pairs, lines = kernels.count_byte(piece, COLON), kernels.count_byte(piece, NEWLINE) + threads + 2
        if len(room[0]) < pairs or len(room[2]) < lines:
            pairs, lines = pairs + pairs // 4, lines + lines // 4
            room = np.empty(pairs), np.empty(pairs, dtype=np.int32), np.empty(lines), np.empty(lines, dtype=np.int64)
        values, indices, labels, ends = room
        got = kernels.svmlight_chunk(piece, ends, indices, values, labels, threads)
        _need_sound(got, text, begin, name)
        rows, entries, least, most = got[:4]
        if not rows:
            continue
        first = 0 if zero_based else 1
        if (entries and least < first) or most - first >= features:
            raise DataError(f"{name} has features {least} to {most}, not {first} to {features - 1 + first}.")
        indices[:entries] -= first
        pointers = np.zeros(rows + 1, dtype=np.int32)
        np.cumsum(ends[:rows], out=pointers[1:])
        X = csr_array((values[:entries], indices[:entries], pointers), shape=(rows, features))
        X.has_canonical_format = True
        yield X, labels[:rows]


def _need_sound(got: tuple[int, ...], text: NDArray[np.uint8], begin: int, name: str) -> None:
    if got[5]:
        line, word = line_at(text, begin + got[4])
        raise DataError(f"{name} line {line}: {FAULTS[got[5]]} ({word!r}).")


def _first_index(zero_based: bool | None, least: int | None, name: str) -> int:
    if zero_based is None:
        return 0 if least == 0 else 1
    if not zero_based and least == 0:
        raise DataError(f"{name} has a feature number 0, but zero_based=False: its features are counted from 0.")
    return 0 if zero_based else 1
