"""The parts of an audit that apply to a quantity."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing import best, existence
from separatrix.auditing.study import Study
from separatrix.validation.marks import value_marks

POINTS = 2000  # of a picture


@dataclass(frozen=True)
class Fit:
    """Least squares on all rows: answers 1 and 2, residuals, and equal rows."""

    first: dict[str, Any]
    second: dict[str, Any]
    residuals: NDArray[np.float64]
    fitted: NDArray[np.float64]
    duplicates: int

    def picture(self, seed: int) -> dict[str, Any]:
        """Fitted against true values, of a sample where rows are many."""
        at = np.arange(len(self.fitted))
        if len(at) > POINTS:
            at = np.sort(np.random.default_rng(seed).choice(at, POINTS, replace=False))
        truth = self.fitted + self.residuals
        return {"truth": truth[at].tolist(), "fitted": self.fitted[at].tolist(), "of": len(truth)}


def ask(study: Study) -> Fit:
    """How well the best hyperplane fits, and whether there is one only."""
    from separatrix.models.least_squares.least_squares import LeastSquares

    with study.clock.stage("least squares"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LeastSquares().fit(study.rows, study.task.y)
    fitted = np.asarray(model.predict(study.rows))
    y = study.task.y
    spread = float(((y - y.mean()) ** 2).sum())
    residuals = y - fitted
    r2 = 1 - float(residuals @ residuals) / spread if spread > 0 else 1.0
    dependent = tuple(study.names[j] for j in model._solution.dependent)
    duplicates = study.n - len(np.unique(value_marks(study.rows)))
    first = existence.ask_regression(study, r2, int(model.rank_))
    return Fit(first, best.ask_regression(study, int(model.rank_), dependent), residuals, fitted, duplicates)
