"""Points near the central path of the soft margin, and Newton's steps along it (Mehrotra 1992)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.max_margin.signed_rows import SignedRows


@dataclass(frozen=True, slots=True)
class PathPoint:
    """w and b, the slacks s and t, the multipliers z, and the scores of the rows times their signs."""

    w: Floats
    b: float
    z: Floats
    s: Floats
    t: Floats
    score: Floats


@dataclass(frozen=True, slots=True)
class CentralPath:
    """The problem of the rows and their costs; points are moved by :meth:`step`."""

    rows: SignedRows
    cost: Floats

    def start(self) -> PathPoint:
        rows = self.rows
        z = balanced(0.5 * self.cost, rows.y) if rows.bias else 0.5 * self.cost
        return PathPoint(np.zeros(rows.d), 0.0, z, np.ones(rows.n), np.ones(rows.n), np.zeros(rows.n))

    def mean_product(self, at: PathPoint) -> float:
        """The mean of the products that vanish at the solution."""
        return float(at.s @ at.z + at.t @ (self.cost - at.z)) / (2 * self.rows.n)

    def gap(self, at: PathPoint) -> float:
        """(primal - dual) / primal, at points that are feasible."""
        rows, w = self.rows, at.w
        z = np.clip(at.z, 0.0, self.cost)
        z = balanced(z, rows.y) if rows.bias else z
        v = rows.back(z)
        primal: float = 0.5 * float(w @ w) + float(self.cost @ np.maximum(0.0, 1.0 - at.score))
        dual: float = float(z.sum()) - 0.5 * float(v @ v)
        return max(0.0, (primal - dual) / primal) if primal > 0 else 0.0

    def step(self, at: PathPoint, mu: float) -> PathPoint | None:
        """Mehrotra's predictor and corrector; None when rounding leaves no positive definite system."""
        free = self.cost - at.z
        try:
            move = NewtonDirection(self.rows, at, free)
        except np.linalg.LinAlgError:
            return None
        s, t, z = at.s, at.t, at.z
        _, _, dz, ds, dt = move.to(-s * z, -t * free)
        p, q = longest(s, ds, t, dt), longest(z, dz, free, -dz)
        after = float((s + p * ds) @ (z + q * dz) + (t + p * dt) @ (free - q * dz)) / (2 * self.rows.n)
        aim = mu * (after / mu) ** 3
        dw, db, dz, ds, dt = move.to(aim - s * z - ds * dz, aim - t * free + dt * dz)
        step = 0.9995 * min(longest(s, ds, t, dt), longest(z, dz, free, -dz))
        if not np.isfinite(step * db + dw.sum() + dz.sum()):
            return None
        w, b, rows = at.w + step * dw, at.b + step * db, self.rows
        return PathPoint(w, b, z + step * dz, s + step * ds, t + step * dt, rows.times(w) + rows.y * b)


class NewtonDirection:
    """Newton's directions at a point; one factorisation serves both right-hand sides."""

    def __init__(self, rows: SignedRows, at: PathPoint, free: Floats) -> None:
        self.rows, self.at, self.free = rows, at, free
        self.D = at.s / at.z + at.t / free
        H, self.column = rows.gram(1.0 / self.D)  # of w, and of w with the bias
        H[np.diag_indices(rows.d)] += 1.0
        self.factor, failed = scipy_linalg().lapack.dpotrf(H, lower=1)
        if failed:
            raise np.linalg.LinAlgError("rounding")
        self.r_p = at.s + 1.0 - at.t - at.score
        self.r_w, self.r_b = at.w - rows.back(at.z), float(rows.y @ at.z)
        self.lifted = self.solve(self.column)
        self.pivot = float(np.sum(1.0 / self.D)) - float(self.column @ self.lifted)
        if rows.bias and not self.pivot > 0:
            raise np.linalg.LinAlgError("rounding")

    def solve(self, right: Floats) -> Floats:
        """(I + A'D^-1 A) u = right"""
        return np.asarray(scipy_linalg().lapack.dpotrs(self.factor, right, lower=1)[0])

    def to(self, r_s: Floats, r_t: Floats) -> tuple[Floats, float, Floats, Floats, Floats]:
        """(dw, db, dz, ds, dt) with  s dz + z ds = r_s  and  free dt - t dz = r_t."""
        at, rows = self.at, self.rows
        g = -self.r_p - r_s / at.z + r_t / self.free
        u = self.solve(-self.r_w - rows.back(g / self.D))
        db = 0.0
        if rows.bias:
            db = (self.r_b - float(rows.y @ (g / self.D)) - float(self.column @ u)) / self.pivot
        dw = u - self.lifted * db
        dz = -(rows.times(dw) + rows.y * db + g) / self.D
        return dw, db, dz, (r_s - at.s * dz) / at.z, (r_t + at.t * dz) / self.free


def longest(u: Floats, du: Floats, v: Floats, dv: Floats) -> float:
    """The longest step, at most 1, that keeps both positive."""
    return float(1.0 / max(1.0, -(du / u).min(), -(dv / v).min()))


def balanced(z: Floats, y: Floats) -> Floats:
    """Multipliers of the heavier class scaled down, so that sum z_i y_i = 0."""
    positive = y > 0
    up = float(z @ positive)
    down = float(z @ ~positive)
    if up <= 0 or down <= 0:
        return z
    return np.asarray(z * np.where(positive, min(1.0, down / up), min(1.0, up / down)))
