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
from separatrix.data.file_pieces import NEWLINE, Bytes, gzipped, in_order, opened, pieces, workers
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
    begin: int


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
        return plain if _parses(np.frombuffer(sample[:cut], dtype=np.uint8), plain) else None
    return None


def is_number(text: str) -> bool:
    """Whether Python reads the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parses(sample: Bytes, plain: Plain) -> bool:
    lines = kernels.count_byte(sample, NEWLINE) + 1
    room = np.empty(lines * len(plain.names))
    got = kernels.delimited_chunk(sample, ord(plain.delimiter), len(plain.names), -1, room, np.empty(0))
    return got[5] == 0 and got[0] > 0


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
    read = _Whole(plain, at, 0 if gzipped(path) else os.path.getsize(path))
    if not read.all(pieces(path, begin=plain.begin, ring=(threads or workers()) + 3), threads or workers()):
        return None
    if at >= 0:
        names.pop(at)
    X = read.values[: read.rows * read.width].reshape(read.rows, read.width)
    return X, read.labels[: read.rows] if at >= 0 else None, names


class _Whole:
    """Arrays for all rows, into which pieces are parsed side by side; they grow between rounds of pieces."""

    def __init__(self, plain: Plain, target: int, size: int) -> None:
        self.plain, self.target, self.size = plain, target, size
        self.width = len(plain.names) - (target >= 0)
        self.values, self.labels = np.empty(0), np.empty(0)
        self.rows = self.seen = 0
        self.held: Bytes | None = None

    def all(self, source: Iterator[Bytes], threads: int) -> bool:
        """Whether every piece was plain."""
        self.held = next(source, None)
        while self.held is not None:
            self._grow(self.held)
            for fault in in_order(self._parse, self._jobs(source), threads):
                if fault:
                    return False
        return True

    def _grow(self, piece: Bytes) -> None:
        """Room for this piece, and for as many rows as the rest of the file will have if it goes on like that."""
        lines = self.rows + kernels.count_byte(piece, NEWLINE) + 1
        rows = max(lines, lines * 3 // 2 if self.rows else 0, int(1.02 * lines * self.size / (self.seen + len(piece))))
        values, labels = np.empty(rows * self.width), np.empty(rows if self.target >= 0 else 0)
        values[: self.rows * self.width] = self.values[: self.rows * self.width]
        if self.target >= 0:
            labels[: self.rows] = self.labels[: self.rows]
        self.values, self.labels = values, labels

    def _jobs(self, source: Iterator[Bytes]) -> Iterator[tuple[Bytes, NDArray[np.float64], NDArray[np.float64]]]:
        """Pieces with their places, until there is no room or no piece; a line is a row."""
        while self.held is not None:
            piece = self.held
            lines = kernels.count_byte(piece, NEWLINE) + (piece[-1] != NEWLINE)
            end = self.rows + lines
            if end * self.width > len(self.values):
                return
            labels = self.labels[self.rows : end] if self.target >= 0 else self.labels
            yield piece, self.values[self.rows * self.width : end * self.width], labels
            self.rows, self.seen = end, self.seen + len(piece)
            self.held = next(source, None)

    def _parse(self, job: tuple[Bytes, NDArray[np.float64], NDArray[np.float64]]) -> int:
        columns = len(self.plain.names)
        return kernels.delimited_chunk(job[0], ord(self.plain.delimiter), columns, self.target, job[1], job[2])[5]


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
        values = _piece_values(piece, self.plain)
        if values is None:
            raise DataError(f"{self.path.name} changed while it was read.")
        return values, piece


def plain_table(path: Path) -> PlainTable | None:
    """Look through a file once; None where it is not made of plain numbers."""
    plain = plain_file(path)
    if plain is None:
        return None
    whole, rows = np.ones(len(plain.names), dtype=np.bool_), 0
    for values in in_order(lambda piece: _piece_values(piece, plain), pieces(path, begin=plain.begin), workers()):
        if values is None:
            return None
        rows += len(values)
        for j in np.flatnonzero(whole):
            whole[j] = _whole(values[:, j])
    return PlainTable(path, plain, tuple(whole.tolist()), rows) if rows else None


def _piece_values(piece: Bytes, plain: Plain) -> NDArray[np.float64] | None:
    lines = kernels.count_byte(piece, NEWLINE) + int(piece[-1] != NEWLINE)
    width = len(plain.names)
    values = np.empty(lines * width)
    got = kernels.delimited_chunk(piece, ord(plain.delimiter), width, -1, values, np.empty(0))
    return None if got[5] else values[: got[0] * width].reshape(-1, width)


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
    return frame_of_rows(_by_columns(read[0]), read[2], source)


def _by_columns(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same numbers with each column in one piece, turned block by block."""
    turned = np.empty(values.shape[::-1])
    for begin in range(0, len(values), BLOCK):
        turned[:, begin : begin + BLOCK] = values[begin : begin + BLOCK].T
    return turned.T


def frame_of_rows(
    values: NDArray[np.float64], names: Sequence[str], source: str, kinds: Sequence[str] | None = None
) -> Frame:
    """Rows of numbers as a frame."""
    kinds = kinds or ["integer" if whole else "number" for whole in _whole_columns(values)]
    made = tuple(Column(name, kind, values[:, j]) for j, (name, kind) in enumerate(zip(names, kinds, strict=True)))
    return Frame(made, len(values), source)
