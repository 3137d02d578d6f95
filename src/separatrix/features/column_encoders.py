"""One encoder a kind of column: fitted once, stored as plain data, the same numbers for the same cells from then on.

Each turns a column into one or more features with names of their own. A value that was missing at the fit,
or is later, becomes the median (of numbers) or a level of its own (of categories); where values were missing
at the fit an indicator says so. The most common level of a category is the baseline and has no feature; a
level that was not seen counts as rare where rare levels were grouped, and as the baseline elsewhere.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.date_writing import moment
from separatrix.data.frame import Column
from separatrix.data.number_writing import NO_VALUE, Writing, disagreement, is_number
from separatrix.errors import DataError
from separatrix.features import text
from separatrix.features.text import terms

RARE = "(rare)"
MISSING = "(missing)"
SECONDS = 86400.0  # a day
TRUTHS = {"true": 1.0, "false": 0.0}  # as text files write the truth values of typed ones, in any case
TINY = 1e-150  # deviations below it have squares that lose digits
MOST_WORDS = 5  # different cells that are not numbers, up to which they may be marks for missing values


@dataclass(slots=True)
class Noted:
    """What happened to the cells of a column when they were encoded."""

    missing: int = 0
    unseen: int = 0
    first_unseen: tuple[int, str] | None = None


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """Numbers, booleans and dates as they are: (x - shift) / scale, the fill where it is missing, and an indicator."""

    KIND: ClassVar[str] = "number"
    name: str
    source: str  # number, integer, boolean or date
    fill: float
    indicator: bool
    shift: float = 0.0
    scale: float = 1.0
    writing: Writing | None = None  # how the cells of the fit were written, where they were not plain numbers
    format: str | None = None  # of dates in text

    @classmethod
    def fitted(cls, column: Column, standard: bool, source: str) -> NumberColumn:
        values = finite(column, source)
        values = values / SECONDS if column.kind == "date" else values
        present = values[~np.isnan(values)]
        fill = float(np.median(present)) if len(present) else 0.0
        shift, scale = 0.0, 1.0
        if standard and len(present):
            shift, scale = _mean_and_deviation(np.where(np.isnan(values), fill, values))
        gone = bool(len(present) < len(values))
        return cls(column.name, column.kind, fill, gone, shift, scale, column.writing, column.format)

    def names(self) -> list[str]:
        return [self.name, f"{self.name}={MISSING}"] if self.indicator else [self.name]

    def encode(self, column: Column, noted: Noted, source: str) -> Floats:
        values = finite(column, source, self.source)
        values = values / SECONDS if self.source == "date" else values
        gone = np.isnan(values)
        noted.missing += int(gone.sum())
        filled = np.where(gone, self.fill, values) if gone.any() else values
        if self.shift or self.scale != 1.0:
            filled = (filled - self.shift) / self.scale
        return np.column_stack([filled, gone]) if self.indicator else filled[:, None]

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


def _mean_and_deviation(values: Floats) -> tuple[float, float]:
    """Mean and standard deviation, 1 for a constant; of numbers whose squares leave the range of doubles too."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        shift, scale = float(values.mean()), float(values.std())
        if not (TINY < scale < np.inf):
            unit = float(np.ldexp(1.0, int(np.frexp(np.abs(values).max())[1])))  # a power of two: exact quotients
            shift, scale = unit * float((values / unit).mean()), unit * float((values / unit).std())
    return shift, scale or 1.0


@dataclass(frozen=True, slots=True)
class CategoryColumn:
    """One 0/1 feature for each level but the most common (``baseline``)."""

    KIND: ClassVar[str] = "category"
    name: str
    source: str
    baseline: str
    levels: tuple[str, ...]  # those with a feature; RARE and MISSING among them where the fit had such
    rare: tuple[str, ...]

    @classmethod
    def fitted(cls, name: str, source: str, seen: Counter[str], least: int) -> CategoryColumn:
        """From how often each level was seen; levels of fewer than ``least`` rows are grouped."""
        ranked = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
        rare = sorted(level for level, count in ranked if count < least and level != MISSING)
        rare = rare if len(rare) > 1 else []
        kept = Counter({level: count for level, count in ranked if level not in set(rare)})
        if rare:
            kept[RARE] = sum(seen[level] for level in rare)
        ordered = sorted(kept, key=lambda level: (-kept[level], level))
        return cls(name, source, ordered[0], tuple(sorted(ordered[1:])), tuple(rare))

    def names(self) -> list[str]:
        return [f"{self.name}={level}" for level in self.levels]

    def encode(self, column: Column, noted: Noted, source: str) -> Floats:
        place = {level: j for j, level in enumerate(self.levels)}
        place[self.baseline] = -1
        other = place.get(RARE, -1)
        place.update(dict.fromkeys(self.rare, other))
        out = np.zeros((len(column.values), len(self.levels)))
        same = {level.lower(): level for level in place if level.lower() in TRUTHS} if self._truths(column) else {}
        for i, level in enumerate(cells(column)):
            level = same.get(level.lower(), level) if same else level
            noted.missing += level == MISSING
            j = place.get(level)
            if j is None:
                if level != MISSING:
                    noted.unseen += 1
                    noted.first_unseen = noted.first_unseen or (i, level)
                j = other
            if j >= 0:
                out[i, j] = 1.0
        return out

    def _truths(self, column: Column) -> bool:
        """Whether truth values of a typed file meet words, True or TRUE, of a text file: the fit's or the new one's."""
        return column.kind != self.source and "boolean" in (column.kind, self.source)

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "levels": list(self.levels), "rare": list(self.rare)}


@dataclass(frozen=True, slots=True)
class TextColumn:
    """Hashed words and pairs of words, weighed by tf-idf, rows of length 1."""

    KIND: ClassVar[str] = "text"
    name: str
    idf: Floats = field(repr=False)

    @classmethod
    def fitted(cls, column: Column) -> TextColumn:
        return cls(column.name, text.inverse_frequencies(len(column.values), text.rows_having(column.values)))

    def names(self) -> list[str]:
        return [f"{self.name}#{j}" for j in range(len(self.idf))]

    def encode(self, column: Column, noted: Noted, source: str) -> Any:
        noted.missing += int(column.missing.sum())
        return text.weigh(column.values, self.idf)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name}


def cells(column: Column) -> list[str]:
    """The values of a column as levels; numbers as they are written, missing ones as MISSING."""
    if column.kind == "text":
        return [MISSING if v is None else v for v in column.values.tolist()]
    if column.kind == "boolean":
        return [MISSING if v != v else "true" if v else "false" for v in column.values.tolist()]
    return [MISSING if v != v else f"{v:.17g}" for v in column.values.tolist()]


def finite(column: Column, source: str, as_kind: str = "number") -> Floats:
    """A column of numbers, missing or finite; text where numbers (or dates) were is refused with its row."""
    if column.kind == "text":
        return _numbers_in(column, source, as_kind)
    at = np.flatnonzero(np.isinf(column.values))
    if len(at):
        raise DataError(
            f"{column.name!r} in {source} is {column.values[at[0]]} in row {at[0]} (counted from 0): "
            "drop the row or cap the value."
        )
    return np.asarray(column.values, dtype=np.float64)


def _numbers_in(column: Column, source: str, as_kind: str) -> Floats:
    """Text as plain numbers, truth values or dates; what is none of them is named."""
    dates = as_kind == "date"
    read = (lambda text: moment(text, column.format)) if dates else _truth if as_kind == "boolean" else Writing().number
    cells = column.values.tolist()
    known = {v: float("nan") if v is None or v in NO_VALUE else read(v) for v in dict.fromkeys(cells)}
    wrong = [v for v, number in known.items() if number is None]
    if wrong:
        raise DataError(f"{column.name!r} in {source} is not a {'date' if dates else 'number'} {_which(column, wrong)}")
    return np.array([known[v] for v in cells], dtype=np.float64)


def contradiction(column: Column) -> str | None:
    """Why a column of cells that all look like numbers cannot be read as numbers, or None where that is not so."""
    cells = column.values.tolist()
    there = [row for row, text in enumerate(cells) if text is not None and text not in NO_VALUE]
    found = disagreement([cells[row] for row in there])
    if found is None:
        return None
    (a, one), (b, other) = ((there[k], cells[there[k]]) for k in found)
    return f"{one[:40]!r} (row {a}, counted from 0) and {other[:40]!r} (row {b})"


def _truth(text: str) -> float | None:
    value = TRUTHS.get(text.strip().lower())
    return Writing().number(text) if value is None else value


def _which(column: Column, wrong: list[Any]) -> str:
    """In how many rows, with the first of them, and what to do."""
    why = contradiction(column)
    if why is not None:
        return f"throughout: {why} disagree; write all of them in one way."
    cells = column.values.tolist()
    first = ", ".join(f"{v[:40]!r} (row {cells.index(v)})" for v in wrong[:3])
    count = sum(v in set(wrong) for v in cells)
    words = [v for v in wrong if not is_number(v)]
    how = ""
    if 2 * sum(v in set(words) for v in cells) > len(cells):
        how = f"; category={column.name!r} takes them as levels"
    elif words and len(set(wrong)) <= MOST_WORDS:
        how = f"; na={words[0][:40]!r} calls such a cell missing"
    return f"in {count:,} of {len(cells):,} rows: {first}{', …' if len(wrong) > 3 else ''}, counted from 0{how}."


MOST_TERMS = 20_000
LEAST_ROWS = 2


@dataclass(frozen=True, slots=True)
class VocabularyColumn:
    """tf-idf of the words and pairs of words that at least two rows of the fit had, rows of length 1.

    The weights are those of :class:`TextColumn`; there are no collisions, and a term that is not in the
    vocabulary has no weight.
    """

    KIND: ClassVar[str] = "vocabulary"
    name: str
    terms: tuple[str, ...]
    idf: NDArray[np.float64] = field(repr=False)

    @classmethod
    def fitted(cls, column: Column) -> VocabularyColumn:
        having: Counter[bytes] = Counter()
        for words in column.values.tolist():
            having.update(set(terms(words or "")))
        ranked = sorted(
            (item for item in having.items() if item[1] >= LEAST_ROWS), key=lambda item: (-item[1], item[0])
        )
        kept = sorted(ranked[:MOST_TERMS])
        counts = np.array([count for _, count in kept], dtype=np.float64)
        idf = np.log((1 + len(column.values)) / (1 + counts)) + 1
        return cls(column.name, tuple(term.decode() for term, _ in kept), idf)

    def names(self) -> list[str]:
        return [f"{self.name}:{term}" for term in self.terms]

    def encode(self, column: Column, noted: Noted, source: str) -> Any:
        from scipy.sparse import csr_array

        noted.missing += int(column.missing.sum())
        place = {term.encode(): j for j, term in enumerate(self.terms)}
        data: list[float] = []
        indices: list[int] = []
        ends = [0]
        for words in column.values.tolist():
            many = Counter(place[term] for term in terms(words or "") if term in place)
            row = [(j, (1 + log(count)) * float(self.idf[j])) for j, count in sorted(many.items())]
            length = sqrt(sum(weight * weight for _, weight in row))
            data += [weight / length for _, weight in row]
            indices += [j for j, _ in row]
            ends.append(len(indices))
        parts = np.array(data), np.array(indices, dtype=np.int32), np.array(ends, dtype=np.int32)
        return csr_array(parts, shape=(len(ends) - 1, len(self.terms)))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "terms": list(self.terms)}
