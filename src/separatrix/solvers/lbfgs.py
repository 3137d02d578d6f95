"""L-BFGS on top of a rough Hessian: of a sample, of an earlier point, of zero, or the diagonal.

Steps by a rough Hessian, corrected by what earlier steps have shown, divide what is left to gain by a hundred or more
each where it is that of a sample (Byrd, Chin, Neveitt and Nocedal 2011) or of a point near by, and cost one pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.logistic import EPS
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status
from separatrix.solvers.newton import LAST, ConjugateGradients, Model, backtrack, expected_next

MEMORY = 20

Bound = Callable[[Point], float]


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

    def penalise(self, more: Callable[[Floats], Floats]) -> None:
        """The pairs with another ridge, whose gradient ``more`` gives."""
        steps, changes = self.steps[: self.count], self.changes[: self.count]
        self.count = 0
        for step, change in zip(steps.copy(), changes.copy(), strict=True):
            self.learn(step, change + more(step))

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

    def __init__(self, model: Model, pairs: StepPairs) -> None:
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

    point: Point
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

    loss: Objective
    model: Model
    pairs: StepPairs
    tol: float
    gap: Bound | None
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
        return LBFGSState(moved, (*state.earlier, state.decrement))


def with_model(
    loss: Objective,
    start: Point,
    model: Model,
    tol: float,
    max_iter: float,
    gap: Bound | None = None,
    pairs: StepPairs | None = None,
) -> Driven[LBFGSState]:
    """Minimise from ``start`` with a rough Hessian, and pairs of earlier steps if there are any; see :class:`LBFGS`."""
    return drive(LBFGS(loss, model, pairs or StepPairs(), tol, gap), LBFGSState(start), max_steps=max_iter)


def first_step(loss: Objective, start: Point, model: Model, rough: float = 0.0) -> tuple[Point, StepPairs]:
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
