"""How people write numbers: thousands separators, decimal commas, currency and per cent signs, one way a column.

A cell is a number with at most one unit before or behind it. Its point or comma is a decimal mark, or a thousands
separator where exactly three digits follow it. The native code has the table of forms and reads cells by it; here a
column finds its form:

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

from separatrix import kernels

# The words for a missing value. A new one is added here, and nowhere else.
MISSING = ("N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "NaN", "nan")  # in every column, as an empty cell is
NO_VALUE = frozenset(  # in columns that are otherwise numbers or dates
    ("-", "--", "–", "—", "?", "NA", "na", ".", "None", "none", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?")
)
CODES = frozenset(
    re.findall(r"\S+", "USD EUR GBP CHF JPY CNY INR SEK NOK DKK PLN CZK HUF CAD AUD NZD BRL MXN ZAR KRW kr zł Kč Ft")
)
FORMS: list[tuple[str, str]] = (
    kernels.number_forms()
)  # decimal mark and thousands separator, as the native code has them
DECIMALS = (".", ",")
SPOKEN = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}


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
        value: float | None = kernels.cell_number(_bytes(text), self.decimal, self.group, self.unit)
        return value

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
        if (made.decimal, made.group) not in FORMS or (made.unit and not _is_unit(made.unit)):
            raise ValueError("a writing of numbers")
        return made


def plain_number(text: str) -> float | None:
    """The finite number that Python reads in a text without underscores, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None


def forms_of(cells: Iterable[str]) -> list[tuple[int, str] | None]:
    """For each cell the forms by which it is a number (bits in the order of FORMS) and its unit; None for no number."""
    found = kernels.cell_forms([_bytes(text) for text in cells])
    return [(mask, unit) if mask and (not unit or _is_unit(unit)) else None for mask, _, unit in found]


def writings(cells: Iterable[str]) -> dict[str, Writing]:
    """The writings by which all cells are numbers, by their decimal mark; none where they are not, or disagree."""
    units: set[str] = set()
    bare, every = False, (1 << len(FORMS)) - 1
    for mask, zero, unit in kernels.cell_forms([_bytes(text) for text in cells]):
        if unit and unit not in units and not _is_unit(unit):
            return {}
        every &= mask
        if not every:
            return {}
        if unit:
            units.add(unit)
        bare |= not unit and not zero
    if len(units) > 1 or (units == {"%"} and bare):
        return {}
    found: dict[str, Writing] = {}
    for k, (decimal, group) in enumerate(FORMS):
        if every >> k & 1:
            found.setdefault(decimal, Writing(decimal, group, next(iter(units), "")))
    return found


def is_settled(found: dict[str, Writing]) -> bool:
    """Whether the cells leave no choice, or one that changes no number."""
    return len(found) == 1 or (len(found) == 2 and found["."].group == found[","].group)


def is_number(text: str) -> bool:
    """Whether a cell is a number in some form."""
    return forms_of([text])[0] is not None


def disagreement(cells: Iterable[str]) -> tuple[int, int] | None:
    """Which two of some cells, all of which look like numbers, cannot be so in one writing; None where all can."""
    marks: dict[str, int] = {}
    units: dict[str, int] = {}
    for row, found in enumerate(forms_of(cells)):
        if found is None:
            return None
        mask, unit = found
        units.setdefault(unit, row)
        possible = {decimal for k, (decimal, _) in enumerate(FORMS) if mask >> k & 1}
        if len(possible) == 1:
            marks.setdefault(possible.pop(), row)
    for two in (marks, {unit: row for unit, row in units.items() if unit or "%" in units}):
        if len(two) > 1:
            first, second = list(two.values())[:2]
            return first, second
    return None


def digits_of(value: float) -> str:
    """The fewest digits that give a number back, whole ones without a point."""
    return repr(int(value)) if abs(value) < 2**53 and value == int(value) else repr(value)


def _is_unit(text: str) -> bool:
    return text == "%" or text in CODES or (len(text) == 1 and unicodedata.category(text) == "Sc")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
