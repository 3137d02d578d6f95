"""Delimited files of plain numbers, by our own reader: piece by piece, all processors, no intermediate columns.

Only what every reader takes for numbers is taken here: a header of distinct names, one delimiter, cells
that are decimal numbers or empty, no quotes. Anything else is left to DuckDB, which gives the same numbers,
to the bit, for what is read here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.data.file_pieces import NEWLINE, Bytes, Growing, gzipped, in_order, opened, pieces, workers
from separatrix.data.frame import Column, Frame, unknown_column
from separatrix.errors import DataError

DELIMITERS = ",;\t|"
TRIED = 1 << 16  # bytes that must be plain before the whole file is tried
BLOCK = 1024  # rows
HEAD = 1 << 20  # bytes in which the header and the sample are looked for


@dataclass(frozen=True, slots=True)
class Plain:
    """The names of the columns, what stands between cells, and where the rows begin."""

    names: tuple[str, ...]
    delimiter: str
    begin: int = 0

    def rows(self, piece: Bytes, target: int = -1) -> tuple[Floats, Floats] | None:
        """The rows of a piece, NaN for empty cells, and apart from them the target, by its number; None at a fault."""
        lines = kernels.count_byte(piece, NEWLINE) + int(piece[-1] != NEWLINE)
        width = len(self.names) - (target >= 0)
        values, labels = np.empty(lines * width), np.empty(lines if target >= 0 else 0)
        got = kernels.delimited_chunk(piece, ord(self.delimiter), len(self.names), target, values, labels)
        return None if got[5] else (values[: got[0] * width].reshape(-1, width), labels[: got[0]])


def plain_file(path: str | os.PathLike[str]) -> Plain | None:
    """How a file of plain numbers is written, or None if it does not begin like one."""
    with opened(path) as file:
        return plain_of(file.read(HEAD))


def plain_of(start: bytes) -> Plain | None:
    """The same by the first bytes of the file."""
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
        if len({n.lower() for n in names}) < len(names) or any(not n or n != n.strip() or is_number(n) for n in names):
            return None
        plain = Plain(names, delimiter, len(head) + 1)
        sample = rest[:TRIED]
        cut = sample.rfind(b"\n") + 1 or len(sample)
        tried = plain.rows(np.frombuffer(sample[:cut], dtype=np.uint8)) if cut else None
        return plain if tried is not None and len(tried[0]) else None
    return None


def is_number(text: str) -> bool:
    """Whether Python reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_plain(
    path: str | os.PathLike[str], target: str | None = None, *, threads: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None, list[str]] | None:
    """Rows as an array with NaN for empty cells, the target column apart if named, and the names of the others.

    None where the file is not made of plain numbers.
    """
    plain = plain_file(path)
    if plain is None:
        return None
    names = list(plain.names)
    if target is not None and target not in names:
        raise DataError(unknown_column(target, names, Path(path).name))
    at = -1 if target is None else names.index(target)
    threads, whole, seen = threads or workers(), 1 if gzipped(path) else os.path.getsize(path), plain.begin
    values, labels = Growing("f8"), Growing("f8")
    source = pieces(path, begin=plain.begin, ring=threads + 3)
    for read, size in in_order(lambda piece: (plain.rows(piece, at), len(piece)), source, threads):
        if read is None:
            return None
        seen += size
        values.add(read[0].reshape(-1), min(1.0, seen / whole))
        labels.add(read[1], min(1.0, seen / whole))
    if at >= 0:
        names.pop(at)
    return values.array.reshape(-1, len(names)), labels.array if at >= 0 else None, names


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A file known to hold plain numbers throughout: how it is written, which columns are whole, how many rows."""

    path: Path
    plain: Plain
    whole: tuple[bool, ...]
    rows: int

    @property
    def kinds(self) -> list[str]:
        return ["integer" if whole else "number" for whole in self.whole]

    def batches(self) -> Iterator[tuple[NDArray[np.float64], Bytes]]:
        """Rows piece by piece, each with the text it was read from."""
        return in_order(self._rows, pieces(self.path, begin=self.plain.begin), workers())

    def _rows(self, piece: Bytes) -> tuple[NDArray[np.float64], Bytes]:
        read = self.plain.rows(piece)
        if read is None:
            raise DataError(f"{self.path.name} changed while it was read.")
        return read[0], piece


def plain_table(path: Path) -> PlainTable | None:
    """Look through a file once; None where it is not made of plain numbers."""
    plain = plain_file(path)
    if plain is None:
        return None
    whole, rows = np.ones(len(plain.names), dtype=np.bool_), 0
    for read in in_order(plain.rows, pieces(path, begin=plain.begin), workers()):
        if read is None:
            return None
        rows += len(read[0])
        for j in np.flatnonzero(whole):
            whole[j] = _whole(read[0][:, j])
    return PlainTable(path, plain, tuple(whole.tolist()), rows) if rows else None


def _whole_columns(values: NDArray[np.float64]) -> list[bool]:
    """Which columns hold whole numbers only; most that do not say so in their first rows."""
    whole = np.ones(values.shape[1], dtype=np.bool_)
    for begin in range(0, len(values), BLOCK):
        for j in np.flatnonzero(whole):
            whole[j] = _whole(values[begin : begin + BLOCK, j])
    return [bool(own) for own in whole]


def _whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all((values == np.floor(values)) | np.isnan(values)))


def plain_frame(path: str | os.PathLike[str], source: str) -> Frame | None:
    """The whole file as a frame: whole numbers as integers."""
    read = read_plain(path)
    if read is None or not len(read[0]):
        return None
    return frame_of_rows(np.asfortranarray(read[0]), read[2], source)


def frame_of_rows(
    values: NDArray[np.float64], names: Sequence[str], source: str, kinds: Sequence[str] | None = None
) -> Frame:
    """Rows of numbers as a frame."""
    kinds = kinds or ["integer" if whole else "number" for whole in _whole_columns(values)]
    made = tuple(Column(name, kind, values[:, j]) for j, (name, kind) in enumerate(zip(names, kinds, strict=True)))
    return Frame(made, len(values), source)
