"""The soft margin by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008).

    max  sum z_i - |sum z_i y_i x_i|^2/2,    0 <= z_i <= c_i,    sum z_i y_i = 0 (where there is a bias)

One multiplier after another, in a seeded order, is put where it is best; rows that stay at a bound are left out until
the others have settled. The constraint of the free bias is kept by a multiplier, the bias itself, and a penalty
(Hestenes 1969; Powell 1969). A pass reads every stored number once, so that sparse rows and many columns cost little.

The duality gap is computed from feasible points of both problems: multipliers of which the free ones are moved until
the constraint holds, their w, and the best bias for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.max_margin.central_path import balanced
from separatrix.numerics.status import Status

TOLERANCE = 1e-6  # of the relative gap
PASSES = 50  # of a step, at most
PENALTY = 0.1  # of the constraint, in units of the mean |x_i|^2; larger ones make the steps shorter
FEWEST = 150  # rows, of at least as many columns: with fewer, the systems of an interior-point method are small
FEWEST_SPARSE = 500  # rows and columns of sparse rows, where columns are fewer than half as many
FEWEST_SQUARE = 100  # rows of sparse rows with about as many columns
MOST = 6000  # rows or columns, whichever are fewer, for which those systems still fit into memory


def is_quicker(X: Any) -> bool:
    """Whether coordinate descent is tried first: as many columns as rows, or sparse rows and half as many or 500."""
    n, d = map(int, X.shape)
    if isinstance(X, np.ndarray):
        return d >= n >= FEWEST
    return min(n, d) >= FEWEST_SPARSE or 2 * d >= n >= FEWEST_SQUARE


def patience(X: Any) -> float:
    """Passes after which an interior-point method would have ended; inf where its systems are too large.

    That method factorises some 25 matrices of order m = min(n, d), for which it multiplies n x m numbers each time,
    after a reduction of the columns to m. In a pass of coordinate descent a stored number takes as long as about 60 of
    those operations, or 30 in dense rows.
    """
    n, d = X.shape
    m = min(n, d)
    if m > MOST:
        return math.inf
    work = m * m * (25 * (n + m / 3) + 4 * max(n, d))
    return float(work / (30 * X.size if isinstance(X, np.ndarray) else 60 * X.nnz + 1))


@dataclass(frozen=True, slots=True)
class FeasiblePoint:
    """(w, b), multipliers z that satisfy the constraints, the slack t of the rows, and the relative gap."""

    w: Floats
    b: float
    z: Floats
    t: Floats
    gap: float


@dataclass(slots=True)
class MultiplierState:
    """Where the passes are, what they look at, and the best feasible point."""

    z: Floats
    w: Floats
    bias: Floats  # one number
    active: NDArray[np.int64]
    high: float
    low: float
    settled: float  # projected gradients within this range end a round
    passes: int
    best: FeasiblePoint


class DualDescent:
    """Coordinate descent as a solver: a step is some passes, and the gap after them."""

    def __init__(self, X: Any, y: NDArray[np.int8], cost: Floats, bias: bool, most: float = math.inf) -> None:
        self.most = most  # passes
        self.rows, self.y, self.cost, self.has_bias = kernels.rows(X), y, cost, bias
        norm2 = np.empty(len(y))
        kernels.norms2(self.rows, norm2)
        self.rho = PENALTY * float(norm2.mean()) if bias else 0.0
        self.curvature = norm2 + self.rho
        self.chance = np.random.default_rng(0)

    @property
    def is_safe(self) -> bool:
        """Whether costs times squared lengths of rows are within the doubles."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(self.cost * self.curvature).all())

    def init(self) -> MultiplierState:
        n, d = len(self.y), self.rows.d
        z, w, bias = np.zeros(n), np.zeros(d), np.zeros(1)
        nothing = FeasiblePoint(w, 0.0, z, np.ones(n), math.inf)
        return MultiplierState(z, w, bias, np.arange(n), math.inf, -math.inf, 0.1, 0, nothing)

    def terminate(self, state: MultiplierState) -> Status | None:
        if state.best.gap <= TOLERANCE:
            return Status.OPTIMAL
        return Status.MAX_ITERATIONS if state.passes >= self.most else None

    def step(self, state: MultiplierState) -> MultiplierState:
        for _ in range(PASSES):
            if self._pass(state):
                break
        found = self.feasible(state)
        if found.gap < state.best.gap:
            state.best = found
        # The gap falls about as the gradients do: aim at half the tolerance.
        state.settled *= min(0.3, max(1e-3, 0.5 * TOLERANCE / max(found.gap, TOLERANCE)))
        return state

    def _pass(self, state: MultiplierState) -> bool:
        """One pass over the active rows; True when all rows are settled."""
        state.passes += 1
        order = self.chance.permutation(state.active)
        problem = (self.rows, self.y, order, self.cost, self.curvature, self.rho)
        kept, most, least = kernels.hinge_pass(*problem, state.high, state.low, state.z, state.w, state.bias)
        if self.has_bias:
            state.bias += self.rho * float(state.z @ self.y)
        state.active = order[:kept]
        state.high = most if most > 0 else math.inf
        state.low = least if least < 0 else -math.inf
        if kept and most - least > state.settled:
            return False
        state.active, state.high, state.low = np.arange(len(self.y)), math.inf, -math.inf
        return kept == len(self.y)

    def feasible(self, state: MultiplierState) -> FeasiblePoint:
        """A feasible point of both problems near the state."""
        z = self._with_balance(state.z) if self.has_bias else state.z.copy()
        w, s = np.zeros(self.rows.d + 1), np.empty(len(z))
        kernels.combine(self.rows, np.flatnonzero(z), z * self.y, w[:-1])
        kernels.scores(self.rows, w, s)
        b = best_bias(s, self.y, self.cost) if self.has_bias else 0.0
        t = np.maximum(0.0, 1.0 - self.y * (s + b))
        half = 0.5 * float(w[:-1] @ w[:-1])
        primal, dual = half + float(self.cost @ t), float(z.sum()) - half
        return FeasiblePoint(w[:-1], b, z, t, max(0.0, (primal - dual) / primal) if primal > 0 else 0.0)

    def _with_balance(self, z: Floats) -> Floats:
        """The same multipliers with sum z_i y_i = 0: the free ones move, where the dual changes least."""
        excess = float(z @ self.y)
        room = np.where(self.y * excess > 0, z, self.cost - z)
        room[(z <= 0) | (z >= self.cost)] = 0.0
        total = float(room.sum())
        if total >= abs(excess) > 0:
            z = np.clip(z - self.y * room * (excess / total), 0.0, self.cost)
        return balanced(z, self.y.astype(np.float64))


def best_bias(s: Floats, y: NDArray[np.int8], cost: Floats) -> float:
    """A minimum over b of  sum c_i max(0, 1 - y_i (s_i + b)): a weighted quantile of the y_i - s_i."""
    kink = y - s
    order = np.argsort(kink, kind="stable")
    rising = np.cumsum(cost[order])
    return float(kink[order[min(int(np.searchsorted(rising, cost[y > 0].sum())), len(y) - 1)]])
