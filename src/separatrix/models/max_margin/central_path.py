"""Points near the central path of the soft margin, and Newton's steps along it (Mehrotra 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.max_margin.signed_rows import SignedRows

ALIKE = 100.0  # ratio of costs up to which half of each is a start near the path
SHARE = 0.9995  # of the longest step that keeps slacks and multipliers positive


@dataclass(frozen=True, slots=True)
class PathPoint:
    """w and b, the slacks s and t, the multipliers z, and the scores of the rows times their signs."""

    w: Floats
    b: float
    z: Floats
    s: Floats
    t: Floats
    score: Floats


class CentralPath:
    """The problem of the rows and their costs; points are moved by :meth:`step`."""

    def __init__(self, rows: SignedRows, cost: Floats) -> None:
        self.rows, self.cost = rows, cost
        self.work = np.empty((5, rows.n))
        self.worst = float(cost.sum()) / (2 * rows.n)  # the objective at zero, in units of mean_product

    def start(self) -> PathPoint:
        """w = b = 0, and products s z = t (c - z) of about one size, however different the costs are."""
        rows, cost = self.rows, self.cost
        if cost.max() <= ALIKE * cost.min():
            z = balanced(0.5 * cost, rows.y) if rows.bias else 0.5 * cost
            return PathPoint(np.zeros(rows.d), 0.0, z, np.ones(rows.n), np.ones(rows.n), np.zeros(rows.n))
        q = 5.0 * float(cost.max()) / cost  # with t = s + 1 and products q c:  s^2 + s = q (2 s + 1)
        s = 0.5 * (2.0 * q - 1.0 + np.sqrt(1.0 + 4.0 * q * q))
        t = s + 1.0
        return PathPoint(np.zeros(rows.d), 0.0, cost * t / (s + t), s, t, np.zeros(rows.n))

    def mean_product(self, at: PathPoint) -> float:
        """The mean of the products that vanish at the solution."""
        return float(at.s @ at.z + at.t @ (self.cost - at.z)) / (2 * self.rows.n)

    def gap(self, at: PathPoint) -> float:
        """(primal - dual) / primal, at points that are feasible."""
        rows, w = self.rows, at.w
        z = balanced(at.z, rows.y) if rows.bias else at.z  # steps keep 0 < z < cost
        v = rows.sums(z * rows.y)
        primal: float = 0.5 * float(w @ w) + float(self.cost @ np.maximum(0.0, 1.0 - at.score))
        dual: float = float(z.sum()) - 0.5 * float(v @ v)
        return max(0.0, (primal - dual) / primal) if primal > 0 else 0.0

    def step(self, at: PathPoint, mu: float) -> PathPoint | None:
        """Mehrotra's predictor and corrector; None when rounding leaves no positive definite system."""
        rows, point = self.rows, (self.rows.y, self.cost, at.z, at.s, at.t, at.score)
        weight, right, dz, ds, dt = self.work
        total, balance = kernels.margin_system(*point, weight, right)
        try:
            system = NewtonSystem(rows, weight, total)
        except (np.linalg.LinAlgError, DataError):
            return None
        dw, db = system.solve(rows.sums(right) - at.w, balance)
        ends, below, above = kernels.margin_predictor(*point, weight, rows.products(dw, db), dz)
        aim = mu * (predicted(ends, below, above) / (2 * rows.n * mu)) ** 3
        balance = kernels.margin_corrector(*point, weight, dz, aim, ds, dt, right)
        dw, db = system.solve(rows.sums(right) - at.w, balance)
        step = SHARE / max(1.0, kernels.margin_direction(*point, weight, rows.products(dw, db), dz, ds, dt))
        if not np.isfinite(step * db + dw.sum() + dz.sum()):
            return None
        w, b = at.w + step * dw, at.b + step * db
        z, s, t = at.z + step * dz, at.s + step * ds, at.t + step * dt
        return PathPoint(w, b, z, s, t, rows.y * rows.products(w, b))


def predicted(ends: list[float], below: list[float], above: list[float]) -> float:
    """The sum of the products after the predictor's longest steps, p of the slacks and q of the multipliers.

    By the sums of ``margin_predictor`` in ``tests/reference/central_path.py``: those products are
    s z (1 - p - p r)(1 + q r) and t (c - z)(1 - p + p f)(1 - q f).
    """
    rise, fall, free_rise, free_fall = ends
    p, q = 1.0 / max(1.0, 1.0 + rise, 1.0 + free_fall), 1.0 / max(1.0, fall, free_rise)
    first = (q * (1 - p) - p) * (below[1] - above[1])
    return max(0.0, (1 - p) * (below[0] + above[0]) + first - p * q * (below[2] + above[2]))


class NewtonSystem:
    """The system of w and b for given weights of the rows; one factorisation serves both right-hand sides.

    With a bias, that is eliminated:  (I + S) dw = right - m balance,  db = balance/W - m.dw,  where m and S are the
    weighted mean and scatter of the rows, and W is the sum of their weights. Without one the system is I + S + W m m'.
    """

    def __init__(self, rows: SignedRows, weight: Floats, total: float) -> None:
        if not 0.0 < total < np.inf:
            raise np.linalg.LinAlgError("no weight is left")
        self.bias, self.total = rows.bias, total
        self.mean, H = rows.scatter(weight)
        if not self.bias:
            H = scipy_linalg().blas.dsyr(total, self.mean, a=H, overwrite_a=1)
        H[np.diag_indices(rows.d)] += 1.0
        self.factor, failed = scipy_linalg().lapack.dpotrf(H, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("rounding")

    def solve(self, right: Floats, balance: float) -> tuple[Floats, float]:
        """(dw, db) for right-hand sides of w and of b."""
        right = right - self.mean * balance if self.bias else right
        dw = np.asarray(scipy_linalg().lapack.dpotrs(self.factor, right)[0])
        return dw, balance / self.total - float(self.mean @ dw) if self.bias else 0.0


def balanced(z: Floats, y: Floats) -> Floats:
    """Multipliers of the heavier class scaled down, so that sum z_i y_i = 0."""
    total, excess = float(z.sum()), float(z @ y)
    up, down = 0.5 * (total + excess), 0.5 * (total - excess)
    if up <= 0 or down <= 0:
        return z
    return np.asarray(z * np.where(y > 0, min(1.0, down / up), min(1.0, up / down)))
