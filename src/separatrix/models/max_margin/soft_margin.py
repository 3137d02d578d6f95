"""The soft margin by an interior-point method (Mehrotra 1992; for support vector machines Ferris & Munson 2002).

    min  |w|^2/2 + sum_i c_i t_i,    a_i.(w, b) >= 1 - t_i,    t >= 0,        a_i = y_i (x_i, 1)

with its dual  max sum z_i - |sum z_i y_i x_i|^2/2,  0 <= z_i <= c_i,  sum z_i y_i = 0 (where there is a bias). The
slack s_i = a_i.(w, b) - 1 + t_i and z_i are driven to s_i z_i = t_i (c_i - z_i) = 0 along the central path. Every
step solves one system of d + 1 unknowns; more columns than rows are first reduced to the space that the rows span.
The duality gap is computed from feasible points of both problems.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.numerics.status import Status


@dataclass(frozen=True)
class SoftMargin:
    """(w, b), the slack t and multipliers z of the rows, the relative duality gap, and how it ended."""

    w: Floats
    b: float
    t: Floats
    z: Floats
    gap: float
    steps: int
    status: Status

    @property
    def support(self) -> NDArray[np.int64]:
        """Rows that a multiplier holds."""
        return np.flatnonzero(self.z > 1e-7 * self.z.max(initial=0.0))


class Rows:
    """Rows y_i x_i of a dense array or a CSR matrix, scaled, and moved to a centre where there is a bias."""

    def __init__(self, X: Any, y: NDArray[np.int8], bias: bool) -> None:
        self.y, self.bias = y.astype(np.float64), bias
        self.dense = isinstance(X, np.ndarray)
        values = X if self.dense else X.data
        top = max(float(values.max(initial=0)), -float(values.min(initial=0))) or 1.0
        self.X = X.astype(np.float64, copy=True)
        inside = self.X if self.dense else self.X.data
        inside /= top
        self.centre = np.zeros(X.shape[1])
        if bias and self.dense:
            self.centre = self.X.mean(axis=0)
            self.X -= self.centre
        rms = float(np.sqrt(np.sum(np.square(inside)) / X.shape[0])) or 1.0
        if not 0 < top * rms < np.inf:
            rms = 1.0
        inside /= rms
        self.centre, self.size = self.centre * top, top * rms
        self.n, self.d = int(X.shape[0]), int(X.shape[1])
        self.basis: Any = None

    @staticmethod
    def of(X: Any, y: NDArray[np.int8], bias: bool) -> Rows:
        rows = Rows(X, y, bias)
        return rows.reduced() if rows.d > rows.n else rows

    def reduced(self) -> Rows:
        """The same rows in coordinates of the space that they span, where there are more columns than rows."""
        small = copy(self)
        if self.dense:
            Q, R = np.linalg.qr(self.X.T)
            small.X, small.basis = np.ascontiguousarray(R.T), Q
        else:
            values, U = np.linalg.eigh((self.X @ self.X.T).toarray())
            kept = values > values[-1] * 1e-14
            root = np.sqrt(values[kept])
            small.X, small.basis = U[:, kept] * root, self.X.T @ (U[:, kept] / root)
        small.dense, small.d = True, small.X.shape[1]
        return small

    def times(self, w: Floats) -> Floats:
        return np.asarray(self.y * (self.X @ w))

    def back(self, z: Floats) -> Floats:
        return np.asarray((z * self.y) @ self.X)

    def gram(self, weights: Floats) -> Floats:
        """X' diag(weights) X"""
        if self.dense:
            root = self.X * np.sqrt(weights)[:, None]
            return np.asarray(root.T @ root)
        from scipy import sparse

        root = sparse.diags_array(np.sqrt(weights)) @ self.X
        return np.asarray((root.T @ root).toarray())


def soft_margin(X: Any, y: NDArray[np.int8], cost: Floats, bias: bool, max_iter: float) -> SoftMargin:
    """The minimum for finite costs c_i > 0."""
    rows = Rows.of(X, y, bias)
    with np.errstate(over="ignore", under="ignore"):
        scaled = cost * rows.size * rows.size
    if not np.isfinite(scaled).all():
        raise DataError("C times the squared length of the rows is beyond the doubles: scale X, or take a smaller C.")
    return given_back(rows, central_path(rows, scaled, max_iter))


def least_slack(X: Any, y: NDArray[np.int8], cost: Floats, bias: bool, max_iter: float) -> SoftMargin:
    """Of all (w, b) with the least sum c_i t_i the one of the least |w|: what the minimum is for all large costs.

    From some factor on, the costs' size changes nothing (Mangasarian & Meyer 1979). A large one tells how little slack
    there can be; of the smaller ones that do as well, the smallest has |w| to the most digits.
    """
    rows = Rows.of(X, y, bias)
    unit = cost / cost.mean()
    far = central_path(rows, unit * 1e8, max_iter)
    if far.status is not Status.OPTIMAL:
        return given_back(rows, far)
    steps, least = far.steps, float(unit @ far.t)
    for size in (1.0, 1e2, 1e4, 1e6):
        near = central_path(rows, unit * size, max_iter)
        steps += near.steps
        if near.status is not Status.OPTIMAL or float(unit @ near.t) <= least * (1 + 1e-8):
            far = near
            break
    return given_back(rows, replace(far, steps=steps))


def given_back(rows: Rows, found: SoftMargin) -> SoftMargin:
    """In the units of the rows as they were given."""
    w = np.asarray(found.w if rows.basis is None else rows.basis @ found.w) / rows.size
    return replace(found, w=w, b=float(found.b - w @ rows.centre), z=found.z / rows.size / rows.size)


def central_path(rows: Rows, cost: Floats, max_iter: float, tol: float = 1e-15) -> SoftMargin:
    """Steps along the path until the gap is at most ``tol``, or rounding lets it fall no more."""
    path = Path(rows, cost)
    best, gap, status = (path.w, path.b, path.z), np.inf, Status.MAX_ITERATIONS
    steps, idle, least = 0, 0, np.inf
    try:
        while True:
            here, mu = path.gap(), path.mu()
            idle = 0 if mu < 0.9 * least or here < 0.9 * gap else idle + 1
            least = min(least, mu)
            if here < gap:
                best, gap = (path.w, path.b, path.z), here
            if gap <= tol:
                status = Status.OPTIMAL
            if status is Status.OPTIMAL or steps >= max_iter:
                break
            with np.errstate(all="ignore"):
                moved = idle <= (2 if gap < 1e-9 else 10) and np.isfinite(mu) and path.step(mu)
            if not moved:
                status = Status.OPTIMAL if gap <= 1e-6 else Status.ILL_CONDITIONED
                break
            steps += 1
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    w, b, z = best
    t = np.maximum(0.0, 1.0 - rows.times(w) - rows.y * b)
    return SoftMargin(w, float(b), t, np.clip(z, 0.0, cost), gap, steps, status)


class Path:
    """A point near the central path: w and b, slacks s and t, multipliers z and what is free of the costs."""

    def __init__(self, rows: Rows, cost: Floats) -> None:
        self.rows, self.cost = rows, cost
        self.w, self.b = np.zeros(rows.d), 0.0
        self.z = balanced(0.5 * cost, rows.y) if rows.bias else 0.5 * cost
        self.s, self.t = np.ones(rows.n), np.ones(rows.n)

    def mu(self) -> float:
        """The mean of the products that shall vanish."""
        return float(self.s @ self.z + self.t @ (self.cost - self.z)) / (2 * self.rows.n)

    def gap(self) -> float:
        """(primal - dual) / primal, at points that are feasible."""
        rows, w = self.rows, self.w
        z = np.clip(self.z, 0.0, self.cost)
        z = balanced(z, rows.y) if rows.bias else z
        v = rows.back(z)
        primal: float = 0.5 * float(w @ w) + float(self.cost @ np.maximum(0.0, 1.0 - rows.times(w) - rows.y * self.b))
        dual: float = float(z.sum()) - 0.5 * float(v @ v)
        return max(0.0, (primal - dual) / primal) if primal > 0 else 0.0

    def step(self, mu: float) -> bool:
        """Mehrotra's predictor and corrector; False when rounding leaves no positive definite system."""
        free = self.cost - self.z
        try:
            move = Direction(self, free)
        except np.linalg.LinAlgError:
            return False
        s, t, z = self.s, self.t, self.z
        _, _, dz, ds, dt = move.to(-s * z, -t * free)
        p, q = longest(s, ds, t, dt), longest(z, dz, free, -dz)
        after = float((s + p * ds) @ (z + q * dz) + (t + p * dt) @ (free - q * dz)) / (2 * self.rows.n)
        aim = mu * (after / mu) ** 3
        dw, db, dz, ds, dt = move.to(aim - s * z - ds * dz, aim - t * free + dt * dz)
        step = 0.9995 * min(longest(s, ds, t, dt), longest(z, dz, free, -dz))
        if not np.isfinite(step * db + dw.sum() + dz.sum()):
            return False
        self.w, self.b, self.z = self.w + step * dw, self.b + step * db, z + step * dz
        self.s, self.t = s + step * ds, t + step * dt
        return True


class Direction:
    """Newton's directions at a point; one factorisation serves both right-hand sides."""

    def __init__(self, path: Path, free: Floats) -> None:
        from scipy.linalg import cho_factor

        rows = path.rows
        self.path, self.free = path, free
        self.D = path.s / path.z + path.t / free
        H = rows.gram(1.0 / self.D)
        H[np.diag_indices(rows.d)] += 1.0
        self.factor = cho_factor(H, lower=True, check_finite=False)
        self.r_p = path.s + 1.0 - path.t - rows.times(path.w) - rows.y * path.b
        self.r_w, self.r_b = path.w - rows.back(path.z), float(rows.y @ path.z)
        self.column = rows.back(rows.y / self.D)  # of the bias
        self.lifted = self.solve(self.column)
        self.pivot = float(np.sum(1.0 / self.D)) - float(self.column @ self.lifted)
        if rows.bias and not self.pivot > 0:
            raise np.linalg.LinAlgError("rounding")

    def solve(self, right: Floats) -> Floats:
        """(I + A'D^-1 A) u = right"""
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self.factor, right, check_finite=False))

    def to(self, r_s: Floats, r_t: Floats) -> tuple[Floats, float, Floats, Floats, Floats]:
        """(dw, db, dz, ds, dt) with  s dz + z ds = r_s  and  free dt - t dz = r_t."""
        path, rows = self.path, self.path.rows
        g = -self.r_p - r_s / path.z + r_t / self.free
        u = self.solve(-self.r_w - rows.back(g / self.D))
        db = 0.0
        if rows.bias:
            db = (self.r_b - float(rows.y @ (g / self.D)) - float(self.column @ u)) / self.pivot
        dw = u - self.lifted * db
        dz = -(rows.times(dw) + rows.y * db + g) / self.D
        return dw, db, dz, (r_s - path.s * dz) / path.z, (r_t + path.t * dz) / self.free


def longest(u: Floats, du: Floats, v: Floats, dv: Floats) -> float:
    """How far both stay positive, at most 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        a = np.where(du < 0, -u / du, 1.0).min()
        b = np.where(dv < 0, -v / dv, 1.0).min()
    return float(min(1.0, a, b))


def balanced(z: Floats, y: Floats) -> Floats:
    """The heavier class made lighter, until sum z_i y_i = 0."""
    up, down = float(z[y > 0].sum()), float(z[y < 0].sum())
    if up <= 0 or down <= 0:
        return z
    return np.where(y > 0, z * min(1.0, down / up), z * min(1.0, up / down))
