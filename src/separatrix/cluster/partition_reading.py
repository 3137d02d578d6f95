"""Partitions read where the worker is, by the readers of one machine, and compared: one that differs is named."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cluster.partitions import SourcePart, quotes_in, text_of, with_quotes
from separatrix.cluster.rounds import HeldPart, Rounds
from separatrix.data.delimited_table import DelimitedTable, frame_of_text
from separatrix.data.duckdb_reader import Query, few_threads
from separatrix.data.file_pieces import utf8_of
from separatrix.data.frame import Column, Frame
from separatrix.data.number_writing import Writing
from separatrix.data.reading_plan import Reading
from separatrix.data.row_files import Matrix, csr_rows
from separatrix.data.sources import open_files
from separatrix.data.sparse_text import FAULTS, Part, parse
from separatrix.data.table_queries import path_literal, without_missing_words
from separatrix.data.typed_table import TypedTable
from separatrix.errors import DataError
from separatrix.validation import check_table


def need_file(part: SourcePart) -> None:
    """Refuse a file that this process does not see, or sees otherwise than the driver does."""
    try:
        size = os.path.getsize(part.path)
    except OSError:
        raise DataError(
            f"{part.path} is not there on the worker {os.uname().nodename}: put the files on storage that every worker "
            "sees under the same path."
        ) from None
    if size != part.size:
        raise DataError(f"{part.path} has {size:,} bytes on a worker and {part.size:,} on the driver: it has changed.")


def read_partition(part: SourcePart, reading: Reading) -> Frame | Matrix | Part | None:
    """The rows: columns, an array, parsed svmlight lines; None where there are none."""
    with nullcontext() if part.end is None else few_threads():
        return _read(part, reading)


def _read(part: SourcePart, reading: Reading) -> Frame | Matrix | Part | None:
    need_file(part)
    if part.kind == "svmlight":
        return _svmlight(part)
    if part.kind == "parquet":
        return _parquet(part, reading)
    if part.kind == "csv" and part.end is not None:
        return _lines(part, reading)
    if part.kind == "csv" and not Path(part.path).read_bytes()[: 1 << 16].strip():
        return None
    source = open_files([Path(part.path)], part.name, reading)
    return source.read() if source.table is None else source.table.read()


def _lines(part: SourcePart, reading: Reading) -> Frame | None:
    """Some lines of a large CSV file, read by the plan of its first rows."""
    text = utf8_of(text_of(part), part.name, reading.encoding)
    if not text.strip():
        return None
    plan = DelimitedTable([Path(part.path)], Path(part.path).name, reading).plan
    return frame_of_text(text, plan, part.name, not part.begin)


def _parquet(part: SourcePart, reading: Reading) -> Frame | Matrix | None:
    listed = f"[{path_literal(part.path)}]"
    if part.end is None:
        sql = f"SELECT * FROM read_parquet({listed})"
    else:
        sql = (
            f"SELECT * EXCLUDE (file_row_number) FROM read_parquet({listed}, file_row_number=true) "
            f"WHERE file_row_number >= {part.begin} AND file_row_number < {part.end}"
        )
    return TypedTable(without_missing_words(Query(sql, part.name, lean=True), reading), reading).read()


def _svmlight(part: SourcePart) -> Part | None:
    """Parsed lines, with features counted from 1: whether 0 occurs is known once all partitions are read."""
    text = Path(part.path).read_bytes() if part.end is None else text_of(part)
    if text.startswith(b"\x1f\x8b"):
        import gzip

        text = gzip.decompress(text)
    if not text.strip():
        return None
    found = parse(np.frombuffer(text, dtype=np.uint8), 1)
    if found.fault is not None:
        line = text[: found.fault[1]].count(b"\n") + 1
        raise DataError(f"{part.name} line {line} of these: {FAULTS[found.fault[0]]}.")
    return found


ALIKE = (frozenset(("integer", "number")),)


@dataclass(frozen=True, slots=True)
class PartSchema:
    """What a partition has: rows, columns with their kinds, or the width of rows without names."""

    name: str
    rows: int
    columns: tuple[tuple[str, str], ...] | None = None
    empty: tuple[str, ...] = ()  # columns without any value, which are of every kind
    least: int | None = None  # feature number of svmlight lines
    most: int = -1
    labelled: bool = True

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.columns or ()]


@dataclass(frozen=True, slots=True)
class SourceSchema:
    """What all partitions have: columns (None for rows without names), features, and rows in each partition."""

    names: tuple[str, ...] | None
    kinds: dict[str, str]
    features: int
    rows: tuple[int, ...]
    zero_based: bool
    writings: dict[str, Writing] = field(default_factory=dict)  # of columns of numbers that are not plain

    @property
    def first_rows(self) -> list[int]:
        """The number of the first row of each partition."""
        return list(accumulate(self.rows[:-1], initial=0))

    @property
    def n(self) -> int:
        return sum(self.rows)


def count_quotes(part: HeldPart, reading: Reading) -> int:
    """Quote characters of a part of a CSV file."""
    return 0 if part.partition.end is None or part.partition.kind != "csv" else quotes_in(part.partition, reading)


def load(part: HeldPart, reading: Reading) -> PartSchema:
    """Read a partition into memory."""
    part.table = read_partition(part.partition, reading)
    name, table = part.partition.name, part.table
    if table is None:
        return PartSchema(name, 0)
    if isinstance(table, Part):
        return PartSchema(name, table.rows, least=table.least, most=table.most)
    if isinstance(table, Matrix):
        return PartSchema(name, table.n, most=int(table.X.shape[1]), labelled=table.y is not None)
    columns = tuple((column.name, column.kind) for column in table.columns)
    empty = tuple(column.name for column in table.columns if column.missing.all())
    return PartSchema(name, table.n, columns, empty)


def loaded(rounds: Rounds, reading: Reading, source: str) -> SourceSchema:
    """Read all partitions, where the workers are, and hold them against each other."""
    reading = decided(rounds.partitions, reading)
    if any(part.end is not None and part.kind == "csv" for part in rounds.partitions):
        rounds.replace(with_quotes(rounds.partitions, rounds.map("line ends", count_quotes, reading)))
    schema = agreed(rounds.prepare("reading", load, reading), source)
    known = {name: own.writing for name, own in reading.columns if own.writing is not None and not own.writing.plain}
    schema = replace(schema, writings=known)
    rounds.rows = schema.n
    if schema.names is not None:
        rounds.prepare("kinds of columns", recast, schema.kinds)
    return schema


def decided(parts: Sequence[SourcePart], reading: Reading) -> Reading:
    """What the columns are, by the first rows of the first file that has some: partitions read by that alone."""
    for part in parts:
        if part.kind in ("csv", "json", "parquet") and part.size:
            need_file(part)
            table = open_files([Path(part.path)], Path(part.path).name, reading).table
            if table is not None and (table.has_rows()):
                return reading.with_columns(table.decided().items())
    return reading


def agreed(found: Sequence[PartSchema], source: str) -> SourceSchema:
    """The columns that all partitions have, or an error that names the partition that has others."""
    full = [part for part in found if part.rows]
    if not full:
        raise DataError(f"{source} has no rows: nothing to learn from.")
    first, rows = full[0], tuple(part.rows for part in found)
    if first.columns is None:
        return _of_numbers(full, rows)
    kinds: dict[str, str] = {}
    owner: dict[str, str] = {}
    for part in full:
        if part.names != first.names:
            raise DataError(
                f"{part.name} has other columns than {first.name}: {_difference(part.names, first.names)}; "
                "nothing was fitted."
            )
        for name, kind in part.columns or ():
            if name in part.empty:
                continue
            known = kinds.setdefault(name, kind)
            owner.setdefault(name, part.name)
            if kind != known and frozenset((kind, known)) not in ALIKE:
                raise DataError(
                    f"{name!r} is {kind} in {part.name} and {known} in {owner[name]}: write all of it in one way, or "
                    f"name it as text, category or dropped; nothing was fitted."
                )
            if kind != known:
                kinds[name] = "number"
    for name, kind in first.columns:
        kinds.setdefault(name, kind)
    return SourceSchema(tuple(first.names), kinds, len(first.names), rows, False)


def _difference(own: list[str], others: list[str]) -> str:
    more, less = [n for n in own if n not in others], [n for n in others if n not in own]
    if more or less:
        told = [f"it has {', '.join(map(repr, more[:3]))}"] if more else []
        return " and ".join([*told, *([f"it lacks {', '.join(map(repr, less[:3]))}"] if less else [])])
    return "they come in another order"


def _of_numbers(full: list[PartSchema], rows: tuple[int, ...]) -> SourceSchema:
    """Rows without names: the width is the greatest feature number, or that of the arrays."""
    unlabelled = next((part.name for part in full if not part.labelled), None)
    if unlabelled is not None:
        raise DataError(f"{unlabelled} has rows without labels: save X and y together in a .npz file.")
    zero = any(part.least == 0 for part in full)
    text = any(part.least is not None for part in full)
    if not text:
        odd = next((part for part in full if part.most != full[0].most), None)
        if odd is not None:
            raise DataError(
                f"{odd.name} has {odd.most} columns and {full[0].name} has {full[0].most}; nothing was fitted."
            )
        return SourceSchema(None, {}, full[0].most, rows, False)
    most = max(part.most for part in full)
    return SourceSchema(None, {}, max(1, most + (1 if zero else 0)), rows, zero)


def recast(part: HeldPart, kinds: dict[str, str]) -> None:
    """Give columns the kind that they have in the whole source; a column without values takes any."""
    if part.table is None:
        return
    columns = []
    for column in part.table.columns:
        kind = kinds[column.name]
        values: NDArray[Any] = column.values
        if (kind == "text") != (column.kind == "text"):
            values = np.full(part.table.n, None, dtype=object) if kind == "text" else np.full(part.table.n, np.nan)
        columns.append(Column(column.name, kind, values, column.writing, column.format))
    part.table = Frame(tuple(columns), part.table.n, part.table.source)


def matrix_rows(part: HeldPart, features: int, zero_based: bool) -> None:
    """Rows without names as numbers of the same width everywhere, with their labels as they are written."""
    table = part.table
    if isinstance(table, Part):
        indices = table.indices + np.int32(1) if zero_based else table.indices
        part.X, part.y = csr_rows(table.values, indices, table.ends, features), table.labels
    elif table is not None:
        part.X, part.y, part.weights = check_table(table.X).X, table.y, table.weights
