"""Files and SQL through DuckDB, whose result arrives column by column through Arrow's C stream.

Numbers, booleans and dates leave DuckDB as float64, everything else as text, so that two Arrow types are
all there is to read here. DuckDB gets no network: extensions are neither installed nor loaded by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import CELLS, Column, Frame, unknown_column
from separatrix.errors import DataError
from separatrix.extras import need

NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*|REAL)\Z")
INTEGERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)\Z")
DATES = re.compile(r"(DATE|TIMESTAMP.*)\Z")
Written = list[list[str | None]]
FEW_THREADS: ContextVar[bool] = ContextVar("FEW_THREADS", default=False)  # one, instead of one for each processor
LEAN, FEW_COLUMNS = "150MB", 200
KNOWN = {  # what DuckDB says of files, in a sentence that says what to do
    "not utf-8 encoded": "its bytes are not UTF-8: save it as UTF-8",
    "Invalid unicode": "its bytes are not UTF-8: save it as UTF-8",
    "Maximum line size": "a line is longer than 2 MB: is it a table?",
    "Error when sniffing file": "it does not look like a table: no delimiter gives lines of equal length",
    "Value with unterminated quote": "a quote is opened and never closed",
}
WORDS_ONLY = re.compile(r"(?:Error|Exception): ?(.*)", re.DOTALL)


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def kind_of_type(sql_type: str) -> str:
    if sql_type == "BOOLEAN":
        return "boolean"
    if INTEGERS.match(sql_type):
        return "integer"
    if NUMBERS.match(sql_type):
        return "number"
    return "date" if DATES.match(sql_type) else "text"


def _as_read(name: str, kind: str) -> str:
    column = identifier(name)
    if kind == "date":
        return f"epoch({column})::DOUBLE"
    if kind == "boolean":  # a plain cast would be made by the CSV reader, which then wants digits
        return f"CASE WHEN {column} THEN 1::DOUBLE WHEN NOT {column} THEN 0::DOUBLE END"
    return f"{column}::{'VARCHAR' if kind == 'text' else 'DOUBLE'}"


def _csv_cell(name: str, kind: str) -> str:
    """A cell as a CSV file has it: quoted where it holds what would end it."""
    cell = f"coalesce({identifier(name)}::VARCHAR, '')"
    if kind != "text":
        return cell
    odd = " OR ".join(f"contains({cell}, {sign})" for sign in ("','", "'\"'", "chr(10)", "chr(13)"))
    return f"""CASE WHEN {odd} THEN '"' || replace({cell}, '"', '""') || '"' ELSE {cell} END"""


@dataclass(slots=True)
class Query:
    """A SELECT over files, described once and read as often as wanted.

    ``views`` are tables that it names, each with the SELECT that reads it.
    """

    sql: str
    source: str
    lean: bool = False  # rows are passed on as they are read: DuckDB needs little memory
    columns: list[tuple[str, str, str]] = field(default_factory=list)  # name, kind, SQL type
    notes: list[str] = field(default_factory=list)  # what was guessed about its files
    views: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.columns:
            self._describe()

    def _describe(self) -> None:
        try:
            with self._connect() as con:
                described = con.sql(f"DESCRIBE SELECT * FROM ({self.sql})").fetchall()
        except Exception as error:
            raise refused(error, self.source) from error
        self.columns = [(row[0], kind_of_type(row[1]), row[1]) for row in described]

    def _connect(self) -> Any:
        con = connect()
        for name, sql in self.views.items():
            con.execute(f"CREATE TEMP VIEW {identifier(name)} AS {sql}")
        return con

    def frames(self, names: Sequence[str] | None = None, originals: str = "") -> Iterator[tuple[Frame, Written]]:
        """Batches of the wanted columns, each with all cells as they are written: by column (``originals="cells"``),
        as one column of CSV lines (``"lines"``), or not at all."""
        started = False
        try:
            for pair in self._read(names, originals):
                started = True
                yield pair
        except DataError:
            raise
        except Exception as error:
            if type(error).__name__ == "OutOfMemoryException" and self.lean and not started:
                self.lean = False  # a row group of a Parquet file is read whole, however large it is
                yield from self.frames(names, originals)
                return
            raise refused(error, self.source) from error

    def _read(self, names: Sequence[str] | None, originals: str) -> Iterator[tuple[Frame, Written]]:
        nanoarrow = need("nanoarrow")

        known = {name: kind for name, kind, _ in self.columns}
        wanted = list(known) if names is None else list(names)
        for name in wanted:
            if name not in known:
                raise DataError(unknown_column(name, list(known), self.source))
        parts = [_as_read(name, known[name]) for name in wanted]
        if originals == "cells":
            parts += [f"{identifier(name)}::VARCHAR" for name in known]
        elif originals == "lines":
            parts.append(f"concat_ws(',', {', '.join(_csv_cell(name, kind) for name, kind in known.items())})")
        with self._connect() as con:
            if self.lean and len(parts) <= FEW_COLUMNS:
                con.execute(f"SET memory_limit = '{LEAN}'")
            listed = ", ".join(f"{part} AS c{j}" for j, part in enumerate(parts)) or "1"
            relation = con.sql(f"SELECT {listed} FROM ({self.sql})")
            stream = nanoarrow.ArrayStream(relation)
            for chunk in stream.iter_chunks():
                children = [chunk.child(j) for j in range(chunk.n_children)]
                step = max(1, CELLS // max(1, len(children)))
                for begin in range(0, len(chunk), step):
                    rows = begin, min(len(chunk), begin + step)
                    columns = tuple(
                        Column(name, known[name], (texts if known[name] == "text" else numbers)(child, *rows))
                        for name, child in zip(wanted, children, strict=False)
                    )
                    written = [texts(child, *rows).tolist() for child in children[len(wanted) :]] if originals else []
                    yield Frame(columns, rows[1] - rows[0], self.source), written


def connect() -> Any:
    duckdb = need("duckdb")
    con = duckdb.connect(config=_threads(duckdb.__version__))
    con.execute("SET autoinstall_known_extensions = false; SET autoload_known_extensions = false")
    con.execute("SET enable_progress_bar = false")
    return con


@contextmanager
def few_threads() -> Iterator[None]:
    """Read with one thread: for a few megabytes more of them cost more memory than they save time."""
    before = FEW_THREADS.set(True)
    try:
        yield
    finally:
        FEW_THREADS.reset(before)


def _threads(version: str) -> dict[str, Any]:
    """The options of a connection for the threads that are allowed; some of them came with DuckDB 2."""
    if not FEW_THREADS.get():
        return {}
    return {"threads": 1} | ({} if version.startswith(("0.", "1.")) else {"async_threads": 0})


def numbers(child: Any, low: int, high: int) -> NDArray[np.float64]:
    """Some rows of a float64 Arrow array, with NaN where it is null."""
    validity, data = child.buffers
    begin, n = child.offset + low, high - low
    values = np.frombuffer(data, dtype=np.float64, count=begin + n)[begin:].copy()
    null = _nulls(validity, begin, n)
    if null is not None:
        values[null] = np.nan
    return values


def texts(child: Any, low: int, high: int) -> NDArray[Any]:
    """Some rows of a string Arrow array as objects, None where it is null."""
    validity, offsets, data = child.buffers
    begin, n = child.offset + low, high - low
    ends = np.frombuffer(offsets, dtype=np.int32 if offsets.itemsize == 4 else np.int64)[begin : begin + n + 1]
    first = int(ends[0]) if len(ends) else 0
    letters = np.frombuffer(data, dtype=np.uint8)[first : int(ends[-1])].tobytes() if len(ends) else b""
    null = _nulls(validity, begin, n)
    out = np.empty(n, dtype=object)
    at = (ends - first).tolist()
    if letters.isascii():
        whole = letters.decode("ascii")
        out[:] = [whole[a:b] for a, b in pairwise(at)]
    else:
        out[:] = [letters[a:b].decode("utf-8", "replace") for a, b in pairwise(at)]
    if null is not None:
        out[null] = None
    return out


def _nulls(validity: Any, begin: int, n: int) -> NDArray[np.bool_] | None:
    raw = np.frombuffer(validity, dtype=np.uint8) if validity.size_bytes else np.empty(0, dtype=np.uint8)
    if not len(raw):
        return None
    bits = np.unpackbits(raw, bitorder="little", count=begin + n)[begin:]
    return bits == 0 if not bits.all() else None


def refused(error: Exception, source: str) -> DataError:
    """DuckDB's many lines as one sentence of ours."""
    text = str(error)
    if type(error).__name__ == "InterruptException" or "Query interrupted" in text:
        raise KeyboardInterrupt from error
    if isinstance(error, MemoryError) or "returned NULL without setting an exception" in text:
        raise MemoryError from error  # the second is how an import ends when there is no memory for its error
    match = WORDS_ONLY.search(text)
    first = (match.group(1) if match else text).strip().splitlines()
    said = next((line.strip() for line in first if line.strip()), type(error).__name__)
    if "httpfs" in text or "HTTP" in text:
        said = "files on the network cannot be read: copy the file here first"
    for sign, words in KNOWN.items():
        if sign in text:
            said = words
    absent = re.search(r'Columns with names: "(.*?)" do not exist', text)
    if absent:
        said = f"it has no column {absent.group(1)!r}"
    line = re.search(r"(?:Line|line):? (\d+)", text)
    where = f" line {line.group(1)}" if line and f"line {line.group(1)}" not in said.lower() else ""
    cell = re.search(r'Could not convert string "(.{0,60}?)" to', text)
    if cell:
        column = re.search(r"[Cc]olumn (\S+) is being converted", text)
        named = f" in column {column.group(1)!r}" if column else ""
        said = f'"{cell.group(1)}"{named} is not a number like those above it: add na=, or text= for the column'
    return DataError(f"{source}{where} cannot be read: {said.rstrip('.')[:300]}.")
