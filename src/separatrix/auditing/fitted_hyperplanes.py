"""Learners fitted to all rows: their seconds, their mistakes, and the hyperplanes of those that are linear.

A row is misclassified by a hyperplane where it is not strictly on its side, which is decided in exact arithmetic, so
that mistakes of learners and proved bounds are counts of the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.candidate_learners import Candidate, FullFits
from separatrix.auditing.drawn_model import in_columns, in_units
from separatrix.auditing.separation import DecidedSeparation
from separatrix.errors import SeparatrixError
from separatrix.numerics.exact_signs import integer_row
from separatrix.proofs.exact.lifted_rows import LiftedRows


@dataclass(frozen=True)
class FittedHyperplane:
    """coef . x + intercept > 0 for the positive class, and the rows that are not strictly on their side."""

    coef: Floats
    intercept: float
    wrong: NDArray[np.intp]


@dataclass(frozen=True)
class FittedLearners:
    """By name: seconds of a fit to all rows, rows that it then misclassifies, hyperplanes of linear learners."""

    seconds: dict[str, float]
    mistakes: dict[str, int]
    hyperplanes: dict[str, FittedHyperplane]


def fit_learners(
    table: AuditTable,
    session: Session,
    fits: FullFits,
    listed: list[Candidate],
    separation: DecidedSeparation | None,
) -> FittedLearners:
    """Fit every candidate to all rows, the safe choice first; hyperplanes of two classes that cannot be separated."""
    seconds: dict[str, float] = {}
    mistakes: dict[str, int] = {}
    hyperplanes: dict[str, FittedHyperplane] = {}
    overlapping = table.binary and separation is not None and not separation.facts.separable
    with session.clock.stage("time learners"):
        rows = lifted_rows(table, separation) if overlapping and separation is not None else None
        for candidate in sorted(listed, key=lambda c: not c.safe):
            if seconds and session.clock.late(0.8):
                session.clock.leave_out(f"the time of {candidate.name}", "the time budget was nearly used up")
                continue
            try:
                _, seconds[candidate.name] = fits.of(candidate)
            except SeparatrixError:
                continue  # the comparison has recorded why
            if table.regression:
                continue
            mistakes[candidate.name] = fits.misclassified(candidate)
            if rows is not None and candidate.linear:
                found = _hyperplane(table, fits, candidate, rows)
                hyperplanes[candidate.name] = found
                mistakes[candidate.name] = len(found.wrong)
    return FittedLearners(seconds, mistakes, hyperplanes)


def lifted_rows(table: AuditTable, separation: DecidedSeparation) -> LiftedRows:
    """The rows of two classes as proofs take them, the positive class on the positive side."""
    subject = separation.given.subject([table.positive], [1 - table.positive])
    return separation.given.rows(subject.table.X, subject.labels, True)


def wrong_rows(rows: LiftedRows, coef: Floats, intercept: float) -> NDArray[np.intp]:
    """The rows that are not strictly on their side, decided exactly."""
    if not (coef.any() or intercept):
        return np.arange(rows.n)
    return np.flatnonzero(rows.signs(integer_row([*coef.tolist(), float(intercept)])[0]) <= 0)


def _hyperplane(table: AuditTable, fits: FullFits, candidate: Candidate, rows: LiftedRows) -> FittedHyperplane:
    """Where the learner draws the line: rows that its scores put on the line itself are predicted as one class.

    The intercept is therefore moved to the middle of the gap between its predictions, where that is no worse.
    """
    model, _ = fits.of(candidate)
    everyone = np.arange(table.n).reshape(-1, 1)
    if table.choices.map is None:
        own, intercept = in_units(model)
        coef = np.array(in_columns(model, own.tolist(), table, 0.0))
    else:  # columns are standardised before they are mapped: the map's columns span the same scores
        lifted = np.column_stack([table.rows, np.ones(table.n)])
        found = np.linalg.lstsq(lifted, model.decision_function(everyone), rcond=None)[0]
        coef, intercept = found[:-1], float(found[-1])
    sign = 1.0 if table.positive == 1 else -1.0
    coef, intercept = sign * coef, sign * intercept
    if not (np.isfinite(coef).all() and np.isfinite(intercept)):  # rounding left nothing of it
        coef, intercept = np.zeros(table.d), 1.0
    scores, positive = table.rows @ coef + intercept, model.predict(everyone) == table.classes[table.positive]
    made = [FittedHyperplane(coef, intercept, wrong_rows(rows, coef, intercept))]
    if positive.any() and not positive.all():
        middle = (float(scores[~positive].max()) + float(scores[positive].min())) / 2
        made.append(FittedHyperplane(coef, intercept - middle, wrong_rows(rows, coef, intercept - middle)))
    return min(made, key=lambda own: len(own.wrong))
