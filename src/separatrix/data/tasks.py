"""A table to learn from: its target, found and checked, and the type of task (classification or regression)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.column_guesses import case_notes
from separatrix.data.frame import Column, Frame, label_column
from separatrix.data.number_writing import Writing
from separatrix.data.reading_plan import ColumnPlan, kept_of
from separatrix.data.row_files import Matrix
from separatrix.data.sources import Source
from separatrix.errors import DataError

USUAL_TARGETS = ("target", "label", "class", "y")
TARGET_CLASSES = 100
FEWEST_NAMED = 10  # rows from which a target that is different in nearly all of them is an ID column
MANY = 20  # different values from which a whole-numbered target is a quantity
ID_NAME = re.compile(r"(^|[_ .-])(id|uuid|key|index|rownames?)$", re.IGNORECASE)
POSITIVE = ("1", "yes", "true", "y", "t", "positive", "pos")
NEGATIVE = {"1": "0", "yes": "no", "true": "false", "y": "n", "t": "f", "positive": "negative", "pos": "neg"}


@dataclass(frozen=True, slots=True)
class Task:
    """A table to learn from: columns or rows, the target, and what was guessed about it."""

    source: Source
    table: Frame | Matrix
    target: str
    y: NDArray[Any]
    regression: bool
    positive: Any
    guesses: list[str]
    writing: Writing | None = None  # of the target, where its numbers were not plain

    @property
    def read_by(self) -> dict[str, Any]:
        """What a model file keeps about how the table was read, beside the writing of its columns."""
        return kept_of(self.source.reading, ColumnPlan("number", self.writing))


def task_of(source: Source, target: str | None, positive: str | None, regression: bool | None) -> Task:
    """Read everything; find the target, and say what was guessed."""
    guesses: list[str] = []
    rest, column = target_column(source, target, guesses)
    if regression is None:
        regression = guess_regression(column, guesses)
    return task_for(source, rest, column, positive, regression, guesses)


def guess_regression(column: Column, guesses: list[str]) -> bool | None:
    """True for numbers of many values, with a note where they are whole; None leaves it to the type of the column."""
    refuse_id_target(column)
    if not is_quantity(column):
        return None
    different = len(np.unique(column.values))
    if bool(np.all(column.values == np.floor(column.values))):
        guesses.append(f"{column.name} as a quantity ({different:,} values)")
    return True


def target_column(source: Source, target: str | None, guesses: list[str]) -> tuple[Frame | Matrix, Column]:
    """Everything but the target, and the target."""
    table = source.read()
    if isinstance(table, Matrix):
        if target is not None:
            raise DataError(f"{source.name} has no column names: its labels are the target; leave target out.")
        if table.y is None:
            raise DataError(f"{source.name} has rows without labels: save X and y together in a .npz file.")
        return table, label_column("label", table.y)
    guesses += source.notes
    name = target if target is not None else guess_target(table.names, source.name, guesses)
    if name.lower() in source.repeated:
        raise DataError(f"{source.name} has several columns named {name!r}, and the target is to be one: rename them.")
    rest, column = table.without([name]), table[name]
    if source.skip_missing_target and column.missing.any() and not column.missing.all():
        kept = ~column.missing
        count = int(column.missing.sum())
        guesses.append(f"{count:,} row{'' if count == 1 else 's'} without a value of {name!r} left out")
        rest, column = rest.take(kept), column.take(kept)
    return rest, column


def task_for(
    source: Source,
    rest: Frame | Matrix,
    column: Column,
    positive: str | None,
    regression: bool | None,
    guesses: list[str],
    later: str | None = None,
) -> Task:
    """The task of learning one column from the others; ``later`` is the later class of an ordered category."""
    need_whole(column, source.name)
    y = column.labels()
    numbers = column.kind != "text" and y.dtype.kind == "f"
    if regression is None:
        regression = numbers
    if regression and column.kind == "text":
        raise DataError(f"target {column.name!r} is text: choose a classifier.")
    if regression:
        return Task(source, rest, column.name, column.values, True, None, guesses, column.writing)
    if numbers:
        raise DataError(
            f"target {column.name!r} holds numbers such as {y[0]:g}, not classes: use a regression, such as "
            "LeastSquares()."
        )
    classes, counts = np.unique(y, return_counts=True)
    if column.kind == "text":
        guesses += case_notes(column.name, classes.tolist())
    chosen = positive_class(classes.tolist(), counts.tolist(), column.name, positive, guesses, later)
    return Task(source, rest, column.name, y, False, chosen, guesses, column.writing)


def label_values(y: NDArray[Any]) -> NDArray[Any]:
    """Labels of rows that came without column names, in the type that a fit gives them."""
    return label_column("label", y).labels()


def guess_target(names: Sequence[str], source: str, guesses: list[str]) -> str:
    """The column that is named like a target; the last one of the built-in sets."""
    if source.startswith("example:"):
        return names[-1]
    found = [name for name in names if name.lower() in USUAL_TARGETS]
    if len(found) != 1:
        shown = ", ".join(names if len(names) <= 8 else [*names[:7], "…", names[-1]])
        raise DataError(f"{source} needs target=, the column to learn. Columns: {shown}.")
    guesses.append(f"target = {found[0]}")
    return found[0]


def need_whole(column: Column, source: str) -> None:
    """A target without missing values."""
    missing = np.flatnonzero(column.missing)
    if len(missing) == len(column.values):
        raise DataError(f"target {column.name!r} of {source} is missing in every row.")
    if len(missing):
        rows = "1 row" if len(missing) == 1 else f"{len(missing):,} rows"
        raise DataError(
            f"target {column.name!r} of {source} is missing in {rows} (first: row {missing[0]}, "
            "counted from 0): drop those rows."
        )


def positive_class(
    labels: Sequence[Any],
    counts: Sequence[int],
    target: str,
    positive: Any,
    guesses: list[str],
    later: str | None = None,
) -> Any:
    """The class that scores are for, of two: the one that is named, is called like one, comes later, or is rarer."""
    n, many = sum(counts), len(labels)
    if many == 1:
        raise DataError(f"target {target!r} is {labels[0]!s} in every row: there is only one class to predict.")
    if (many > TARGET_CLASSES and many > n // 10) or (n >= FEWEST_NAMED and many > 0.9 * n):
        reason = "it looks like an ID column, not a class" if many > 0.9 * n else "most have too few rows to learn from"
        advice = "Choose another target."
        if isinstance(labels[0], (int, float)):
            advice = "Learn it as a quantity, by regression, or choose another target."
        raise DataError(f"target {target!r} has {many:,} different values in {n:,} rows: {reason}. {advice}")
    if positive is not None:
        match = [label for label in labels if str(label) == str(positive)]
        match = match or [label for label in labels if str(label).lower() == str(positive).lower()]
        if not match:
            raise DataError(f"positive is {positive!r}, which is not a class of {target!r} ({_few(list(labels))}).")
        return match[0]
    if many > 2:
        return None
    named = {str(label).lower().removesuffix(".0"): label for label in labels}
    for word in POSITIVE:
        if word in named and NEGATIVE[word] in named:
            guesses.append(f"positive = {named[word]}")
            return named[word]
    ordered = [label for label in labels if str(label) == later]
    if ordered:
        guesses.append(f"positive = {ordered[0]} (the later of an ordered category)")
        return ordered[0]
    if counts[0] == counts[1]:
        guesses.append(f"positive = {labels[1]} (the second)")
        return labels[1]
    rarer = labels[int(np.argmin(counts))]
    guesses.append(f"positive = {rarer} (the rarer)")
    return rarer


def _few(labels: list[Any]) -> str:
    return ", ".join(map(str, labels[:6])) + (", …" if len(labels) > 6 else "")


def counts_of(task: Task) -> str:
    """The target in a few words: classes with their counts, or a range."""
    if task.regression:
        return f"{task.target}: {task.y.min():g} to {task.y.max():g}"
    classes, counts = np.unique(task.y, return_counts=True)
    shown = ", ".join(
        f"{label} {count:,}" for label, count in zip(classes.tolist()[:5], counts.tolist()[:5], strict=True)
    )
    return f"{task.target}: {shown}" + (f", … ({len(classes)} classes)" if len(classes) > 5 else "")


def is_quantity(column: Column) -> bool:
    """Whether a target of whole numbers is a quantity rather than a class."""
    if column.kind not in ("integer", "number") or column.missing.any():
        return False
    different, n = len(np.unique(column.values)), len(column.values)
    if different <= MANY and not (n >= 10 and different > n // 2):
        return False
    return not looks_like_id(column)


def looks_like_id(column: Column) -> bool:
    """Whether whole numbers look like IDs: all different, and consecutive or named like one."""
    values = np.unique(column.values)
    whole = bool(np.all(values == np.floor(values)))
    if not whole or len(values) < len(column.values) or len(values) < 3:
        return False
    return bool(np.ptp(values) == len(values) - 1) or ID_NAME.search(column.name) is not None


def refuse_id_target(column: Column) -> None:
    """Refuse an ID column as target."""
    n = len(column.values)
    if column.kind != "text" and not column.missing.any() and n >= 20 and looks_like_id(column):
        raise DataError(
            f"target {column.name!r} has {n:,} different values in {n:,} rows: "
            "it looks like an ID column, not a class. Choose another target."
        )
