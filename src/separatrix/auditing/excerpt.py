"""Some rows of the user's own table, in the columns that tell them apart, as a small table."""

from __future__ import annotations

from typing import Any

from separatrix.auditing.phrasing import short, unique
from separatrix.auditing.study import Study
from separatrix.data.frame import Column

ROWS = 12
COLUMNS = 8
LETTERS = 92  # of a line, so that it fits on a page
NAME, CELL, LONGEST = 24, 32, 80


def cells(study: Study, rows: list[int], even: bool = False) -> dict[str, Any]:
    """At most twelve of the rows with their numbers; ``even`` takes as many of each class as there are."""
    chosen = _even(study, rows) if even else rows[:ROWS]
    target = short(study.task.target)
    truth = [short(v, NAME) for v in study.task.y[chosen].tolist()]
    if study.frame is None:
        told = [{"row": i, "cells": [t]} for i, t in zip(chosen, truth, strict=True)]
        return {"columns": [target], "rows": told}
    known = [c for c in study.frame.columns if c.name not in study.aside and c.name in study.inputs]
    width = max(CELL, LONGEST // max(len(known), 1))
    columns = _telling(known, chosen, LETTERS - len(target), width)
    names = unique([c.name for c in columns], NAME, [target])
    shown = [[_cell(c, i, width) for c in columns] for i in chosen]
    return {
        "columns": [target, *names],
        "rows": [{"row": i, "cells": [t, *own]} for i, t, own in zip(chosen, truth, shown, strict=True)],
        "columns_not_shown": len(known) - len(columns),
    }


def _even(study: Study, rows: list[int]) -> list[int]:
    """A few rows of every class, in their order."""
    if len(rows) <= ROWS or study.regression:
        return rows[:ROWS]
    by_class: dict[int, list[int]] = {}
    for i in rows:
        by_class.setdefault(int(study.codes[i]), []).append(i)
    turns = [(turn, i) for own in by_class.values() for turn, i in enumerate(own)]
    return sorted(i for _, i in sorted(turns)[:ROWS])


def _telling(columns: list[Column], rows: list[int], letters: int, longest: int) -> list[Column]:
    """The columns in which these rows differ most, in their order, as many as a line holds."""
    different = [len({_cell(c, i, longest) for i in rows}) for c in columns]
    kept: list[int] = []
    for k in sorted(range(len(columns)), key=lambda k: -different[k]):
        width = 2 + max(len(short(columns[k].name, NAME)), *(len(_cell(columns[k], i, longest)) for i in rows), 1)
        if len(kept) == COLUMNS or (kept and width > letters):
            break
        kept.append(k)
        letters -= width
    return [columns[k] for k in sorted(kept)]


def _cell(column: Column, i: int, width: int) -> str:
    value = column.values[i]
    if value is None or value != value:
        return ""
    if column.kind == "text":
        return short(value, width)
    if column.kind == "date":
        from datetime import UTC, datetime

        return datetime.fromtimestamp(float(value), UTC).isoformat(" ", "minutes").removesuffix("+00:00")
    return f"{value:.6g}"
