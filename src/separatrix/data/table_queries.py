"""Files of tables as DuckDB queries: CSV of any dialect, Parquet, JSON."""

from __future__ import annotations

import atexit
import contextlib
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from separatrix.atomic_write import unnamed_file
from separatrix.data.bytes import gzipped, opened
from separatrix.data.dialect import SAMPLE, UTF16, Dialect, dialect_of, first_bytes
from separatrix.data.duck import Query, quoted
from separatrix.data.wide import is_wide, wide_query
from separatrix.errors import DataError

KEPT = contextlib.ExitStack()  # copies of standard input, until the process ends
atexit.register(KEPT.close)
LONGEST_LINE = 2_000_000  # bytes, as DuckDB has it


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read where its own habits do not say."""

    na: tuple[str, ...] = ()
    text: tuple[str, ...] = ()  # columns to leave as they are written
    header: bool | None = None


def kept_bytes(blocks: Iterator[bytes]) -> Path:
    """A file of these bytes that is gone when the process ends: DuckDB reads files by name."""
    path = KEPT.enter_context(unnamed_file())
    with path.open("wb") as file:
        file.writelines(blocks)
    return path


def _as_utf8(path: Path, name: str) -> Path:
    """A copy of a file in UTF-16, which DuckDB reads in one byte order only."""

    def blocks() -> Iterator[bytes]:
        with opened(path) as raw, io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-16", newline="") as text:
            while block := text.read(1 << 20):
                yield block.encode("utf-8", "replace")

    try:
        return kept_bytes(blocks())
    except UnicodeError as wrong:
        raise DataError(f"{name} begins like UTF-16 and cannot be read as such: {wrong}.") from wrong


def table_query(paths: list[Path], kind: str, name: str, reading: Reading) -> Query:
    if kind == "csv":
        wide = first_bytes(paths[0]).startswith(UTF16)
        paths = [_as_utf8(path, name) for path in paths] if wide else paths
    listed = "[" + ", ".join(quoted(_literal(p)) for p in paths) + "]"
    if kind == "parquet":
        return Query(f"SELECT * FROM read_parquet({listed})", name, lean=True)
    if kind == "json":
        return Query(f"SELECT * FROM read_json_auto({listed}, maximum_object_size=268435456)", name)
    start = first_bytes(paths[0])
    if not start.strip():
        raise DataError(f"{name} is empty: nothing to learn from.")
    if b"\0" in start:
        line = start[: start.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name} line {line} holds a NUL byte: it is damaged, or not text.")
    _need_lines(paths[0], start, name)
    options = _csv_options(dialect_of(start), reading)
    if start.startswith(b"\x1f\x8b") or gzipped(paths[0]):
        options.append("compression='gzip'")
    header = [] if reading.header is None else [f"header={'true' if reading.header else 'false'}"]
    if len(paths) == 1 and is_wide(start):
        one = quoted(_literal(paths[0]))
        query = wide_query(
            one,
            [*options, *header],
            name,
            reading.text,
            _csv_sql(one, [*options, *header, "sample_size=-1"], reading.text),
        )
    else:
        query = _csv_query(listed, [*options, *header], name, reading.text)
    if not header and _header_is_a_row(query):
        header = ["header=false"]
        query = _csv_query(listed, [*options, *header], name, reading.text)
    # yes and no, t and f are words of the file: DuckDB's truth values would lose which
    words = [column for column, kind, _ in query.columns if kind == "boolean"]
    return _csv_query(listed, [*options, *header], name, [*reading.text, *words]) if words else query


def _need_lines(path: Path, start: bytes, name: str) -> None:
    """A line that outgrows what DuckDB takes is refused before it is sniffed again and again."""
    tail = len(start) - 1 - start.rfind(b"\n")
    if len(start) < SAMPLE or tail < SAMPLE // 2 or gzipped(path):
        return
    with path.open("rb") as file:
        file.seek(len(start))
        if b"\n" not in file.read(LONGEST_LINE - tail):
            line = start.count(b"\n") + 1
            raise DataError(f"{name} line {line} is longer than {LONGEST_LINE // 10**6} MB: is it a table?")


def _csv_query(listed: str, options: list[str], name: str, text: Sequence[str]) -> Query:
    whole = _csv_sql(listed, [*options, "sample_size=-1"], text)
    return Query(_csv_sql(listed, options, text), name, retry=whole, lean=True)


def _csv_sql(listed: str, options: list[str], text: Sequence[str]) -> str:
    types = ["types={" + ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in text) + "}"] if text else []
    return f"SELECT * FROM read_csv({', '.join([listed, *options, *types])})"


def _header_is_a_row(query: Query) -> bool:
    """Whether a table of text alone has no header: a name that turns up again below it is a value."""
    if not query.columns or any(kind != "text" for _, kind, _ in query.columns):
        return False
    first = Query(f"SELECT * FROM ({query.sql}) LIMIT 1000", query.source)
    return any(column.name in column.values.tolist() for frame, _ in first.frames() for column in frame.columns)


def _literal(path: Path) -> str:
    """A path that DuckDB does not take for a pattern."""
    return re.sub(r"([\[\]*?])", r"[\1]", str(path))


def _csv_options(dialect: Dialect, reading: Reading) -> list[str]:
    options = [f"buffer_size={4 * LONGEST_LINE}"]
    if dialect.delimiter is not None:
        options.append(f"delim={quoted(dialect.delimiter)}")
    if dialect.decimal_comma:
        options.append("decimal_separator=','")
    if dialect.literal_quotes:
        options += ["quote=''", "escape=''"]
    if reading.na:
        options.append("nullstr=[" + ", ".join(quoted(token) for token in ("", *reading.na)) + "]")
    return options
