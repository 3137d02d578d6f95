"""Delimited files of plain numbers, by our own reader: mapped into memory, all processors, no intermediate columns.

Only what every reader takes for numbers is taken here: a header of distinct names, one delimiter, cells
that are decimal numbers or empty, no quotes. Anything else is left to DuckDB, which gives the same numbers,
to the bit, for what is read here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.data.bytes import NEWLINE, Bytes, bytes_of, slices, workers
from separatrix.data.frame import Column, Frame, unknown_column
from separatrix.errors import DataError

DELIMITERS = ",;\t|"
TRIED = 1 << 16  # bytes that must be plain before the whole file is tried
SLICE = 1 << 24


@dataclass(frozen=True, slots=True)
class Plain:
    """The names of the columns, what stands between cells, and where the rows begin."""

    names: tuple[str, ...]
    delimiter: str
    begin: int


def plain_of(text: Bytes) -> Plain | None:
    """How a file of plain numbers is written, or None if it does not begin like one."""
    start = text[: 1 << 20].tobytes()
    head, end, rest = start.partition(b"\n")
    if not end or b'"' in start[:TRIED] or b"\x00" in start[:TRIED] or start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    try:
        line = head.decode("utf-8-sig").rstrip("\r")
    except UnicodeDecodeError:
        return None
    for delimiter in DELIMITERS:
        names = tuple(line.split(delimiter))
        if len(names) < 2 or rest.split(b"\n", 1)[0].count(delimiter.encode()) != len(names) - 1:
            continue
        if len({n.lower() for n in names}) < len(names) or any(not n or n != n.strip() or _number(n) for n in names):
            return None
        plain = Plain(names, delimiter, len(head) + 1)
        sample = rest[:TRIED]
        cut = sample.rfind(b"\n") + 1 or len(sample)
        return plain if _parses(np.frombuffer(sample[:cut], dtype=np.uint8), plain) else None
    return None


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parses(sample: Bytes, plain: Plain) -> bool:
    lines = kernels.count_byte(sample, NEWLINE) + 1
    room = np.empty(lines * len(plain.names))
    got = kernels.delimited_chunk(sample, ord(plain.delimiter), len(plain.names), -1, room, np.empty(0), 1)
    return got[5] == 0 and got[0] > 0


def read_plain(
    path: str | os.PathLike[str], target: str | None = None, *, threads: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str]] | None:
    """Rows as an array with NaN for empty cells, the target column apart if named, and the names of the others.

    None where the file is not made of plain numbers.
    """
    text = bytes_of(path)
    plain = plain_of(text)
    if plain is None:
        return None
    names = list(plain.names)
    if target is not None and target not in names:
        raise DataError(unknown_column(target, names, Path(path).name))
    at = -1 if target is None else names.index(target)
    width = len(names) - (at >= 0)
    threads = threads or workers()
    lines = kernels.count_byte(text[plain.begin :], NEWLINE) + 1
    values = np.empty(lines * width)
    labels = np.empty(lines if at >= 0 else 0)
    rows = 0
    for begin, end in slices(text, SLICE, plain.begin):
        room = labels[rows:] if at >= 0 else labels
        got = kernels.delimited_chunk(
            text[begin:end], ord(plain.delimiter), len(names), at, values[rows * width :], room, threads
        )
        if got[5]:
            return None
        rows += got[0]
    if at >= 0:
        names.pop(at)
    return values[: rows * width].reshape(rows, width), labels[:rows] if at >= 0 else None, names


def plain_frame(path: str | os.PathLike[str], source: str) -> Frame | None:
    """The same as a frame: whole numbers as integers."""
    read = read_plain(path)
    if read is None or not len(read[0]):
        return None
    values, _, names = read
    columns = np.ascontiguousarray(values.T)
    kinds = ["integer" if np.all((c == np.floor(c)) | np.isnan(c)) else "number" for c in columns]
    made = tuple(Column(name, kind, column) for name, kind, column in zip(names, kinds, columns, strict=True))
    return Frame(made, len(values), source)
