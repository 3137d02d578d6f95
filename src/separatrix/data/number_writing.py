"""How people write numbers: thousands separators, decimal commas, currency and per cent signs, one way a column.

A cell is a number with at most one unit before or behind it. Its point or comma is a decimal mark, or a thousands
separator where exactly three digits follow it. The cells of a column are read by one pair of marks:

- if some cell leaves no choice (1,5 or 0,123: decimal comma; 1,234,567 or 1,234.5: decimal point), it decides;
- if none does (every mark is followed by three digits, as in 1,234 or 1.234), the other columns of the table decide
  where they agree, else the point is the decimal mark and the comma separates thousands;
- if cells contradict each other (1,5 and 1.5), the column is not a column of numbers.

Units are left out: 12% is 12 and $5 is 5. A column has one unit, and a per cent sign in every cell but zeros.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

MISSING = ("N/A", "n/a", "#N/A", "null", "NULL", "NaN", "nan")  # in every column
NO_VALUE = frozenset(("-", "--", "–", "—", "?", "NA", "na", "."))  # in columns that are otherwise numbers or dates
CODES = frozenset(
    re.findall(r"\S+", "USD EUR GBP CHF JPY CNY INR SEK NOK DKK PLN CZK HUF CAD AUD NZD BRL MXN ZAR KRW kr zł Kč Ft")
)
TIDY = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-", "\u2019": "'"})
CELL = re.compile(
    r"([+-]?)([^\d\s.,'+-]{0,3})\s?([+-]?)((?:\d[\d.,' ]*\d|\d)[.,]?|[.,]\d+)([eE][+-]?\d+)?\s?([^\d\s.,'+-]{0,3})\Z"
)
GROUPED = {mark: re.compile(rf"[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+\Z") for mark in ",. '"}
DECIMALS = (".", ",")
LONGEST = 60  # letters of a number
SPOKEN = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that looks like a number: its unit, its sign and digits, and the marks it may be read by."""

    unit: str
    digits: str
    exponent: str
    marks: tuple[tuple[str, str], ...]  # decimal mark and thousands separator, empty where there is none

    @classmethod
    def of(cls, text: str) -> Self | None:
        """The parts of a text, or None where it is not a number in any writing."""
        if len(text) > LONGEST:
            return None
        match = CELL.match(text.translate(TIDY).strip())
        if match is None:
            return None
        sign, before, inner, body, exponent, behind = match.groups("")
        unit = before or behind
        if (before and behind) or (sign and inner) or (unit and not _is_unit(unit)):
            return None
        marks = _marks(body, bool(exponent))
        return cls(unit, (sign or inner) + body, exponent, marks) if marks else None

    def value(self, decimal: str, group: str) -> float:
        """The number, read by these marks."""
        digits = self.digits.replace(group, "") if group else self.digits
        return float(digits.replace(decimal, ".") + self.exponent)


@dataclass(frozen=True, slots=True)
class Writing:
    """How the numbers of a column are written: decimal mark, thousands separator, unit."""

    decimal: str = "."
    group: str = ""
    unit: str = ""

    def number(self, text: str) -> float | None:
        """The number of a cell; NaN where it is marked as missing, None where it is not a number in this writing."""
        if text in NO_VALUE or text in MISSING or not text.strip():
            return float("nan")
        cell = Cell.of(text)
        if cell is None or cell.unit not in ("", self.unit):
            return None
        if not any(d in ("", self.decimal) and g in ("", self.group) for d, g in cell.marks):
            return None
        value = cell.value(self.decimal, self.group)
        return None if self.unit == "%" and not cell.unit and value else value

    def with_decimal(self, mark: str) -> Writing:
        """The same with another decimal mark; marks that were used for the other purpose change places."""
        if mark == self.decimal:
            return self
        return Writing(mark, self.decimal if self.group in DECIMALS else self.group, self.unit)

    @property
    def plain(self) -> bool:
        return self == Writing()

    def __str__(self) -> str:
        parts = [f"{self.unit} left out"] if self.unit else []
        parts += [f"thousands {SPOKEN[self.group]}"] if self.group else []
        parts += ["decimal comma"] if self.decimal == "," else []
        return ", ".join(parts)

    def to_dict(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_dict(cls, node: Any) -> Self:
        """A writing from plain values; TypeError or ValueError where they are not one."""
        if set(node) != {"decimal", "group", "unit"} or not all(isinstance(v, str) for v in node.values()):
            raise TypeError("a writing of numbers")
        made = cls(**node)
        if made.decimal not in DECIMALS or made.group not in ("", *GROUPED) or made.group == made.decimal:
            raise ValueError("a writing of numbers")
        if made.unit and not _is_unit(made.unit):
            raise ValueError("a writing of numbers")
        return made


def plain_number(text: str) -> float | None:
    """The finite number that Python reads in a text without underscores, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def writings(cells: Iterable[str]) -> dict[str, Writing]:
    """The writings by which all cells are numbers, by their decimal mark; none where they are not, or disagree."""
    units: set[str] = set()
    bare = False
    marks: set[tuple[tuple[str, str], ...]] = set()
    for text in cells:
        cell = Cell.of(text)
        if cell is None:
            return {}
        if cell.unit:
            units.add(cell.unit)
        elif cell.digits.strip("+-0.,"):
            bare = True
        marks.add(cell.marks)
    if len(units) > 1 or (units == {"%"} and bare):
        return {}
    found = {}
    for decimal in DECIMALS:
        for group in ("", *(mark for mark in GROUPED if mark != decimal)):
            if all(any(d in ("", decimal) and g in ("", group) for d, g in own) for own in marks):
                found[decimal] = Writing(decimal, group, next(iter(units), ""))
                break
    return found


def is_settled(found: dict[str, Writing]) -> bool:
    """Whether the cells leave no choice, or one that changes no number."""
    return len(found) == 1 or (len(found) == 2 and found["."].group == found[","].group)


def _is_unit(text: str) -> bool:
    return text == "%" or text in CODES or (len(text) == 1 and unicodedata.category(text) == "Sc")


def _marks(body: str, exponent: bool) -> tuple[tuple[str, str], ...]:
    """The decimal marks and thousands separators by which digits can be read."""
    found = "".join(mark for mark in body if not mark.isdigit())
    if not found:
        return (("", ""),)
    last = found[-1]
    if len(set(found)) == 1 and not exponent and last in GROUPED and GROUPED[last].match(body):
        return (("", last), (last, "")) if len(found) == 1 and last in DECIMALS else (("", last),)
    if last not in DECIMALS or found.count(last) > 1:
        return ()
    if len(found) == 1:
        return ((last, ""),)
    whole = body[: body.rindex(last)]
    group = found[0]
    if exponent or len(set(found)) > 2 or not GROUPED[group].match(whole):
        return ()
    return ((last, group),)
