"""Files of tables as DuckDB queries: CSV of any dialect, Parquet, JSON.

Wide delimited tables are sniffed once, and read by what was found: DuckDB sniffs a file anew for every query over it,
and needs seconds for ten thousand columns. What it finds once is therefore written into the query that reads: dialect,
names and types are its own, so that the table is the same.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from separatrix.data.dialect import (
    SAMPLE,
    Dialect,
    Reading,
    cells_of,
    delimiter_of,
    dialect_of,
    first_bytes,
    first_lines,
)
from separatrix.data.duckdb_reader import Query, connect, identifier, kind_of_type, quoted, refused
from separatrix.data.file_pieces import as_utf8, encoding_of, gzipped, opened
from separatrix.data.number_writing import MISSING, Writing, plain_number
from separatrix.errors import DataError

LONGEST_LINE = 2_000_000  # bytes, as DuckDB has it


def table_query(paths: list[Path], kind: str, name: str, reading: Reading) -> Query:
    """The query that reads files of one kind."""
    if kind != "csv":
        return _typed_query(paths, kind, name, reading)
    copies, notes = _in_utf8(paths, name, reading)
    listed = "[" + ", ".join(path_literal(p) for p in copies) + "]"
    start = first_bytes(copies[0])
    if not start.strip():
        raise DataError(f"{name} is empty: nothing to learn from.")
    if b"\0" in start:
        line = start[: start.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name} line {line} holds a NUL byte: it is damaged, or not text.")
    _need_lines(copies[0], start, name)
    lines = first_lines(start)
    delimiter = reading.sep or dialect_of(start).delimiter or delimiter_of(lines)
    dialect, text = _as_told(dialect_of(start), reading, delimiter)
    options = _csv_options(dialect, reading, delimiter)
    if start.startswith(b"\x1f\x8b") or gzipped(copies[0]):
        options.append("compression='gzip'")
    header = [] if reading.header is None else [f"header={'true' if reading.header else 'false'}"]

    def described(text: Sequence[str]) -> Query:
        if len(copies) > 1 or not is_wide(start):
            return _csv_query(listed, [*options, *header], name, text)
        one = path_literal(copies[0])
        whole = _csv_sql(one, [*options, *header, "sample_size=-1"], text)
        return wide_query(one, [*options, *header], name, text, whole)

    cells = cells_of(lines[0], delimiter) if delimiter is not None and lines else []
    odd = not all(cells) or bool(_repeated(cells))  # names are invented, which text columns may have
    query = described([] if odd else text)
    if delimiter is not None and lines:
        need_even_lines(copies[0], len(query.columns), delimiter, name)
    names = names_of(cells, query)
    if names is not None:
        header = ["header=true", f"names=[{', '.join(map(quoted, names))}]"]
    if names is not None or (odd and text):
        query = described(text)
    if not header and _header_is_a_row(query):
        header = ["header=false"]
        query = _csv_query(listed, [*options, *header], name, text)
    # yes and no, t and f are words of the file: DuckDB's truth values would lose which
    words = [column for column, kind, _ in query.columns if kind == "boolean"]
    if words:
        query = _csv_query(listed, [*options, *header], name, [*text, *words])
    query.decimal_comma, query.notes = dialect.decimal_comma, notes
    own = [column for column, _, _ in query.columns]
    if are_names(cells, own):
        query.repeated = _repeated(cells)
        query.unnamed = [called for cell, called in zip(cells, own, strict=True) if not cell.strip()]
    return query


def _in_utf8(paths: list[Path], name: str, reading: Reading) -> tuple[list[Path], list[str]]:
    """Copies of files that are not in UTF-8, and which encoding was found."""
    copies, notes = [], []
    for path in paths:
        found = reading.encoding or encoding_of(path, name)
        copies.append(path if found is None else as_utf8(path, name, found))
        if found is not None and reading.encoding is None and found != "utf-16":
            notes = [f"encoding = {found}"]
    return copies, notes


def _as_told(dialect: Dialect, reading: Reading, delimiter: str | None) -> tuple[Dialect, list[str]]:
    """The dialect with what the user or a model says of decimal marks, and the columns to read as text."""
    known = dict(reading.numbers)
    commas = reading.decimal == "," or (bool(known) and all(own == Writing(",") for own in known.values()))
    if reading.decimal == ".":
        return replace(dialect, decimal_comma=False), [*reading.text, *known]
    if commas and delimiter not in (None, ","):
        return replace(dialect, decimal_comma=True), list(reading.text)
    return dialect, [*reading.text, *known]


def sql_query(text: str, files: Mapping[str, list[Path]], shown: str, reading: Reading) -> Query:
    """A SELECT of the user's; delimited ``files`` that it names as tables are read as they are without SQL."""
    views = {}
    for name, paths in files.items():
        table = table_query(paths, "csv", name, reading)
        views[name] = table.sql, table.retry
    return without_missing_words(Query(text, shown, views=views), reading)


def _typed_query(paths: list[Path], kind: str, name: str, reading: Reading) -> Query:
    """Parquet or JSON; text that means a missing value is missing there too."""
    listed = "[" + ", ".join(path_literal(p) for p in paths) + "]"
    if kind == "parquet":
        sql = f"SELECT * FROM read_parquet({listed})"
    else:
        sql = f"SELECT * FROM read_json_auto({listed}, maximum_object_size=268435456)"
    return without_missing_words(Query(sql, name, lean=kind == "parquet"), reading)


def without_missing_words(query: Query, reading: Reading) -> Query:
    """A query whose cells are missing where they say so: text by all words, numbers by those of ``na`` that are one."""
    words = [quoted(text) for text in (*MISSING, *reading.na)]
    digits = [f"{x!r}::DOUBLE" for x in map(plain_number, reading.na) if x is not None]
    parts = []
    for name, kind, sql_type in query.columns:
        gone = words if sql_type == "VARCHAR" else digits if kind in ("number", "integer") else []
        if gone:
            parts.append(f"{_without(identifier(name), gone)} AS {identifier(name)}")
    if parts:
        query.sql = f"SELECT * REPLACE ({', '.join(parts)}) FROM ({query.sql})"
    query.typed = True
    return query


def _without(word: str, gone: Sequence[str]) -> str:
    """A cell, or NULL where it is one of these literals.

    Not ``word IN (...)``: DuckDB makes a join of a list, and a join does not keep the order of the rows.
    """
    for literal in gone:
        word = f"nullif({word}, {literal})"
    return word


def _repeated(names: list[str]) -> list[str]:
    """Names that occur twice, as DuckDB compares them."""
    lower = [name.strip().lower() for name in names]
    return [name for j, name in enumerate(names) if lower[j] and lower[j] in lower[:j]]


def are_names(cells: Sequence[str], columns: Sequence[str]) -> bool:
    """Whether the cells of the first line name the columns, of which some got another name or had none."""
    own = [name.strip().lower() for name in columns]
    return len(cells) == len(own) and any(cell.strip().lower() == name for cell, name in zip(cells, own, strict=True))


def names_of(cells: list[str], query: Query) -> list[str] | None:
    """Names for columns of which one has lost its own to an invented name before it; None where none has."""
    own = [name for name, _, _ in query.columns]
    if not are_names(cells, own):
        return None
    given = [cell.strip().lower() for cell in cells]
    first = [bool(name) and name not in given[:j] for j, name in enumerate(given)]
    if all(own[j].lower() == given[j] for j in range(len(own)) if first[j]):
        return None
    names, taken = [], {name for name in given if name}
    for j, cell in enumerate(cells):
        name, stem, k = cell.strip(), cell.strip() or f"column{j:0{len(str(len(cells) - 1))}}", 0
        if not first[j]:
            name = stem
            while name.lower() in taken:
                k += 1
                name = f"{stem}_{k}"
            taken.add(name.lower())
        names.append(name)
    return names


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


def path_literal(path: Path | str) -> str:
    """A path as SQL writes it, which DuckDB takes neither for a pattern nor for one in the home folder."""
    whole = Path(path).absolute() if str(path).startswith("~") else path
    return quoted(re.sub(r"([\[\]*?])", r"[\1]", str(whole)))


def _csv_options(dialect: Dialect, reading: Reading, delimiter: str | None) -> list[str]:
    options = [f"buffer_size={4 * LONGEST_LINE}"]
    given = reading.sep or (delimiter if dialect.decimal_comma else dialect.delimiter)
    if given is not None:
        options.append(f"delim={quoted(given)}")
    if dialect.decimal_comma:
        options.append("decimal_separator=','")
    elif reading.decimal == ",":  # DuckDB would take the points of 1.234 for decimal points
        options.append("all_varchar=true")
    if dialect.literal_quotes:
        options += ["quote=''", "escape=''"]
    return [*options, "nullstr=[" + ", ".join(quoted(token) for token in ("", *MISSING, *reading.na)) + "]"]


def need_even_lines(path: Path, columns: int, delimiter: str, name: str) -> None:
    """Where DuckDB finds other columns than the first line has cells, the line that misled it is named."""
    with opened(path) as raw, io.TextIOWrapper(io.BufferedReader(raw), encoding="utf-8-sig", newline="") as text:
        rows = csv.reader(text, delimiter=delimiter)
        try:
            cells = len(next(rows, []))
            if cells == columns:
                return
            for row in rows:
                if row and len(row) != cells:
                    raise DataError(
                        f"{name} line {rows.line_num} has {len(row)} cells, and the first line has {cells}."
                    )
        except (csv.Error, UnicodeDecodeError):
            return


WIDE = 500  # columns
NONE = "(empty)"
FOUND = {"delim": 0, "quote": 1, "escape": 2, "new_line": 3, "comment": 4, "skip": 5, "header": 6}
COLUMNS, DATES, TIMES = 7, 8, 9


def is_wide(start: bytes) -> bool:
    """Whether a file begins with a line of many cells."""
    line = start.partition(b"\n")[0]
    return max(line.count(delimiter) for delimiter in (b",", b";", b"\t", b"|")) >= WIDE


def wide_query(file: str, options: list[str], name: str, text: Sequence[str], retry: str) -> Query:
    """The query that reads a file by what DuckDB finds in it; ``text`` columns, and yes and no, stay words."""
    try:
        with connect() as con:
            found = con.sql(f"SELECT * FROM sniff_csv({', '.join([file, *options])})").fetchall()[0]
    except Exception as error:
        raise refused(error, name) from error
    columns = []
    for column in found[COLUMNS]:
        word = column["name"] in text or column["type"] == "BOOLEAN"
        columns.append((column["name"], "VARCHAR" if word else column["type"]))
    given = {option.partition("=")[0] for option in options}
    pinned = [f"{key}={_written(found[at])}" for key, at in FOUND.items() if key not in given]
    pinned += [
        f"{key}={quoted(found[at])}" for key, at in (("dateformat", DATES), ("timestampformat", TIMES)) if found[at]
    ]
    listed = ", ".join(f"{quoted(column)}: {quoted(kind)}" for column, kind in columns)
    options = [option for option in options if not option.startswith("names=")]  # the columns have them
    sql = f"SELECT * FROM read_csv({', '.join([file, 'auto_detect=false', *options, *pinned])}, columns={{{listed}}})"
    known = [(column, kind_of_type(kind), kind) for column, kind in columns]
    return Query(sql, name, retry=retry, lean=True, columns=known)


def _written(value: object) -> str:
    if isinstance(value, (bool, int)):
        return str(value).lower()
    return quoted("" if value == NONE else str(value))
