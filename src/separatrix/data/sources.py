"""A source is a file, a glob, ``-``, ``example:NAME`` or SQL over files; all become a Frame, or rows as they are.

Delimited text is read by our own reader, Parquet, JSON and SQL by DuckDB, both by a plan that the first rows settle,
into a :class:`Frame`; svmlight files, Vowpal Wabbit's and arrays are rows of numbers already (row_files.py). Either is
read whole, or in batches whose number does not grow with the file.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from separatrix.data.conversions import local_file
from separatrix.data.delimited_table import DelimitedTable
from separatrix.data.duckdb_reader import Written
from separatrix.data.file_kinds import first_bytes, kind_of
from separatrix.data.file_pieces import gzipped, kept_bytes
from separatrix.data.frame import CELLS, Frame, csv_lines, written_cells
from separatrix.data.reading_plan import Reading
from separatrix.data.row_files import ROW_FILES, Matrix, RowFile, row_file
from separatrix.data.table_queries import sql_query, typed_query
from separatrix.data.typed_table import TypedTable
from separatrix.errors import DataError

NAMED = re.compile(r"'((?:[^']|'')+)'|\"((?:[^\"]|\"\")+)\"")
SQL = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)


class Source:
    """Something to read from, opened: what it is, and its content whole or in batches."""

    def __init__(
        self,
        name: str,
        *,
        table: Callable[[], DelimitedTable | TypedTable] | None = None,
        rows: RowFile | None = None,
        frame: Frame | None = None,
        reading: Reading | None = None,
        expect: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.name = name
        self.rows = rows  # of numbers, without column names
        self.frame = frame
        self.reading = reading or Reading()
        self.skip_missing_target = False
        self._make = table
        self._table: DelimitedTable | TypedTable | None = None
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
    def table(self) -> DelimitedTable | TypedTable | None:
        """The table, described when it is first asked for."""
        if self._table is None and self._make is not None:
            self._table = self._make()
        return self._table

    @property
    def notes(self) -> list[str]:
        """What was guessed while reading."""
        return [] if self._table is None else self._table.notes

    @property
    def broken(self) -> list[str]:
        """What did not fit the plan so far, in words."""
        return self._table.account.notes() if isinstance(self._table, DelimitedTable) else []

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and kinds of a table's columns."""
        if self.frame is not None:
            return [(column.name, column.kind) for column in self.frame.columns]
        return [] if self.table is None else self.table.columns

    def frames(self, names: Sequence[str] | None = None, originals: str = "") -> Iterator[tuple[Frame, Written]]:
        """A table in batches of rows, in the order of the file; ``originals`` as :meth:`Query.frames` has it."""
        if self.frame is not None:
            yield from _few_cells(self.frame, names, originals)
            return
        assert self.table is not None
        for frame, written in self.table.frames(names, originals):
            self._watch(frame.n)
            yield frame, written

    def matrices(self, features: int) -> Iterator[Matrix]:
        """Rows without column names in batches, for a model of so many features."""
        assert self.rows is not None
        yield from self.rows.batches(features, self._watch)

    def read(self, names: Sequence[str] | None = None) -> Frame | Matrix:
        """All rows."""
        if self.rows is not None:
            return self.rows.read()
        if self.frame is not None:
            return self.frame if names is None else Frame(tuple(map(self.frame.__getitem__, names)), self.frame.n)
        assert self.table is not None
        frame = self.table.read(names)
        if frame is None:
            raise DataError(f"{self.name} has no rows.")
        return frame

    @property
    def repeated(self) -> set[str]:
        """Names of columns that occur more than once, in lower case."""
        plan = self._table.plan if isinstance(self._table, DelimitedTable) else None
        return set() if plan is None else {name.lower() for name in plan.repeated}


def _few_cells(frame: Frame, names: Sequence[str] | None, originals: str) -> Iterator[tuple[Frame, Written]]:
    """A frame in parts of no more cells than a batch is to have."""
    wanted = Frame(tuple(frame[name] for name in (frame.names if names is None else names)), frame.n, frame.source)
    step = max(1, CELLS // max(1, len(frame.columns)))
    for begin in range(0, frame.n, step):
        part = slice(begin, begin + step)
        cells = [written_cells(column.take(part)) for column in frame.columns] if originals else []
        yield wanted.take(part), [csv_lines(cells)] if originals == "lines" else cells


def open_source(text: str, reading: Reading | None = None) -> Source:
    """The source that a command names."""
    reading = reading or Reading()
    if text != "-" and (found := local_file(text)) and os.path.isfile(found):  # whatever its name looks like
        return open_files([Path(found)], Path(text).name, reading)
    if text.startswith("example:"):
        return _example(text.removeprefix("example:"))
    if SQL.match(text):
        shown = text if len(text) <= 40 else text[:37] + "…"
        query = sql_query(text.strip().rstrip(";"), _delimited_in(text), shown, reading)
        return Source(shown, table=lambda: TypedTable(query, reading), reading=reading)
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
    table: DelimitedTable | TypedTable
    if kind == "csv":
        table = DelimitedTable(paths, name, reading)
    else:
        table = TypedTable(typed_query(paths, kind, name, reading), reading)
    return Source(name, table=lambda: table, reading=reading, expect=lambda: _rows_of(paths, kind))


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
        if inside := sorted(path.rglob("*.parquet")):
            return inside
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
    return [Path(local_file(p)) for p in found]


def _from_standard_input(reading: Reading) -> Source:
    """Standard input, kept in a file that is gone when the process ends."""
    path = kept_bytes(iter(lambda: sys.stdin.buffer.read(1 << 20), b""))
    if not path.stat().st_size:
        raise DataError("standard input is empty: pipe rows into it.")
    return open_files([path], "standard input", reading)


def _example(name: str) -> Source:
    from separatrix.data.examples import load_example

    return Source(f"example:{name}", frame=load_example(name).frame())
