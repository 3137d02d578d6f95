"""L-BFGS on top of a rough Hessian, as a solver for the driver.

For many rows and few columns the rough Hessian is that of a sample of the rows at the minimum of that sample: a few
passes over all rows then suffice (Byrd, Chin, Neveitt and Nocedal 2011).

On fewer rows there are two Hessians, one to come near the minimum and one near it, where it hardly changes: each costs
as much as several passes. Steps with a kept one, corrected by what earlier
steps have shown, divide what is left to gain by a hundred or more. Where they do not, as on classes that are nearly
separated, Newton's method takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import (
    EPS,
    REST,
    BinaryLoss,
    ConjugateGradients,
    HessianModel,
    LogisticLoss,
    LossPoint,
    SampleHessian,
    backtrack,
    expected_next,
)
from separatrix.models.logistic.duality_gap import KeptGap
from separatrix.models.logistic.existence import LeftToGain
from separatrix.models.logistic.newton import LAST, NewtonState, newton, rests
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

MEMORY = 20
SOON = 12  # steps in which the first Hessian leads there, or it is of no use
SAMPLE, FEWER = 32, 3  # rows of a sample for each parameter, where that is at most one row in so many
ROUGH = 0.1  # how exactly a step by its Hessian is solved
NEAR = 1e-3  # of the value: what is left to gain where the second Hessian is made


class StepLoss(LogisticLoss, Protocol):
    """A loss that takes back points which are done with."""

    def release(self, point: LossPoint) -> None: ...
    def multiple(self, step: Floats, bias: Floats | None = None, cost: float = 0.0) -> float:
        """About how many times a step from zero leads to the least loss along it, by some of the rows.

        There may be intercepts besides, and another penalty that costs as much a step.
        """
        ...


class StepPairs:
    """Steps s with the changes c of the gradient, which correct a rough Hessian (Byrd, Nocedal and Schnabel 1994).

    Each pair is divided by sqrt(s.c), the length of the step in the norm of the Hessian.
    """

    def __init__(self) -> None:
        self.count = self.learned = 0  # pairs that are kept, and all that there were
        self.steps = self.changes = np.empty((0, 0))
        self.inverse = np.eye(MEMORY)  # of the upper triangle of steps times changes

    def learn(self, step: Floats, change: Floats) -> None:
        with np.errstate(over="ignore"):
            size = float(step @ step) ** 0.5 * float(change @ change) ** 0.5
        if not (product := float(step @ change)) > EPS * size:
            return
        if not self.count:
            self.steps, self.changes = np.empty((2, MEMORY, len(step)))
        elif self.count == MEMORY:  # without the first pair
            self.count -= 1
            for held in (self.steps, self.changes):
                held[:-1] = held[1:].copy()
            self.inverse[:-1, :-1] = self.inverse[1:, 1:].copy()
        k, length = self.count, product**0.5
        self.steps[k], self.changes[k] = step / length, change / length
        self.inverse[:k, k] = -self.inverse[:k, :k] @ (self.steps[:k] @ self.changes[k])
        self.count += 1
        self.learned += 1

    def penalise(self, more: float) -> None:
        """The pairs with a ridge that is so much greater."""
        steps, changes = self.steps[: self.count], self.changes[: self.count]
        self.count = 0
        for step, change in zip(steps, changes, strict=True):
            self.learn(step, change + np.append(more * step[:-1], 0.0))

    def correct(self, g: Floats, model: Callable[[Floats], Floats]) -> Floats:
        """The model's own step between the two corrections, as the two loops of Nocedal (1980) have it."""
        if not self.count:
            return model(g)
        k = self.count
        steps, changes, inverse = self.steps[:k], self.changes[:k], self.inverse[:k, :k]
        shares = inverse @ (steps @ g)
        r = model(g - shares @ changes)
        return r + (shares - changes @ r) @ inverse @ steps


class ScaledModel:
    """A rough Hessian times the curvature that the last step has shown (Shanno and Phua 1978)."""

    def __init__(self, model: HessianModel, pairs: StepPairs) -> None:
        self.model, self.pairs = model, pairs
        self.scale, self.learned = 1.0, 0

    def correction(self, g: Floats) -> Floats:
        if self.learned < self.pairs.learned:
            change, self.learned = self.pairs.changes[self.pairs.count - 1], self.pairs.learned
            self.scale = 1.0 / float(change @ self.model.correction(change))
        return self.scale * self.model.correction(g)


@dataclass(slots=True)
class LBFGSState:
    """A point after some steps, the decrements before it, and what is known of it; ``gap`` bounds what is left."""

    point: LossPoint
    earlier: tuple[float, ...] = ()
    step: Floats | None = None
    decrement: float = np.inf
    gap: float = np.inf

    @property
    def before(self) -> float:
        """The decrement of the last step."""
        return self.earlier[-1] if self.earlier else np.inf


@dataclass(frozen=True, slots=True)
class LBFGS:
    """Steps by ``model`` and the pairs of earlier steps, until ``gap`` is below ``tol``.

    ``gap`` bounds what is left to gain, which is never less than about the decrement (None: that is enough). A run in
    which the decrement does not fall to the share ``fall`` in ``patience`` steps counts as one that reached its limit.
    """

    loss: StepLoss
    model: HessianModel
    pairs: StepPairs
    tol: float
    gap: Callable[[LossPoint], float] | None
    patience: int = 1
    fall: float = 0.5

    def terminate(self, state: LBFGSState) -> Status | None:
        point = state.point
        state.step = self.pairs.correct(point.gradient, self.model.correction)
        state.decrement = 0.5 * float(point.gradient @ state.step)
        enough = self.tol * abs(point.value)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        expected = expected_next(state.decrement, state.before) if self.tol <= LAST else state.decrement
        if expected <= enough * getattr(self.gap, "share", 1.0):
            state.gap = 0.0 if self.gap is None else self.gap(point)
            if state.gap <= enough:
                return Status.OPTIMAL
        enough_steps = len(state.earlier) >= max(3, self.patience)
        slow = enough_steps and state.decrement > self.fall * state.earlier[-self.patience]
        return Status.MAX_ITERATIONS if slow else None

    def step(self, state: LBFGSState) -> LBFGSState | None:
        assert state.step is not None
        moved = backtrack(self.loss, state.point, state.step, state.decrement)
        if moved is None:
            return None
        self.pairs.learn(moved.at - state.point.at, moved.gradient - state.point.gradient)
        if state.earlier:
            self.loss.release(state.point)
        return LBFGSState(moved, (*state.earlier, state.decrement))


def with_model(
    loss: StepLoss,
    start: LossPoint,
    model: HessianModel,
    tol: float,
    max_iter: float,
    gap: Callable[[LossPoint], float] | None = None,
    pairs: StepPairs | None = None,
) -> Driven[LBFGSState]:
    """Minimise from ``start`` with a rough Hessian, and pairs of earlier steps if there are any; see :class:`LBFGS`."""
    return drive(LBFGS(loss, model, pairs or StepPairs(), tol, gap), LBFGSState(start), max_steps=max_iter)


def first_step(
    loss: StepLoss, start: LossPoint, model: HessianModel, rough: float = 0.0
) -> tuple[LossPoint, StepPairs]:
    """The point after a step from zero, with what it has shown of the curvature.

    At zero all rows have the greatest curvature, and Newton's step is about half as long as it should be: the multiple
    of it with the least loss is taken. By a rough Hessian the step itself takes a few products
    with the Hessian, until that share of the gradient is left.
    """
    pairs = StepPairs()
    with np.errstate(all="ignore"):
        products = ConjugateGradients(loss, start, model.correction) if rough else None
        step = products.solve(rough) if products else model.correction(start.gradient)
        step = loss.multiple(step) * step
        moved = loss.point(start.at - step)
    if not moved.value < start.value:
        return start, pairs
    pairs.learn(moved.at - start.at, moved.gradient - start.gradient)
    return moved, pairs


def kept_newton(
    loss: BinaryLoss,
    start: LossPoint,
    max_iter: float,
    tol: float = 0.0,
    *,
    model: HessianModel | None = None,
) -> Driven[NewtonState]:
    """Minimise from ``start`` to a proved gap of ``tol`` times the value, or to the last digits if that is 0.

    ``model`` is about the Hessian at the start, if it is known.
    """
    zero = not start.at.any()
    if (begin := model or kept(loss, start)) is None:
        return newton(loss, start, max_iter, tol, bounded=loss if loss.ridge else None)
    some = isinstance(begin, SampleHessian) and begin.rows < loss.n
    point, pairs = first_step(loss, start, begin, ROUGH if some else 0.0) if zero else (start, None)
    steps, wanted = int(zero), NEAR if zero or tol > 0 else 0.01 * NEAR
    run = with_model(loss, point, begin, wanted, min(SOON, max_iter) - steps, pairs=pairs)
    point, steps = run.state.point, steps + run.steps
    if run.status is Status.INTERRUPTED:
        return Driven(NewtonState(point, gap=run.state.gap), run.status, steps)
    near = kept(loss, point) if steps or model is not None else begin
    # A second Hessian leads on where steps are slow; without a tolerance Newton's method does.
    if near is None or not (run.status is Status.OPTIMAL or (run.status is Status.MAX_ITERATIONS and tol > 0)):
        return newton(loss, start, max_iter, tol, bounded=loss if loss.ridge else None)
    proof = KeptGap(loss, near, point.curvature.copy()) if loss.ridge else LeftToGain(loss, tol) if tol > 0 else None
    run = with_model(loss, point, near, tol or LAST, max_iter - steps, proof)
    point, steps, step = run.state.point, steps + run.steps, run.state.step
    if run.status is Status.OPTIMAL and tol > 0:
        return one_more(loss, run.state, steps)
    rested = run.status is Status.OPTIMAL and step is not None and at_rest(loss, point, near, step)
    if rested or run.status is Status.INTERRUPTED:
        return Driven(NewtonState(point, step=step), run.status, steps)
    more = newton(loss, point, max_iter - steps, tol, bounded=loss if loss.ridge else None)
    return Driven(more.state, more.status, steps + more.steps)


def at_rest(loss: BinaryLoss, point: LossPoint, model: HessianModel, step: Floats) -> bool:
    """As :func:`rests` says, without a look at the rows where curvature shows it: |x_i.v| <= sqrt(v'Hv/h_i)."""
    with np.errstate(all="ignore"):
        errors = loss.rounding(point)
        most = max(float(point.gradient @ step), float(errors @ model.correction(errors)))
    return most <= REST**2 * float(point.curvature.min()) or rests(loss, point, model, step)


def one_more(loss: BinaryLoss, state: LBFGSState, steps: int) -> Driven[NewtonState]:
    """The step that leads on from a point with a proved gap: for one pass the weights have about twice the digits."""
    assert state.step is not None
    point = loss.point(state.point.at - state.step)
    if not point.value <= state.point.value:
        return Driven(NewtonState(state.point, gap=state.gap), Status.OPTIMAL, steps)
    gap = max(0.0, state.gap - (state.point.value - point.value))
    return Driven(NewtonState(point, gap=gap), Status.OPTIMAL, steps + 1)


def kept(loss: BinaryLoss, point: LossPoint) -> HessianModel | None:
    """The Hessian at a point, inverted once; None where it is singular."""
    try:
        return SampleHessian(loss.model(point), 1.0)
    except np.linalg.LinAlgError:
        return None
