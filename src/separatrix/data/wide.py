"""Wide delimited tables: sniffed once, and read by what was found.

DuckDB sniffs a file anew for every query over it, and needs seconds for ten thousand columns. What it finds once is
therefore written into the query that reads: dialect, names and types are its own, so that the table is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.data.duck import Query, connect, kind_of_type, quoted, refused

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
    sql = f"SELECT * FROM read_csv({', '.join([file, 'auto_detect=false', *options, *pinned])}, columns={{{listed}}})"
    known = [(column, kind_of_type(kind), kind) for column, kind in columns]
    return Query(sql, name, retry=retry, lean=True, columns=known)


def _written(value: object) -> str:
    if isinstance(value, (bool, int)):
        return str(value).lower()
    return quoted("" if value == NONE else str(value))
