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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import (
    EPS,
    TINY,
    HessianModel,
    LogisticLoss,
    LossPoint,
    SmoothLoss,
)
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

ARMIJO = 1e-4
REST = 1e-5  # the greatest change of a score by a last step
EXACT = 1e-4  # how exactly a step is solved at most: products with the Hessian may have six digits only
DIGITS = 1e-7  # of what is solved for: the rest is rounding of the products, or what the preconditioner does not see
LAST = 1e-29  # of the value: what a step may promise to gain that is not taken any more
FEWEST = 2.0**-30  # a step that has been halved thirty times leads nowhere


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

    @property
    def estimate(self) -> Floats:
        """The parameters after the step that leads on from here: without a tolerance a run ends before it."""
        return self.point.at if self.step is None else self.point.at - self.step

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


def expected_next(decrement: float, before: float) -> float:
    """The decrement after a step, if that divides it as the one before did."""
    return decrement * min(1.0, decrement / before) if 0 < before < np.inf else decrement


def direction(model: HessianModel, g: Floats) -> tuple[Floats, float]:
    """The step of a model and its decrement g'H^-1 g/2; not a number where the model has no step."""
    try:
        step = model.correction(g)
    except np.linalg.LinAlgError:
        return np.zeros_like(g), np.nan
    return step, 0.5 * float(g @ step)


def rests(loss: SmoothLoss, point: LossPoint, model: HessianModel, step: Floats) -> bool:
    """Whether the last step and one for the rounding errors of the gradient hardly move any score."""
    with np.errstate(all="ignore"):
        rounding, _ = direction(model, loss.rounding(point))
        flat = getattr(model, "flat", False)  # directions were left out
        return not flat and loss.reach(step) <= REST and loss.reach(rounding) <= REST


def backtrack(loss: SmoothLoss, point: LossPoint, step: Floats, decrement: float) -> LossPoint | None:
    """The first of the points at step, step/2, step/4, ... that gains enough, or None.

    Where rows are certain, and wrong, the curvature is next to nothing and a step many times too long: it is then
    halved until it moves no score any more.
    """
    share, least = 1.0, FEWEST
    noise = 8 * EPS * abs(point.value)
    while share >= least:
        moved = loss.point(point.at - share * step)
        if moved.value <= point.value - ARMIJO * share * 2 * decrement + noise:
            return moved
        share *= 0.5
        if share < FEWEST == least:
            least = min(FEWEST, REST / max(loss.reach(step), REST))
    return None


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


class ConjugateGradients:
    """The solution of H v = g, to a share of what is left; a later call goes on from where the last one ended.

    ``inverse`` is a preconditioner, and every v on the way descends.
    """

    def __init__(self, loss: LogisticLoss, point: LossPoint, inverse: Callable[[Floats], Floats]) -> None:
        self.loss, self.point, self.inverse = loss, point, inverse
        self.v, self.r = np.zeros_like(point.gradient), point.gradient.copy()
        self.p = inverse(self.r)
        self.weighed = self.r.copy()  # the preconditioner times p
        self.first = self.rho = float(self.r @ self.p)

    def solve(self, share: float, rest: float = np.inf) -> Floats:
        """v with |H v - g| <= share |g| in the norm of the preconditioner, and the square of the plain one <= rest."""
        for _ in range(min(10 * len(self.v), 1000)):
            enough = self.rho <= share**2 * self.first and float(self.r @ self.r) <= rest
            if enough or not self.rho > DIGITS**2 * self.first:
                break
            bent = self.loss.product(self.point, self.p)
            bend = float(self.p @ bent)
            if bend <= EPS * float(self.p @ self.weighed):  # flat: what has been found so far, or the slope itself
                return self.v if self.v.any() else self.p
            a = self.rho / bend
            self.v += a * self.p
            self.r -= a * bent
            z = self.inverse(self.r)
            self.rho, last = float(self.r @ z), self.rho
            self.p, self.weighed = z + (self.rho / last) * self.p, self.r + (self.rho / last) * self.weighed
        return self.v
