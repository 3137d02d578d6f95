"""Columns of text that hold numbers or dates as people write them; numbers are read by number_writing.py.

Dates have the year first, or day.month.year, or month/day/year where only that is a date. Day and month are read in one
order for the whole column. Where both are possible the day comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from separatrix.data.frame import Column, Frame
from separatrix.data.number_writing import NO_VALUE, Cell, Writing, is_settled, writings
from separatrix.errors import DataError

CLOCK = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s?(Z|[+-]\d{2}:?\d{2})?\Z"
YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + CLOCK)
YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + CLOCK)
EPOCH = datetime(1970, 1, 1)
ORDERS = ("day first", "month first")


def dates(cells: Iterable[str]) -> dict[str, float] | None:
    """Seconds since 1970 of all texts, or None where one is not a date."""
    known = list(cells)
    for order in ORDERS:
        found = {}
        for text in known:
            seconds = moment(text, order)
            if seconds is None:
                break
            found[text] = seconds
        else:
            return found
    return None


def moment(text: str, order: str = ORDERS[0]) -> float | None:
    """Seconds since 1970 (UTC where no zone is given) of a text, or None where it is not a date."""
    text = text.strip()
    match = YEAR_FIRST.match(text)
    if match is not None:
        year, _, month, day, *clock = match.groups()
    else:
        match = YEAR_LAST.match(text)
        if match is None:
            return None
        first, _, second, year, *clock = match.groups()
        day, month = (first, second) if order == ORDERS[0] else (second, first)
    hour, minute, second, fraction, zone = clock
    years = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 69 else 1900)
    try:
        made = datetime(years, int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
    except ValueError:
        return None
    seconds = (made - EPOCH).total_seconds() + float(f"0.{fraction or 0}")
    return seconds - _offset(zone)


def _offset(zone: str | None) -> float:
    if zone is None or zone == "Z":
        return 0.0
    away = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[-2:])
    return -away if zone[0] == "-" else away


TRIED = 200  # cells that must look alike before all are read


def recognised(
    frame: Frame, *, but: Sequence[str] = (), decimal: str | None = None, file_decimal: str | None = None, typed: bool
) -> tuple[Frame, list[str]]:
    """The frame with numbers and dates for text that holds them, and a note on each such column.

    ``but`` names columns to leave as they are. ``decimal`` is the mark that the user named, ``file_decimal`` that of
    the file. In a ``typed`` table plain numbers that are stored as text stay text.
    """
    found: dict[str, dict[str, Writing]] = {}
    made: dict[str, Column] = {}
    notes: list[str] = []
    for column in frame.columns:
        if column.kind != "text" or column.name in but:
            continue
        cells = _different(column)
        if cells is None:
            continue
        possible = writings(cells)
        if decimal is not None and is_settled(possible) and decimal not in possible:
            possible = {}
        if possible and not (typed and _plain_text(column, cells, possible)):
            found[column.name] = possible
        elif not possible and (seconds := dates(cells)) is not None:
            made[column.name] = Column(column.name, "date", _values(column, seconds))
            notes.append(_named(column, "dates", [_stand_for_none(column, cells)]))
    votes = {next(iter(own)) for own in found.values() if len(own) == 1} | ({file_decimal} if file_decimal else set())
    if any(column.kind == "number" for column in frame.columns) and file_decimal is None:
        votes.add(".")
    for name, possible in found.items():
        column, cells = frame[name], _different(frame[name]) or []
        mark = decimal if decimal in possible else "," if votes == {","} and "," in possible else next(iter(possible))
        writing = possible[mark]
        if is_settled(possible) and "." in possible:
            writing = possible["."]
        numbers = {text: writing.number(text) for text in cells}
        values = _values(column, numbers)
        kind = "integer" if np.all((values == np.floor(values)) | np.isnan(values)) else "number"
        made[name] = Column(name, kind, values, writing)
        notes.append(_note(column, cells, writing, possible, decimal is None))
    columns = tuple(made.get(column.name, column) for column in frame.columns)
    return Frame(columns, frame.n, frame.source), notes


def read_as(frame: Frame, known: Mapping[str, Writing]) -> Frame:
    """The frame with the numbers of these columns read as they were written when a model was fitted."""
    columns = list(frame.columns)
    for j, column in enumerate(columns):
        writing = known.get(column.name)
        if writing is None:
            continue
        if column.kind != "text":
            columns[j] = replace(column, writing=writing)
            continue
        numbers: dict[Any, float] = {}
        for row, text in enumerate(column.values.tolist()):
            if text is None or text in numbers:
                continue
            value = writing.number(text)
            if value is None:
                how = f" ({writing})" if str(writing) else ""
                cell = Cell.of(text)
                other = cell is not None and cell.unit != writing.unit
                help_ = "convert the column" if other else "decimal= says that this file has another decimal mark"
                raise DataError(
                    f"{column.name!r} in {frame.source} row {row} (counted from 0) is {text[:40]!r}: not a number as "
                    f"the training table has them{how}; {help_}."
                )
            numbers[text] = value
        columns[j] = Column(column.name, "number", _values(column, numbers), writing)
    return Frame(tuple(columns), frame.n, frame.source)


def contradiction(column: Column) -> str | None:
    """Why a column of cells that all look like numbers cannot be read as numbers, or None where that is not so."""
    first: dict[str, tuple[int, str]] = {}
    units: dict[str, tuple[int, str]] = {}
    for row, text in enumerate(column.values.tolist()):
        if text is None or text in NO_VALUE:
            continue
        cell = Cell.of(text)
        if cell is None:
            return None
        units.setdefault(cell.unit, (row, text))
        for mark in (".", ","):
            if all(d not in ("", mark) or g == mark for d, g in cell.marks):
                first.setdefault(mark, (row, text))
    for two in (first, {unit: own for unit, own in units.items() if unit or "%" in units}):
        if len(two) > 1:
            (a, one), (b, other) = list(two.values())[:2]
            return f"{one[:40]!r} (row {a}, counted from 0) and {other[:40]!r} (row {b})"
    return None


def _different(column: Column) -> list[str] | None:
    """The different cells that are not missing, or None where a first look shows that they are words."""
    tried = [v for v in column.values[: 4 * TRIED].tolist() if v is not None and v not in NO_VALUE][:TRIED]
    if any(_word(text) for text in tried):
        return None
    cells = [v for v in dict.fromkeys(column.values.tolist()) if v is not None and v not in NO_VALUE]
    return cells or None


def _word(text: str) -> bool:
    return len(text) > 40 or not any(letter.isdigit() for letter in text)


def _plain_text(column: Column, cells: list[str], possible: Mapping[str, Writing]) -> bool:
    """Whether text of a typed table is to stay text: plain numbers, or digits with zeros before them."""
    if any(text.strip("+-")[:1] == "0" and text.strip("+-")[1:2].isdigit() for text in cells):
        return True
    return not _stand_for_none(column, cells) and "." in possible and possible["."].plain


def _values(column: Column, numbers: Mapping[str, float | None]) -> Any:
    nan = float("nan")
    values = (numbers.get(text) if text is not None else None for text in column.values.tolist())
    return np.array([nan if value is None else value for value in values], dtype=np.float64)


def _stand_for_none(column: Column, cells: list[str]) -> str:
    """The cells that stand for a missing value, as a note says it; empty where there are none."""
    marks = sorted(set(column.values.tolist()) - {None} - set(cells))
    return f"{', '.join(map(repr, marks))} is missing" if marks else ""


def _note(column: Column, cells: list[str], writing: Writing, possible: Mapping[str, Writing], guessed: bool) -> str:
    parts = [str(writing)]
    if guessed and not is_settled(dict(possible)):
        other = next(own for mark, own in possible.items() if mark != writing.decimal)
        text = next(text for text in cells if writing.number(text) != other.number(text))
        parts.append(
            f"{text} is {writing.number(text):.15g}; --decimal {other.decimal} reads {other.number(text):.15g}"
        )
    return _named(column, "numbers", [*parts, _stand_for_none(column, cells)])


def _named(column: Column, what: str, parts: list[str]) -> str:
    told = "; ".join(part for part in parts if part)
    return f"{column.name!r} as {what}" + (f" ({told})" if told else "")
