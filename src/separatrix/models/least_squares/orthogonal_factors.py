"""Least squares by orthogonal factors, corrected in twofold precision.

The lifted rows A, the penalty as further rows, and the residuals u solve the augmented system
    u + A x = y,   A'C u = 0
(Bjorck 1967). It is solved by the QR factors of the columns centred and scaled, its defects are computed
in twofold precision from the doubles given, and their solution is added until nothing changes. Each step
gains as many digits as the condition leaves of sixteen, whatever the size of the residuals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.gram_matrix import EPS, rank_limit
from separatrix.numerics.normal_equations import Basis, LeastSquaresProblem, dependent_columns
from separatrix.numerics.twofold import twofold_add
from separatrix.rows.places import TableRows

STEPS = 30
CLOSE = 1e-14  # the last correction of an iteration that converged, relative to the first


def dense(X: Any) -> Floats:
    """Checked rows as a float64 array."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


def rows_of(problem: LeastSquaresProblem) -> TableRows:
    """The rows, targets and weights of a problem, for passes."""
    return TableRows(problem.X, weights=problem.weights, targets=problem.Y)


def counted_rows(problem: LeastSquaresProblem) -> tuple[Any, Floats, Floats]:
    """Rows, targets and weights without the rows of weight zero, in double precision."""
    X = problem.X.astype(np.float64, copy=False)
    if problem.weights is None:
        return X, problem.Y, np.ones(problem.n)
    counted = problem.weights > 0
    if counted.all():
        return X, problem.Y, problem.weights
    return X[counted], problem.Y[counted], problem.weights[counted]


def centre_of(X: Floats, c: Floats, away: Floats | None = None) -> Floats:
    """Weighted means of the columns, about their first row; exact for constant columns. ``away`` is X - X[0]."""
    return np.asarray(X[0] + (c @ (X - X[0] if away is None else away)) / c.sum(), dtype=np.float64)


class OrthogonalFactors:
    """A lifted design with its penalty rows, and the QR factors of its centred and scaled columns."""

    def __init__(self, X: Floats, c: Floats, alpha: float, lift: bool, free: bool) -> None:
        n, d = X.shape
        self.lift, self.d = lift, d
        p = d + (1 if lift else 0)
        penalised = 0 if alpha == 0 else (d if free or not lift else p)
        heavy = alpha > float((c * np.square(X).max(axis=1)).max())
        first = penalised if heavy else 0  # Householder's reflections keep small rows exact below large ones
        self.data, penalties = slice(first, first + n), slice(0, first) if heavy else slice(n, n + penalised)
        self.A = np.zeros((n + penalised, p))
        self.A[self.data, :d] = X
        self.A[self.data, d:] = 1.0
        self.A[penalties, :penalised] = np.eye(penalised)
        self.c = np.full(n + penalised, alpha)
        self.c[self.data] = c
        self.shift = centre_of(X, c) if lift and (free or not heavy) else None
        moved = self.A.copy()
        if self.shift is not None:
            moved[:, :d] -= self.A[:, d:] * self.shift
        self.s = np.sqrt(self.c)
        moved *= self.s[:, None]
        lengths = np.linalg.norm(moved, axis=0)
        self.scale = np.where(lengths > 0, lengths, 1.0)
        moved /= self.scale
        self.Q, self.R = np.linalg.qr(moved)
        _, self.values, self.vectors = np.linalg.svd(self.R)
        self.rank = int(np.count_nonzero(self.values > rank_limit(p) * self.values[0]))

    @property
    def full_rank(self) -> bool:
        return bool(self.rank == self.A.shape[1])

    @property
    def condition(self) -> float:
        return float(self.values[0] / self.values[-1]) if self.full_rank else np.inf

    def dependent(self) -> tuple[int, ...]:
        return dependent_columns(self.vectors[self.rank :].T, self.d)

    def basis(self) -> Basis:
        return Basis(self.R, self.scale, self.shift, self.lift)

    def _forward(self, g: Floats) -> Floats:
        """T'g, where x = T v undoes centring and scaling."""
        moved = g.copy()
        if self.shift is not None:
            moved[:-1] -= self.shift * g[-1]
        return np.asarray(moved / self.scale)

    def _back(self, v: Floats) -> Floats:
        x = v / self.scale
        if self.shift is not None:
            x[-1] -= self.shift @ x[:-1]
        return np.asarray(x)

    def solve(self, y: Floats) -> tuple[Floats, Floats, bool]:
        """Weights (p,) and residuals of the data rows, corrected until nothing changes; whether that was reached."""
        n, p = self.A.shape
        target = np.zeros(n)
        target[self.data] = y
        rows = kernels.rows(self.A)
        x, x_low, u, u_low = np.zeros(p), np.zeros(p), np.zeros(n), np.zeros(n)
        f, g = target, np.zeros(p)
        first = before = np.inf
        for _ in range(STEPS):
            along = self.Q.T @ (self.s * f)
            e = np.linalg.solve(self.R.T, self._forward(g))
            v = np.linalg.solve(self.R, along - e)
            du = f - (self.Q @ (along - e)) / self.s
            dx = self._back(v)
            size = float(np.max(np.abs(v)))
            if not np.isfinite(size) or size > 0.5 * before:
                return x + x_low, u[self.data], before <= CLOSE * first
            x, x_low = twofold_add(x, x_low, dx)
            u, u_low = twofold_add(u, u_low, du)
            if np.all(np.abs(dx) <= EPS / 64 * np.abs(x)):
                break
            first, before = (size if first == np.inf else first), size
            f, g = np.empty(n), np.empty(p)
            kernels.augmented_defects(rows, target, self.c, x, x_low, u, u_low, f, g)
        return x + x_low, u[self.data], True
