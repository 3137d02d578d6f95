"""L-BFGS on top of a rough Hessian, as a solver for the driver.

For many rows and few columns the rough Hessian is that of a sample of the rows at the minimum of that sample: a few
passes over all rows then suffice (Byrd, Chin, Neveitt and Nocedal 2011).

On fewer rows Newton's method makes two Hessians, one to come near the minimum and one for the last digits: each costs
as much as several passes, and near the minimum it hardly changes. Steps with a kept one, corrected by what earlier
steps have shown, divide what is left to gain by a hundred or more. Where they do not, as on classes that are nearly
separated, Newton's method takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import EPS, BinaryLoss, HessianModel, LossPoint, SampleHessian, SmoothLoss
from separatrix.models.logistic.newton import LAST, NewtonState, backtrack, newton, rests
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

MEMORY = 20
SOON = 12  # steps in which the first Hessian leads there, or it is of no use
NEAR = 1e-3  # of the value: what is left to gain where the second Hessian is made; for the last digits a hundredth


class StepLoss(SmoothLoss, Protocol):
    """A loss that takes back points which are done with."""

    def release(self, point: LossPoint) -> None: ...


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

    loss: StepLoss
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
    loss: StepLoss,
    start: LossPoint,
    model: HessianModel,
    tol: float,
    max_iter: float,
    gap: Callable[[LossPoint], float] | None = None,
) -> Driven[LBFGSState]:
    """Minimise from ``start`` with a rough Hessian; see :class:`LBFGS`."""
    return drive(LBFGS(loss, model, StepPairs(), tol, gap), LBFGSState(start), max_steps=max_iter)


def kept_newton(
    loss: BinaryLoss,
    start: LossPoint,
    max_iter: float,
    tol: float = 0.0,
    *,
    bounded: bool = False,
    model: HessianModel | None = None,
) -> Driven[NewtonState]:
    """Minimise from ``start``, as :func:`newton` does; ``model`` is about the Hessian there, if it is known."""
    if (begin := model or kept(loss, start)) is None:
        return newton(loss, start, max_iter, tol, bounded=loss if bounded else None)
    first = with_model(loss, start, begin, NEAR if tol > 0 else 0.01 * NEAR, min(SOON, max_iter))
    point, steps = first.state.point, first.steps
    if first.status is Status.INTERRUPTED:
        return Driven(NewtonState(point), first.status, steps)
    near = kept(loss, point) if steps or model is not None else begin
    slow = first.status is Status.MAX_ITERATIONS and tol > 0  # a second Hessian leads on; without a tolerance, Newton's
    if near is None or not (slow or first.status is Status.OPTIMAL):
        return newton(loss, start, max_iter, tol, bounded=loss if bounded else None)
    enough, gap = (0.5 * tol, loss.left) if bounded else (max(tol, LAST), None)
    run = with_model(loss, point, near, enough, max_iter - steps, gap)
    point, steps, step = run.state.point, steps + run.steps, run.state.step
    there = run.status is Status.OPTIMAL and step is not None and (tol > 0 or rests(loss, point, near, step))
    if there or run.status is Status.INTERRUPTED:
        return Driven(NewtonState(point), run.status, steps)
    more = newton(loss, point, max_iter - steps, tol, bounded=loss if bounded else None)
    return Driven(more.state, more.status, steps + more.steps)


def kept(loss: BinaryLoss, point: LossPoint) -> HessianModel | None:
    """The Hessian at a point, inverted once; None where it is singular."""
    try:
        return SampleHessian(loss.model(point), 1.0)
    except np.linalg.LinAlgError:
        return None
