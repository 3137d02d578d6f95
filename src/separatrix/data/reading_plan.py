"""How a table is read: what a user or a model says beforehand, and the plan that the first rows then settle.

A plan is decided once. Everything that reads the same table later (the rest of the file, workers, the model's next
files) obeys it, and a cell that breaks it is named, counted, and refused, left out with its row, or called missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from separatrix import kernels
from separatrix.data.number_writing import MISSING, NO_VALUE, Writing, plain_number

BROKEN = ("refuse", "skip", "missing")  # what happens to a cell that breaks the plan
CODES = {"skip": 0, "number": 1, "text": 2, "date": 3}  # kinds, as the native code numbers them


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """What a column is: its kind, and how its numbers or dates are written; None leaves that to the first rows."""

    kind: str  # number, date or text
    writing: Writing | None = None
    format: str | None = None

    @property
    def decided(self) -> bool:
        return self.kind == "text" or (self.writing if self.kind == "number" else self.format) is not None


TEXT = ColumnPlan("text")
PLAIN = ColumnPlan("number", Writing())


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read where its own habits do not say."""

    na: tuple[str, ...] = ()
    header: bool | None = None
    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    columns: tuple[tuple[str, ColumnPlan], ...] = ()  # those about which something is said
    broken: str = "refuse"
    named: tuple[str, ...] = ()  # further columns that the user names: a first line that has one is no row
    fitted: bool = False  # whether a model says what columns are

    def with_text(self, names: Iterable[str]) -> Reading:
        """The same, with these columns left as they are written."""
        return self.with_columns((name, TEXT) for name in names)

    def with_columns(self, more: Iterable[tuple[str, ColumnPlan]]) -> Reading:
        """The same with more said of columns; the later word counts."""
        added = tuple(more)
        return replace(self, columns=tuple({**dict(self.columns), **dict(added)}.items())) if added else self

    @property
    def known(self) -> dict[str, ColumnPlan]:
        return dict(self.columns)

    @property
    def missing(self) -> tuple[str, ...]:
        """The words for a missing value in every column."""
        return (*MISSING, *self.na)

    @property
    def missing_numbers(self) -> list[float]:
        """Numbers that stand for a missing value, such as -999."""
        return [value for value in map(plain_number, self.na) if value is not None]


def kept_of(reading: Reading, target: ColumnPlan | None) -> dict[str, Any]:
    """What a model file keeps of the reading of its table beside its encoder: missing values, the target."""
    written = None if target is None else target.writing
    kept: dict[str, Any] = {"na": list(reading.na)} if reading.na else {}
    return kept | ({} if written is None or written.plain else {"target_writing": written.to_dict()})


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The plan of a delimited text: its delimiter and quotes, its columns, the words for a missing value."""

    names: tuple[str, ...]
    columns: tuple[ColumnPlan, ...]
    delimiter: str = ","  # empty for lines of one cell
    quotes: bool = True  # else they are letters
    header: bool = True  # whether the first line names the columns
    missing: tuple[str, ...] = MISSING
    missing_numbers: tuple[float, ...] = ()
    broken: str = "refuse"
    tidy: bool = True  # whether blanks around words are left out
    given: tuple[str, ...] = ()  # columns that were decided beforehand
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was guessed
    repeated: tuple[str, ...] = field(default=(), compare=False)  # names that occur twice

    def reader(self, names: Iterable[str] | None = None) -> Any:
        """The native reader of rows; of some columns, or of all."""
        wanted = set(self.names) if names is None else set(names)
        words = [word.encode() for word in self.missing]
        typed = [*words, *(word.encode() for word in NO_VALUE)]
        columns = []
        for name, own in zip(self.names, self.columns, strict=True):
            kind = own.kind if name in wanted else "skip"
            writing = own.writing or Writing()
            form = (writing.decimal, writing.group, writing.unit, own.format or "")
            columns.append((CODES[kind], *form, words if kind == "text" else typed))
        missing = self.broken == "missing"
        return kernels.TableText(self.delimiter, self.quotes, missing, columns, list(self.missing_numbers))
