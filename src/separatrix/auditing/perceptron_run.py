"""The perceptron on the table, against Novikoff's (1962) bound on its mistakes."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from separatrix.auditing.algorithm_facts import NovikoffBound, PerceptronRun
from separatrix.auditing.best_hyperplane import BestHyperplane
from separatrix.auditing.budget import Session
from separatrix.auditing.hyperplane_facts import ProvedBracket
from separatrix.auditing.table import AuditTable
from separatrix.numerics.status import Status
from separatrix.proofs.margin import Margin
from separatrix.proofs.novikoff import mistake_bound

FEWEST_PASSES = 3
POINTS = 200  # of the curve
LOOKS = 2e9  # numbers that the perceptron reads, with a budget of a minute
WIDE = 10_000  # columns up to which the margin of (x, 1) is computed by itself
ROUNDED = 1e-9  # more than rounding can have changed


def perceptron_runs(
    table: AuditTable, session: Session, best: BestHyperplane, separable: bool
) -> tuple[PerceptronRun | None, PerceptronRun | None]:
    """Runs on the columns as they are and standardised (dense rows only), for two classes."""
    if not table.binary:
        return None, None
    if session.clock.late(0.9):
        session.clock.leave_out("the perceptron's run", "the time budget was nearly used up")
        return None, None
    with_bound = best.margin is not None and (table.d > WIDE or not session.clock.late(0.7))
    if separable and not with_bound:
        session.clock.leave_out("the perceptron's bound", "the maximum margin, which it needs, would take too long")
    with session.clock.stage("perceptron"):
        as_given = _run(table, session, table.rows, best.margin if with_bound else None, separable)
        if table.sparse:
            return as_given, None
        if session.clock.late(0.9):
            session.clock.leave_out("the perceptron on standardised columns", "the time budget was nearly used up")
            return as_given, None
        scaled = best.standardised if with_bound else None
        return as_given, _run(table, session, table.standardised, scaled, separable)


def _run(table: AuditTable, session: Session, X: Any, margin: Margin | None, separable: bool) -> PerceptronRun:
    """From zero in the order of the rows."""
    from separatrix.models.perceptron.perceptron import Perceptron

    reads = LOOKS * min(1.0, session.plan.budget / 60) * (1.0 if separable else 0.1)  # it would never converge
    passes = int(np.clip(reads // max(table.cells, 1), FEWEST_PASSES, 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(max_epochs=passes).fit(X, table.signs)
    so_far = np.cumsum(model.epoch_mistakes_)
    at = np.unique(np.linspace(0, len(so_far) - 1, min(POINTS, len(so_far))).astype(int))
    return PerceptronRun(
        int(model.mistakes_),
        int(model.n_iter_),
        model.status_ in (Status.CONVERGED, Status.SETTLED),
        int(model.errors_),
        (at + 1).tolist(),
        so_far[at].tolist(),
        None if margin is None else _bound(table, X, margin),
    )


def _bound(table: AuditTable, X: Any, margin: Margin) -> NovikoffBound:
    """(R / margin)^2 in the space of (x, 1): its own margin, or with many columns the one that the gap implies.

    A hyperplane at least m away from every row, with |w| = 1, has the margin m / sqrt(1 + b^2) as (w, b) of length 1.
    """
    if table.d <= WIDE:
        found = mistake_bound(X, table.signs)
        return NovikoffBound(found.radius, ProvedBracket(*found.margin), found.bound)
    squares = X.multiply(X).sum(axis=1) if table.sparse else (X**2).sum(axis=1)
    radius = math.sqrt(1 + float(np.max(squares))) * (1 + ROUNDED)
    lower = margin.lower / math.hypot(1.0, margin.intercept or 0.0) * (1 - ROUNDED)
    return NovikoffBound(radius, ProvedBracket(lower, margin.upper), (radius / lower) ** 2 * (1 + ROUNDED))
