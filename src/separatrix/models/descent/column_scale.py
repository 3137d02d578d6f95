"""Columns as a descent sees them: centred where rows are dense, and divided so that J has about the same curvature.

With z_j = (x_j - m_j)/t_j a score is u.z + b', where w_j = u_j/t_j, so that the penalty of J is one of u_j/t_j. The
curvature of J in u_j is (c s_j^2 + l2)/t_j^2 for a loss of curvature c and a column of spread s_j; hence
t_j^2 = s_j^2 + l2/c. Sparse rows are not centred, since they would no longer be sparse. Real targets are centred and
divided by their spread too, which J's square law allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.descent.descent_state import CURVES, DescentRule

TINY = 64 * float(np.finfo(np.float64).eps)  # a spread below this share of the largest entry is rounding


@dataclass(frozen=True, slots=True)
class ColumnScale:
    """What is taken from columns and targets, and what they are divided by."""

    centre: Floats
    spread: Floats
    level: float = 0.0
    unit: float = 1.0

    @staticmethod
    def none(d: int) -> ColumnScale:
        """Columns as they are."""
        return ColumnScale(np.zeros(d), np.ones(d))

    @staticmethod
    def of(X: Any, weights: Floats | None, rule: DescentRule) -> ColumnScale:
        """By the rows with their weights."""
        n, d = X.shape
        c = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
        if isinstance(X, np.ndarray):
            most, centre = np.abs(X).max(axis=0), c @ X if rule.bias else np.zeros(d)
        else:
            most, centre = np.zeros(d), np.zeros(d)
            np.maximum.at(most, X.indices, np.abs(X.data))
        most = np.where(most > 0, most, 1.0).astype(np.float64)  # squares of parts of it do not underflow
        if isinstance(X, np.ndarray):
            share = np.array([c @ np.square((X[:, k] - centre[k]) / most[k]) for k in range(d)]).reshape(d)
        else:
            squares = np.square(X.data / most[X.indices]) * np.repeat(c, np.diff(X.indptr))
            share = np.bincount(X.indices, weights=squares, minlength=d)
        spread = np.where(share > TINY**2, np.sqrt(share) * most, 0.0)
        spread = np.hypot(spread, (rule.l2 / CURVES[rule.loss]) ** 0.5)
        return ColumnScale(centre, np.where(spread > 0, spread, 1.0))

    def of_targets(self, y: Floats, weights: Floats | None, bias: bool) -> ColumnScale:
        """The same, for these real targets."""
        level = float(np.average(y, weights=weights)) if bias else 0.0
        most = float(np.abs(y).max()) or 1.0
        share = float(np.average(np.square((y - level) / most), weights=weights))
        return replace(self, level=level, unit=most * share**0.5 if share > TINY**2 else 1.0)

    def rows(self, X: Any) -> Any:
        """The columns of the descent, in float64."""
        if isinstance(X, np.ndarray):
            return np.ascontiguousarray((X - self.centre) / self.spread)
        scaled = X.astype(np.float64)
        scaled.data /= self.spread[scaled.indices]
        return scaled

    def rule(self, rule: DescentRule) -> DescentRule:
        """The rule with the same J in these columns."""
        return replace(rule, columns=1.0 / self.spread, l1=rule.l1 / self.unit)

    def back(self, lifted: Floats) -> Floats:
        """(w, b) for the columns and targets as they were given, of one point or of many in rows."""
        w = self.unit * lifted[..., :-1] / self.spread
        b = self.level + self.unit * lifted[..., -1] - w @ self.centre
        return np.concatenate([w, np.asarray(b)[..., None]], axis=-1)
