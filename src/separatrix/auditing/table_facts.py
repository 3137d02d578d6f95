"""The table as it was read, and rows of it as they are shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ClassCount:
    """A class as it is shown, and its number of rows."""

    label: str
    rows: int


@dataclass(frozen=True, slots=True)
class LeakFacts:
    """A column that may give the target away."""

    column: str
    evidence: str
    kind: str
    set_aside: bool


@dataclass(frozen=True, slots=True)
class SplitRuleFacts:
    """How rows are assigned to folds: at random (``by`` is None), by whole groups, or in time."""

    by: str | None
    column: str | None
    values: int


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The table as it was read. ``task`` is "binary", "multiclass" or "regression"."""

    source: str
    rows: int
    columns: int | None
    features: int
    target: str
    task: str
    classes: list[ClassCount]
    positive: str | None
    target_range: tuple[float, float] | None
    notes: list[str]
    leaks: list[LeakFacts]
    split_rule: SplitRuleFacts
    seed: int
    level: float
    budget: float

    @property
    def regression(self) -> bool:
        return self.task == "regression"

    @property
    def set_aside(self) -> list[str]:
        """The columns that were left out because they give the target away."""
        return [leak.column for leak in self.leaks if leak.set_aside]

    @property
    def most_common(self) -> ClassCount:
        return max(self.classes, key=lambda c: c.rows)


@dataclass(frozen=True, slots=True)
class ExcerptRow:
    """A row of the user's table by its number, with some of its cells."""

    row: int
    cells: list[str]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A few rows of the user's table, in the columns that tell them apart."""

    columns: list[str]
    rows: list[ExcerptRow]
    columns_not_shown: int = 0


@dataclass(frozen=True, slots=True)
class LabelledRow:
    row: int
    label: str


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Rows that are equal in every feature but not in the target; ``duplicates`` counts all repeated rows."""

    groups: int
    rows: int
    duplicates: int
    shown: list[list[LabelledRow]]
