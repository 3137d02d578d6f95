"""Rows with predictions as CSV, JSON lines or Parquet, batch by batch, to standard output or to a whole file."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.atomic_write import is_special, special_file, unnamed_file, whole_file
from separatrix.cli import output
from separatrix.errors import ParameterError

SQL_TYPES = {"number": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN", "date": "TIMESTAMP", "text": "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Batch:
    """Columns of a few rows, with their kinds; the columns of the source may be lines as they stand in its file."""

    names: list[str]
    kinds: list[str]
    columns: list[list[Any]]
    lines: list[Any] | None = None  # those of the source, instead of its columns


def write(out: Path | None, batches: Iterator[Batch], form: str) -> None:
    """All batches; a regular file is written atomically."""
    if out is None:
        for text in _texts(batches, form):
            output.write_text(text)
        sys.stdout.flush()
    elif form == "parquet" and is_special(out):
        raise ParameterError(f"--out is {out}, which is not a regular file; Parquet needs one.")
    elif form == "parquet":
        _write_parquet(out, batches)
    elif is_special(out):
        with special_file(out) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
            file.writelines(_texts(batches, form))
    else:
        with whole_file(out) as beside, beside.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_texts(batches, form))


def _texts(batches: Iterator[Batch], form: str) -> Iterator[str]:
    for k, batch in enumerate(batches):
        yield _as_csv(batch, header=k == 0) if form == "csv" else _as_json_lines(batch)


def _as_csv(batch: Batch, header: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(batch.names)
    if batch.lines is None:
        writer.writerows(zip(*batch.columns, strict=True))
        return text.getvalue()
    ends = [_csv_cells(column) for column in batch.columns]
    return text.getvalue() + "".join([",".join(row) + "\n" for row in zip(batch.lines, *ends, strict=True)])


def _csv_cells(column: list[Any]) -> list[str]:
    """The cells of a column as ``csv`` writes them."""
    if not any(isinstance(cell, str) or cell is None for cell in column[:1]):
        return list(map(repr, column))
    known: dict[Any, str] = {}
    for cell in set(column):
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(["", cell])  # two, for an empty one alone would be quoted
        known[cell] = text.getvalue()[1:]
    return [known[cell] for cell in column]


def _as_json_lines(batch: Batch) -> str:
    columns = [
        [_json_cell(kind, cell) for cell in column] for kind, column in zip(batch.kinds, batch.columns, strict=True)
    ]
    lines = [
        json.dumps(dict(zip(batch.names, cells, strict=True)), ensure_ascii=False, allow_nan=False)
        for cells in zip(*columns, strict=True)
    ]
    return "\n".join(lines) + "\n"


def _json_cell(kind: str, cell: Any) -> Any:
    """A cell as it is written, as the JSON value of its kind."""
    if cell is None or not isinstance(cell, str) or kind in ("text", "date"):
        return cell if not isinstance(cell, float) or abs(cell) < float("inf") else None
    if kind == "boolean":
        return cell == "true"
    whole = kind == "integer" and cell.lstrip("+-").isdigit()
    if whole:
        return int(cell)
    number = float(cell)
    return number if abs(number) < float("inf") else None


def _write_parquet(out: Path, batches: Iterator[Batch]) -> None:
    """Through JSON lines in a temporary file, which DuckDB turns into Parquet with the types of the columns."""
    from separatrix.data.duckdb_reader import connect, identifier, quoted

    shape: list[tuple[str, str]] = []
    with whole_file(out) as beside, unnamed_file(out.parent) as lines:
        with lines.open("w", encoding="utf-8") as file:
            for batch in batches:
                shape = list(zip(batch.names, batch.kinds, strict=True))
                file.write(_as_json_lines(batch))
        listed = ", ".join(f"{identifier(name)}: {quoted(SQL_TYPES[kind])}" for name, kind in shape)
        with connect() as con:
            con.execute("SET threads = 1; SET memory_limit = '150MB'")
            read = f"read_json({quoted(str(lines))}, format='newline_delimited', columns={{{listed}}})"
            group = max(2048, min(65536, (1 << 20) // max(1, len(shape))))
            how = f"FORMAT parquet, ROW_GROUP_SIZE {group}, USE_TMP_FILE false"
            con.execute(f"COPY (SELECT * FROM {read}) TO {quoted(str(beside))} ({how})")
