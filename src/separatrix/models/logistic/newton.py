"""Newton's method for smooth convex functions, to the last digits or to a tolerance.

    step = H^-1 g,   decrement = g'H^-1 g/2   (what a step promises to gain)

Far from the minimum a step is halved until it gains a tenth of a thousandth of its promise (Armijo 1966).
Near it the function can no longer tell points apart, but the gradient can: full steps go on while the
decrement still falls. Where classes nearly separate the decrement is as small far from the minimum, and falls by
about e with each step: a run without a tolerance is at the optimum only once no score is moved any more, neither by
the last step nor by a step for the rounding errors of the gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import Interruption
from separatrix.models.logistic.binary_loss import Curved, Model, Point
from separatrix.numerics.status import Status

EPS = float(np.finfo(np.float64).eps)
ARMIJO = 1e-4
REST = 1e-5  # the greatest change of a score by a last step
FEWEST = 2.0**-30  # a step that has been halved thirty times leads nowhere


@dataclass(frozen=True, slots=True)
class Run:
    """Where a method ended, why, after how many steps, and the decrement there."""

    point: Point
    status: Status
    steps: int
    decrement: float


def newton(
    objective: Curved,
    start: Point,
    max_iter: float,
    tol: float = 0.0,
    pause: Callable[[int, Point], bool] | None = None,
    left: Callable[[Point], float] | None = None,
) -> Run:
    """Minimise from ``start``; ``tol`` = 0 goes on to the last digits. ``pause(step, point)`` may end the run.

    Where ``left`` bounds what is left to gain, that bound has to be below the tolerance, and is looked at before a
    model is made.
    """
    point, before, steps = start, np.inf, 0
    try:
        while True:
            size = max(abs(point.value), np.finfo(float).tiny)
            if left is not None and (bound := left(point)) <= 0.5 * tol * size:
                return Run(point, Status.OPTIMAL, steps, bound)
            model = objective.model(point)
            step, decrement = direction(model, point.gradient)
            if not np.isfinite(decrement):
                return Run(point, Status.NONFINITE, steps, decrement)
            near = decrement <= 64 * EPS * size
            if decrement < -64 * EPS * size:
                return Run(point, Status.ILL_CONDITIONED, steps, decrement)
            if (left is None and decrement <= tol * size) or (near and decrement > 0.25 * before):
                if tol > 0 or rests(objective, point, model, step):
                    return Run(point, Status.OPTIMAL, steps, decrement)
                if decrement >= before or decrement <= 0:
                    return Run(point, Status.ILL_CONDITIONED, steps, decrement)
            if steps >= max_iter:
                return Run(point, Status.MAX_ITERATIONS, steps, decrement)
            if pause is not None and pause(steps, point):
                return Run(point, Status.MAX_ITERATIONS, steps, decrement)
            moved = objective.point(point.at - step) if near else backtrack(objective, point, step, decrement)
            if moved is None:
                return Run(point, Status.ILL_CONDITIONED, steps, decrement)
            point, before, steps = moved, decrement if near else np.inf, steps + 1
    except KeyboardInterrupt as stop:
        raise Interruption(point.at) from stop


def direction(model: Model, g: Floats) -> tuple[Floats, float]:
    """The step and its decrement; not a number where the model has no step."""
    try:
        step = model.correction(g)
    except np.linalg.LinAlgError:
        return np.zeros_like(g), np.nan
    return step, 0.5 * float(g @ step)


def rests(objective: Curved, point: Point, model: Model, step: Floats) -> bool:
    """Whether the last step and one for the rounding errors of the gradient hardly move any score."""
    with np.errstate(all="ignore"):
        rounding, _ = direction(model, objective.rounding(point))
        return not getattr(model, "flat", False) and objective.reach(step) <= REST and objective.reach(rounding) <= REST


def backtrack(objective: Curved, point: Point, step: Floats, decrement: float) -> Point | None:
    """The first of the points at step, step/2, step/4, ... that gains enough, or None.

    Where rows are certain, and wrong, the curvature is next to nothing and a step many times too long: it is then
    halved until it moves no score any more.
    """
    share, least = 1.0, FEWEST
    noise = 8 * EPS * abs(point.value)
    while share >= least:
        moved = objective.point(point.at - share * step)
        if moved.value <= point.value - ARMIJO * share * 2 * decrement + noise:
            return moved
        share *= 0.5
        if share < FEWEST == least:
            least = min(FEWEST, REST / max(objective.reach(step), REST))
    return None
