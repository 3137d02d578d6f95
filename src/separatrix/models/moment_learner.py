"""Learners that need only moments of their rows: least squares and the discriminants.

The moments of all folds of a cross-validation are taken in one pass over the rows where they lie; those of a fold's
training rows are the merged moments of the other folds: k folds cost one pass instead of k - 1, and no copy. The
numbers are those of separate fits up to the rounding of the merge; where the condition says that this could show, the
fold is fitted as usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.numerics.moments import Moments, merge
from separatrix.protocol import Estimator, FoldPath, FoldRows
from separatrix.rows.moments import MOST_COLUMNS, labels_of, moments_of
from separatrix.rows.protocol import Rows
from separatrix.validation import Table, check_labels, check_table, check_targets

BROUGHT = 2**22  # numbers of rows elsewhere that are brought here where passes do not suffice: 32 MB
MOST_NUMBERS = 2**24  # in the scatters of all folds together
HOW = "moments of the folds, merged"


class MomentLearner(Estimator):
    """A learner that is fitted from moments; a subclass says which, and how."""

    _distributed: ClassVar[str | None] = "moments"
    _pooled: ClassVar[bool] = True  # one scatter for all classes

    def _moments_needed(self) -> str | None:
        """Whether moments suffice to fit: "targets", of features and target; "classes", of each class; or None."""
        return None

    def _fit_moments(self, moments: Moments, table: Table) -> bool:
        """Fit from such moments of rows like the table's; False where the rows themselves are needed."""
        raise NotImplementedError("a learner that needs moments fits from them")

    def _fit_rows(self, rows: Rows, table: Table, classes: Sequence[Any] | None) -> None:
        """Fit to rows of any place: one pass for their moments, and what the learner makes of them.

        Options that need more than passes are fitted here where the rows are few enough to be brought here.
        """
        self._check_parameters()
        needed, few = self._moments_needed(), rows.n * rows.d <= BROUGHT
        if needed is None and not few:
            raise ParameterError(
                f"{self!r} needs all rows in one place: its options have no distributed form for more than "
                f"{BROUGHT:,} numbers."
            )
        done = False
        if needed is not None and not (few and rows.d > MOST_COLUMNS):
            done = self._fit_moments_of(rows, moments_of(rows, classes, self._pooled), table, few)
        if not done:
            leaf = rows.take(1)
            cast(Any, self).fit(leaf.X, labels_of(leaf, classes), sample_weight=leaf.weights)
            self._remember_features(table)

    def _fit_moments_of(self, rows: Rows, moments: Moments, table: Table, few: bool) -> bool:
        """Fit from the moments of rows; False where the rows are needed, and they are ``few``."""
        return self._fit_moments(moments, table) or (not few and self._fit_anyway(moments, table))

    def _fit_anyway(self, moments: Moments, table: Table) -> bool:
        """Where moments lose digits or do not determine the model: with a warning, or the error that says why."""
        raise NotImplementedError("a learner says what it makes of such moments")

    def _fold_path(self, rows: FoldRows, grid: Sequence[dict[str, Any]]) -> FoldPath | None:
        if any(grid):  # options may change which moments are needed
            return None
        return moments_of_folds(self, rows)


@dataclass(frozen=True)
class MomentFolds:
    """The moments of each fold's rows."""

    states: list[Moments]
    table: Table
    how: str = HOW

    @property
    def X(self) -> Any:
        """The rows, checked."""
        return self.table.X

    def without(self, fold: int) -> Moments:
        """The moments of all folds but one."""
        return merge(*(state for k, state in enumerate(self.states) if k != fold))

    def fit(self, learner: Any, fold: int) -> bool:
        """Fit a learner to the rows of all folds but one."""
        return bool(learner._fit_moments(self.without(fold), self.table))

    def errors(self) -> Floats | None:
        """None: each fold is judged by its fit."""
        return None

    def finish(self, learner: Any) -> bool:
        """Fit a learner to all rows."""
        return bool(learner._fit_moments(merge(*self.states), self.table))


def moments_of_folds(learner: MomentLearner, rows: FoldRows) -> MomentFolds | None:
    """Moments fold by fold, in one pass over the rows where they lie; None where moments do not suffice."""
    needed = learner._moments_needed()
    if needed is None or getattr(learner, "categorical", None) is not None:  # levels are those of a fold
        return None
    try:
        table = check_table(rows.X, finite=rows.weights is not None)
        states = (_of_targets if needed == "targets" else _of_classes)(learner, rows, table)
    except ValueError:  # bad rows: the folds themselves say it better
        return None
    if states is None or not all(np.isfinite(state.mean).all() for state in states):  # so is any NaN in rows that count
        return None
    return MomentFolds(states, table)


def _of_targets(learner: MomentLearner, rows: FoldRows, table: Table) -> list[Moments] | None:
    if rows.folds * (table.d + 1) ** 2 > MOST_NUMBERS:
        return None
    every = Moments(table.d, 1, labels=range(rows.folds), pooled=False)
    every.add(table.X, check_targets(rows.y).reshape(-1, 1), rows.fold, rows.weights)
    return every.split(rows.folds, None, pooled=True)


def _of_classes(learner: MomentLearner, rows: FoldRows, table: Table) -> list[Moments] | None:
    labels = check_labels(rows.y)
    count = len(labels.classes)
    if rows.folds * count * table.d**2 > MOST_NUMBERS:
        return None
    every = Moments(table.d, labels=range(rows.folds * count), pooled=False)
    every.add(table.X, None, rows.fold * count + labels.codes, rows.weights)
    return every.split(rows.folds, labels.classes.tolist(), pooled=learner._pooled)
