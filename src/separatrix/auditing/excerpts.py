"""A few rows of the table as they are shown: in the columns in which they differ most, as many as a line holds."""

from __future__ import annotations

import numpy as np

from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.facts import Excerpt, ExcerptRow
from separatrix.auditing.phrasing import short, unique
from separatrix.data.frame import Column

ROWS = 12
COLUMNS = 8
LETTERS = 92  # of a line, so that it fits on a page
NAME, CELL, LONGEST = 24, 32, 80


def excerpt(table: AuditTable, rows: list[int], even: bool = False) -> Excerpt:
    """At most twelve of the rows with their numbers; ``even`` takes as many of each class as there are."""
    chosen = _even(table, rows) if even else rows[:ROWS]
    target = short(table.task.target)
    labels = [short(v, NAME) for v in table.task.y[chosen].tolist()]
    if table.frame is None:
        return Excerpt([target], [ExcerptRow(i, [label]) for i, label in zip(chosen, labels, strict=True)])
    known = [c for c in table.frame.columns if c.name not in table.set_aside and c.name in table.inputs]
    width = max(CELL, LONGEST // max(len(known), 1))
    columns = _telling(known, chosen, LETTERS - len(target), width)
    names = unique([c.name for c in columns], NAME, [target])
    rows_shown = [
        ExcerptRow(i, [label, *(_cell(c, i, width) for c in columns)]) for i, label in zip(chosen, labels, strict=True)
    ]
    return Excerpt([target, *names], rows_shown, len(known) - len(columns))


def _even(table: AuditTable, rows: list[int]) -> list[int]:
    """A few rows of every class, in their order."""
    if len(rows) <= ROWS or table.regression:
        return rows[:ROWS]
    by_class: dict[int, list[int]] = {}
    for i in rows:
        by_class.setdefault(int(table.codes[i]), []).append(i)
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

        text = datetime.fromtimestamp(float(value), UTC).isoformat(" ", "minutes").removesuffix("+00:00")
        whole_days = not np.any(np.nan_to_num(np.asarray(column.values, dtype=np.float64)) % 86400)
        return text.removesuffix(" 00:00") if whole_days else text
    return f"{value:.6g}"
