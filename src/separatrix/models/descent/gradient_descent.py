"""Gradient descent on any differentiable J: theta <- theta - alpha(k) v, v <- momentum v + grad J(theta).

It goes on while k < max_steps and |last step| > tolerance (the first step counts as infinitely long). J that
is not a number, or raises, ends the run with a status, at the last point where all was well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.numerics.schedules import LineSearch, Schedule, schedule_of
from separatrix.numerics.status import Status
from separatrix.validation import check_finite_vector

Evaluate = Callable[[Floats], tuple[float, Floats]]
Proximal = Callable[[Floats, float], Floats]
HALVINGS = 60
NUDGE = float(np.finfo(np.float64).eps) ** (1 / 3)


@dataclass(frozen=True, slots=True)
class DescentTrace:
    """J, |grad J| and alpha of each step, taken where the step began."""

    value: Floats
    gradient_norm: Floats
    alpha: Floats

    def __len__(self) -> int:
        return len(self.value)


@dataclass(frozen=True, slots=True)
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

    def __str__(self) -> str:
        why = f" ({self.reason})" if self.reason else ""
        at = f"J = {self.value:.8g}, |grad J| = {self.gradient_norm:.3g} after {self.steps} steps"
        return f"{at}: {self.status.value}{why}"


def numerical_gradient(objective: Callable[[Floats], float], theta: Floats) -> Floats:
    """Central differences, nudging each coordinate by eps^(1/3) of its size."""
    out = np.empty(len(theta))
    for j in range(len(theta)):
        nudge = NUDGE * max(1.0, abs(float(theta[j])))
        ahead, behind = theta.copy(), theta.copy()
        ahead[j] += nudge
        behind[j] -= nudge
        out[j] = (float(objective(ahead)) - float(objective(behind))) / float(ahead[j] - behind[j])
    return out


def check_gradient(objective: Callable[[Floats], float], gradient: Callable[[Floats], Any], theta: Floats) -> float:
    """The greatest difference between a gradient and central differences, relative to the gradient's size."""
    claimed = np.asarray(gradient(theta.copy()), dtype=np.float64).ravel()
    found = numerical_gradient(objective, theta)
    if claimed.shape != found.shape:
        raise ParameterError(f"gradient returns {len(claimed)} numbers and theta has {len(found)}: they must agree.")
    scale = max(1e-8, float(np.abs(found).max()), float(np.abs(claimed).max()))
    return float(np.abs(claimed - found).max()) / scale


def gradient_descent(
    objective: Callable[[Floats], float],
    start: ArrayLike,
    *,
    gradient: Callable[[Floats], Any] | None = None,
    schedule: str | Schedule = "constant",
    step: float = 0.1,
    max_steps: int = 1000,
    tolerance: float = 1e-8,
    momentum: float = 0.0,
    average: bool = False,
    verify_gradient: bool = False,
) -> Descent:
    """Minimise a differentiable function of a vector.

    Parameters
    ----------
    objective : J, from an array of numbers to a number
    start : the first theta
    gradient : grad J, or None for central differences
    schedule : {"constant", "inverse", "root", "exponential", "step", "line-search"} or a function of k
    step : the first step size, which the schedule changes
    max_steps, tolerance : the limits, see the module
    momentum : in [0, 1); not with a line search
    average : whether to keep the mean of all points too
    verify_gradient : compare ``gradient`` with central differences at the start, and refuse a wrong one
    """
    theta = check_finite_vector(np.array(start, dtype=np.float64, ndmin=1), what="start").copy()
    rule = schedule_of(schedule, step)
    need_descent(max_steps, tolerance, momentum, rule)
    if verify_gradient and gradient is not None and (apart := check_gradient(objective, gradient, theta)) > 1e-4:
        raise ParameterError(
            f"gradient differs from central differences of the objective by {apart:.1e} of its size at the start: "
            "check its formula."
        )

    def evaluate(at: Floats) -> tuple[float, Floats]:
        value = float(objective(at.copy()))
        g = numerical_gradient(objective, at) if gradient is None else gradient(at.copy())
        g = np.asarray(g, dtype=np.float64).ravel()
        if g.shape != at.shape:
            raise DataError(f"gradient returns {len(g)} numbers and theta has {len(at)}: they must agree.")
        return value, g

    return descend(evaluate, theta, rule, max_steps, tolerance, momentum=momentum, average=average)


def need_descent(max_steps: Any, tolerance: Any, momentum: Any, rule: Any) -> None:
    whole = isinstance(max_steps, (int, np.integer)) and not isinstance(max_steps, bool)
    if not (whole or max_steps == np.inf) or max_steps < 0:
        raise ParameterError(f"max_steps is {max_steps!r}: it must be a whole number, not negative, or inf.")
    if not isinstance(tolerance, (int, float, np.number)) or not tolerance >= 0:
        raise ParameterError(f"tolerance is {tolerance!r}: it must be a number, not negative.")
    if not isinstance(momentum, (int, float, np.number)) or not 0 <= momentum < 1:
        raise ParameterError(f"momentum is {momentum!r}: it must lie in [0, 1).")
    if momentum and isinstance(rule, LineSearch):
        raise ParameterError("momentum does not go with a line search, which needs the steepest direction.")


def descend(
    evaluate: Evaluate,
    theta: Floats,
    rule: Schedule,
    max_steps: float,
    tolerance: float,
    *,
    momentum: float = 0.0,
    average: bool = False,
    proximal: Proximal | None = None,
) -> Descent:
    """The loop, for a function that gives J and its gradient; ``proximal`` ends each step, for penalties with kinks."""
    values: list[float] = []
    norms: list[float] = []
    alphas: list[float] = []
    mean = theta.copy() if average else None
    velocity = np.zeros_like(theta)
    status, reason, moved = Status.MAX_STEPS, None, np.inf
    value, g = np.nan, np.full_like(theta, np.nan)
    try:
        value, g = evaluate(theta)
        if not (np.isfinite(value) and np.isfinite(g).all()):
            status, max_steps = Status.UNDEFINED, 0
        while len(values) < max_steps and moved > tolerance:
            velocity = momentum * velocity + g
            alpha = float(rule(len(values)))
            if isinstance(rule, LineSearch):
                alpha = _search(evaluate, theta, value, g, alphas[-1] * 2 if alphas else alpha, rule, proximal)
            new = theta - alpha * velocity
            if proximal is not None:
                new = proximal(new, alpha)
            new_value, new_g = evaluate(new)
            if not (np.isfinite(new_value) and np.isfinite(new_g).all()):
                status = Status.UNDEFINED
                break
            values.append(value)
            norms.append(float(np.linalg.norm(g)))
            alphas.append(alpha)
            moved = float(np.linalg.norm(new - theta))
            theta, value, g = new, new_value, new_g
            if mean is not None:
                mean += (theta - mean) / (len(values) + 1)
        else:
            if moved <= tolerance:
                status = Status.STATIONARY
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    except ArithmeticError as overflow:
        status, reason = Status.UNDEFINED, f"{type(overflow).__name__}: {overflow}"
    except Exception as error:
        status, reason = Status.FAILED, f"{type(error).__name__}: {error}"
    trace = DescentTrace(np.array(values), np.array(norms), np.array(alphas))
    return Descent(theta, value, float(np.linalg.norm(g)), status, len(values), trace, mean, reason)


def _search(
    evaluate: Evaluate, theta: Floats, value: float, g: Floats, alpha: float, rule: LineSearch, prox: Proximal | None
) -> float:
    """The first of alpha, alpha r, alpha r^2, ... that lowers J enough (Armijo 1966); 0 if none does."""
    for _ in range(HALVINGS):
        new = theta - alpha * g
        if prox is not None:
            new = prox(new, alpha)
        away = new - theta
        tried = evaluate(new)[0]
        enough = value + rule.slope * float(g @ away)
        if prox is not None:  # the smooth part must lie below its quadratic model (Beck and Teboulle 2009)
            enough = value + float(g @ away) + float(away @ away) / (2 * alpha)
        if np.isfinite(tried) and tried <= enough:
            return alpha
        alpha *= rule.shrink
    return 0.0
