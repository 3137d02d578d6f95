"""L-BFGS on top of a rough Hessian, as a solver for the driver.

For many rows and few columns the rough Hessian is that of a sample of the rows at the minimum of that sample: a few
passes over all rows then suffice (Byrd, Chin, Neveitt and Nocedal 2011).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import EPS, BinaryLoss, HessianModel, LossPoint
from separatrix.models.logistic.newton import backtrack
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

MEMORY = 20


class StepPairs:
    """Steps with the changes of the gradient, which correct a rough Hessian (Nocedal 1980)."""

    def __init__(self) -> None:
        self.steps: list[Floats] = []
        self.changes: list[Floats] = []

    def learn(self, step: Floats, change: Floats) -> None:
        with np.errstate(over="ignore"):
            size = float(np.linalg.norm(step) * np.linalg.norm(change))
        if float(step @ change) > EPS * size:
            self.steps, self.changes = [*self.steps, step][-MEMORY:], [*self.changes, change][-MEMORY:]

    def correct(self, g: Floats, model: Callable[[Floats], Floats]) -> Floats:
        """The two loops around the model's own step."""
        q, shares = g.copy(), []
        for s, c in zip(reversed(self.steps), reversed(self.changes), strict=True):
            shares.append(float(s @ q) / float(s @ c))
            q -= shares[-1] * c
        r = model(q)
        for s, c, share in zip(self.steps, self.changes, reversed(shares), strict=True):
            r += (share - float(c @ r) / float(s @ c)) * s
        return r


@dataclass(slots=True)
class LBFGSState:
    """A point after some steps, the decrement before it, and what is known of it; ``gap`` bounds what is left."""

    point: LossPoint
    steps: int = 0
    before: float = np.inf
    step: Floats | None = None
    decrement: float = np.inf
    gap: float = np.inf


@dataclass(frozen=True, slots=True)
class LBFGS:
    """Steps by ``model`` and the pairs of earlier steps, until ``gap`` is below ``tol``.

    ``gap`` bounds what is left to gain, which is never less than about the decrement (None: that is enough). A slow
    run counts as one that reached its limit.
    """

    loss: BinaryLoss
    model: HessianModel
    pairs: StepPairs
    tol: float
    gap: Callable[[LossPoint], float] | None

    def terminate(self, state: LBFGSState) -> Status | None:
        point = state.point
        state.step = self.pairs.correct(point.gradient, self.model.correction)
        state.decrement = 0.5 * float(point.gradient @ state.step)
        enough = self.tol * abs(point.value)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        if state.decrement <= enough:
            state.gap = 0.0 if self.gap is None else self.gap(point)
            if state.gap <= enough:
                return Status.OPTIMAL
        return Status.MAX_ITERATIONS if state.steps >= 3 and state.decrement > 0.5 * state.before else None

    def step(self, state: LBFGSState) -> LBFGSState | None:
        assert state.step is not None
        moved = backtrack(self.loss, state.point, state.step, state.decrement)
        if moved is None:
            return None
        self.pairs.learn(moved.at - state.point.at, moved.gradient - state.point.gradient)
        if state.steps:
            self.loss.release(state.point)
        return LBFGSState(moved, state.steps + 1, state.decrement)


def with_model(
    loss: BinaryLoss,
    start: LossPoint,
    model: HessianModel,
    tol: float,
    max_iter: float,
    gap: Callable[[LossPoint], float] | None = None,
) -> Driven[LBFGSState]:
    """Minimise from ``start`` with a rough Hessian; see :class:`LBFGS`."""
    return drive(LBFGS(loss, model, StepPairs(), tol, gap), LBFGSState(start), max_steps=max_iter)
