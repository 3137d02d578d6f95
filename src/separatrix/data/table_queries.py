"""Files of typed tables as DuckDB queries: Parquet, JSON, and SQL over files of any kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from separatrix.data.delimited_table import DelimitedTable
from separatrix.data.duckdb_reader import Query, identifier, quoted
from separatrix.data.number_writing import plain_number
from separatrix.data.reading_plan import Reading

ISO = "%Y-%m-%d"


def typed_query(paths: list[Path], kind: str, name: str, reading: Reading) -> Query:
    """Parquet or JSON; text that means a missing value is missing there too."""
    listed = "[" + ", ".join(path_literal(p) for p in paths) + "]"
    if kind == "parquet":
        sql = f"SELECT * FROM read_parquet({listed})"
    else:
        sql = f"SELECT * FROM read_json_auto({listed}, maximum_object_size=268435456)"
    return without_missing_words(Query(sql, name, lean=kind == "parquet"), reading)


def sql_query(text: str, files: Mapping[str, list[Path]], shown: str, reading: Reading) -> Query:
    """A SELECT of the user's; delimited ``files`` that it names as tables are read as they are without SQL."""
    tables = {name: DelimitedTable(paths, name, reading) for name, paths in files.items()}
    query = Query(text, shown, views={name: delimited_sql(table) for name, table in tables.items()})
    query.notes = [note for table in tables.values() for note in table.encodings]
    return without_missing_words(query, reading)


def delimited_sql(table: DelimitedTable) -> str:
    """The SELECT by which DuckDB reads a delimited text, told everything: it guesses nothing.

    Plain numbers and dates with the year first have their types; other cells are text, which is read by a plan behind
    the query.
    """
    plan = table.plan
    commas = {own.writing.decimal for own in plan.columns if own.kind == "number" and own.writing} == {","}
    types = []
    for name, own in zip(plan.names, plan.columns, strict=True):
        plain = own.writing is not None and own.writing.with_decimal(".").plain and (own.writing.plain or commas)
        kind = "DOUBLE" if own.kind == "number" and plain else "TIMESTAMP" if own.format == ISO else "VARCHAR"
        types.append(f"{quoted(name)}: {quoted(kind)}")
    quote = '"' if plan.quotes else ""
    options = [
        f"[{', '.join(path_literal(path) for path in table.files())}]",
        "auto_detect=false",
        f"delim={quoted(plan.delimiter or chr(31))}",
        f"quote={quoted(quote)}",
        f"escape={quoted(quote)}",
        f"header={'true' if plan.header else 'false'}",
        f"columns={{{', '.join(types)}}}",
        f"nullstr=[{', '.join(quoted(word) for word in ('', *plan.missing))}]",
        *(["decimal_separator=','"] if commas else []),
    ]
    return f"SELECT * FROM read_csv({', '.join(options)})"


def without_missing_words(query: Query, reading: Reading) -> Query:
    """A query whose cells are missing where they say so: text by all words, numbers by those of ``na`` that are one."""
    words = [quoted(text) for text in reading.missing]
    digits = [f"{x!r}::DOUBLE" for x in map(plain_number, reading.na) if x is not None]
    parts = []
    for name, kind, sql_type in query.columns:
        gone = words if sql_type == "VARCHAR" else digits if kind in ("number", "integer") else []
        if gone:
            parts.append(f"{_without(identifier(name), gone)} AS {identifier(name)}")
    if parts:
        query.sql = f"SELECT * REPLACE ({', '.join(parts)}) FROM ({query.sql})"
    return query


def _without(word: str, gone: Sequence[str]) -> str:
    """A cell, or NULL where it is one of these literals.

    Not ``word IN (...)``: DuckDB makes a join of a list, and a join does not keep the order of the rows.
    """
    for literal in gone:
        word = f"nullif({word}, {literal})"
    return word


def path_literal(path: Path | str) -> str:
    """A path as SQL writes it, which DuckDB takes neither for a pattern nor for one in the home folder."""
    whole = Path(path).absolute() if str(path).startswith("~") else path
    return quoted(re.sub(r"([\[\]*?])", r"[\1]", str(whole)))
