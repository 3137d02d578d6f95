"""Cells to numbers while rows arrive: a running standardiser and categories that grow, the same for any chunking.

Means and deviations in force for a row are those of the rows before the last boundary, and boundaries lie at rows 2,
4, 8, …, 256, and from there on every 256. The rows behind the last boundary wait, and are part of the state. Until
two rows have been seen a standardised column is 0, as is one that does not vary. A missing number is the mean in
force, a missing category has no feature. A level gets its feature when it first occurs.
``table_model`` is the learner with this encoder, as ``separatrix predict`` takes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.features.column_encoders import MISSING, CategoryColumn, NumberColumn
from separatrix.features.encoder import AnyColumn, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.perceptron.arrivals import Arrivals
from separatrix.stream.block_learning import BlockArrivals

STEP = 256
MOST_LEVELS = 1 << 20
NAMED = 50  # new categories that are named


@dataclass(slots=True)
class RunningMoments:
    """Count, mean and sum of squared deviations of each column; missing values are left out."""

    count: Floats = field(default_factory=lambda: np.zeros(0))
    mean: Floats = field(default_factory=lambda: np.zeros(0))
    square: Floats = field(default_factory=lambda: np.zeros(0))

    def widen(self, d: int) -> None:
        for name in ("count", "mean", "square"):
            own = getattr(self, name)
            if len(own) < d:
                setattr(self, name, np.concatenate([own, np.zeros(d - len(own))]))

    def add(self, block: Floats) -> None:
        """Join the moments of a whole block (Chan, Golub & LeVeque 1979)."""
        present = ~np.isnan(block)
        n = present.sum(axis=0).astype(np.float64)
        filled = np.where(present, block, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            mean = np.where(n > 0, filled.sum(axis=0) / n, 0.0)
            deviation = np.where(present, block - mean, 0.0)
            square = (deviation * deviation).sum(axis=0)
            total = self.count + n
            apart = mean - self.mean
            share = np.where(total > 0, n / total, 0.0)
            self.square = self.square + square + np.where(n > 0, apart * apart * self.count * share, 0.0)
            self.mean = self.mean + np.where(n > 0, apart * share, 0.0)
            self.count = total

    def deviation(self) -> Floats:
        return np.sqrt(self.square / np.maximum(self.count, 1.0))


@dataclass(slots=True)
class GrowingEncoder:
    """The state of the encoder."""

    standard: bool
    columns: list[str] = field(default_factory=list)  # of numbers, by number
    features: list[tuple[str, str | None]] = field(default_factory=list)  # column, and level of a category
    levels: dict[tuple[str, str], int] = field(default_factory=dict)  # feature of each level
    place: list[int] = field(default_factory=list)  # feature of each column of numbers
    moments: RunningMoments = field(default_factory=RunningMoments)
    waiting: list[Floats] = field(default_factory=list)
    waits: int = 0  # rows that wait
    rows: int = 0
    named: list[str] = field(default_factory=list)  # the first new categories, in words
    unnamed: int = 0  # levels without a feature, beyond the limit

    def begin(self, columns: list[str]) -> None:
        """Columns of numbers that are known beforehand."""
        for name in columns:
            self._column(name)

    def _column(self, name: str) -> None:
        self.place.append(len(self.features))
        self.features.append((name, None))
        self.columns.append(name)
        self.moments.widen(len(self.columns))

    @property
    def width(self) -> int:
        return len(self.features)

    def sparse(self, cells: list[dict[str, Any]]) -> tuple[Floats, Any, Any]:
        """Rows with categories: values, columns and ends of a CSR matrix of ``width`` columns."""
        at = {name: j for j, name in enumerate(self.columns)}
        present: list[list[int]] = []
        found: list[list[int]] = []
        for number, row in enumerate(cells):
            numbers, ones = [], []
            for name, value in row.items():
                if isinstance(value, str):
                    feature = self._level(name, value, self.rows + number)
                    if feature is not None:
                        ones.append(feature)
                elif value is not None or name in at:
                    if name not in at:
                        at[name] = len(self.columns)
                        self._column(name)
                    numbers.append(at[name])
            present.append(numbers)
            found.append(ones)
        table = np.full((len(cells), len(self.columns)), np.nan)
        for i, row in enumerate(cells):
            for j in present[i]:
                value = row[self.columns[j]]
                table[i, j] = math.nan if value is None else value
        scaled = self.standardised(table)
        values: list[float] = []
        columns: list[int] = []
        ends = []
        for i, (numbers, ones) in enumerate(zip(present, found, strict=True)):
            pairs = sorted([*((self.place[j], scaled[i, j]) for j in numbers), *((f, 1.0) for f in ones)])
            columns += [c for c, _ in pairs]
            values += [v for _, v in pairs]
            ends.append(len(columns))
        return np.array(values, dtype=np.float64), np.array(columns, dtype=np.int32), np.array(ends, dtype=np.int32)

    def _level(self, column: str, level: str, row: int) -> int | None:
        key = (column, level)
        if key in self.levels:
            return self.levels[key]
        if len(self.levels) >= MOST_LEVELS:
            self.unnamed += 1
            return None
        self.levels[key] = len(self.features)
        self.features.append(key)
        if len(self.named) < NAMED:
            self.named.append(f"new category {level[:60]!r} in {column!r}, row {row:,}")
        return self.levels[key]

    def standardised(self, table: Floats) -> Floats:
        """Columns of numbers with the moments in force; the rows enter the moments at the next boundary."""
        out = np.empty_like(table)
        begin = 0
        while begin < len(table):
            end = min(len(table), begin + boundary(self.rows) - self.rows)
            part = table[begin:end]
            mean, deviation = self.moments.mean[: part.shape[1]], self.moments.deviation()[: part.shape[1]]
            filled = np.where(np.isnan(part), mean, part)
            if self.standard:
                with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                    filled = np.where(deviation > 0, (filled - mean) / deviation, 0.0)
            out[begin:end] = filled
            self.waiting.append(part.copy())
            self.waits += end - begin
            self.rows += end - begin
            begin = end
            if self.rows == boundary(self.rows - 1):
                self._settle()
        return out

    def _settle(self) -> None:
        d = len(self.columns)
        block = np.full((self.waits, d), np.nan)
        at = 0
        for part in self.waiting:
            block[at : at + len(part), : part.shape[1]] = part
            at += len(part)
        self.moments.add(block)
        self.waiting, self.waits = [], 0

    def shift_and_scale(self) -> tuple[Floats, Floats]:
        """What a model file keeps: (x - shift) / scale is what the next row would become."""
        if not self.standard:
            return np.zeros(len(self.columns)), np.ones(len(self.columns))
        deviation = self.moments.deviation()
        return self.moments.mean.copy(), np.where(deviation > 0, deviation, 1.0)


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
    numbers = {name: j for j, name in enumerate(encoder.columns)}
    levels: dict[str, list[str]] = {}
    for column, level in encoder.features:
        if level is not None:
            levels.setdefault(column, []).append(level)
    columns: list[AnyColumn] = []
    order: list[int] = []
    for name in names:
        if name in numbers:
            j = numbers[name]
            fill = float(encoder.moments.mean[j])
            columns.append(NumberColumn(name, "number", fill, False, float(shift[j]), float(scale[j])))
            order.append(encoder.place[j])
        else:
            own = sorted(levels[name])
            columns.append(CategoryColumn(name, "text", MISSING, tuple(own), ()))
            order += [encoder.levels[name, level] for level in own]
    return columns, order


def _whole(classes: Any) -> bool:
    return bool((classes == np.floor(classes)).all())
