"""The soft margin by an interior-point method (Mehrotra 1992; for support vector machines Ferris & Munson 2002).

    min  |w|^2/2 + sum_i c_i t_i,    a_i.(w, b) >= 1 - t_i,    t >= 0,        a_i = y_i (x_i, 1)

with its dual  max sum z_i - |sum z_i y_i x_i|^2/2,  0 <= z_i <= c_i,  sum z_i y_i = 0 (where there is a bias). The
slack s_i = a_i.(w, b) - 1 + t_i and z_i are driven to s_i z_i = t_i (c_i - z_i) = 0 along the central path. Every
step solves one system of d + 1 unknowns; more columns than rows are first reduced to the space that the rows span.
The duality gap is computed from feasible points of both problems. Where rows are sparse or columns many, dual
coordinate descent is tried first (:mod:`separatrix.models.max_margin.dual_descent`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.max_margin.central_path import CentralPath, PathPoint
from separatrix.models.max_margin.dual_descent import DualDescent, is_quicker, patience
from separatrix.models.max_margin.signed_rows import SignedRows
from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status

TOLERANCE = 1e-12  # of the gap: support rows and seven digits of the weights are settled
LEAST_SLACK = 1e-15  # of the gap where slacks of several costs are compared
INTERIOR = "an interior-point method: its systems, of as many unknowns as columns or rows, are small"
DESCENT = "dual coordinate descent to a gap of 1e-6: rows are sparse or no more than columns, and both are many"
FAR = 1e3  # times the tolerance: differences of the objectives, in shares of that at zero, of which no gap is computed
GOOD = 1e-6  # a gap that counts as optimal where rounding lets it fall no more


@dataclass(frozen=True, slots=True)
class SoftMargin:
    """(w, b), the slack t and multipliers z of the rows, the relative duality gap, and how it ended."""

    w: Floats
    b: float
    t: Floats
    z: Floats
    gap: float
    steps: int
    status: Status
    plan: str = INTERIOR

    @property
    def support(self) -> NDArray[np.int64]:
        """Support rows: those with a positive multiplier."""
        return np.flatnonzero(self.z > 1e-7 * self.z.max(initial=0.0))


def soft_margin(X: Any, y: NDArray[np.int8], cost: Floats, bias: bool, max_iter: float) -> SoftMargin:
    """The minimum for finite costs c_i > 0."""
    if is_quicker(X):
        found = by_descent(X, y, cost, bias, max_iter)
        if found is not None:
            return found
    rows = SignedRows.of(X, y, bias)
    with np.errstate(over="ignore", under="ignore"):
        scaled = cost * rows.size * rows.size
    if not np.isfinite(scaled).all():
        raise DataError("C times the squared length of the rows is beyond the doubles: scale X, or take a smaller C.")
    return _in_given_units(rows, solve_soft_margin(rows, scaled, max_iter, TOLERANCE), X, scaled)


def by_descent(X: Any, y: NDArray[np.int8], cost: Floats, bias: bool, max_iter: float) -> SoftMargin | None:
    """The minimum by dual coordinate descent; None where it is too slow, and an interior-point method is not."""
    solver = DualDescent(X, y, cost, bias, most=patience(X))
    if not solver.is_safe:
        return None
    driven = drive(solver, solver.init(), max_steps=max_iter)
    if driven.status is Status.MAX_ITERATIONS and solver.most < math.inf:
        return None
    best = driven.state.best
    return SoftMargin(best.w, best.b, best.t, best.z, best.gap, driven.steps, driven.status, DESCENT)


def least_slack(X: Any, y: NDArray[np.int8], cost: Floats, bias: bool, max_iter: float) -> SoftMargin:
    """The (w, b) of least |w| among those of least sum c_i t_i: the minimum for all large costs.

    From some factor on, the costs' size changes nothing (Mangasarian & Meyer 1979). A large one gives the least
    possible slack; of the smaller ones that reach it, the smallest gives |w| the most digits.
    """
    rows, unit = SignedRows.of(X, y, bias), cost / cost.mean()
    alike = solve_soft_margin(SignedRows.of(with_columns_alike(X), y, bias), unit * 1e8, max_iter, LEAST_SLACK)
    steps, least = alike.steps, float(unit @ alike.t) * (1 + 1e-8 + 2 * alike.gap)
    best: SoftMargin | None = None
    for size in 10.0 ** np.arange(0, 22, 2):
        found = _in_given_units(rows, solve_soft_margin(rows, unit * size, max_iter, LEAST_SLACK), X, unit * size)
        steps += found.steps
        best = found if best is None or found.status is Status.OPTIMAL else best
        if alike.status is not Status.OPTIMAL or found.status in (Status.INTERRUPTED, Status.MAX_ITERATIONS):
            ended = found.status if alike.status is Status.OPTIMAL else alike.status
            return replace(best, steps=steps, status=ended)
        if found.status is Status.OPTIMAL and float(unit @ found.t) <= least:
            return replace(found, steps=steps)
    assert best is not None
    return replace(best, steps=steps, status=Status.ILL_CONDITIONED)


def with_columns_alike(X: Any) -> Any:
    """Columns divided by their spread, which leaves the slacks that hyperplanes can have as they are."""
    if isinstance(X, np.ndarray):
        with np.errstate(over="ignore"):
            scale = np.abs(X - X[:1]).max(axis=0).astype(np.float64)
        return X / np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
    scale = np.zeros(X.shape[1])
    np.maximum.at(scale, X.indices, np.abs(X.data))
    return type(X)((X.data / np.where(scale > 0, scale, 1.0)[X.indices], X.indices, X.indptr), shape=X.shape)


def _in_given_units(rows: SignedRows, found: SoftMargin, X: Any, cost: Floats) -> SoftMargin:
    """The solution for the rows as given: slacks and gap are those of the weights as they are returned.

    ``cost`` is that of the scaled rows, whose objective is size^2 times that of the rows given.
    """
    w = np.asarray(found.w if rows.basis is None else rows.basis @ found.w) / rows.size
    b = float(found.b - w @ rows.centre)
    before = 0.5 * float(found.w @ found.w) + float(cost @ found.t)
    dual = before - found.gap * before
    missing, lifted = np.empty(rows.n), np.append(w, b)
    g, none = np.empty_like(lifted), np.zeros_like(lifted)
    kernels.residual_gradient(kernels.rows(X), rows.y, None, lifted, none, g, g.copy(), missing)
    t = np.maximum(0.0, rows.y * missing)  # 1 - y s = y (y - s)
    primal = 0.5 * rows.size * rows.size * float(w @ w) + float(cost @ t)
    gap = max(0.0, (primal - dual) / primal) if primal > 0 else 0.0
    status = found.status
    if status is Status.OPTIMAL and not gap <= GOOD:
        status = Status.ILL_CONDITIONED
    return replace(found, w=w, b=b, t=t, z=found.z / rows.size / rows.size, gap=gap, status=status)


def solve_soft_margin(rows: SignedRows, cost: Floats, max_iter: float, tolerance: float) -> SoftMargin:
    """Steps along the path until the gap is within the tolerance, or rounding lets it fall no more."""
    solver = InteriorPoint(CentralPath(rows, cost), tolerance)
    driven = drive(solver, solver.init(), max_steps=max_iter)
    best, gap, status = driven.state.best, driven.state.gap, driven.status
    gap = gap if gap < np.inf else solver.path.gap(best)
    if status is Status.ILL_CONDITIONED and gap <= GOOD:
        status = Status.OPTIMAL
    t = np.maximum(0.0, 1.0 - best.score)
    return SoftMargin(best.w, float(best.b), t, best.z, gap, driven.steps, status)


@dataclass(frozen=True, slots=True)
class PathState:
    """A point of the path, the best so far with its gap (inf: not computed), and for how many steps nothing fell."""

    point: PathPoint
    best: PathPoint
    gap: float
    mu: float
    least: float
    idle: int


@dataclass(frozen=True, slots=True)
class InteriorPoint:
    """Mehrotra's method as a solver: a step moves the point along the path and measures it."""

    path: CentralPath
    tolerance: float

    def init(self) -> PathState:
        start = self.path.start()
        return self._measured(PathState(start, start, np.inf, np.inf, np.inf, 0), start)

    def terminate(self, state: PathState) -> Status | None:
        return Status.OPTIMAL if state.gap <= self.tolerance else None

    def step(self, state: PathState) -> PathState | None:
        if state.idle > (2 if state.gap < 1e-9 else 10) or not np.isfinite(state.mu):
            return None
        with np.errstate(all="ignore"):
            point = self.path.step(state.point, state.mu)
        return None if point is None else self._measured(state, point)

    def _measured(self, state: PathState, point: PathPoint) -> PathState:
        """The objectives are about 2 n mu apart: while that falls fast and is far from the end, no gap is computed."""
        mu = self.path.mean_product(point)
        if 0.5 * state.least > mu > FAR * self.tolerance * self.path.worst:
            return PathState(point, point, np.inf, mu, mu, 0)
        gap = self.path.gap(point)
        fell = mu < 0.9 * state.least or gap < 0.9 * state.gap
        better = gap < state.gap
        return PathState(
            point,
            point if better else state.best,
            gap if better else state.gap,
            mu,
            min(state.least, mu),
            0 if fell else state.idle + 1,
        )
