"""A table as columns: what every source becomes before it is encoded.

Numbers, booleans (0 and 1) and dates (seconds since 1970) are float64 columns with NaN where a value is
missing; everything else is text with None there. Nothing is guessed here: sources say the kinds, encoders
decide what to make of them. Tables that a caller holds in memory (frames, dicts of columns, arrays) become such frames.
"""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.number_writing import Writing, digits_of
from separatrix.errors import DataError
from separatrix.validation import containers

KINDS = ("number", "integer", "boolean", "date", "text")
LISTED = 8
CELLS = 1 << 18  # of a batch, about: text cells are Python strings of some sixty bytes


@dataclass(frozen=True, slots=True)
class Column:
    """One named column: its kind, its values with NaN or None where they are missing, how cells were written."""

    name: str
    kind: str
    values: NDArray[Any]
    writing: Writing | None = None  # of numbers
    format: str | None = None  # of dates

    @property
    def missing(self) -> NDArray[np.bool_]:
        if self.kind == "text":
            return np.fromiter((v is None for v in self.values), dtype=np.bool_, count=len(self.values))
        return np.asarray(np.isnan(self.values))

    def take(self, rows: Any) -> Column:
        return Column(self.name, self.kind, self.values[rows], self.writing, self.format)

    def labels(self) -> NDArray[Any]:
        """The values as class labels: whole numbers as integers, booleans as booleans, text as text."""
        if self.kind == "text":
            return self.values
        if self.kind == "boolean" and not np.isnan(self.values).any():
            return self.values.astype(np.bool_)
        whole = np.isfinite(self.values).all() and bool(np.all(self.values == np.floor(self.values)))
        if whole and (not len(self.values) or np.abs(self.values).max() < 2**53):
            return self.values.astype(np.int64)
        return self.values


@dataclass(frozen=True, slots=True)
class Frame:
    """Columns of the same length, in order."""

    columns: tuple[Column, ...]
    n: int
    source: str = "the table"

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise DataError(unknown_column(name, self.names, self.source))

    def take(self, rows: Any) -> Frame:
        """The rows of these numbers, or of a mask."""
        columns = tuple(column.take(rows) for column in self.columns)
        kept = np.arange(self.n)[rows]
        return Frame(columns, len(kept), self.source)

    def without(self, names: Iterable[str]) -> Frame:
        """The other columns; a name that is not there is an error."""
        gone = set(names)
        for name in gone:
            self[name]
        return Frame(tuple(c for c in self.columns if c.name not in gone), self.n, self.source)


def written_cells(column: Column) -> list[str | None]:
    """The values as text: numbers by the fewest digits that give them back, whole ones without a point."""
    return [None if v is None or v != v else v if isinstance(v, str) else digits_of(v) for v in column.values.tolist()]


def csv_lines(columns: Sequence[Sequence[str | None]]) -> list[str | None]:
    """The rows of some columns as lines of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\0").writerows(zip(*columns, strict=True))
    return list(text.getvalue().split("\0")[:-1])


def unknown_column(name: str, names: Sequence[str], source: str) -> str:
    """One sentence for a column that is not there, with the nearest that is."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    shown = ", ".join(names) if len(names) <= LISTED else f"{', '.join(names[: LISTED - 1])}, …, {names[-1]}"
    return f"{source} has no column {name!r}{hint} Columns: {shown} ({len(names)})."


def join(frames: Sequence[Frame]) -> Frame:
    """The rows of several frames with the same columns, one after the other."""
    if len(frames) == 1:
        return frames[0]
    first = frames[0]
    columns = tuple(
        replace(column, values=np.concatenate([frame.columns[j].values for frame in frames]))
        for j, column in enumerate(first.columns)
    )
    return Frame(columns, sum(frame.n for frame in frames), first.source)


def frame_of(names: Sequence[str], X: NDArray[Any], source: str) -> Frame:
    """An array of numbers as a frame."""
    columns = [Column(name, "number", X[:, j].astype(np.float64)) for j, name in enumerate(names)]
    return Frame(tuple(columns), len(X), source)


def label_column(name: str, y: NDArray[Any]) -> Column:
    if y.dtype.kind in "OUS":
        return Column(name, "text", np.array([None if v is None else str(v) for v in y.tolist()], dtype=object))
    kind = {"b": "boolean", "i": "integer", "u": "integer"}.get(y.dtype.kind, "number")
    return Column(name, kind, y.astype(np.float64))


EPOCH = datetime(1970, 1, 1)


def frame_from(table: Any) -> Frame:
    """The columns of a pandas, polars, pyarrow or duckdb frame, or of a dict of lists."""
    if isinstance(table, Mapping):
        names, columns = list(table), [_vector(name, values) for name, values in table.items()]
    else:
        names, columns = containers.columns_of(table)
    texts = [str(name) for name in names]
    twice = next((name for k, name in enumerate(texts) if name in texts[:k]), None)
    if twice is not None:
        raise DataError(f"the table has several columns named {twice!r}: rename them.")
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        raise DataError(f"the columns of the table have different lengths ({', '.join(map(str, sorted(sizes)))}).")
    if not columns or not sizes.pop():
        raise DataError("the table has no rows: nothing to learn from.")
    made = tuple(column_from(name, values) for name, values in zip(texts, columns, strict=True))
    return Frame(made, len(columns[0]), "the table")


def _vector(name: Any, values: Any) -> NDArray[Any]:
    array = containers.vector_of(values) if containers.is_frame(values) else np.asarray(values)
    if array.dtype.kind not in "biufOUSM":
        array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise DataError(f"column {name!r} has the shape {array.shape}: one value a row is needed.")
    return array


def column_from(name: str, values: NDArray[Any]) -> Column:
    """One column with its kind: numbers, booleans and dates as float64, the rest as text."""
    kind = values.dtype.kind
    if kind in "biuf":
        return Column(name, {"b": "boolean", "f": "number"}.get(kind, "integer"), values.astype(np.float64))
    if kind == "M":
        moments = values.astype("datetime64[us]")
        numbers = np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)
        return Column(name, "date", numbers)
    cells = [None if v is None or v != v else v for v in values.tolist()]
    present = [v for v in cells if v is not None]
    if present and all(isinstance(v, bool) for v in present):
        return Column(name, "boolean", np.array([np.nan if v is None else float(v) for v in cells]))
    if present and all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in present):
        numbers = np.array([np.nan if v is None else float(v) for v in cells])
        return Column(name, "number", numbers)
    if present and all(isinstance(v, date) for v in present):
        return Column(name, "date", np.array([np.nan if v is None else _seconds(v) for v in cells]))
    return Column(name, "text", np.array([None if v is None else str(v) for v in cells], dtype=object))


def _seconds(moment: date) -> float:
    """Seconds since 1970, in the moment's own zone where it has none."""
    if isinstance(moment, datetime):
        return moment.timestamp() if moment.tzinfo is not None else (moment - EPOCH).total_seconds()
    return (datetime(moment.year, moment.month, moment.day) - EPOCH).total_seconds()


def fresh_name(name: str, taken: list[str]) -> str:
    """The name, with underscores added until no other has it."""
    while name in taken:
        name += "_"
    return name
