"""A source on workers, ready to learn from: partitions read, columns encoded, classes numbered.

The target of a source in partitions: its classes, found in all of them, or its numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cluster.merged_encoder import merged_encoder, need_mergeable
from separatrix.cluster.partition_reading import SourceSchema, loaded, matrix_rows
from separatrix.cluster.rounds import HeldPart, Rounds
from separatrix.data.frame import Column, Frame, label_column, unknown_column
from separatrix.data.number_writing import Writing
from separatrix.data.reading_plan import Reading
from separatrix.data.row_files import stacked
from separatrix.data.tasks import guess_target
from separatrix.errors import DataError
from separatrix.features.column_encoders import Noted, NumberColumn
from separatrix.features.encoder import Choices, Encoder
from separatrix.validation import Table, check_labels


@dataclass(frozen=True)
class EncodedSource:
    """What the driver knows about the rows on its workers."""

    rounds: Rounds
    name: str
    schema: SourceSchema
    target: Target
    encoder: Encoder | None
    noted: dict[str, Noted]

    @property
    def d(self) -> int:
        return self.schema.features if self.encoder is None else self.encoder.width

    @property
    def n(self) -> int:
        return self.schema.n

    @property
    def classes(self) -> NDArray[Any]:
        assert self.target.classes is not None
        return self.target.classes

    @property
    def table(self) -> Table:
        """A table like that of the rows, without any."""
        return Table(np.empty((0, self.d)))

    def sample(self, stride: int) -> tuple[Any, Any, Any]:
        """Every so-manieth row of all partitions, on the driver, with class numbers and weights."""
        X, y, weights = zip(*self.rounds.gather("sample", sampled, stride), strict=True)
        return stacked(X), np.concatenate(y), None if weights[0] is None else np.concatenate(weights)


def sampled(part: HeldPart, stride: int) -> tuple[Any, Any, Any]:
    """The rows of a partition among every so-manieth of the source, with class numbers and weights."""
    own = slice(-part.first_row % stride, None, stride)
    return part.X[own], part.y[own], None if part.weights is None else part.weights[own]


def encoded_source(
    rounds: Rounds,
    name: str,
    target: str | None,
    regression: bool,
    choices: Choices,
    reading: Reading,
    as_numbers: bool = False,
) -> EncodedSource:
    """Read, decide and encode, partition by partition; ``as_numbers`` takes columns as they are, and numbers only."""
    need_mergeable(choices)
    schema = loaded(rounds, reading, name)
    if schema.names is None:
        if choices != Choices():
            raise DataError(f"{name} has no columns to choose from: its rows are numbers already.")
        rounds.prepare("rows", matrix_rows, schema.features, schema.zero_based)
    wanted = found_target(rounds, schema, target, name, regression)
    if wanted.name in choices.drop:
        raise DataError(f"drop names the target {wanted.name!r}: it cannot be learned and left out.")
    rounds.prepare("target", numbered, wanted.name, _values(wanted, schema), schema.first_rows)
    encoder, noted = None, dict[str, Noted]()
    if schema.names is not None:
        columns = [column for column in schema.names if column != wanted.name]
        if as_numbers:
            encoder = numbers_encoder(rounds, [c for c in columns if c not in choices.drop], schema)
        else:
            encoder = merged_encoder(rounds, columns, choices, name)
        for own in rounds.prepare("encoding", encode, encoder):
            for column, one in own.items():
                all_ = noted.setdefault(column, Noted())
                all_.missing, all_.unseen = all_.missing + one.missing, all_.unseen + one.unseen
    return EncodedSource(rounds, name, schema, wanted, encoder, noted)


def _values(target: Target, schema: SourceSchema) -> list[Any] | None:
    """The classes as partitions hold them: text, or numbers."""
    if target.classes is None:
        return None
    text = schema.names is not None and schema.kinds[target.name] == "text"
    return [value if text else float(value) for value in target.classes.tolist()]


def numbers_encoder(rounds: Rounds, columns: list[str], schema: SourceSchema) -> Encoder:
    """Columns of numbers as they are; text and missing values are refused."""
    other = next((column for column in columns if schema.kinds[column] not in ("number", "integer")), None)
    if other is not None:
        raise DataError(f"{other!r} is {schema.kinds[other]}: proofs are about numbers; drop the column.")
    rounds.map("missing values", need_whole_columns, columns)
    return Encoder([NumberColumn(column, schema.kinds[column], 0.0, False) for column in columns])


def need_whole_columns(part: HeldPart, columns: list[str]) -> None:
    """Refuse missing values."""
    for name in columns if part.table is not None else []:
        missing = np.flatnonzero(part.table[name].missing)
        if len(missing):
            raise DataError(
                f"{name!r} is missing in {len(missing):,} rows of {part.partition.name} (first: row {missing[0]} of "
                "these, counted from 0): proofs are about numbers; leave these rows out, or drop the column."
            )


def encode(part: HeldPart, encoder: Encoder) -> dict[str, Noted]:
    """Columns as the rows that a learner takes; the columns are let go."""
    if part.table is None:
        return {}
    part.X, noted = encoder.encode(part.table)
    part.table = None
    return noted


@dataclass(frozen=True, slots=True)
class Target:
    """The column to learn: its name, and for a classification the classes and how many rows each has."""

    name: str
    classes: NDArray[Any] | None
    counts: tuple[int, ...] = ()
    writing: Writing | None = None  # of its numbers, where they are not plain


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
        return Target(name, None, writing=schema.writings.get(name))
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
