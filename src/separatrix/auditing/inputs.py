"""What the caller passed as a table and a target, as a task: sources, frames, dicts, arrays with labels.

Also how rows are assigned to folds and to the test set: at random, by whole groups, or in time. The column that decides
it is not used as a feature.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.facts import SplitRuleFacts
from separatrix.auditing.phrasing import count, plural, short
from separatrix.data.frame import Column, Frame, column_from, frame_from, label_column
from separatrix.data.row_files import Matrix, RowFile
from separatrix.data.sources import Source, open_source
from separatrix.data.tasks import Task, guess_regression, target_column, task_for
from separatrix.errors import DataError, ParameterError
from separatrix.validation import check_lengths, check_table, containers
from separatrix.validation.labels import last_category
from separatrix.validation.table import need_same_index

LEAST_GROUPS = 3


@dataclass(frozen=True)
class SplitRule:
    """``by`` is "groups", "copies" (of one observation), "time" or None; ``marks`` numbers them, for each row."""

    by: str | None = None
    column: str = ""
    marks: NDArray[Any] | None = None

    def of(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """The arguments of evaluation that keep to it, for some of the rows."""
        if self.by is None or self.marks is None:
            return {}
        return {"time" if self.by == "time" else "groups": self.marks[rows]}

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
    array = containers.vector_of(given) if containers.is_frame(given) else np.asarray(given)
    if array.ndim != 1:
        raise DataError(f"{by} has the shape {array.shape}: pass the name of a column, or one value a row.")
    check_lengths(task.table.n, len(array), by)
    made = column_from(by, array) if array.dtype.kind in "OM" else label_column(by, array)
    return task, made


TASKS = (None, "classification", "regression")


def task_for_audit(table: Any, target: Any, positive: Any, task: str | None, formula: str | None = None) -> Task:
    """Find the target and say what was guessed; numbers of many values are quantities."""
    if task not in TASKS:
        raise ParameterError(f"task is {task!r}: it can be 'classification' or 'regression'.")
    guesses: list[str] = []
    if formula is not None:
        table, target = _of_formula(formula, table, target, guesses)
    source = source_of(table)
    if target is None or isinstance(target, str):
        rest, column = target_column(source, target, guesses)
    else:
        rest, column = source.read(), _labels(target)
        check_lengths(rest.n, len(column.values), "target")
        need_same_index(table, target, "target")
    regression = guess_regression(column, guesses) if task is None else task == "regression"
    if regression and column.kind != "text" and len(np.unique(column.values)) == 1:
        raise DataError(f"target {column.name!r} is {column.values[0]:g} in every row: there is nothing to learn.")
    wanted = None if positive is None else str(positive)
    later = last_category(_target_of(table, target, column.name))
    found = task_for(source, rest, column, wanted, regression, guesses, later)
    if found.table.n < 2:
        raise DataError(f"{source.name} has one row: nothing can be learned from it.")
    return found


def _target_of(table: Any, target: Any, name: str) -> Any:
    """The target as the caller passed it: a column of a frame, or labels beside the rows."""
    if target is not None and not isinstance(target, str):
        return target
    return table[name] if containers.is_frame(table) and hasattr(table, "columns") and name in table.columns else None


def _of_formula(formula: str, table: Any, target: Any, guesses: list[str]) -> tuple[Any, str]:
    """The columns that a formula makes of a frame, with its outcome; rows that it leaves out are said."""
    from separatrix.features.formula import design

    if target is not None:
        raise ParameterError("the formula names its outcome: leave the target out.")
    made = design(formula, table)
    if made.alone or not made.intercept or made.trials is not None or made.offset is not None:
        raise ParameterError(
            "an audit needs columns, an intercept, one outcome a row and no offset: write a formula such as "
            f"'y ~ a + b' in place of {formula!r}."
        )
    if made.dropped:
        guesses.append(f"{made.dropped:,} {'row' if made.dropped == 1 else 'rows'} with missing values left out")
    name = formula.split("~")[0].strip().strip("`")
    return made.X.assign(**{name: made.y.to_numpy()}), name


def source_of(table: Any) -> Source:
    """A source, whatever the table is."""
    if isinstance(table, Source):
        return table
    if isinstance(table, (str, os.PathLike)):
        return open_source(os.fspath(table))
    if isinstance(table, Frame):
        return Source(table.source, frame=table)
    if isinstance(table, Mapping) or (containers.is_frame(table) and not _is_series(table)):
        return Source("the table", frame=frame_from(table))
    held = Matrix(check_table(table).X, None, "the table")
    return Source("the table", rows=RowFile(lambda: held, lambda features, watch: iter((held,))))


def _is_series(table: Any) -> bool:
    return not any(hasattr(table, name) for name in ("fetchnumpy", "columns", "column_names"))


def _labels(target: Any) -> Column:
    """Labels that were passed beside the rows."""
    if containers.is_frame(target):
        return column_from("label", containers.vector_of(target))
    array = np.asarray(target)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"target has the shape {array.shape}: pass the name of a column, or one label a row.")
    return column_from("label", array) if array.dtype.kind in "OM" else label_column("label", array)
