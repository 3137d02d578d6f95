"""Vowpal Wabbit's text format: ``label [importance [base]] ['tag]|space[:scale] feature[:value] … |space …``.

Features are hashed: the column of a feature is CRC-32 of its name space, a caret and its name, modulo 2^bits.
Features that fall on the same column of a row are added up. Base values and tags are read over.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from separatrix.arrays import Floats
from separatrix.data.file_pieces import pieces
from separatrix.data.number_writing import plain_number
from separatrix.data.row_files import csr_rows, stacked
from separatrix.errors import DataError

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
