"""Tables whose columns have types (Parquet, JSON, SQL): their text is read by the same plan as delimited text.

Text that holds numbers or dates as people write them becomes such columns; the first rows decide, and plain numbers
that are stored as text stay text. Tables that a caller has in memory are read by the plan of a model in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.data.column_guesses import guess, settled
from separatrix.data.date_writing import moment
from separatrix.data.delimited_table import broken_cell, is_whole
from separatrix.data.duckdb_reader import Query, Written
from separatrix.data.frame import Column, Frame, join
from separatrix.data.number_writing import NO_VALUE, Writing
from separatrix.data.reading_plan import ColumnPlan, Reading
from separatrix.errors import DataError

FIRST = 20_000  # rows that decide


class TypedTable:
    """A query whose text columns are read by a plan."""

    def __init__(self, query: Query, reading: Reading) -> None:
        self.query, self.reading = query, reading
        self.plans: dict[str, ColumnPlan] | None = None
        self.guessed: list[str] = []
        self.broken: dict[str, int] = {}  # cells called missing

    @property
    def columns(self) -> list[tuple[str, str]]:
        return [(name, kind) for name, kind, _ in self.query.columns]

    @property
    def notes(self) -> list[str]:
        called = [f"cells called missing: {many:,} of {name!r}" for name, many in self.broken.items()]
        return [*self.query.notes, *self.guessed, *called]

    def has_rows(self) -> bool:
        """Whether there is a row."""
        return any(frame.n for frame, _ in self.query.frames([]))

    def decided(self) -> dict[str, ColumnPlan]:
        """What the text columns hold, by their first rows."""
        if self.plans is None:
            words = [name for name, kind, _ in self.query.columns if kind == "text"]
            known = self.reading.known
            open_names = [name for name in words if name not in known or not known[name].decided]
            cells: dict[str, list[str]] = {name: [] for name in open_names}
            if open_names:
                seen = 0
                for frame, _ in self.query.frames(open_names):
                    for name in open_names:
                        own = frame[name].values.tolist()
                        cells[name] = list(dict.fromkeys([*cells[name], *(v for v in own if v is not None)]))
                    seen += frame.n
                    if seen >= FIRST:
                        break
            said = {name: None if name not in known else known[name].kind for name in open_names}
            guesses = {name: guess(own, typed=True, kind=said[name]) for name, own in cells.items()}
            plans, self.guessed = settled(guesses, self.reading)
            self.plans = plans | {name: own for name, own in known.items() if own.decided}
        return self.plans

    def frames(self, names: Sequence[str] | None = None, originals: str = "") -> Iterator[tuple[Frame, Written]]:
        """Batches of the wanted columns, and their cells as they are written."""
        plans, row = self.decided(), 0
        for frame, written in self.query.frames(names, originals):
            yield by_plan(frame, plans, self.reading, row, self.broken), written
            row += frame.n

    def read(self, names: Sequence[str] | None = None) -> Frame | None:
        """All rows, whole numbers among text as integers; None where there are none."""
        batches = [frame for frame, _ in self.frames(names)]
        if not sum(frame.n for frame in batches):
            return None
        whole, stored = join(batches), dict(self.columns)
        kinds = {
            c.name for c in whole.columns if c.kind == "number" and stored[c.name] == "text" and is_whole(c.values)
        }
        return replace(
            whole, columns=tuple(replace(c, kind="integer") if c.name in kinds else c for c in whole.columns)
        )


def by_plan(
    frame: Frame, plans: dict[str, ColumnPlan], reading: Reading, first: int = 0, broken: dict[str, int] | None = None
) -> Frame:
    """The frame with its text read as planned; ``first`` is the number of its first row."""
    columns, kept = [], np.ones(frame.n, dtype=np.bool_)
    for column in frame.columns:
        own = plans.get(column.name)
        if own is None or own.kind == "text":
            columns.append(_tidy(column))
        elif column.kind != "text":
            plain = own.writing is None or own.writing.plain
            columns.append(column if plain else replace(column, writing=own.writing))
        else:
            columns.append(_read(column, own, frame.source, reading, first, kept, {} if broken is None else broken))
    made = Frame(tuple(columns), frame.n, frame.source)
    return made if kept.all() else made.take(kept)


def _tidy(column: Column) -> Column:
    """Words without the blanks around them."""
    if column.kind != "text" or not any(v != v.strip() for v in column.values.tolist() if v is not None):
        return column
    return replace(column, values=np.array([v and v.strip() for v in column.values.tolist()], dtype=object))


def _read(
    column: Column, plan: ColumnPlan, source: str, reading: Reading, first: int, kept: Any, broken: dict[str, int]
) -> Column:
    cells = column.values.tolist()
    writing = plan.writing or Writing()
    known: dict[str | None, float] = {None: float("nan")}
    wrong: list[str] = []
    for text in dict.fromkeys(cells):
        if text is None:
            continue
        value = float("nan") if text.strip() in NO_VALUE or not text.strip() else None
        if value is None:
            value = writing.number(text) if plan.kind == "number" else moment(text, plan.format)
        if value is None:
            wrong.append(text)
        known[text] = float("nan") if value is None else value
    if wrong and reading.broken == "refuse":
        row = first + cells.index(wrong[0])
        given = reading.fitted and column.name in reading.known
        raise DataError(f"{source} row {row} (counted from 0): {broken_cell(column.name, wrong[0], plan, given)}.")
    for row, text in enumerate(cells if wrong else ()):
        if text in set(wrong):
            broken[column.name] = broken.get(column.name, 0) + 1
            kept[row] &= reading.broken != "skip"
    values = np.array([known[text] for text in cells], dtype=np.float64)
    shown = None if writing.plain or plan.kind == "date" else writing
    return Column(column.name, plan.kind, values, shown, plan.format)
