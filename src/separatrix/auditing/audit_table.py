"""The table under audit: its target, its rows as numbers, and the columns that were set aside."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.copies import Copies, find_copies
from separatrix.auditing.facts import ClassCount, LeakFacts, TableFacts
from separatrix.auditing.inputs import LEAST_GROUPS, SplitRule
from separatrix.auditing.phrasing import brief, short, unique
from separatrix.data.frame import Frame, frame_of
from separatrix.data.row_files import Matrix
from separatrix.data.tasks import Task
from separatrix.errors import DataError
from separatrix.features.column_encoders import NumberColumn
from separatrix.features.encoder import Choices, Encoder, summary
from separatrix.features.leaks import Leak, leaks_show
from separatrix.features.table_model import SharedTable
from separatrix.validation.row_hashes import value_marks

MAPS = ("poly:2", "splines")  # feature maps that are tried
DUPLICATES = 0.005  # share of rows that may repeat an earlier one
WRITTEN_OUT = 10_000_000  # cells up to which sparse rows are written out for a check: 80 MB
WIDE = 4096  # features up to which dense rows without names become columns
ROUNDING = 1e-12  # of the largest number of a column: a deviation below it is not one of the data
LARGEST = 1e150  # size of numbers up to which their squares and a sum of these are doubles


@dataclass(frozen=True)
class AuditTable:
    """A task with its rows encoded: ``X`` for learners, and the names and classes as they are shown."""

    task: Task
    choices: Choices
    encoder: Encoder | None
    X: Any
    leaks: tuple[Leak, ...]
    set_aside: tuple[str, ...]  # leaking columns that were left out
    notes: tuple[str, ...]
    split_rule: SplitRule = field(default_factory=SplitRule)
    copies: Copies | None = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def frame(self) -> Frame | None:
        return self.task.table if isinstance(self.task.table, Frame) else None

    @property
    def regression(self) -> bool:
        return self.task.regression

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    @cached_property
    def used(self) -> NDArray[np.intp]:
        """The columns of X that are not zero throughout: those that proofs refer to."""
        if not self.sparse:
            return np.arange(self.X.shape[1])
        return np.flatnonzero(np.bincount(self.X.indices, minlength=self.X.shape[1]))

    @cached_property
    def rows(self) -> Any:
        """The rows that proofs refer to: X without columns that are zero throughout."""
        return self.X if len(self.used) == self.X.shape[1] else self.X[:, self.used]

    @cached_property
    def feature_names(self) -> list[str]:
        """Full names of the columns of ``rows``."""
        if self.encoder is None:
            return [f"x{j}" for j in self.used.tolist()]
        names = self.encoder.feature_names()
        return [names[j] for j in self.used.tolist()]

    @cached_property
    def names(self) -> list[str]:
        """The same, short and all different."""
        return unique(self.feature_names)

    @cached_property
    def classes(self) -> NDArray[Any]:
        return np.unique(self.task.y)

    @cached_property
    def labels(self) -> list[str]:
        """The classes as they are shown."""
        return unique([str(c) for c in self.classes.tolist()], 32)

    @cached_property
    def codes(self) -> NDArray[np.intp]:
        """The number of each row's class."""
        return np.searchsorted(self.classes, self.task.y)

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def binary(self) -> bool:
        return not self.regression and len(self.classes) == 2

    @cached_property
    def positive(self) -> int:
        """The number of the positive class, of two."""
        return int(np.flatnonzero(self.classes == self.task.positive)[0]) if self.task.positive is not None else 1

    @cached_property
    def signs(self) -> NDArray[np.int64]:
        """+1 for the positive class, -1 for the other."""
        return np.where(self.codes == self.positive, 1, -1)

    @property
    def d(self) -> int:
        """The number of features that are in use."""
        return int(self.rows.shape[1])

    @cached_property
    def cells(self) -> int:
        """Stored numbers, with one more a row where rows are sparse."""
        return int(self.X.nnz + self.n if self.sparse else self.X.size)

    @property
    def score_vectors(self) -> int:
        """Vectors of weights of a linear model: 1 for two classes or a quantity, else one a class."""
        return 1 if self.regression or len(self.classes) == 2 else len(self.classes)

    @cached_property
    def plainly_numbers(self) -> bool:
        """Whether encoding is the identity, so that nothing is learned from rows by it."""
        return self.encoder is None or (
            self.encoder.map is None
            and all(
                isinstance(column, NumberColumn)
                and not column.indicator
                and column.source != "date"
                and (column.shift, column.scale) == (0.0, 1.0)
                for column in self.encoder.columns
            )
        )

    @cached_property
    def shared(self) -> dict[str, SharedTable]:
        """The table for learners that encode inside folds, as it is and standardised."""
        assert self.frame is not None
        standard = replace(self.choices, scale="standard")
        kinds = {"none": self.choices, "standard": standard}
        kinds |= {kind: replace(standard, map=kind) for kind in MAPS}
        return {scale: SharedTable(self.frame, chosen) for scale, chosen in kinds.items()}

    @cached_property
    def standardised(self) -> Any:
        """Dense rows with every column at mean 0 and deviation 1 (constants at 0); sparse rows as they are."""
        if self.sparse:
            return self.rows
        scale = np.where(self.varies, self.spreads, np.inf)
        return np.ascontiguousarray((self.rows - self.rows.mean(axis=0)) / scale)

    @cached_property
    def dense_standardised(self) -> Floats | None:
        """The same of sparse rows too; None where they would fill the memory."""
        if not self.sparse:
            return np.asarray(self.standardised)
        if self.n * self.d > WRITTEN_OUT:
            return None
        scale = np.where(self.varies, self.spreads, np.inf)
        return np.ascontiguousarray((self.rows.toarray() - np.asarray(self.rows.mean(axis=0)).ravel()) / scale)

    @property
    def leaks_sought(self) -> bool:
        """Whether columns that give the class away were looked for."""
        return self.frame is not None and leaks_show(self.codes.tolist())

    @cached_property
    def spreads(self) -> Floats:
        """The standard deviation of every column."""
        if self.sparse:
            mean = np.asarray(self.rows.mean(axis=0)).ravel()
            square = np.asarray(self.rows.multiply(self.rows).mean(axis=0)).ravel()
            return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))
        return np.asarray(self.rows.std(axis=0))

    @cached_property
    def varies(self) -> NDArray[np.bool_]:
        """Whether a column varies by more than rounding errors."""
        most = abs(self.rows).max(axis=0)
        largest = most.toarray().ravel() if self.sparse else most
        return np.asarray(self.spreads > ROUNDING * largest)

    @cached_property
    def whole_numbers(self) -> bool:
        """Whether all cells are whole numbers, which have no digits to be rounded."""
        values = self.rows.data if self.sparse else self.rows
        return bool((values == np.rint(values)).all())

    @cached_property
    def marks(self) -> NDArray[Any]:
        """A number for each row, equal for equal rows."""
        return value_marks(self.rows)

    @property
    def inputs(self) -> list[str]:
        return [] if self.encoder is None else self.encoder.inputs


def encode_table(task: Task, choices: Choices, keep: tuple[str, ...], split_rule: SplitRule) -> AuditTable:
    """Encode the rows; set aside columns that give the target away, unless they are to be kept."""
    table = task.table
    notes: list[str] = list(task.guesses)
    if isinstance(table, Matrix):
        if table.weights is not None:
            notes.append("row weights are not used")
        if not isinstance(table.X, np.ndarray) or table.X.shape[1] > WIDE:
            if any((*choices.named, choices.map, keep)):
                raise DataError(
                    f"{table.source} has no column names: drop=, keep=, text=, category=, number= and feature_map= "
                    "do not apply."
                )
            notes.append("unnamed columns are called x0, x1, … in order")
            made = AuditTable(task, choices, None, _canonical(table.X), (), (), tuple(notes), split_rule)
            return _with_copies(made)
        names = [f"x{j}" for j in range(table.X.shape[1])]
        table = frame_of(names, table.X, table.source)
        task = replace(task, table=table)
        choices = replace(choices, keep=tuple(names))  # an array has no column that was not meant
    choices = replace(choices, keep=(*choices.keep, *keep))
    y = None if task.regression else task.y
    encoder = Encoder.fitted(table, choices, y, task.target)
    leaks = tuple(leak for leak in encoder.leaks if leak.column not in keep)
    aside = tuple(leak.column for leak in leaks if leak.kind != "threshold")
    if aside and len(aside) < len(encoder.columns):
        choices = replace(choices, drop=(*choices.drop, *aside))
        encoder = Encoder.fitted(table, choices, None, task.target)
    elif aside:
        aside = ()
        notes.append("every column gives the target away; none was set aside")
    X, noted = encoder.encode(table)
    notes += summary(encoder, noted)
    if encoder.map is not None:
        notes.append(f"features = {encoder.map.kind} of the columns: every answer is about these")
    made = AuditTable(task, choices, encoder, X, leaks, aside, tuple(notes), split_rule)
    _need_squares(made)
    return _with_copies(made)


def _with_copies(table: AuditTable) -> AuditTable:
    """The same table with equal rows in one fold, where they are copies of one observation."""
    if table.split_rule.by is not None:
        return table
    cells: Any = table.rows
    if table.frame is not None and not table.sparse:
        used = set(table.inputs)
        cells = table.frame.without([column.name for column in table.frame.columns if column.name not in used])
    found = find_copies(table.marks, cells, DUPLICATES)
    if found is None or found.observations < LEAST_GROUPS:
        return table
    return replace(table, split_rule=SplitRule("copies", "", found.groups), copies=found)


def _need_squares(table: AuditTable) -> None:
    """Refuse columns whose squares leave the range of doubles: spreads and distances would be 0 or infinite."""
    if table.sparse:
        return
    largest = np.maximum(table.rows.max(axis=0), -table.rows.min(axis=0))
    far = (largest > LARGEST) | ((largest > 0) & (largest < 1 / LARGEST))
    for j in np.flatnonzero(far).tolist():
        raise DataError(
            f"column {table.names[j]!r} holds numbers up to {largest[j]:.0e}, whose squares double precision "
            "cannot hold: write it in another unit, or leave it out with drop=."
        )


def _canonical(X: Any) -> Any:
    """Contiguous numbers, or sparse rows with sorted, distinct indices, as proofs and fingerprints need them."""
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X, dtype=np.float64)
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def table_facts(table: AuditTable, *, seed: int, level: float, budget: float) -> TableFacts:
    """The table as it is shown."""
    y, leaks = table.task.y, table.leaks
    task = "regression" if table.regression else "binary" if table.binary else "multiclass"
    classes = []
    if not table.regression:
        classes = [ClassCount(label, n) for label, n in zip(table.labels, table.counts.tolist(), strict=True)]
    return TableFacts(
        source=short(table.task.source.name, 80),
        rows=table.n,
        columns=None if table.frame is None else len(table.frame.columns),
        features=table.d,
        target=short(table.task.target),
        task=task,
        classes=classes,
        positive=table.labels[table.positive] if table.binary else None,
        target_range=(float(y.min()), float(y.max())) if table.regression else None,
        notes=[short(brief(note), 200) for note in table.notes],
        leaks=[
            LeakFacts(short(leak.column), short(leak.evidence, 200), leak.kind, leak.column in table.set_aside)
            for leak in leaks
        ],
        split_rule=table.split_rule.facts(),
        seed=seed,
        level=level,
        budget=budget,
    )
