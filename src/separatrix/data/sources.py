"""A source is a file, a glob, ``-``, ``example:NAME`` or SQL over files; all become a Frame, or rows as they are.

Tables (CSV, Parquet, JSON, SQL) are read by DuckDB into a :class:`Frame`, delimited numbers by our own reader;
svmlight files, Vowpal Wabbit's and arrays are rows of numbers already (row_files.py). Either is read whole, or in
batches whose number does not grow with the file.
"""

from __future__ import annotations

import csv
import glob
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix.data.dialect import Reading, first_bytes, kind_of
from separatrix.data.duckdb_reader import Query, Written
from separatrix.data.file_pieces import Bytes, gzipped, kept_bytes
from separatrix.data.frame import CELLS, Column, Frame, join
from separatrix.data.number_writing import Writing
from separatrix.data.plain_numbers import PlainTable, frame_of_rows, plain_frame, plain_table
from separatrix.data.recognised_columns import read_as, recognised
from separatrix.data.row_files import ROW_FILES, Matrix, RowFile, row_file
from separatrix.data.table_queries import sql_query, table_query
from separatrix.errors import DataError

NAMED = re.compile(r"'((?:[^']|'')+)'|\"((?:[^\"]|\"\")+)\"")
SQL = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)


class Source:
    """Something to read from, opened: what it is, and its content whole or in batches."""

    def __init__(
        self,
        name: str,
        *,
        query: Query | None = None,
        rows: RowFile | None = None,
        frame: Frame | None = None,
        path: Path | None = None,
        lazy: Callable[[], Query] | None = None,
        reading: Reading | None = None,
        expect: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.name = name
        self.rows = rows  # of numbers, without column names
        self.frame = frame
        self.path = path  # of a file that may hold nothing but plain numbers
        self.reading = reading or Reading()
        self.notes: list[str] = []  # what was guessed while reading
        self.skip_missing_target = False
        self._plain: PlainTable | None = None
        self._query = query
        self._lazy = lazy
        self._expect = expect  # how much there is, in bytes or, for tables, in rows
        self._whole: float | None = None
        self._seen = 0

    @property
    def share(self) -> float | None:
        """How much of the source the batches so far were; None where that cannot be told."""
        if self._whole is None:
            self._whole = self._expect() or 0.0
        return min(1.0, self._seen / self._whole) if self._whole else None

    def _watch(self, more: int) -> None:
        self._seen += more

    @property
    def query(self) -> Query | None:
        if self._query is None and self._lazy is not None:
            self._query = self._lazy()
        return self._query

    @property
    def plain(self) -> PlainTable | None:
        """The file as a table of plain numbers, if it is one throughout."""
        if self._plain is None and self.path is not None:
            self._plain = plain_table(self.path)
            if self._plain is None:
                self.path = None
        return self._plain

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and kinds of a table's columns."""
        if self.frame is not None:
            return [(column.name, column.kind) for column in self.frame.columns]
        if self._plain is not None:
            return list(zip(self._plain.plain.names, self._plain.kinds, strict=True))
        return [] if self.query is None else [(name, kind) for name, kind, _ in self.query.columns]

    def frames(self, names: Sequence[str] | None = None, originals: str = "") -> Iterator[tuple[Frame, Written]]:
        """A table in batches of rows, in the order of the file; ``originals`` as :meth:`Query.frames` has it."""
        if self.frame is not None:
            yield from _few_cells(self.frame, names, originals)
        elif self.plain is not None:
            plain = self.plain
            for values, _ in self.lines():
                batch = frame_of_rows(values, plain.plain.names, self.name, plain.kinds)
                yield from _few_cells(batch, names, originals)
        else:
            assert self.query is not None
            known = dict(self.reading.numbers)
            if self.query.decimal_comma:
                numeric = [name for name, kind, _ in self.query.columns if kind in ("number", "integer")]
                known = dict.fromkeys(numeric, Writing(",")) | known
            for frame, written in self.query.frames(names, originals):
                self._watch(frame.n)
                yield read_as(frame, known) if known else frame, written

    def lines(self) -> Iterator[tuple[NDArray[np.float64], Bytes]]:
        """The rows of a table of plain numbers in batches, each with the text it was read from."""
        assert self.plain is not None
        for values, text in self.plain.batches():
            self._watch(len(values))
            yield values, text

    def matrices(self, features: int) -> Iterator[Matrix]:
        """Rows without column names in batches, for a model of so many features."""
        assert self.rows is not None
        yield from self.rows.batches(features, self._watch)

    def read(self, names: Sequence[str] | None = None) -> Frame | Matrix:
        """All rows."""
        if self.rows is not None:
            return self.rows.read()
        if self.path is not None and names is None:
            self.frame = plain_frame(self.path, self.name)
            self.path = None
        if self.frame is not None and names is None:
            return self.frame
        batches = [frame for frame, _ in self.frames(names)]
        if not batches or not sum(frame.n for frame in batches):
            raise DataError(f"{self.name} has no rows.")
        return self._recognised(join(batches))

    def _recognised(self, frame: Frame) -> Frame:
        """Numbers and dates for text that holds them; what was guessed is noted."""
        query, reading = self.query, self.reading
        if query is None:
            return frame
        found, notes = recognised(
            frame,
            but=(*reading.text, *reading.as_written, *dict(reading.numbers)),
            decimal=reading.decimal,
            file_decimal="," if query.decimal_comma else None,
            typed=query.typed,
        )
        commas = ["decimal commas"] if query.decimal_comma and reading.decimal is None and not reading.numbers else []
        twice = [f"another column named {name!r} got a number behind its name" for name in query.repeated]
        if query.unnamed:
            named, more = ", ".join(map(repr, query.unnamed[:5])), ", …" if len(query.unnamed) > 5 else ""
            several = "columns without a name are" if len(query.unnamed) > 1 else "a column without a name is"
            twice.append(f"{several} called {named}{more}")
        sniffed = [f"{own.name!r} as dates" for own in frame.columns if own.kind == "date" and not query.typed]
        self.notes = [*query.notes, *commas, *twice, *sniffed, *notes]
        return found

    @property
    def repeated(self) -> set[str]:
        """Names of columns that occur more than once, in lower case."""
        return set() if self._query is None else {name.lower() for name in self._query.repeated}


def _few_cells(frame: Frame, names: Sequence[str] | None, originals: str) -> Iterator[tuple[Frame, Written]]:
    """A frame in parts of no more cells than a batch is to have."""
    wanted = Frame(tuple(frame[name] for name in (frame.names if names is None else names)), frame.n, frame.source)
    step = max(1, CELLS // max(1, len(frame.columns)))
    for begin in range(0, frame.n, step):
        part = slice(begin, begin + step)
        cells = [_cells(column.take(part)) for column in frame.columns] if originals else []
        yield wanted.take(part), [csv_lines(cells)] if originals == "lines" else cells


def csv_lines(columns: Written) -> list[str | None]:
    """The rows of some columns as lines of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\0").writerows(zip(*columns, strict=True))
    return list(text.getvalue().split("\0")[:-1])


def _cells(column: Column) -> list[str | None]:
    """The values as text: numbers by the fewest digits that give them back, whole ones without a point."""
    return [None if v is None or v != v else v if isinstance(v, str) else _digits(v) for v in column.values.tolist()]


def _digits(value: float) -> str:
    return repr(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)


def open_source(text: str, reading: Reading | None = None) -> Source:
    """The source that a command names."""
    reading = reading or Reading()
    if text != "-" and os.path.isfile(text):  # whatever its name looks like
        return open_files([Path(text)], Path(text).name, reading)
    if text.startswith("example:"):
        return _example(text.removeprefix("example:"))
    if SQL.match(text):
        shown = text if len(text) <= 40 else text[:37] + "…"
        query = sql_query(text.strip().rstrip(";"), _delimited_in(text), shown, reading)
        return Source(shown, query=query, reading=reading)
    if text == "-":
        return _from_standard_input(reading)
    paths = _paths(text)
    return open_files(paths, paths[0].name if len(paths) == 1 else text, reading)


def files_of(text: str) -> list[str]:
    """The files that a source reads, as far as its text names them."""
    if os.path.isfile(text):
        return [text]
    names = [a or b for a, b in NAMED.findall(text)] if SQL.match(text) else [text]
    return [path for name in names for path in (glob.glob(name) or [name]) if os.path.isfile(path)]


def _delimited_in(sql: str) -> dict[str, list[Path]]:
    """Names in a SELECT that are files of delimited text, or patterns of such files."""
    names = dict.fromkeys((a or b).replace("''", "'").replace('""', '"') for a, b in NAMED.findall(sql))
    found = {name: [Path(path) for path in sorted(glob.glob(name)) if os.path.isfile(path)] for name in names}
    return {name: paths for name, paths in found.items() if paths and kind_of(paths[0]) == "csv"}


def open_files(paths: list[Path], name: str, reading: Reading) -> Source:
    """Files by what they are."""
    kind = kind_of(paths[0])
    if kind in ROW_FILES:
        return Source(name, rows=row_file(kind, paths, name), expect=lambda: _bytes_of(paths))
    if kind == "csv" and len(paths) == 1 and reading.is_default and not gzipped(paths[0]):
        lazy = partial(table_query, paths, kind, name, reading)
        return Source(name, lazy=lazy, path=paths[0], reading=reading, expect=lambda: _rows_of(paths, kind))
    query = table_query(paths, kind, name, reading)
    return Source(name, query=query, reading=reading, expect=lambda: _rows_of(paths, kind))


def _bytes_of(paths: list[Path]) -> float | None:
    return None if any(map(gzipped, paths)) else sum(path.stat().st_size for path in paths)


def _rows_of(paths: list[Path], kind: str) -> float | None:
    """About how many rows text has, by the length of its first lines."""
    start, size = first_bytes(paths[0]), _bytes_of(paths)
    lines = start.count(b"\n")
    return size / len(start) * lines if kind in ("csv", "json") and lines and size is not None else None


def _paths(text: str) -> list[Path]:
    if not text.strip():
        raise DataError("SOURCE is empty: name a file, a pattern, -, example:NAME, or SQL over files.")
    path = Path(text)
    if path.is_dir():
        raise DataError(f"{text} is a folder: name a file in it, or a pattern such as '{text.rstrip('/')}/*.csv'.")
    if path.exists():
        with path.open("rb"):  # an unreadable file says so now, in the words of the system
            return [path]
    found = sorted(glob.glob(text))
    if not found:
        scheme = re.match(r"[a-z0-9]+://", text)
        absent = "matches no file" if glob.has_magic(text) else "does not exist"
        reason = "is on the network: copy it here first" if scheme else absent
        raise DataError(f"{text} {reason}.")
    return [Path(p) for p in found]


def _from_standard_input(reading: Reading) -> Source:
    """Standard input, kept in a file that is gone when the process ends."""
    path = kept_bytes(iter(lambda: sys.stdin.buffer.read(1 << 20), b""))
    if not path.stat().st_size:
        raise DataError("standard input is empty: pipe rows into it.")
    return open_files([path], "standard input", reading)


def _example(name: str) -> Source:
    from separatrix.data.examples import load_example

    return Source(f"example:{name}", frame=load_example(name).frame())
