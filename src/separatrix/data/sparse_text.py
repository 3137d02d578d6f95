"""svmlight and libsvm files, and Vowpal Wabbit's text: formats of sparse rows, one row a line.

svmlight: ``label [qid:number] index:value … [# comment]``.

Feature numbers ascend within a line and begin at 0 or 1; a file in which 0 occurs is taken to begin there.

Vowpal Wabbit's text format: ``label [importance [base]] ['tag]|space[:scale] feature[:value] … |space …``.

Features are hashed: the column of a feature is CRC-32 of its name space, a caret and its name, modulo 2^bits.
Features that fall on the same column of a row are added up. Base values and tags are read over.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.data.file_pieces import NEWLINE, PIECE, Bytes, Growing, gzipped, in_order, line_at, pieces, workers
from separatrix.data.number_writing import plain_number
from separatrix.data.row_files import csr_rows, stacked
from separatrix.errors import DataError

COLON = 58
SAMPLE, SPARE = 1 << 16, 1.2  # bytes of a piece by which room is made for it, and how much more of it
ROOM = 6  # the fault of arrays that are too small
FAULTS = {
    1: "the value of a feature is not a finite number",
    2: "a feature is not written index:value with a whole index",
    3: "the indices of features do not ascend",
    5: "the line does not begin with a number",
}


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one piece of text."""

    size: int  # bytes
    rows: int
    least: int | None  # feature number, as it is written
    most: int
    ends: NDArray[np.int32]
    indices: NDArray[np.int32]
    values: NDArray[np.float64]
    labels: NDArray[np.float64]
    fault: tuple[int, int] | None  # which, and the byte


def parse(text: Bytes, base: int) -> Part:
    """The rows of a piece, features counted from ``base``.

    Room is made by what its beginning holds, and by what all of it holds where that is too little: arrays that are
    mostly empty would cost a copy and pages of memory that are never used.
    """
    part = _parse(text, base, _room(text[:SAMPLE], SPARE * len(text) / max(1, min(SAMPLE, len(text)))))
    return part if part.fault is None or part.fault[0] != ROOM else _parse(text, base, _room(text, 1))


def _room(sample: Bytes, times: float) -> tuple[int, int]:
    """Rows and pairs, by the line ends and colons of a sample of the text."""
    rows, pairs = (int(times * kernels.count_byte(sample, byte)) + 1 for byte in (NEWLINE, COLON))
    return rows, pairs


def _parse(text: Bytes, base: int, room: tuple[int, int]) -> Part:
    ends, labels = np.empty(room[0], dtype=np.int32), np.empty(room[0])
    indices, values = np.empty(room[1], dtype=np.int32), np.empty(room[1])
    rows, entries, least, most, at, fault = kernels.svmlight_chunk(text, base, ends, indices, values, labels)
    read = (ends[:rows], indices[:entries], values[:entries], labels[:rows])
    return Part(len(text), rows, least if entries else None, most, *read, (fault, at) if fault else None)


def parts(path: str | os.PathLike[str], base: int, size: int, threads: int) -> Iterator[Part]:
    """The rows of a file piece by piece; a malformed line is an error that names it."""
    seen = 0
    for part in in_order(lambda piece: parse(piece, base), pieces(path, size=size, ring=threads + 3), threads):
        if part.fault is not None:
            line, word = line_at(path, seen + part.fault[1])
            raise DataError(f"{Path(path).name} line {line}: {FAULTS[part.fault[0]]} ({word!r}).")
        seen += part.size
        yield part


def read_libsvm(
    path: str | os.PathLike[str], *, zero_based: bool | None = None, threads: int | None = None
) -> tuple[Any, NDArray[np.float64]]:
    """All rows as a CSR array, and their labels.

    ``zero_based`` says whether features are counted from 0; None looks whether a 0 occurs.
    """
    from scipy.sparse import csr_array

    name = Path(path).name
    whole = 1 if gzipped(path) else max(1, os.path.getsize(path))
    base = 0 if zero_based else 1
    labels, values, indices, ends = Growing("f8"), Growing("f8"), Growing("i4"), Growing("i8")
    seen, most, zero = 0, -1, False
    ends.add(np.zeros(1, dtype=np.int64))
    for part in parts(path, base, PIECE, threads or workers()):
        seen += part.size
        share = min(1.0, seen / whole)
        before = values.size
        for own, new in ((labels, part.labels), (values, part.values), (indices, part.indices)):
            own.add(new, share)
        ends.add(part.ends + np.int64(before), share)
        most, zero = max(most, part.most), zero or part.least == 0
    if not labels.size:
        raise DataError(f"{name} {'has no rows' if seen else 'is empty'}: nothing to learn from.")
    if zero and base:
        if zero_based is not None:
            raise DataError(f"{name} has a feature number 0, but zero_based=False: its features are counted from 0.")
        indices.array[:] += 1
        base = 0
    width = np.int32 if values.size < 2**31 else np.int64
    shape = (labels.size, max(1, most + 1 - base))
    X = csr_array(
        (values.array, indices.array.astype(width, copy=False), ends.array.astype(width, copy=False)), shape=shape
    )
    X.has_canonical_format = True  # the reader has seen every index ascend
    return X, labels.array.copy()


def libsvm_chunks(
    path: str | os.PathLike[str],
    *,
    features: int,
    zero_based: bool | None = False,
    size: int = PIECE,
    threads: int | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """Rows and labels piece by piece: a file larger than memory, read while the rows before are worked on.

    ``zero_based=None`` reads the file twice, to look whether a feature 0 occurs.
    """
    name, threads = Path(path).name, threads or workers()
    base = 0 if (counts_from_zero(path, threads) if zero_based is None else zero_based) else 1
    for part in parts(path, base, size, threads):
        watch(part.size)
        if not part.rows:
            continue
        if (part.least is not None and part.least < base) or part.most - base >= features:
            found = f"{part.least} to {part.most}"
            raise DataError(
                f"{name} has features {found}, but the model was fitted on {base} to {features - 1 + base}."
            )
        yield csr_rows(part.values, part.indices, part.ends, features), part.labels


def counts_from_zero(path: str | os.PathLike[str], threads: int = 1) -> bool:
    """Whether a feature number 0 occurs."""
    return any(part.least == 0 for part in parts(path, 1, PIECE, threads))


BITS = 18


def read_vw(path: str | os.PathLike[str], *, bits: int = BITS) -> tuple[Any, Floats, Floats]:
    """Rows as a CSR array of 2^bits columns, their labels and their importance weights."""
    X, y, weights = zip(*vw_chunks(path, bits=bits), strict=True)
    return stacked(X), np.concatenate(y), np.concatenate(weights)


def vw_chunks(
    path: str | os.PathLike[str], *, bits: int = BITS, watch: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[Any, Floats, Floats]]:
    """The same a piece of the file at a time."""
    name, line, any_row = Path(path).name, 1, False
    for piece in pieces(path):
        lines = piece.tobytes().split(b"\n")
        labels, weights, rows = _rows(lines, line, name, bits)
        line += len(lines) - (not lines[-1])
        watch(len(piece))
        if labels:
            any_row = True
            yield _matrix(rows, bits), np.array(labels), np.array(weights)
    if not any_row:
        raise DataError(f"{name} has no rows: nothing to learn from.")


def _rows(
    lines: list[bytes], first: int, name: str, bits: int
) -> tuple[list[float], list[float], list[dict[int, float]]]:
    labels, weights, rows = [], [], []
    for number, raw in enumerate(lines, first):
        line = raw.decode("utf-8", "replace").strip()
        if not line:
            continue
        try:
            label, weight, row = parse_line(line, bits)
        except ValueError as wrong:
            raise DataError(f"{name} line {number}: {wrong}.") from wrong
        labels.append(label)
        weights.append(weight)
        rows.append(row)
    return labels, weights, rows


def _matrix(rows: list[dict[int, float]], bits: int) -> Any:
    ends = np.cumsum([len(row) for row in rows], dtype=np.int32)
    pairs = [sorted(row.items()) for row in rows]
    columns = np.array([column for row in pairs for column, _ in row], dtype=np.int32)
    values = np.array([value for row in pairs for _, value in row], dtype=np.float64)
    return csr_rows(values, columns, ends, 1 << bits)


def parse_line(line: str, bits: int) -> tuple[float, float, dict[int, float]]:
    """Label, importance, and the values of the hashed columns of one line."""
    head, *spaces = line.split("|")
    if not spaces:
        raise ValueError("there is no | before the features")
    words = head.split("'", 1)[0].split()
    if not words:
        raise ValueError("there is no label before the first |")
    label = number_of(words[0], "the label")
    weight = number_of(words[1], "the importance") if len(words) > 1 else 1.0
    if weight < 0:
        raise ValueError(f"the importance {weight:g} is negative")
    row: dict[int, float] = defaultdict(float)
    for space in spaces:
        named = "" if space[:1].isspace() or not space else space.split(None, 1)[0]
        prefix, _, scale = named.partition(":")
        factor = number_of(scale, "the scale of a name space") if scale else 1.0
        for word in space.split()[1 if named else 0 :]:
            feature, _, value = word.rpartition(":") if ":" in word else (word, "", "1")
            amount = number_of(value, "the value of a feature") * factor
            row[crc32(f"{prefix}^{feature}".encode()) % (1 << bits)] += amount
    return label, weight, row


def number_of(text: str, what: str) -> float:
    value = plain_number(text)
    if value is None:
        raise ValueError(f"{what} is {text[:40]!r}, not a finite number")
    return value
