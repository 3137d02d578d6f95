"""Delimited text as a table: pieces of whole rows, read by the plan of the first rows, in the order of the file.

One reader for a table in memory, for predictions batch by batch, for the lines of a partition and for a stream. A row
or a cell that breaks the plan is refused with its file, line and column, left out, or called missing, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.data.duckdb_reader import FEW_THREADS, Written
from separatrix.data.file_pieces import (
    NEWLINE,
    PIECE,
    Bytes,
    Growing,
    as_utf8,
    encoding_of,
    gzipped,
    in_order,
    opened,
    pieces,
    workers,
)
from separatrix.data.frame import CELLS, Column, Frame, csv_lines, unknown_column
from separatrix.data.number_writing import Writing, forms_of
from separatrix.data.reading_plan import TEXT, ColumnPlan, Reading, TablePlan
from separatrix.data.sniffer import WINDOW, header_of, table_plan
from separatrix.errors import DataError

OF_CELLS, OF_QUOTES, OF_BYTES, OF_NUL, OF_CELL, OF_LENGTH = range(1, 7)  # what is wrong with a row
NAMED = 3  # broken cells that are shown
SHARED = 1 << 14  # different texts of a column up to which rows share them


class Fault(NamedTuple):
    """A row that is left out or has a cell called missing: its place in its piece, and what is wrong."""

    rows_before: int
    byte: int
    why: int
    column: int
    cell: str


@dataclass(slots=True)
class DelimitedRows:
    """The rows of a piece: numbers and dates, codes of texts with their levels, and where each row lies."""

    plan: TablePlan
    names: list[str]  # of the columns that were read
    numbers: Floats
    codes: NDArray[np.int32]
    levels: list[list[str]]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    faults: list[Fault]
    broken: dict[str, int]
    text: Bytes

    @property
    def n(self) -> int:
        return len(self.begins)

    def columns(self, names: Sequence[str], shared: dict[str, dict[str, str]]) -> tuple[Column, ...]:
        """Some columns, in this order; equal texts of one column are one object where there are few."""
        kinds = dict(zip(self.plan.names, self.plan.columns, strict=True))
        numeric = [name for name in self.names if kinds[name].kind != "text"]
        places = {name: j for j, name in enumerate(numeric)}
        words = {name: j for j, name in enumerate(name for name in self.names if kinds[name].kind == "text")}
        made = []
        for name in names:
            own = kinds[name]
            if own.kind == "text":
                values = self.texts(words[name], shared.setdefault(name, {}))
                made.append(Column(name, "text", values))
            else:
                writing = own.writing if own.writing is not None and not own.writing.plain else None
                made.append(Column(name, own.kind, self.numbers[:, places[name]], writing, own.format))
        return tuple(made)

    def texts(self, at: int, known: dict[str, str]) -> NDArray[Any]:
        """A column of text, None where it is missing."""
        levels = self.levels[at]
        if len(known) + len(levels) <= SHARED:
            levels = [known.setdefault(text, text) for text in levels]
        table = np.empty(len(levels) + 1, dtype=object)
        table[:-1] = levels
        return np.asarray(table[self.codes[:, at]])

    def lines(self) -> list[str]:
        """The rows as they are written, without their line ends."""
        raw = self.text.tobytes()
        if not self.faults and b'"' not in raw and raw.count(b"\n") + (raw[-1:] != b"\n") == self.n:
            whole = raw.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\r")
            return whole.removesuffix("\n").split("\n")
        spans = zip(self.begins.tolist(), self.ends.tolist(), strict=True)
        return [raw[a:b].decode("utf-8", "replace").rstrip("\r\n") for a, b in spans]


def read_rows(
    plan: TablePlan, reader: Any, names: Sequence[str], text: Bytes, more: int = 0, last: bool = True
) -> DelimitedRows:
    """The rows of a piece by a native reader of some columns."""
    numbers, codes, levels, begins, ends, faults, broken, _ = reader.read(text, more, last)
    if plan.tidy:  # blanks around a word are none of its letters
        levels = [[cell.strip() for cell in own] for own in levels]
    count = {name: many for name, many in zip(plan.names, broken, strict=True) if many}
    kept = [name for name in plan.names if name in set(names)]
    own = [Fault(*fault) for fault in faults]
    return DelimitedRows(plan, kept, numbers, codes, levels, begins, ends, own, count, text)


def reason(fault: Fault, plan: TablePlan) -> str:
    """What is wrong with a row, and what to do."""
    if fault.why == OF_CELLS:
        width, first = len(plan.names), "the first line has" if plan.header else "there are"
        many = f"{fault.column} cell{'s' * (fault.column != 1)}"
        return f"has {many}, and {first} {width}{'' if plan.header else ' columns'}"
    if fault.why == OF_CELL:
        name = plan.names[fault.column]
        return broken_cell(name, fault.cell, plan.columns[fault.column], name in plan.given)
    return {
        OF_QUOTES: "a quote is opened and never closed",
        OF_BYTES: "its bytes are not UTF-8: pass encoding=",
        OF_NUL: "it holds a NUL byte: it is damaged, or not text",
        OF_LENGTH: "it is longer than 2 MB: is it a table?",
    }[fault.why]


def broken_cell(name: str, cell: str, own: ColumnPlan, given: bool) -> str:
    """A cell that is not as its column is, by its first rows or, ``given``, by a model or the user."""
    shown, above = cell.strip()[:40], "as the model reads them" if given else "like those above it"
    form = forms_of([cell])[0]
    if own.kind == "date":
        said, how = "date", f" ({own.format})"
    else:
        said, how = "number", "" if own.writing is None or own.writing.plain else f" ({own.writing})"
    advice = f"add na={shown!r} to call such a cell missing, or category={name!r} to take all as levels"
    if given and form is not None:
        other = own.writing is not None and form[1] != own.writing.unit
        advice = "convert the column" if other else "decimal= says that this file has another decimal mark"
    return f"{name!r} is {shown!r}, not a {said} {above}{how}: {advice}"


@dataclass(slots=True)
class Account:
    """What did not fit the plan while a table was read."""

    left_out: int = 0
    missing: dict[str, int] = field(default_factory=dict)  # cells called missing, by column
    first: list[str] = field(default_factory=list)

    def add(self, rows: DelimitedRows, where: Any) -> None:
        called = rows.plan.broken == "missing"
        self.left_out += sum(not called or fault.why != OF_CELL for fault in rows.faults)
        for name, many in rows.broken.items():
            self.missing[name] = self.missing.get(name, 0) + many
        for fault in rows.faults[: NAMED - len(self.first)]:
            self.first.append(f"line {where(fault):,}: {reason(fault, rows.plan).partition(': add na')[0]}")

    def notes(self) -> list[str]:
        """In words."""
        such = f" ({'; '.join(self.first)})" if self.first else ""
        said = [f"{self.left_out:,} row{'s' * (self.left_out != 1)} left out{such}"] if self.left_out else []
        if self.missing:
            told = ", ".join(f"{many:,} of {name!r}" for name, many in self.missing.items())
            said.append(f"cells called missing: {told}{such}")
        return said


class DelimitedTable:
    """Files of delimited text with the same columns, read one after the other by the plan of the first."""

    def __init__(self, paths: Sequence[Path], name: str, reading: Reading, plan: TablePlan | None = None) -> None:
        self.name, self.account = name, Account()
        self.encodings: list[str] = []
        self._paths = list(paths)
        self._copies: dict[Path, Path] = {}
        start = self._start(self._paths[0], reading)
        self.plan = plan or table_plan(start, len(start) < WINDOW, name, reading)
        self._reading = reading

    def _start(self, path: Path, reading: Reading) -> bytes:
        """The first bytes, in UTF-8."""
        with opened(self._in_utf8(path, reading)) as file:
            start: bytes = file.read(WINDOW)
        return start

    def _in_utf8(self, path: Path, reading: Reading) -> Path:
        """The file, or a copy in UTF-8 where it is not."""
        if path not in self._copies:
            found = reading.encoding or encoding_of(path, self.name)
            self._copies[path] = path if found is None else as_utf8(path, self.name, found)
            if found is not None and reading.encoding is None and found != "utf-16":
                self.encodings = [f"encoding = {found}"]
        return self._copies[path]

    @property
    def notes(self) -> list[str]:
        return [*self.encodings, *self.plan.notes, *self.account.notes()]

    def rows(self, names: Sequence[str] | None = None, size: int = PIECE) -> Iterator[DelimitedRows]:
        """Pieces of rows in the order of the files; those that break the plan are dealt with as it says."""
        plan = self.plan
        wanted = list(plan.names) if names is None else list(names)
        for name in wanted:
            if name not in plan.names:
                raise DataError(unknown_column(name, list(plan.names), self.name))
        reader = plan.reader(wanted)
        for path in self._paths:
            own = self._in_utf8(path, self._reading)
            shown = self.name if len(self._paths) == 1 else path.name
            with opened(own) as file:
                begin = header_of(file.read(WINDOW), plan)
            at = begin
            threads = 1 if FEW_THREADS.get() else workers()
            source = whole_rows(own, begin, reader, size)
            for rows in in_order(lambda piece: read_rows(plan, reader, wanted, piece), source, threads):
                self._deal(rows, own, shown, at)
                at += len(rows.text)
                if rows.n:
                    yield rows

    def _deal(self, rows: DelimitedRows, path: Path, name: str, at: int) -> None:
        if not rows.faults:
            return

        def line(fault: Fault) -> int:
            return line_of(path, at) + kernels.count_byte(rows.text[: fault.byte], NEWLINE)

        self.account.add(rows, line)
        if self.plan.broken == "refuse" or any(fault.why == OF_LENGTH for fault in rows.faults):
            first = rows.faults[0]
            where = f"{name} line {line(first)}"
            link = " " if first.why == OF_CELLS else ": "
            said = reason(first, self.plan)
            if first.why == OF_LENGTH:
                link, said = " ", said.removeprefix("it ")
            raise DataError(f"{where}{link}{said}.")

    @property
    def columns(self) -> list[tuple[str, str]]:
        return [(name, own.kind) for name, own in zip(self.plan.names, self.plan.columns, strict=True)]

    def decided(self) -> dict[str, ColumnPlan]:
        """What the columns are."""
        return dict(zip(self.plan.names, self.plan.columns, strict=True))

    def has_rows(self) -> bool:
        """Whether there is a row below the names of the columns."""
        return any(rows.n for rows in self.rows(self.plan.names[:1]))

    def files(self) -> list[Path]:
        """The files in UTF-8: themselves, or copies."""
        return [self._in_utf8(path, self._reading) for path in self._paths]

    def frames(self, names: Sequence[str] | None = None, originals: str = "") -> Iterator[tuple[Frame, Written]]:
        """Batches of the wanted columns; with all cells as they are written, by column, or as lines of a CSV."""
        wanted = list(self.plan.names) if names is None else list(names)
        asis = self.plan.delimiter == "," and self.plan.quotes
        reader = _as_written(self.plan).reader() if originals == "cells" or (originals and not asis) else None
        shared: dict[str, dict[str, str]] = {}
        for rows in self.rows(wanted):
            frame = Frame(rows.columns(wanted, shared), rows.n, self.name)
            step = max(1, CELLS // max(1, len(wanted)))
            written: Written = []
            if originals == "lines" and asis:
                written = [list(rows.lines())]
            elif reader is not None:
                cells = self._cells(rows, reader)
                written = [csv_lines(cells)] if originals == "lines" else cells
            for begin in range(0, rows.n, step):
                part = slice(begin, begin + step)
                yield frame.take(part) if rows.n > step else frame, [own[part] for own in written]

    def _cells(self, rows: DelimitedRows, reader: Any) -> Written:
        """All cells of some rows as they are written; None where one is empty."""
        plan = _as_written(self.plan)
        every = read_rows(plan, reader, plan.names, rows.text)
        kept = np.searchsorted(every.begins, rows.begins)
        cells = [every.texts(j, {})[kept].tolist() for j in range(len(plan.names))]
        for own, column in zip(cells, self.plan.columns, strict=True):
            if column.writing == Writing(","):
                own[:] = [cell and cell.replace(",", ".") for cell in own]
        return cells

    def stored(self, whole: bool) -> list[str]:
        """The kinds of the cells as they are written; a look at all rows finds ``whole`` numbers."""
        as_numbers = (Writing(), Writing(","))
        plain = {name for name, own in self.decided().items() if own.kind == "number" and own.writing in as_numbers}
        if not whole:
            return ["number" if name in plain else "text" for name in self.plan.names]
        numeric, found = [name for name in self.plan.names if name in plain], set(plain)
        for rows in self.rows(numeric):
            found -= {name for name, own in zip(rows.names, rows.numbers.T, strict=True) if not is_whole(own)}
        return ["integer" if name in found else "number" if name in plain else "text" for name in self.plan.names]

    def read(self, names: Sequence[str] | None = None) -> Frame | None:
        """All rows, whole numbers as integers; None where there are none."""
        wanted = list(self.plan.names) if names is None else list(names)
        kinds = dict(zip(self.plan.names, self.plan.columns, strict=True))
        grown = {name: Growing(object if kinds[name].kind == "text" else "f8") for name in wanted}
        n, seen, whole = 0, 0, sum(_size(path) for path in self._paths)
        last: tuple[Column, ...] = ()
        shared: dict[str, dict[str, str]] = {}
        for rows in self.rows(wanted):
            n, seen, last = n + rows.n, seen + len(rows.text), rows.columns(wanted, shared)
            for column in last:
                grown[column.name].add(column.values, min(1.0, seen / whole) if whole else 1.0)
        if not n:
            return None
        return Frame(tuple(_whole(own, grown[own.name].array) for own in last), n, self.name)


def frame_of_text(text: bytes, plan: TablePlan, name: str, first: bool) -> Frame | None:
    """The rows of some lines of a file, the ``first`` of which may name the columns; None where there are none."""
    raw = np.frombuffer(text, dtype=np.uint8)
    begin = header_of(text, plan) if first else 0
    rows = read_rows(plan, plan.reader(), plan.names, raw[begin:])
    if rows.faults and plan.broken == "refuse":
        fault = rows.faults[0]
        line = kernels.count_byte(raw[: begin + fault.byte], NEWLINE) + 1
        raise DataError(f"{name} line {line:,}{' of these' if not first else ''}: {reason(fault, plan)}.")
    columns = rows.columns(list(plan.names), {})
    return Frame(tuple(_whole(own, own.values) for own in columns), rows.n, name) if rows.n else None


def _as_written(plan: TablePlan) -> TablePlan:
    """The same with every column as text, and no word for a missing value."""
    return replace(plan, columns=(TEXT,) * len(plan.columns), missing=(), broken="refuse", tidy=False)


def _size(path: Path) -> int:
    return 0 if gzipped(path) else path.stat().st_size


def _whole(column: Column, values: NDArray[Any]) -> Column:
    """The column with all values: numbers as integers where all are."""
    kind = "integer" if column.kind == "number" and is_whole(values) else column.kind
    return Column(column.name, kind, values, column.writing, column.format)


BLOCK = 1 << 12


def is_whole(values: Floats) -> bool:
    """Whether numbers are whole, up to missing ones; most that are not say so in their first rows."""
    for begin in range(0, len(values), BLOCK):
        part = values[begin : begin + BLOCK]
        if not np.all((part == np.floor(part)) | np.isnan(part)):
            return False
    return True


def whole_rows(path: Path, begin: int, reader: Any, size: int = PIECE) -> Iterator[Bytes]:
    """Pieces of a file that end behind rows: a line end between quotes does not end one."""
    rest = np.empty(0, dtype=np.uint8)
    held: Bytes | None = None
    for piece in pieces(path, size=size, begin=begin):
        if held is not None:
            whole = np.concatenate([rest, held]) if len(rest) else held
            cut = reader.complete(whole, len(piece))
            rest = whole[cut:]
            if cut:
                yield whole[:cut]
        held = piece
    if held is not None:
        yield np.concatenate([rest, held]) if len(rest) else held


def line_of(path: Path, at: int) -> int:
    """The number of the line, from 1, that begins at a byte."""
    number, seen = 1, 0
    for piece in pieces(path):
        if seen + len(piece) >= at:
            return number + kernels.count_byte(piece[: at - seen], NEWLINE)
        number += kernels.count_byte(piece, NEWLINE)
        seen += len(piece)
    return number
