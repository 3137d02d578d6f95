"""A least-squares problem, its solution, and the basis in which its covariance is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats


@dataclass(frozen=True, slots=True)
class Basis:
    """An upper triangle R with R'R the scaled normal matrix: w = v/scale, b = v_b/scale_b - shift.w."""

    triangle: Floats
    scale: Floats
    shift: Floats | None
    lift: bool

    def root(self) -> Floats:
        """B of shape (d + 1, p) with B B' the inverse of the normal matrix, the bias last."""
        return self.unscale(np.asarray(np.linalg.solve(self.triangle, np.eye(len(self.triangle))), dtype=np.float64))

    def scores(self, rows: Floats) -> Floats:
        """Lifted rows times B; columns are centred first: beside their means their spread may have few digits."""
        v = np.asarray(np.linalg.solve(self.triangle, np.eye(len(self.triangle)))) / self.scale[:, None]
        if not self.lift:
            return np.asarray(rows @ v)
        return np.asarray((rows if self.shift is None else rows - self.shift) @ v[:-1] + v[-1])

    def unscale(self, v: Floats) -> Floats:
        """Solutions of the scaled problem (columns of v) as lifted weights (d + 1 rows)."""
        out = v / self.scale[:, None]
        if not self.lift:
            return np.vstack([out, np.zeros((1, v.shape[1]))])
        if self.shift is not None:
            out[-1] -= self.shift @ out[:-1]
        return out


@dataclass(frozen=True, slots=True)
class LeastSquaresProblem:
    """Checked rows, targets (n, k) and weights; the penalty, whether there is a bias and whether it is free."""

    X: Any
    Y: Floats
    weights: Floats | None
    alpha: float
    lift: bool
    free: bool

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def counted(self) -> int:
        """Rows with a weight."""
        return self.n if self.weights is None else int(np.count_nonzero(self.weights))

    @property
    def p(self) -> int:
        return int(self.X.shape[1]) + (1 if self.lift else 0)

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)


@dataclass(frozen=True, slots=True)
class Solution:
    """Lifted weights (k, d + 1), the residual sums, and how they were found.

    ``basis`` is None where coefficients are not unique; ``dependent`` are linearly dependent columns. What only a
    summary needs, the condition and the basis, may be given as functions that compute it.
    """

    lifted: Floats
    rss: Floats
    rank: int
    condition: float | Callable[[], float]
    solver: str
    basis: Basis | Callable[[], Basis] | None
    dependent: tuple[int, ...] = ()

    @property
    def condition_now(self) -> float:
        return self.condition() if callable(self.condition) else self.condition
