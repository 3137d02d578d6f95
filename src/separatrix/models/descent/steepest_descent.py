"""Steepest descent on J and its gradient, with momentum, proximal steps and line searches.

It goes on while k < max_iter and |last step| > tol (the first step counts as infinitely long), or, where
``left`` measures it, while the gradient is longer than that. J that is not a number, or raises, ends the run with a
status, at the last point where all was well. A run that has climbed, J and gradient above those of the start, diverged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.numerics.driver import drive
from separatrix.numerics.schedules import LineSearch, Schedule
from separatrix.numerics.status import Status

Evaluate = Callable[[Floats], tuple[float, Floats]]
Proximal = Callable[[Floats, float], Floats]
Left = Callable[[Floats, Floats], float]
Result = TypeVar("Result")
HALVINGS = 60
ROUNDING = 1e-14  # of J: a gain that its digits do not show
KEPT = 2**22  # numbers that the points of a trace may have


@dataclass(frozen=True, slots=True)
class DescentTrace:
    """J, |grad J|, alpha and theta of each step, taken where the step began.

    ``theta`` has one row a step. Of long runs in many coordinates the first ones are kept, up to 4 million numbers.
    """

    value: Floats
    gradient_norm: Floats
    alpha: Floats
    theta: Floats

    def __len__(self) -> int:
        return len(self.value)

    def plot(self, ax: Any = None) -> Any:
        """Draw J and the length of its gradient against the step."""
        from separatrix.plotting.losses_and_descent import plot_convergence

        return plot_convergence(self.value, gradient_norm=self.gradient_norm, ax=ax)


@dataclass(frozen=True, slots=True, repr=False)
class Descent:
    """Where a descent ended and why; ``average`` is the mean of all points, if it was asked for."""

    theta: Floats
    value: float
    gradient_norm: float
    status: Status
    steps: int
    trace: DescentTrace
    average: Floats | None = None
    reason: str | None = None

    @property
    def path(self) -> Floats:
        """theta_0, theta_1, ... up to ``theta``, one point a row."""
        return np.vstack([self.trace.theta, self.theta])

    def plot(self, objective: Callable[[Floats], float], ax: Any = None) -> Any:
        """Draw the path over contours of the objective, in the first two coordinates."""
        from separatrix.plotting.losses_and_descent import plot_descent

        return plot_descent(objective, self.path, ax=ax)

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        at = f"J = {self.value:.8g}, |grad J| = {self.gradient_norm:.3g} after {self.steps} steps"
        return f"{at}: {self.status.value}{why}"

    __repr__ = __str__  # a trace of many steps is no line of a session


def need_descent(max_iter: Any, tol: Any, momentum: Any, rule: Any) -> None:
    whole = isinstance(max_iter, (int, np.integer)) and not isinstance(max_iter, bool)
    if not (whole or max_iter == np.inf) or max_iter < 0:
        raise ParameterError(f"max_iter is {max_iter!r}: it must be a whole number, not negative, or inf.")
    if not isinstance(tol, (int, float, np.number)) or not tol >= 0:
        raise ParameterError(f"tol is {tol!r}: it must be a number, not negative.")
    if not isinstance(momentum, (int, float, np.number)) or not 0 <= momentum < 1:
        raise ParameterError(f"momentum is {momentum!r}: it must lie in [0, 1).")
    if momentum and isinstance(rule, LineSearch):
        raise ParameterError("momentum does not go with a line search, which needs the steepest direction.")


def descend(
    evaluate: Evaluate,
    theta: Floats,
    rule: Schedule,
    max_iter: float,
    tol: float,
    *,
    momentum: float = 0.0,
    average: bool = False,
    proximal: Proximal | None = None,
    left: Left | None = None,
) -> Descent:
    """Descend on a function that gives J and its gradient; ``proximal`` ends each step, for penalties with kinks."""
    solver = SteepestDescent(evaluate, rule, tol, momentum, proximal, left)
    driven = drive(solver, solver.init(theta, average), max_steps=max_iter, at_limit=Status.MAX_ITERATIONS)
    at, steps = driven.state, driven.steps
    status = driven.status if solver.failure is None else solver.failure
    if status in (Status.MAX_ITERATIONS, Status.UNDEFINED) and steps and solver.climbed(at):
        status = Status.DIVERGED
    values, norms, alphas = (np.array(column[:steps]) for column in (solver.values, solver.norms, solver.alphas))
    trace = DescentTrace(values, norms, alphas, points_kept(solver.points[:steps], len(theta)))
    return Descent(at.theta, at.value, _length(at.g), status, steps, trace, at.mean, solver.reason)


@dataclass(slots=True)
class DescentPoint:
    """Where a descent stands: theta, J and its gradient there, the velocity, the last move, the mean of all points."""

    theta: Floats
    velocity: Floats
    mean: Floats | None
    moved: float
    value: float
    g: Floats
    evaluated: bool


class SteepestDescent:
    """theta <- theta - alpha(k) v as a solver; where J cannot be evaluated, ``failure`` and ``reason`` say why."""

    def __init__(
        self,
        evaluate: Evaluate,
        rule: Schedule,
        tol: float,
        momentum: float,
        proximal: Proximal | None,
        left: Left | None,
    ) -> None:
        self.evaluate, self.rule, self.tol = evaluate, rule, tol
        self.momentum, self.proximal, self.left = momentum, proximal, left
        self.failure: Status | None = None
        self.reason: str | None = None
        self.values: list[float] = []
        self.norms: list[float] = []
        self.alphas: list[float] = []
        self.points: list[Floats] = []

    def init(self, theta: Floats, average: bool) -> DescentPoint:
        unknown = np.full_like(theta, np.nan)
        mean = theta.copy() if average else None
        return DescentPoint(theta, np.zeros_like(theta), mean, np.inf, np.nan, unknown, False)

    def terminate(self, at: DescentPoint) -> Status | None:
        if not at.evaluated:
            at.value, at.g = self._attempt(lambda: self.evaluate(at.theta)) or (at.value, at.g)
            at.evaluated = True
            if self.failure is None and not _finite(at.value, at.g):
                self.failure = Status.UNDEFINED
        if self.failure is not None:
            return self.failure
        still = at.moved if self.left is None else self.left(at.theta, at.g)
        return Status.STATIONARY if still <= self.tol else None

    def climbed(self, at: DescentPoint) -> bool:
        """Whether J and its gradient are greater than where the run began."""
        return bool(at.value > self.values[0] and _length(at.g) > self.norms[0])

    def step(self, at: DescentPoint) -> DescentPoint | None:
        return self._attempt(lambda: self._moved(at))

    def _moved(self, at: DescentPoint) -> DescentPoint | None:
        velocity = self.momentum * at.velocity + at.g
        alpha = float(self.rule(len(self.values)))
        if isinstance(self.rule, LineSearch):
            first = self.alphas[-1] * 2 if self.alphas else alpha
            alpha = _search(at, first, self, self.rule)
            if self.left is not None and alpha == 0.0:
                gain = self.left(at.theta, at.g) ** 2
                self.failure = Status.STATIONARY if gain <= ROUNDING * abs(at.value) else Status.STALLED
                return None
        theta = at.theta - alpha * velocity
        if self.proximal is not None:
            theta = self.proximal(theta, alpha)
        value, g = self.evaluate(theta)
        if not _finite(value, g):
            self.failure = Status.UNDEFINED
            return None
        self.values.append(at.value)
        self.norms.append(_length(at.g))
        self.alphas.append(alpha)
        if len(self.points) * len(theta) < KEPT:
            self.points.append(at.theta)
        mean = None if at.mean is None else at.mean + (theta - at.mean) / (len(self.values) + 1)
        return DescentPoint(theta, velocity, mean, _length(theta - at.theta), value, g, True)

    def _attempt(self, evaluation: Callable[[], Result]) -> Result | None:
        """The result, or None where the user's function fails; the failure ends the run."""
        try:
            return evaluation()
        except ArithmeticError as overflow:
            self.failure, self.reason = Status.UNDEFINED, f"{type(overflow).__name__}: {overflow}"
        except Exception as error:
            self.failure, self.reason = Status.FAILED, f"{type(error).__name__}: {error}"
        return None


def points_kept(points: list[Floats], size: int) -> Floats:
    """The points of a trace, one in a row."""
    return np.array(points).reshape(-1, size)


def _length(v: Floats) -> float:
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(v))


def _finite(value: float, g: Floats) -> bool:
    return bool(np.isfinite(value) and np.isfinite(g).all())


def _search(at: DescentPoint, alpha: float, solver: SteepestDescent, rule: LineSearch) -> float:
    """The first of alpha, alpha r, alpha r^2, ... that lowers J enough (Armijo 1966); 0 if none does.

    A gain that the digits of J do not show is measured by the gradient instead, where ``left`` says how long it is.
    """
    prox, left, value, g = solver.proximal, solver.left, at.value, at.g
    for _ in range(HALVINGS):
        new = at.theta - alpha * g
        if prox is not None:
            new = prox(new, alpha)
        away = new - at.theta
        tried, there = solver.evaluate(new)
        promised = float(g @ away)
        if left is not None and abs(promised) <= ROUNDING * abs(value):
            if np.isfinite(tried) and left(new, there) < left(at.theta, g):
                return alpha
        elif np.isfinite(tried):
            # with l1 the smooth part must lie below its quadratic model (Beck and Teboulle 2009)
            slack = rule.slope * promised if prox is None else promised + float(away @ away) / (2 * alpha)
            if tried <= value + slack:
                return alpha
        alpha *= rule.shrink
    return 0.0
