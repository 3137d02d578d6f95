"""The rows that learners are compared on: which are predicted, which are learned from, and with what weights.

Every row that is predicted counts once, so that estimates are those of the table. Fits are what takes time: where the
budget is short they see a sample, in which rare classes keep their rows and every row has the weight of those that it
stands for (Horvitz & Thompson 1952).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import FOLDS, Session
from separatrix.errors import DataError
from separatrix.evaluation.fold_assignment import folds_for

FEWEST_COMPARED = 500  # rows on which a first comparison is never cut
RARE_PREDICTED = 50  # rows of every class that a sample of the rows to predict must have


@dataclass(frozen=True)
class Sample:
    """Rows of the table and their weights, which add up to the rows that they were drawn from."""

    rows: NDArray[np.intp]
    weights: Floats


@dataclass(frozen=True)
class ComparedRows:
    """``rows`` are predicted in ``folds`` folds; learners see all others, or those of them in ``sample``."""

    rows: NDArray[np.intp]
    folds: int
    sample: Sample | None = None

    @property
    def learned_from(self) -> int:
        """Rows that the folds together learn from."""
        return len(self.rows) if self.sample is None else len(self.sample.rows)

    def with_sample(self, table: AuditTable, seed: int, most: int) -> ComparedRows:
        """The same rows predicted, by learners that see at most about so many."""
        if most >= len(self.rows):
            return self
        return replace(self, sample=draw(table, np.random.default_rng(seed), self.rows, most))

    def arguments(self, table: AuditTable, seed: int) -> dict[str, Any]:
        """Folds, weights of fits, and groups or moments, as ``cross_validate`` takes them."""
        rule = table.split_rule.of(self.rows)
        if self.sample is None:
            return {"folds": self.folds, **rule}
        y, by = table.task.y[self.rows], {"groups": None, "time": None} | rule
        folds, _ = folds_for(len(self.rows), self.folds, 1, y, True, by["groups"], by["time"], seed, table.regression)
        weights = np.zeros(len(self.rows))
        weights[np.searchsorted(self.rows, self.sample.rows)] = self.sample.weights
        pairs = [(fold.train[weights[fold.train] > 0], fold.test) for fold in folds]
        return {"folds": pairs, "fit_with": {"sample_weight": weights}} | {k: v for k, v in rule.items() if k != "time"}


def rows_to_compare(table: AuditTable, session: Session, rows: NDArray[np.intp]) -> ComparedRows | None:
    """All rows, or as many as the plan has; None where there are no two folds with every class."""
    judged = _rows_to_predict(table, session, rows)
    folds = _usable_folds(table, session, judged)
    if folds is None:
        return None
    return ComparedRows(judged, folds).with_sample(table, session.seed, session.plan.comparison_rows)


def _rows_to_predict(table: AuditTable, session: Session, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """A sample in proportion where rows are very many, unless that would leave a class with too few."""
    most = session.plan.predicted_rows
    if most >= len(rows):
        return rows
    rng = np.random.default_rng(session.seed)
    if table.regression:
        return np.sort(rng.choice(rows, most, replace=False))
    codes = table.codes[rows]
    wanted = np.round(np.bincount(codes, minlength=len(table.classes)) * (most / len(rows))).astype(np.intp)
    if wanted[np.unique(codes)].min() < RARE_PREDICTED:
        return rows
    parts = [rng.choice(rows[codes == k], size, replace=False) for k, size in enumerate(wanted.tolist()) if size]
    return np.sort(np.concatenate(parts))


def draw(table: AuditTable, rng: np.random.Generator, rows: NDArray[np.intp], most: int) -> Sample:
    """About so many of the rows: every class in proportion, but 500 of each where it has them and room is left."""
    if table.regression:
        drawn = np.sort(rng.choice(rows, most, replace=False))
        return Sample(drawn, np.full(most, len(rows) / most))
    codes = table.codes[rows]
    totals = np.bincount(codes, minlength=len(table.classes))
    classes = int(np.count_nonzero(totals))
    least = min(500, max(50, most // classes))
    sizes = np.minimum(totals, np.maximum(np.round(totals * (most / len(rows))).astype(np.intp), least))
    parts = [rng.choice(rows[codes == k], size, replace=False) for k, size in enumerate(sizes.tolist()) if size]
    drawn = np.sort(np.concatenate(parts))
    return Sample(drawn, (totals / np.maximum(sizes, 1))[table.codes[drawn]])


def _usable_folds(table: AuditTable, session: Session, rows: NDArray[np.intp]) -> int | None:
    """Five folds, or as many as classes, groups and moments allow; None for less than two."""
    most = min(FOLDS, len(rows))
    if not table.regression:
        counts = np.bincount(table.codes[rows], minlength=len(table.classes))
        most = min(most, int(counts[counts > 0].min()))
    rule = {"groups": None, "time": None} | table.split_rule.of(rows)
    if table.split_rule.by is None:
        return most if most >= 2 else None
    for folds in range(most, 1, -1):
        try:
            y = table.task.y[rows]
            folds_for(len(rows), folds, 1, y, True, rule["groups"], rule["time"], session.seed, table.regression)
        except DataError:
            continue
        return folds
    return None
