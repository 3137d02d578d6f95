"""How rows are assigned to folds and to the test set: at random, by whole groups, or in time.

The column that decides it is not used as a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.phrasing import count, plural, short
from separatrix.auditing.table_facts import SplitRuleFacts
from separatrix.data.frame import Column, Frame, label_column
from separatrix.data.given import column_from
from separatrix.data.tasks import Task
from separatrix.errors import DataError, ParameterError
from separatrix.validation import check_lengths, frames

LEAST_GROUPS = 3


@dataclass(frozen=True)
class SplitRule:
    """``by`` is "groups", "time" or None (at random); ``marks`` has a group or a moment for every row."""

    by: str | None = None
    column: str = ""
    marks: NDArray[Any] | None = None

    def of(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """The arguments of evaluation that keep to it, for some of the rows."""
        return {} if self.by is None or self.marks is None else {self.by: self.marks[rows]}

    @property
    def kinds(self) -> int:
        """Groups, or moments."""
        return 0 if self.marks is None else len(np.unique(self.marks))

    def facts(self) -> SplitRuleFacts:
        return SplitRuleFacts(self.by, self.column or None, self.kinds)


def split_rule_of(task: Task, groups: Any, time: Any) -> tuple[Task, SplitRule]:
    """Find the column of groups or moments, and take it out of the table."""
    if groups is not None and time is not None:
        raise ParameterError("groups and time are both given; choose one of them to split the rows by.")
    if groups is None and time is None:
        return task, SplitRule()
    by = "groups" if time is None else "time"
    task, column = _column(task, groups if time is None else time, by)
    missing = np.flatnonzero(column.missing)
    if len(missing):
        raise DataError(
            f"{by} column {column.name!r} is missing in {plural(len(missing), 'row')} (first: row {missing[0]}, "
            "counted from 0): drop those rows first."
        )
    if by == "time" and column.kind == "text":
        raise DataError(f"time column {column.name!r} is text, which has no order in time: write dates as 2024-12-31.")
    marks = np.unique(column.values.astype(str) if column.kind == "text" else column.values, return_inverse=True)[1]
    found = SplitRule(by, short(column.name), marks.astype(np.int64))
    if found.kinds < LEAST_GROUPS:
        raise DataError(
            f"{by} column {column.name!r} has {plural(found.kinds, 'value')} in {count(len(marks))} rows: "
            f"at least {LEAST_GROUPS} are needed to learn from some and judge others."
        )
    return task, found


def _column(task: Task, given: Any, by: str) -> tuple[Task, Column]:
    """A column by its name, or values that were passed beside the rows."""
    if isinstance(given, str):
        if given == task.target:
            raise DataError(f"{by} is {given!r}, which is the target: choose another column.")
        if not isinstance(task.table, Frame):
            raise DataError(f"{task.source.name} has no column {given!r}: its rows are numbers without names.")
        column = task.table[given]
        return replace(task, table=task.table.without([given])), column
    array = frames.vector_of(given) if frames.is_frame(given) else np.asarray(given)
    if array.ndim != 1:
        raise DataError(f"{by} has the shape {array.shape}: pass the name of a column, or one value a row.")
    check_lengths(task.table.n, len(array), by)
    made = column_from(by, array) if array.dtype.kind in "OM" else label_column(by, array)
    return task, made
