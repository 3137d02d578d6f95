"""Profiles of single coefficients, and the intervals that they give.

The profile of b_j at v is the greatest likelihood (for Firth's estimate the greatest penalised one) with
b_j = v. An interval holds the v whose profile is within z^2/2 of the maximum, z the normal quantile
(Venzon and Moolgavkar 1988; Heinze and Schemper 2002 for the penalised one). Where the profile never falls so
far on one side, the interval has no end there: under separation that of an infinite coefficient is (a, inf).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import BinaryLoss, LossPoint, SmoothLoss
from separatrix.models.logistic.firth import firth
from separatrix.models.logistic.firth_likelihood import FirthLikelihood, logdet_of, orthonormal
from separatrix.models.logistic.likelihood import CERTAIN, STEPS, FittedLikelihood
from separatrix.models.logistic.multinomial_loss import HeldLoss
from separatrix.models.logistic.newton import newton
from separatrix.numerics.status import Status, raise_interruption

Profile = Callable[[float], float]
FARTHEST = 40  # doublings of a step after which a side of an interval counts as open


def profile_of(fitted: FittedLikelihood, index: int) -> Profile:
    """The profile of a coefficient as a function; each call begins where the last one ended."""
    if fitted.penalised:
        return _firth_profile(fitted, index)
    return _two_profile(fitted, index) if fitted.problem.classes == 2 else _class_profile(fitted, index)


def _two_profile(fitted: FittedLikelihood, j: int) -> Profile:
    problem = fitted.problem
    others = np.delete(np.arange(fitted.lifted.shape[1]), j)
    X = np.ascontiguousarray(fitted.lifted[:, others]) if len(others) else np.zeros((problem.n, 1))
    base = np.zeros(problem.n) if problem.offset is None else problem.offset
    last = [np.append(fitted.estimate[0, others], 0.0) if len(others) else np.zeros(2)]
    along = last[0] / (float(fitted.estimate[0, j]) or 1.0)

    def value(v: float) -> float:
        loss = BinaryLoss(X, problem.signs, problem.weights, base + v * fitted.lifted[:, j], 0.0, False)
        point = _best(fitted, loss, last[0], v * along, 0.0 * along) if len(others) else loss.point(last[0])
        last[0] = point.at
        return -point.value

    return value


def _best(fitted: FittedLikelihood, loss: SmoothLoss, *starts: Floats) -> LossPoint:
    """The maximum, from the first start that leads to it; of separated classes the highest of all starts.

    Far off, rows may be certain and the likelihood flat.
    """
    reached, tol = list[LossPoint](), 1e-14 if fitted.fates is None else 1e-12
    with np.errstate(all="ignore"):
        for at in starts:
            run = newton(loss, loss.point(at), STEPS, tol, floor=CERTAIN)
            raise_interruption(run.status)
            reached.append(run.state.point)
            if run.state.point.value < CERTAIN or (run.status is Status.OPTIMAL and fitted.fates is None):
                break
    return min(reached, key=lambda point: point.value)


def _class_profile(fitted: FittedLikelihood, index: int) -> Profile:
    problem, shape = fitted.problem, fitted.estimate.shape
    held = HeldLoss(fitted.lifted, problem.codes, problem.weights, fitted.offset, shape, index)
    last = [fitted.estimate.reshape(-1)[held.free]]
    along = last[0] / (float(fitted.estimate.reshape(-1)[index]) or 1.0)

    def value(v: float) -> float:
        held.held = v
        point = _best(fitted, held, last[0], v * along, 0.0 * along)
        last[0] = point.at
        return -point.value

    return value


def _firth_profile(fitted: FittedLikelihood, index: int) -> Profile:
    """On orthonormal columns with the coefficient's column last, where holding it holds one coordinate alone."""
    free, p = fitted.estimate.shape
    k, j = divmod(index, p)
    order = np.append(np.delete(np.arange(p), j), j)
    Q, R = orthonormal(fitted.lifted[:, order])
    likelihood, logdet = FirthLikelihood(fitted.problem, Q), logdet_of(R, fitted.problem.classes)
    place = k * p + p - 1
    fixed = np.arange(free * p) == place
    last = [(fitted.estimate[:, order] @ R.T).reshape(-1)]

    def value(v: float) -> float:
        start = last[0].copy()
        start[place] = R[-1, -1] * v
        run = firth(likelihood, STEPS, start, fixed)
        raise_interruption(run.status)
        last[0] = run.state.point.b
        return float(run.state.point.penalised + logdet)

    return value


def profile_interval(fitted: FittedLikelihood, index: int, z: float, error: float) -> tuple[float, float]:
    """Where the profile falls by z^2/2, on both sides; infinite where it does not."""
    at = float(fitted.estimate.reshape(-1)[index])
    fate = "finite" if fitted.fates is None else fitted.fates[index]
    step = z * error if fate == "finite" and np.isfinite(error) else 1.0
    low = -np.inf if fate in ("-inf", "undetermined") else _crossing(fitted, index, at, -step, z)
    high = np.inf if fate in ("+inf", "undetermined") else _crossing(fitted, index, at, step, z)
    return low, high


def _crossing(fitted: FittedLikelihood, index: int, at: float, step: float, z: float) -> float:
    """A root of sqrt(2 (max - profile)) - z beyond ``at``: widened to a bracket, then false position and halving."""
    profile = profile_of(fitted, index)

    def distance(v: float) -> float:
        return float(np.sqrt(max(0.0, 2.0 * (fitted.maximum - profile(v))))) - z

    near, f_near = at, -z
    far = at + step
    f_far = distance(far)
    doublings = 0
    while f_far <= 0:
        if doublings == FARTHEST:
            return float(np.copysign(np.inf, step))
        near, f_near, far, doublings = far, f_far, at + 2.0 * (far - at), doublings + 1
        f_far = distance(far)
    for k in range(200):
        v = 0.5 * (far + near) if k % 4 == 3 else far - f_far * (far - near) / (f_far - f_near)
        f = distance(v)
        if abs(f) < 1e-10 or abs(far - near) <= 1e-13 * abs(v):
            return v
        if f * f_far < 0:
            near, f_near = far, f_far
        else:
            f_near *= 0.5  # Illinois: the end that stays is drawn nearer
        far, f_far = v, f
    return far
