"""The target of a source in partitions: its classes, found in all of them, or its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cluster.part_worker import HeldPart
from separatrix.cluster.partition_schema import SourceSchema
from separatrix.cluster.rounds import Rounds
from separatrix.data.frame import Column, Frame, label_column, unknown_column
from separatrix.data.tasks import guess_target
from separatrix.errors import DataError
from separatrix.validation import check_labels


@dataclass(frozen=True, slots=True)
class Target:
    """The column to learn: its name, and for a classification the classes and how many rows each has."""

    name: str
    classes: NDArray[Any] | None
    counts: tuple[int, ...] = ()


def found_target(rounds: Rounds, schema: SourceSchema, name: str | None, source: str, regression: bool) -> Target:
    """Which column is the target, and its classes."""
    if schema.names is None:
        if name is not None:
            raise DataError(f"{source} has no column names: its labels are the target; leave target out.")
        name, kind = "label", "number"
    else:
        name = guess_target(schema.names, source, []) if name is None else name
        if name not in schema.names:
            raise DataError(unknown_column(name, list(schema.names), source))
        kind = schema.kinds[name]
    if regression:
        if kind == "text":
            raise DataError(f"target {name!r} is text: choose a classifier.")
        rounds.map("target", need_target, name)
        return Target(name, None)
    counts: Counter[Any] = rounds.reduce("classes", class_counts, name, join=Counter.__add__)
    values = sorted(counts)
    labels = Column(name, kind, np.array(values, dtype=object if kind == "text" else np.float64)).labels()
    if kind != "text" and labels.dtype.kind == "f":
        raise DataError(f"target {name!r} holds numbers such as {labels[0]:g}, not classes: use least squares.")
    if len(values) < 2:
        raise DataError(f"target {name!r} is {labels[0]!s} in every row: there is only one class to predict.")
    return Target(name, check_labels(labels).classes, tuple(counts[value] for value in values))


def column_of(part: HeldPart, name: str) -> Column:
    """The target of a partition."""
    return label_column(name, part.y) if part.X is not None else part.table[name]


def need_target(part: HeldPart, name: str) -> None:
    """Refuse missing values."""
    if part.table is None:
        return
    missing = np.flatnonzero(column_of(part, name).missing)
    if len(missing):
        raise DataError(
            f"target {name!r} is missing in {len(missing):,} rows of {part.partition.name} (first: row {missing[0]} of "
            "these, counted from 0): leave them out."
        )


def class_counts(part: HeldPart, name: str) -> Counter[Any]:
    """How many rows each value of the target has."""
    need_target(part, name)
    return Counter(column_of(part, name).values.tolist())


def numbered(part: HeldPart, name: str, values: list[Any] | None, first_rows: Sequence[int]) -> None:
    """Take the target out of the columns: numbers of classes, or its numbers; rows know their place in the source."""
    part.first_row = first_rows[part.partition.index]
    if part.table is None:
        return
    column = column_of(part, name)
    if values is None:
        part.y = np.ascontiguousarray(column.values, dtype=np.float64)
    else:
        place = {value: k for k, value in enumerate(values)}
        part.y = np.array([place[value] for value in column.values.tolist()], dtype=np.int64)
    if part.X is None:
        rest = tuple(own for own in part.table.columns if own.name != name)
        part.table = Frame(rest, part.table.n, part.table.source)
