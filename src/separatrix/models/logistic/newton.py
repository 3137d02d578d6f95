"""Newton's method for smooth convex functions, to the last digits or to a tolerance: as solvers for the driver.

    step = H^-1 g,   decrement = g'H^-1 g/2   (what a step promises to gain)

Far from the minimum a step is halved until it gains a tenth of a thousandth of its promise (Armijo 1966). Near it the
value can no longer tell points apart, but the gradient can: full steps go on while the decrement still falls. Where
classes nearly separate, the decrement is as small far from the minimum, and falls by about e with each step: a run
without a tolerance is at the optimum only once no score is moved any more, neither by the last step nor by a step for
the rounding errors of the gradient. For many columns the Hessian is known through its products with vectors only, and
each step is found by conjugate gradients (Steihaug 1983; Lin, Weng and Keerthi 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import (
    EPS,
    REST,
    TINY,
    ConjugateGradients,
    HessianModel,
    LogisticLoss,
    LossPoint,
    SmoothLoss,
    backtrack,
    direction,
    expected_next,
)
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

EXACT = 1e-4  # how exactly a step is solved at most: products with the Hessian may have six digits only
LAST = 1e-29  # of the value: what a step may promise to gain that is not taken any more


@dataclass(slots=True)
class NewtonState:
    """A point, the decrement of the step before if that was near the minimum, and the step that leads on from here.

    ``gap`` bounds what is left to gain, where that was proved; ``solver`` can make the step more exact.
    """

    point: LossPoint
    before: float = np.inf
    step: Floats | None = None
    decrement: float = np.inf
    gap: float = np.inf
    solver: ConjugateGradients | None = None

    @property
    def size(self) -> float:
        return max(abs(self.point.value), TINY)

    @property
    def near(self) -> bool:
        """Whether the value no longer tells points apart."""
        return self.decrement <= 64 * EPS * self.size

    @property
    def settled(self) -> bool:
        """Whether a step is no better than the one before it, or leads to the last digits."""
        last = expected_next(self.decrement, self.before) <= LAST * self.size
        return self.near and (self.decrement > 0.25 * self.before or last)

    def moved(self, loss: SmoothLoss) -> NewtonState | None:
        assert self.step is not None
        ahead = (
            loss.point(self.point.at - self.step)
            if self.near
            else backtrack(loss, self.point, self.step, self.decrement)
        )
        return None if ahead is None else NewtonState(ahead, self.decrement if self.near else np.inf)


@dataclass(frozen=True, slots=True)
class Newton:
    """Steps by the Hessian; a ``bounded`` run ends once ``loss.left`` is below the tolerance, before a Hessian is made.

    A tolerance of 0 goes on to the last digits, ``floor`` is a value at which the run ends.
    """

    loss: SmoothLoss
    tol: float = 0.0
    bounded: LogisticLoss | None = None
    floor: float = -np.inf

    def terminate(self, state: NewtonState) -> Status | None:
        point, size = state.point, state.size
        if self.bounded is not None and self.bounded.left(point) <= 0.5 * self.tol * size:
            return Status.OPTIMAL
        model = self.loss.model(point)
        state.step, state.decrement = direction(model, point.gradient)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        if state.decrement < -64 * EPS * size:
            return Status.ILL_CONDITIONED
        small = self.bounded is None and state.decrement <= self.tol * size
        if small or state.settled:
            if self.tol > 0 or rests(self.loss, point, model, state.step):
                return Status.OPTIMAL
            if state.decrement >= state.before or state.decrement <= 0:
                return Status.ILL_CONDITIONED
        return Status.MAX_ITERATIONS if point.value < self.floor else None

    def step(self, state: NewtonState) -> NewtonState | None:
        return state.moved(self.loss)


def newton(
    loss: SmoothLoss,
    start: LossPoint,
    max_iter: float,
    tol: float = 0.0,
    *,
    bounded: LogisticLoss | None = None,
    floor: float = -np.inf,
) -> Driven[NewtonState]:
    """Minimise from ``start``; see :class:`Newton`."""
    return drive(Newton(loss, tol, bounded, floor), NewtonState(start), max_steps=max_iter)


def rests(loss: SmoothLoss, point: LossPoint, model: HessianModel, step: Floats) -> bool:
    """Whether the last step and one for the rounding errors of the gradient hardly move any score."""
    with np.errstate(all="ignore"):
        rounding, _ = direction(model, loss.rounding(point))
        flat = getattr(model, "flat", False)  # directions were left out
        return not flat and loss.reach(step) <= REST and loss.reach(rounding) <= REST


@dataclass(frozen=True, slots=True)
class NewtonCG:
    """Newton steps by conjugate gradients, each as exact as the gradient before it deserves.

    The run ends once a step promises to gain no more than ``tol`` of the value, or with a ridge, before a step is
    made, once strong convexity bounds what is left by that. ``first`` is the size of the first gradient.
    """

    loss: LogisticLoss
    first: float
    tol: float = 0.0

    def terminate(self, state: NewtonState) -> Status | None:
        point, ridge = state.point, self.loss.ridge
        size = float(np.linalg.norm(point.gradient))
        if not np.isfinite(size):
            return Status.NONFINITE
        share = min(0.25, max(EXACT, (size / self.first) ** 0.5))
        if ridge > 0:
            left, enough = self.loss.left(point), 0.5 * self.tol * state.size
            if left <= enough:
                return Status.OPTIMAL
            share = max(share, min(0.25, 0.5 * (enough / left) ** 0.5))  # the bound falls as |g|^2
        state.solver = ConjugateGradients(self.loss, point, self.loss.preconditioner(point).correction)
        state.step = state.solver.solve(share)
        state.decrement = 0.5 * float(point.gradient @ state.step)
        if state.decrement <= self.tol * state.size or state.settled:
            if ridge > 0 or self.tol > 0 or self.loss.reach(state.step) <= REST:
                return Status.OPTIMAL
            if state.decrement >= state.before or state.decrement <= 0:
                return Status.ILL_CONDITIONED
        return None

    def step(self, state: NewtonState) -> NewtonState | None:
        return state.moved(self.loss)


def newton_cg(loss: LogisticLoss, start: LossPoint, max_iter: float, tol: float = 0.0) -> Driven[NewtonState]:
    """Minimise from ``start`` without making a Hessian; see :class:`NewtonCG`."""
    first = float(np.linalg.norm(start.gradient)) or 1.0
    return drive(NewtonCG(loss, first, tol), NewtonState(start), max_steps=max_iter)
