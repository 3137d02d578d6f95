"""Cells to numbers while rows arrive: a running standardiser and categories that grow, the same for any chunking.

Means and deviations in force for a row are those of the rows before the last boundary, and boundaries lie at rows 2,
4, 8, …, 256, and from there on every 256. The rows behind the last boundary wait, and are part of the state. Until
two rows have been seen a standardised column is 0, as is one that does not vary. A missing number is the mean in
force, a missing category has no feature. A level gets its feature when it first occurs.
``table_model`` is the learner with this encoder, as ``separatrix predict`` takes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.data.reading_plan import PLAIN, ColumnPlan
from separatrix.errors import DataError
from separatrix.features.column_encoders import MISSING, CategoryColumn, NumberColumn
from separatrix.features.encoder import AnyColumn, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.perceptron.arrivals import Arrivals
from separatrix.stream.block_learning import BlockArrivals
from separatrix.stream.row_batches import ReadRows

STEP = 256
MOST_FEATURES = 1 << 20  # columns and levels: each has a name, unlike the numbers of svmlight
NAMED = 50  # new categories that are named
MANY = 4  # columns for an entry of a block, above which only those of the block are gone through


@dataclass(slots=True)
class RunningMoments:
    """Count, mean and sum of squared deviations of each column; there is room for more columns than there are."""

    count: Floats = field(default_factory=lambda: np.zeros(0))
    mean: Floats = field(default_factory=lambda: np.zeros(0))
    square: Floats = field(default_factory=lambda: np.zeros(0))

    def widen(self, d: int) -> None:
        """Room for so many columns, doubled so that columns that join one by one cost no copy each."""
        room = len(self.count)
        if room < d:
            more = np.zeros((1 << (d - 1).bit_length()) - room)
            for name in ("count", "mean", "square"):
                setattr(self, name, np.concatenate([getattr(self, name), more]))

    def add(self, columns: Indices, values: Floats) -> None:
        """Join the moments of a whole block of entries (Chan, Golub & LeVeque 1979)."""
        every = len(self.count) <= MANY * len(columns)
        at, place = (slice(None), columns) if every else np.unique(columns, return_inverse=True)
        room = len(self.count) if every else 0
        n = np.bincount(place, minlength=room).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            mean = np.where(n > 0, np.bincount(place, values, room) / n, 0.0)
            deviation = values - mean[place]
            before = self.count[at]
            apart = mean - self.mean[at]
            share = np.where(n > 0, n / (before + n), 0.0)
            square = np.bincount(place, deviation * deviation, room)
            self.square[at] += square + np.where(n > 0, apart * apart * before * share, 0.0)
            self.mean[at] += np.where(n > 0, apart * share, 0.0)
            self.count[at] += n

    def deviation(self, at: Any) -> Floats:
        """Standard deviations of some columns."""
        return np.asarray(np.sqrt(self.square[at] / np.maximum(self.count[at], 1.0)))


@dataclass(slots=True)
class GrowingEncoder:
    """The state of the encoder."""

    standard: bool
    most: int = MOST_FEATURES
    columns: dict[str, int] = field(default_factory=dict)  # of numbers, by number
    features: list[tuple[str, str | None]] = field(default_factory=list)  # column, and level of a category
    levels: dict[tuple[str, str], int] = field(default_factory=dict)  # feature of each level
    place: list[int] = field(default_factory=list)  # feature of each column of numbers
    moments: RunningMoments = field(default_factory=RunningMoments)
    waiting: list[tuple[Indices, Floats]] = field(default_factory=list)  # entries of the rows behind the last boundary
    rows: int = 0
    named: list[str] = field(default_factory=list)  # the first new categories, in words
    unnamed: int = 0  # cells that would have needed a feature beyond the limit
    plans: dict[str, ColumnPlan] = field(default_factory=dict)  # how the columns of a table are read

    def begin(self, columns: Iterable[str]) -> None:
        """Columns of numbers that are known beforehand."""
        for name in columns:
            if self.column(name) is None:
                raise DataError(f"there are more than {self.most:,} columns: raise --features.")

    def column(self, name: str) -> int | None:
        """The number of a column of numbers, which it gets when it is first seen; None beyond the limit."""
        if name not in self.columns:
            if self.width >= self.most:
                self.unnamed += 1
                return None
            self.place.append(len(self.features))
            self.features.append((name, None))
            self.columns[name] = len(self.columns)
            self.moments.widen(len(self.columns))
        return self.columns[name]

    @property
    def width(self) -> int:
        return len(self.features)

    def sparse(self, cells: list[dict[str, Any]]) -> tuple[Floats, Any, Any]:
        """Rows with categories: values, columns and ends of a CSR matrix of ``width`` columns."""
        present: list[int] = []
        numbers: list[float] = []
        ends: list[int] = []
        ones: list[list[int]] = []
        for number, row in enumerate(cells):
            levels = []
            for name, value in row.items():
                if isinstance(value, str):
                    feature = self._level(name, value, self.rows + number)
                    if feature is not None:
                        levels.append(feature)
                    self.unnamed += feature is None
                elif value is not None or name in self.columns:
                    j = self.column(name)
                    if j is not None:
                        present.append(j)
                        numbers.append(math.nan if value is None else value)
            ends.append(len(present))
            ones.append(levels)
        entries = np.array(present, dtype=np.int64), np.array(numbers, dtype=np.float64)
        scaled = self.standardised_entries(*entries, np.array(ends, dtype=np.int64)).tolist()
        values: list[float] = []
        columns: list[int] = []
        rows = []
        for begin, end, levels in zip([0, *ends[:-1]], ends, ones, strict=True):
            own = zip((self.place[j] for j in present[begin:end]), scaled[begin:end], strict=True)
            pairs = sorted([*own, *((f, 1.0) for f in levels)])
            columns += [c for c, _ in pairs]
            values += [v for _, v in pairs]
            rows.append(len(columns))
        return np.array(values, dtype=np.float64), np.array(columns, dtype=np.int32), np.array(rows, dtype=np.int32)

    def table(self, rows: ReadRows) -> tuple[Floats, Any, Any]:
        """The same for the columns of a table, numbers and codes of texts: to the bit what its rows as dicts give."""
        assert rows.numbers is not None
        assert rows.codes is not None
        n, numbers = rows.n, rows.numbers
        begins = self._begun(rows)
        features = np.empty((n, numbers.shape[1] + rows.codes.shape[1]), dtype=np.int64)
        ids = np.array([self.columns.get(name, -1) for name in rows.numeric], dtype=np.int64)
        present = (np.arange(n)[:, None] >= begins) & (ids >= 0)
        place = np.array([self.place[j] if j >= 0 else -1 for j in ids.tolist()], dtype=np.int64)
        features[:, : numbers.shape[1]] = np.where(present, place, -1)
        values = np.ones(features.shape)
        entries = np.broadcast_to(ids, numbers.shape)[present]
        values[:, : numbers.shape[1]][present] = self.standardised_entries(
            entries, numbers[present], np.cumsum(present.sum(axis=1))
        )
        for j, (name, levels) in enumerate(zip(rows.words, rows.levels, strict=True)):
            own = np.array([*(self.levels.get((name, level), -1) for level in levels), -1], dtype=np.int64)
            features[:, numbers.shape[1] + j] = own[rows.codes[:, j]]
            self.unnamed += int(np.count_nonzero((features[:, numbers.shape[1] + j] < 0) & (rows.codes[:, j] >= 0)))
        order = np.argsort(features, axis=1, kind="stable")
        features, values = np.take_along_axis(features, order, 1), np.take_along_axis(values, order, 1)
        there = features >= 0
        ends = np.cumsum(there.sum(axis=1))
        return values[there], features[there].astype(np.int32), ends.astype(np.int32)

    def _begun(self, rows: ReadRows) -> Indices:
        """Give features to new columns of numbers and to new levels, in the order of the rows and then of the columns.

        For each column of numbers the first row that has it: one that begins within these rows is not in those before.
        """
        assert rows.numbers is not None
        assert rows.codes is not None
        at = {name: j for j, name in enumerate(rows.order)}
        begins = np.zeros(len(rows.numeric), dtype=np.int64)
        new: list[tuple[int, int, str, str | None]] = []
        for j, name in enumerate(rows.numeric):
            if name not in self.columns:
                there = np.flatnonzero(~np.isnan(rows.numbers[:, j]))
                begins[j] = there[0] if len(there) else rows.n
                new += [(int(begins[j]), at[name], name, None)] if len(there) else []
        for j, (name, levels) in enumerate(zip(rows.words, rows.levels, strict=True)):
            if all((name, level) in self.levels for level in levels):
                continue
            codes, places = np.unique(rows.codes[:, j], return_index=True)
            for code, row in zip(codes.tolist(), places.tolist(), strict=True):
                if code >= 0 and (name, levels[code]) not in self.levels:
                    new.append((row, at[name], name, levels[code]))
        first = self.rows
        for row, _, name, level in sorted(new, key=lambda own: own[:2]):
            if level is None:
                self.column(name)
            else:
                self._level(name, level, first + row)
        return begins

    def _level(self, column: str, level: str, row: int) -> int | None:
        key = (column, level)
        if key in self.levels:
            return self.levels[key]
        if self.width >= self.most:
            return None
        self.levels[key] = len(self.features)
        self.features.append(key)
        if len(self.named) < NAMED:
            self.named.append(f"new category {level[:60]!r} in {column!r}, row {row:,}")
        return self.levels[key]

    def standardised(self, table: Floats) -> Floats:
        """Columns of numbers with the moments in force; the rows enter the moments at the next boundary."""
        out = np.empty_like(table)
        numbers = np.arange(table.shape[1])
        for begin, end in self._blocks(len(table)):
            part = table[begin:end]
            out[begin:end] = self._in_force(part, slice(table.shape[1]))
            there = ~np.isnan(part)
            self.waiting.append((np.broadcast_to(numbers, part.shape)[there], part[there]))
        return out

    def standardised_entries(self, columns: Indices, values: Floats, ends: Indices) -> Floats:
        """The same for rows of which only some entries are there, up to ``ends`` of each."""
        out = np.empty_like(values)
        starts = np.concatenate([[0], ends])
        for begin, end in self._blocks(len(ends)):
            own = slice(starts[begin], starts[end])
            out[own] = self._in_force(values[own], columns[own])
            there = ~np.isnan(values[own])
            self.waiting.append((columns[own][there], values[own][there]))
        return out

    def _in_force(self, part: Floats, at: Any) -> Floats:
        """Values with the moments in force, a missing one as the mean."""
        mean = self.moments.mean[at]
        filled = np.where(np.isnan(part), mean, part)
        if not self.standard:
            return filled
        deviation = self.moments.deviation(at)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.where(deviation > 0, (filled - mean) / deviation, 0.0)

    def _blocks(self, rows: int) -> Iterator[tuple[int, int]]:
        """Rows up to the next boundary each; at a boundary the rows that wait enter the moments."""
        begin = 0
        while begin < rows:
            end = min(rows, begin + boundary(self.rows) - self.rows)
            yield begin, end
            self.rows += end - begin
            begin = end
            if self.rows == boundary(self.rows - 1):
                columns = np.concatenate([own for own, _ in self.waiting])
                self.moments.add(columns, np.concatenate([values for _, values in self.waiting]))
                self.waiting = []

    def shift_and_scale(self) -> tuple[Floats, Floats]:
        """What a model file keeps: (x - shift) / scale is what the next row would become."""
        d = len(self.columns)
        if not self.standard:
            return np.zeros(d), np.ones(d)
        deviation = self.moments.deviation(slice(d))
        return self.moments.mean[:d].copy(), np.where(deviation > 0, deviation, 1.0)


def boundary(row: int) -> int:
    """The first boundary behind a row."""
    if row < 2:
        return 2
    if row < STEP:
        return 1 << row.bit_length()
    return (row // STEP + 1) * STEP


def table_model(
    arrivals: Arrivals | BlockArrivals, encoder: GrowingEncoder | None, first: int, target: str | None, about: Any
) -> TableModel:
    """The learner on its features in the order of an encoder; ``first`` is the first feature number of svmlight."""
    if encoder is None:
        if isinstance(arrivals, Arrivals):
            return TableModel(arrivals.model(range(first, arrivals.features)), None, None, None, about)
        return TableModel(arrivals.model(), None, None, None, about)
    columns, order = _columns(encoder)
    learner = arrivals.model(order) if isinstance(arrivals, Arrivals) else arrivals.model()
    if hasattr(learner, "classes_") and learner.classes_.dtype.kind == "f" and _whole(learner.classes_):
        learner.classes_ = learner.classes_.astype(np.int64)
    return TableModel(learner, Encoder(columns), target, None, about)


def _columns(encoder: GrowingEncoder) -> tuple[list[AnyColumn], list[int]]:
    """The columns in the order of their first feature, and the features in the order of the columns."""
    shift, scale = encoder.shift_and_scale()
    names = list(dict.fromkeys(column for column, _ in encoder.features))
    levels: dict[str, list[str]] = {}
    for column, level in encoder.features:
        if level is not None:
            levels.setdefault(column, []).append(level)
    columns: list[AnyColumn] = []
    order: list[int] = []
    for name in names:
        if name in encoder.columns:
            j = encoder.columns[name]
            fill = float(encoder.moments.mean[j])
            plan = encoder.plans.get(name, PLAIN)
            written = None if plan.writing is None or plan.writing.plain else plan.writing
            numbers = (fill, False, float(shift[j]), float(scale[j]))
            columns.append(NumberColumn(name, plan.kind, *numbers, written, plan.format))
            order.append(encoder.place[j])
        else:
            own = sorted(levels[name])
            columns.append(CategoryColumn(name, "text", MISSING, tuple(own), ()))
            order += [encoder.levels[name, level] for level in own]
    return columns, order


def _whole(classes: Any) -> bool:
    return bool((classes == np.floor(classes)).all())
