"""Comma-separated text with a header: one column is the target, the others are numbers."""

from __future__ import annotations

import csv
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import unknown_column
from separatrix.data.number_writing import plain_number
from separatrix.errors import DataError


class NotPlain(DataError):
    """A file, or a cell of it, that is not written in the plain way."""


def read_delimited(
    path: str | Path, target: str, drop: Collection[str] = ()
) -> tuple[NDArray[np.float64], NDArray[np.str_], list[str]]:
    """X, the labels as text, and the names of the columns of X, in the order of the file."""
    name = Path(path).name
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            return _read(csv.reader(file), name, target, drop)
    except (UnicodeDecodeError, csv.Error) as wrong:
        why = f"{name} cannot be read as comma-separated text in UTF-8: {wrong}. Save it so, or as Parquet."
        raise NotPlain(why) from wrong


def _read(
    lines: Any, name: str, target: str, drop: Collection[str]
) -> tuple[NDArray[np.float64], NDArray[np.str_], list[str]]:
    header: list[str] = next(lines, [])
    if not header:
        raise DataError(f"{name} is empty: it needs a header and rows.")
    if len(set(header)) < len(header):
        twice = next(column for column in header if header.count(column) > 1)
        raise DataError(f"{name} has several columns named {twice!r}: give them different names.")
    for column in (target, *drop):
        if column not in header:
            raise DataError(unknown_column(column, header, name))
    at = header.index(target)
    names = [column for column in header if column != target and column not in drop]
    if not names:
        raise DataError(f"{name} has no column but the target {target!r}: there is nothing to learn from.")
    rows, labels = [], []
    for line in lines:
        if not line:
            continue
        if len(line) != len(header):
            raise DataError(f"{name} line {lines.line_num} has {len(line)} fields, the header has {len(header)}.")
        labels.append(line[at])
        pairs = [pair for k, pair in enumerate(zip(header, line, strict=True)) if k != at and pair[0] not in drop]
        rows.append([number(text, column, name, lines.line_num) for column, text in pairs])
    if not rows:
        raise DataError(f"{name} has a header and no rows.")
    return np.array(rows, dtype=np.float64), np.array(labels), names


def number(text: str, column: str, name: str, line: int) -> float:
    value = plain_number(text)
    if value is None:
        where = f"{column!r} in {name} line {line}"
        raise NotPlain(f'{where} is "{text}": not a finite number. Drop the row, or the column (drop=).')
    return value
