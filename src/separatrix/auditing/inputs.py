"""What the caller passed as a table and a target, as a task: sources, frames, dicts, arrays with labels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.data.frame import Column, Frame, label_column
from separatrix.data.given import column_from, frame_from
from separatrix.data.rows import Matrix, RowFile
from separatrix.data.sources import Source, open_source
from separatrix.data.tasks import Task, guess_regression, target_column, task_for
from separatrix.errors import DataError, ParameterError
from separatrix.validation import check_lengths, check_table, frames
from separatrix.validation.targets import last_category, need_same_index

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
    return table[name] if frames.is_frame(table) and hasattr(table, "columns") and name in table.columns else None


def _of_formula(formula: str, table: Any, target: Any, guesses: list[str]) -> tuple[Any, str]:
    """The columns that a formula makes of a frame, with its outcome; rows that it leaves out are said."""
    from separatrix.features.formula import design

    if target is not None:
        raise ParameterError("the formula names its outcome: leave the target out.")
    made = design(formula, table)
    if made.alone or not made.intercept or made.trials is not None:
        raise ParameterError(f"an audit needs columns, an intercept and one outcome a row, which {formula!r} has not.")
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
    if isinstance(table, Mapping) or (frames.is_frame(table) and not _is_series(table)):
        return Source("the table", frame=frame_from(table))
    held = Matrix(check_table(table).X, None, "the table")
    return Source("the table", rows=RowFile(lambda: held, lambda features, watch: iter((held,))))


def _is_series(table: Any) -> bool:
    return not any(hasattr(table, name) for name in ("fetchnumpy", "columns", "column_names"))


def _labels(target: Any) -> Column:
    """Labels that were passed beside the rows."""
    if frames.is_frame(target):
        return column_from("label", frames.vector_of(target))
    array = np.asarray(target)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(f"target has the shape {array.shape}: pass the name of a column, or one label a row.")
    return column_from("label", array) if array.dtype.kind in "OM" else label_column("label", array)
