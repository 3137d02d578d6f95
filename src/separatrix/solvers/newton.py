"""Newton's method for smooth convex functions, to the last digits or to a tolerance.

    step = H^-1 g,   decrement = g'H^-1 g/2   (what a step promises to gain)

Far from the minimum a step is halved until it gains a tenth of a thousandth of its promise (Armijo 1966). Near it the
value can no longer tell points apart, but the gradient can: full steps go on while the decrement still falls. Where
classes nearly separate, the decrement is as small far from the minimum, and falls by about e with each step: a run
without a tolerance is at the optimum only once no score is moved any more, neither by the last step nor by a step for
the rounding errors of the gradient.

Where a Hessian would cost too much, products with it find each step by conjugate gradients (Steihaug 1983; Lin, Weng
and Keerthi 2008).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.logistic import EPS, TINY
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

ARMIJO = 1e-4
ALIKE, FLATTER = 1e-10, 0.9  # shares of the value that may be rounding, and of the slope that must be left then
FEWEST = 2.0**-30  # a step that has been halved thirty times leads nowhere
REST = 1e-5  # the greatest change of a score by a last step
LAST = 1e-29  # of the value: what a step may promise to gain that is not taken any more
EXACT = 1e-4  # how exactly a step is solved at most: products with the Hessian may have six digits only
DIGITS = 1e-7  # of what is solved for: the rest is rounding of the products, or what the preconditioner does not see


class Model(Protocol):
    """A Hessian, exact or rough, that can be solved with."""

    def correction(self, g: Floats) -> Floats: ...


class Smooth(Protocol):
    """A smooth convex function of the parameters, with its Hessian; :class:`Objective`, or a part of one."""

    def point(self, at: Floats) -> Any: ...
    def hessian(self, point: Any) -> Any: ...
    def reach(self, step: Floats) -> float: ...
    def rounding(self, point: Any) -> Floats: ...


def direction(model: Model, g: Floats) -> tuple[Floats, float]:
    """The step of a model and its decrement g'H^-1 g/2."""
    step = model.correction(g)
    with np.errstate(all="ignore"):
        return step, 0.5 * float(g @ step)


def expected_next(decrement: float, before: float) -> float:
    """The decrement after a step, if that divides it as the one before did."""
    return decrement * min(1.0, decrement / before) if 0 < before < np.inf else decrement


def backtrack(loss: Smooth, point: Any, step: Floats, decrement: float) -> Any:
    """The first of the points at step, step/2, step/4, ... that gains enough, or None.

    Columns far from zero make values uncertain by more than their last digits: there the slope along the step decides
    (Hager and Zhang 2005). Where rows are certain, and wrong, the curvature is next to nothing and a step many times
    too long: it is then halved until it moves no score any more.
    """
    share, least = 1.0, FEWEST  # of the step
    noise = 8 * EPS * abs(point.value)
    while share >= least:
        moved = loss.point(point.at - share * step)
        if moved.value <= point.value - ARMIJO * share * 2 * decrement + noise:
            return moved
        alike = abs(moved.value - point.value) <= ALIKE * abs(point.value)
        if alike and abs(float(moved.gradient @ step)) <= FLATTER * 2 * decrement:
            return moved
        share *= 0.5
        if share < FEWEST == least:
            least = min(FEWEST, REST / max(loss.reach(step), REST))
    return None


@dataclass(slots=True)
class NewtonState:
    """A point, the decrement of the step before if that was near the minimum, and the step that leads on from here.

    ``gap`` bounds what is left to gain, where that was proved; ``solver`` can make the step more exact, or is the model
    that made it.
    """

    point: Any
    before: float = np.inf
    step: Floats | None = None
    decrement: float = np.inf
    gap: float = np.inf
    solver: Any = None

    @property
    def size(self) -> float:
        return max(abs(float(self.point.value)), TINY)

    @property
    def near(self) -> bool:
        """Whether the value no longer tells points apart."""
        return self.decrement <= 64 * EPS * self.size

    @property
    def settled(self) -> bool:
        """Whether a step is no better than the one before it, or leads to the last digits."""
        last = expected_next(self.decrement, self.before) <= LAST * self.size
        return self.near and (self.decrement > 0.25 * self.before or last)

    def moved(self, loss: Smooth) -> NewtonState | None:
        assert self.step is not None
        if self.near:
            ahead = loss.point(self.point.at - self.step)
        else:
            ahead = backtrack(loss, self.point, self.step, self.decrement)
        return None if ahead is None else NewtonState(ahead, self.decrement if self.near else np.inf)


@dataclass(frozen=True, slots=True)
class Newton:
    """Steps by the Hessian, to ``tol`` of the value or, if that is 0, to the last digits; ``floor`` ends a run too."""

    loss: Smooth
    tol: float = 0.0
    floor: float = -np.inf

    def terminate(self, state: NewtonState) -> Status | None:
        point, size = state.point, state.size
        state.solver = self.loss.hessian(point)
        state.step, state.decrement = direction(state.solver, point.gradient)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        if state.decrement < -64 * EPS * size:
            return Status.ILL_CONDITIONED
        if state.decrement <= self.tol * size or state.settled:
            if self.tol > 0 or rests(self.loss, point, state.solver, state.step):
                return Status.OPTIMAL
            if state.decrement >= state.before or state.decrement <= 0:
                return Status.ILL_CONDITIONED
        return Status.MAX_ITERATIONS if point.value < self.floor else None

    def step(self, state: NewtonState) -> NewtonState | None:
        return state.moved(self.loss)


def newton(loss: Smooth, start: Any, max_iter: float, tol: float = 0.0, floor: float = -np.inf) -> Driven[NewtonState]:
    """Minimise from ``start``; see :class:`Newton`."""
    return drive(Newton(loss, tol, floor), NewtonState(start), max_steps=max_iter)


def rests(loss: Smooth, point: Any, model: Model, step: Floats) -> bool:
    """Whether the last step and one for the rounding errors of the gradient hardly move any score."""
    with np.errstate(all="ignore"):
        rounding, _ = direction(model, loss.rounding(point))
        flat = getattr(model, "flat", False)  # directions were left out
        return not flat and loss.reach(step) <= REST and loss.reach(rounding) <= REST


# -- without a Hessian --


class ConjugateGradients:
    """The solution of H v = g, to a share of what is left; a later call goes on from where the last one ended.

    ``inverse`` is a preconditioner, and every v on the way descends.
    """

    def __init__(self, loss: Objective, point: Point, inverse: Callable[[Floats], Floats]) -> None:
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


@dataclass(frozen=True, slots=True)
class NewtonCG:
    """Newton steps by conjugate gradients, each as exact as the gradient before it deserves.

    The run ends once a step promises to gain no more than ``tol`` of the value, or with a ridge, before a step is
    made, once strong convexity bounds what is left by that. ``first`` is the size of the first gradient, and
    ``precondition`` gives the preconditioner at a point.
    """

    loss: Objective
    first: float
    precondition: Callable[[Point], Model]
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
        state.solver = ConjugateGradients(self.loss, point, self.precondition(point).correction)
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
