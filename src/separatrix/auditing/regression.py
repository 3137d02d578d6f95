"""Questions 1 and 2 for a quantity: how well the least-squares hyperplane fits, and whether it is unique."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.budget import Session
from separatrix.auditing.hyperplane_facts import ExactFitFacts, LeastSquaresFacts
from separatrix.auditing.table import AuditTable


@dataclass(frozen=True)
class FullFit:
    """Least squares on all rows."""

    exact_fit: ExactFitFacts
    best: LeastSquaresFacts
    residuals: Floats
    fitted: Floats
    duplicates: int


def fit_all_rows(table: AuditTable, session: Session) -> FullFit:
    """The fit, its R², rank and dependent columns."""
    from separatrix.models.least_squares.least_squares import LeastSquares

    with session.clock.stage("least squares"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LeastSquares().fit(table.rows, table.task.y)
    y, fitted = table.task.y, np.asarray(model.predict(table.rows))
    residuals, spread = y - fitted, float(((y - y.mean()) ** 2).sum())
    r2 = 1 - float(residuals @ residuals) / spread if spread > 0 else 1.0
    rank = int(model.rank_)
    exact = ExactFitFacts(rank >= table.n or r2 > 1 - 1e-12, r2, rank)
    dependent = [table.names[j] for j in model.dependent_columns_]
    duplicates = table.n - len(np.unique(table.marks))
    return FullFit(exact, LeastSquaresFacts(rank, dependent), residuals, fitted, duplicates)
