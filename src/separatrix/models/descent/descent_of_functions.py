"""Gradient descent on any differentiable J: theta <- theta - alpha(k) v, v <- momentum v + grad J(theta)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.models.descent.steepest_descent import Descent, descend, need_descent
from separatrix.numerics.schedules import Schedule, schedule_of
from separatrix.validation import check_finite_vector

NUDGE = float(np.finfo(np.float64).eps) ** (1 / 3)


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
    max_iter: int = 1000,
    tol: float = 1e-8,
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
    max_iter, tol : it goes on while there are steps left and the last one was longer than the tolerance
    momentum : in [0, 1); not with a line search
    average : whether to keep the mean of all points too
    verify_gradient : compare ``gradient`` with central differences at the start, and refuse a wrong one

    Returns
    -------
    Descent
        ``theta``, ``value``, ``status`` and the trace of the run.

    Examples
    --------
    >>> from separatrix.models.descent import gradient_descent
    >>> found = gradient_descent(lambda t: (t[0] - 3) ** 2, [0.0], step=0.4)
    >>> found.theta.round(6), found.status.name
    (array([3.]), 'STATIONARY')
    """
    theta = check_finite_vector(np.array(start, dtype=np.float64, ndmin=1), what="start").copy()
    rule = schedule_of(schedule, step)
    need_descent(max_iter, tol, momentum, rule)
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

    return descend(evaluate, theta, rule, max_iter, tol, momentum=momentum, average=average)
