"""Tables to numbers: which columns there are, what each becomes, what was dropped and what looks like a leak.

The encoder is fitted on the rows that a model learns from and saved with it. It is plain data: no code is
stored, and the same cells give the same numbers from then on.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.column_guesses import case_notes
from separatrix.data.frame import Column, Frame
from separatrix.data.number_writing import is_number
from separatrix.errors import DataError, ParameterError
from separatrix.features.column_encoders import (
    MISSING,
    CategoryColumn,
    Noted,
    NumberColumn,
    TextColumn,
    VocabularyColumn,
    cells,
    contradiction,
)
from separatrix.features.counters import counter
from separatrix.features.dates import DateColumn
from separatrix.features.leaks import Leak, find_leaks, names_rows
from separatrix.features.table_map import TableMap, check_map

AnyColumn = NumberColumn | CategoryColumn | DateColumn | TextColumn | VocabularyColumn
WORDY_COLUMNS = (TextColumn, VocabularyColumn)
ALLOWED = {"scale": ("none", "standard"), "words": ("hashed", "tfidf"), "dates": ("days", "parts")}
MOST_LEVELS = 200
WORDY = 3.0  # words a cell from which a text column is free text and not a category
DENSE = 4096  # features up to which the rows are an array


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user has said about columns; the rest is guessed, and said."""

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()  # though they count the rows
    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    scale: str = "none"
    rare: int | None = None
    words: str = "hashed"
    dates: str = "days"
    map: str | None = None  # "poly:2", "splines"

    @property
    def named(self) -> tuple[str, ...]:
        """The columns about which something was said."""
        return (*self.drop, *self.keep, *self.text, *self.category, *self.number)

    def check(self) -> None:
        """Refuse what cannot be chosen."""
        for key, allowed in ALLOWED.items():
            if getattr(self, key) not in allowed:
                listed = " or ".join(repr(word) for word in allowed)
                raise ParameterError(f"{key} is {getattr(self, key)!r}: it can be {listed}.")
        if self.map is not None:
            check_map(self.map)


@dataclass(slots=True)
class Encoder:
    """Columns with their encoders, in order, and what was noted while fitting."""

    columns: list[AnyColumn]
    dropped: dict[str, str] = field(default_factory=dict)  # column: why
    notes: list[str] = field(default_factory=list)
    leaks: list[Leak] = field(default_factory=list)
    map: TableMap | None = None  # of the encoded columns

    @classmethod
    def fitted(
        cls, frame: Frame, choices: Choices | None = None, y: NDArray[Any] | None = None, target: str = ""
    ) -> Encoder:
        """Decide what each column is; ``y`` (the classes) is looked at for leaks only."""
        choices = choices or Choices()
        choices.check()
        for name in choices.named:
            frame[name]
        encoder = cls([])
        twins: dict[bytes, str] = {}
        counters = [column.name for column in frame.columns if column.name not in choices.named and counter(column)]
        for column in frame.columns:
            if column.name in choices.drop:
                encoder.dropped[column.name] = "as asked"
            elif column.name in counters:
                encoder.dropped[column.name] = str(counter(column))
            else:
                encoder._add(column, choices, frame, twins)
        if counters and not encoder.columns:  # the day of a trend counts the rows as well
            return cls.fitted(frame, replace(choices, keep=(*choices.keep, *counters)), y, target)
        if y is not None:
            kept = [column for column in frame.columns if column.name in encoder.inputs]
            encoder.leaks = find_leaks(kept, y, target)
        if not encoder.columns:
            raise DataError(f"{frame.source} has no column left to learn from: {encoder._why_none()}.")
        if choices.map is not None:
            encoder.map = TableMap.fitted(choices.map, encoder.encode(frame)[0])
        return encoder

    def _why_none(self) -> str:
        return "; ".join(f"{name!r} {why}" for name, why in list(self.dropped.items())[:5]) or "it has only the target"

    def _add(self, column: Column, choices: Choices, frame: Frame, twins: dict[bytes, str]) -> None:
        name, n = column.name, frame.n
        why = _useless(column)
        mark = _mark(column)
        if why is None and mark in twins:
            why = f"repeats {twins[mark]!r}"
        if why is not None:
            self.dropped[name] = why
            return
        twins[mark] = name
        standard = choices.scale == "standard"
        if name in choices.text:
            self._text(as_text(column), choices)
        elif name in choices.category:
            self.add_category(name, column.kind, Counter(cells(column)), choices, n)
        elif column.kind == "date" and choices.dates == "parts" and name not in choices.number:
            self.columns.append(DateColumn.fitted(column, standard, frame.source))
        elif name in choices.number or column.kind != "text":
            self.columns.append(NumberColumn.fitted(column, standard, frame.source))
            self.notes += sentinel_notes(name, column.values) if column.kind in ("number", "integer") else []
        elif is_wordy(column):
            self.notes.append(f"{name!r} as text")
            self._text(column, choices)
        else:
            need_no_numbers(column, frame.source)
            if names_rows(column):
                self.dropped[name] = "looks like an ID column: nearly every value is unique"
            else:
                self.add_category(name, column.kind, Counter(cells(column)), choices, n)

    def _text(self, column: Column, choices: Choices) -> None:
        if choices.words == "hashed":
            self.columns.append(TextColumn.fitted(column))
            return
        fitted = VocabularyColumn.fitted(column)
        if not fitted.terms:
            self.dropped[column.name] = "has no word that two rows share"
            return
        self.columns.append(fitted)

    def add_category(self, name: str, kind: str, seen: Counter[str], choices: Choices, n: int) -> None:
        """A column of categories, from how often each level occurs in n rows."""
        least = choices.rare if choices.rare is not None else max(2, n // 200)
        fitted = CategoryColumn.fitted(name, kind, seen, least)
        if len(fitted.levels) > MOST_LEVELS:
            counted = sorted(count for level, count in seen.items() if level != MISSING or kind != "text")[::-1]
            fitted = CategoryColumn.fitted(name, kind, seen, int(counted[MOST_LEVELS - 2]) + 1)
        if not fitted.levels:
            self.dropped[name] = "has no level that is common enough"
            return
        self.notes += case_notes(name, seen)
        grouped = f", {len(fitted.rare)} rare levels grouped" if fitted.rare else ""
        self.notes.append(f"{name!r} as categories ({len(fitted.levels) + 1}{grouped})")
        self.columns.append(fitted)

    @property
    def inputs(self) -> list[str]:
        """The columns that are read."""
        return [column.name for column in self.columns]

    def feature_names(self) -> list[str]:
        names = [name for column in self.columns for name in column.names()]
        return names if self.map is None else self.map.names(names)

    @property
    def width(self) -> int:
        """The number of features that a learner is given."""
        return self.encoded_width if self.map is None else len(self.map.terms)

    @property
    def encoded_width(self) -> int:
        """The number of encoded columns, before a feature map."""
        return sum(len(c.idf) if isinstance(c, WORDY_COLUMNS) else len(c.names()) for c in self.columns)

    def encode(self, frame: Frame, strict: bool = False) -> tuple[Any, dict[str, Noted]]:
        """The rows of a frame as an array, or as CSR where there is text or very many features."""
        noted: dict[str, Noted] = {}
        blocks = []
        for own in self.columns:
            noted[own.name] = Noted()
            blocks.append(own.encode(frame[own.name], noted[own.name], frame.source))
            first = noted[own.name].first_unseen
            if strict and first is not None:
                raise DataError(
                    f"{own.name!r} in {frame.source} is {first[1]!r} in row {first[0]} (counted from 0): "
                    "this category did not occur in training."
                )
        if self.encoded_width <= DENSE and all(isinstance(block, np.ndarray) for block in blocks):
            X = np.ascontiguousarray(np.concatenate(blocks, axis=1))
            return X if self.map is None else self.map.apply(X), noted
        from scipy.sparse import csr_array, hstack

        return csr_array(hstack([csr_array(block) for block in blocks], format="csr")), noted


def without_counters(frame: Frame, choices: Choices) -> Choices:
    """The choices with the columns that count the rows of a whole table said, for encoders of some of its rows."""
    counters = [column.name for column in frame.columns if column.name not in choices.named and counter(column)]
    if not counters:
        return choices
    inputs = Encoder.fitted(frame, replace(choices, map=None)).inputs
    used, left = (tuple(name for name in counters if (name in inputs) == kept) for kept in (True, False))
    return replace(choices, drop=(*choices.drop, *left), keep=(*choices.keep, *used))


SENTINELS = (-9, -99, -999, -9999, -99999, 99, 999, 9999, 99999)
OFTEN = 0.01  # share of rows from which a sentinel is no chance


def sentinel_notes(name: str, values: NDArray[Any]) -> list[str]:
    """A note on a value such as -999 that stands for a missing one: often there, and far from all others."""
    present = values[~np.isnan(values)]
    if len(present) < 2:
        return []
    for end in (present.min(), present.max()):
        times = int(np.count_nonzero(present == end))
        others = present[present != end]
        if end not in SENTINELS or times < max(3, OFTEN * len(present)) or not len(others):
            continue
        low, high = float(others.min()), float(others.max())
        if min(abs(end - low), abs(end - high)) > high - low:
            share = f"{100 * times / len(present):.0f}%"
            return [
                f"{name!r} is {end:g} in {share} of the rows, far from its other values: --na {end:g} calls it missing"
            ]
    return []


def as_text(column: Column) -> Column:
    if column.kind == "text":
        return column
    values = [None if v != v else f"{v:.17g}" for v in column.values.tolist()]
    return Column(column.name, "text", np.array(values, dtype=object))


def _useless(column: Column) -> str | None:
    missing = column.missing
    if missing.all():
        return "is missing in every row"
    present = column.values[~missing]
    if not missing.any() and (present == present[0]).all():
        return f"is {present[0]!r} in every row" if column.kind == "text" else f"is {present[0]:g} in every row"
    return None


def _mark(column: Column) -> bytes:
    import hashlib

    digest = hashlib.blake2b(column.kind.encode() if column.kind == "text" else b"number", digest_size=16)
    if column.kind == "text":
        codes: dict[str | None, int] = {}  # levels by first appearance: a renamed copy is a copy
        digest.update(np.array([codes.setdefault(v, len(codes)) for v in column.values.tolist()]).tobytes())
        if len(codes) > len(column.values) // 2:  # hardly any value repeats: only the same words are a copy
            digest.update(repr(list(codes)).encode("utf-8", "replace"))
    else:
        digest.update(np.ascontiguousarray(column.values + 0.0).tobytes())
    return digest.digest()


def is_wordy(column: Column) -> bool:
    """Whether cells read like sentences: several words each, and mostly different from each other."""
    present = [v for v in column.values[:5000].tolist() if v is not None]
    words = sum(len(v.split()) for v in present) / max(1, len(present))
    return words >= WORDY and len(set(present)) > max(20, len(present) // 4)


def need_no_numbers(column: Column, source: str) -> None:
    """Refuse a column of numbers in which a few cells are something else: it is not a category."""
    seen = Counter(v for v in column.values.tolist() if v is not None)
    present = seen.total()
    if present >= 10 and (why := contradiction(column)) is not None:
        raise DataError(
            f"{column.name!r} in {source} looks like numbers, but {why} disagree: write all of them in one way, or "
            f"pass category={column.name!r} to take them as levels."
        )
    odd = {v: count for v, count in seen.items() if not is_number(v)}
    if present >= 10 and 0 < sum(odd.values()) <= present // 2 and len(odd) <= 5 and len(seen) - len(odd) > 10:
        value = next(iter(odd))  # in the order of the rows
        i = column.values.tolist().index(value)
        raise DataError(
            f"{column.name!r} in {source} row {i} (counted from 0) is {value[:40]!r}: not a number. "
            f"Add na={value[:40]!r} to call it missing, or category={column.name!r} to take all as levels."
        )


def summary(encoder: Encoder, noted: dict[str, Noted]) -> list[str]:
    """What a reader should know: guesses, missing values, dropped columns."""
    lines = list(encoder.notes)
    filled = {column.name: isinstance(column, (NumberColumn, DateColumn)) for column in encoder.columns}
    for name, own in noted.items():
        if own.missing:
            how = "imputed, flagged" if filled[name] else "kept as a level of their own"
            lines.append(f"{own.missing:,} missing in {name!r} {how}")
    lines += [f"{name!r} dropped: it {why}" for name, why in encoder.dropped.items() if why != "as asked"]
    return lines
