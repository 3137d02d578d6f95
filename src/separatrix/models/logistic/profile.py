"""Profiles of single coefficients, and the intervals that they give.

The profile of b_j at v is the greatest likelihood (for Firth's estimate the greatest penalised one) with
b_j = v. An interval holds the v whose profile is within z^2/2 of the maximum, z the normal quantile
(Venzon and Moolgavkar 1988; Heinze and Schemper 2002 for the penalised one). Where the profile never falls so
far on one side, the interval has no end there: under separation that of an infinite coefficient is (a, inf).

Profiles of Firth's penalised likelihood of two classes, by Newton's method with its exact second derivatives.

With I = X'WX, W = diag(c w), w = p (1 - p), w' = w (1 - 2p), w'' = w (1 - 6w), g_i = x_i'I^-1 x_i and I = L L',

    A = -d2/db2 (l + log|I|/2) = I - X'diag(c w'' g)X/2 + T'T/2,   T_k = sum_i c_i w'_i x_ik vec(z_i z_i')

with z = L^-1 x; of few rows T'T is made from their inner products, (z_i.z_j)^2. A coefficient is a linear
function a'b on orthonormal columns. At an end of its interval the score s is a multiple of a, and the likelihood is
at the level of the interval; the step to there (Venzon and Moolgavkar 1988) is A^-1 (s - m a), with

    m^2 = (2 (l - level) + s'A^-1 s)/(a'A^-1 a)

and the sign of m that of the side. With the coefficient held at a value v, m = (a'A^-1 s - v + a'b)/(a'A^-1 a).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.hessian import Hessian
from separatrix.losses.information import class_information
from separatrix.losses.logistic import Logistic
from separatrix.losses.objective import Objective
from separatrix.models.logistic.firth import LONGEST, firth
from separatrix.models.logistic.firth_likelihood import FirthLikelihood, PenalisedPoint, logdet_of, orthonormal
from separatrix.models.logistic.likelihood import CERTAIN, STEPS, FittedLikelihood
from separatrix.models.logistic.probabilities import softmax
from separatrix.numerics.status import Status, raise_interruption
from separatrix.rows.places import TableRows
from separatrix.solvers.newton import Smooth, newton

Profile = Callable[[float], float]
FEW = 30  # steps by second derivatives, after which a search is left to the slower method
CHUNK = 2**22  # numbers of products that are made at a time
FELT = 1e-9  # leverage below which a row adds nothing to T: the matrix guides steps, the score ends them
MOST_WORK = 2**31  # operations of one matrix of second derivatives, up to which it is made
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
        rows = TableRows(X, problem.codes, 2, problem.weights, base + v * fitted.lifted[:, j])
        loss = Objective(rows, Logistic(2, lift=False))
        point = _best(fitted, loss, last[0], v * along, 0.0 * along) if len(others) else loss.point(last[0])
        last[0] = point.at
        return -float(point.value)

    return value


def _best(fitted: FittedLikelihood, loss: Smooth, *starts: Floats) -> Any:
    """The maximum, from the first start that leads to it; of separated classes the highest of all starts.

    Far off, rows may be certain and the likelihood flat.
    """
    reached, tol = list[Any](), 1e-14 if fitted.fates is None else 1e-12
    with np.errstate(all="ignore"):
        for at in starts:
            run = newton(loss, loss.point(at), STEPS, tol, floor=CERTAIN)
            raise_interruption(run.status)
            reached.append(run.state.point)
            if run.state.point.value < CERTAIN or (run.status is Status.OPTIMAL and fitted.fates is None):
                break
    return min(reached, key=lambda point: point.value)


def _class_profile(fitted: FittedLikelihood, index: int) -> Profile:
    held = HeldLoss(fitted, index)
    last = [fitted.estimate.reshape(-1)[held.free]]
    along = last[0] / (float(fitted.estimate.reshape(-1)[index]) or 1.0)

    def value(v: float) -> float:
        held.held = v
        point = _best(fitted, held, last[0], v * along, 0.0 * along)
        last[0] = point.at
        return -float(point.value)

    return value


@dataclass(frozen=True, slots=True)
class HeldPoint:
    """The free coefficients with value and gradient, and the probabilities of all rows."""

    at: Floats
    value: float
    gradient: Floats
    P: Floats


class FreeHessian(Hessian):
    """The Hessian of coefficients none of which is an intercept to be minimised over."""

    def correction(self, g: Floats) -> Floats:
        return self.solve(g)


class HeldLoss:
    """The unpenalised loss as a function of all coefficients (K - 1, p) against the first class but one, ``held``."""

    def __init__(self, fitted: FittedLikelihood, index: int) -> None:
        problem, self.shape = fitted.problem, fitted.estimate.shape
        self.lifted, self.weights, self.offset = fitted.lifted, problem.weights, fitted.offset
        self.own, self.index, self.held = (np.arange(problem.n), problem.codes), index, 0.0
        self.free = np.delete(np.arange(fitted.estimate.size), index)
        self.c = problem.counts

    def _scores(self, at: Floats, held: float) -> Floats:
        whole = np.empty(self.shape[0] * self.shape[1])
        whole[self.free], whole[self.index] = at, held
        return np.column_stack([np.zeros(len(self.lifted)), self.lifted @ whole.reshape(self.shape).T])

    def point(self, at: Floats) -> HeldPoint:
        scores = self._scores(at, self.held)
        P, loss = softmax(scores if self.offset is None else scores + self.offset, self.own)
        R = P.copy()
        R[self.own] -= 1.0
        gradient = ((R[:, 1:] * self.c[:, None]).T @ self.lifted).reshape(-1)
        return HeldPoint(at, float(self.c @ loss), gradient[self.free], P)

    def hessian(self, point: HeldPoint) -> FreeHessian:
        information = class_information(self.lifted, point.P.T[1:], self.weights)
        return FreeHessian(information[np.ix_(self.free, self.free)], None, None, 1, len(self.free))

    def reach(self, step: Floats) -> float:
        return float(np.abs(self._scores(step, 0.0)).max())

    def rounding(self, point: HeldPoint) -> Floats:
        return np.zeros_like(point.at)  # a profile is of the likelihood alone


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


# -- all profiles of Firth's likelihood on one basis --


@dataclass(frozen=True, slots=True)
class _Local:
    """A point with its score and the inverse of its second derivatives, in the sense of a quadratic model."""

    point: PenalisedPoint
    score: Floats
    inverse: Floats


class FirthProfiles:
    """The profiles of all coefficients of a fit, on one basis; None of them is promised to be found."""

    def __init__(self, fitted: FittedLikelihood) -> None:
        Q, R = orthonormal(fitted.lifted)
        self.likelihood = FirthLikelihood(fitted.problem, Q)
        self.to_given = np.asarray(np.linalg.inv(R))  # b of the given columns is to_given @ b
        start = (fitted.estimate @ R.T).reshape(-1)
        run = firth(self.likelihood, 100, start)
        self.top = self._local(run.state.point.b)
        self.logdet = logdet_of(R, 2)
        self.maximum = self.top.point.penalised + self.logdet

    @staticmethod
    def suit(fitted: FittedLikelihood) -> bool:
        """Whether the fit is Firth's of two classes, and small enough."""
        n, p = fitted.problem.n, fitted.estimate.size
        return fitted.penalised and fitted.problem.classes == 2 and n * p**3 <= MOST_WORK

    def end(self, j: int, side: float, z: float) -> float | None:
        """The end of the interval on one side (+1 or -1), where the likelihood is lower by z^2/2; None if not found."""
        a, level = self.to_given[j], self.top.point.penalised - 0.5 * z * z
        at = self.top
        for _ in range(FEW):
            reach = self._reach(at, a)
            squared = 2.0 * (at.point.penalised - level) + float(at.score @ at.inverse @ at.score)
            if not (reach > 0 and squared >= 0):
                return None
            m = -side * float(np.sqrt(squared / reach))
            rest = at.score - m * a
            step = at.inverse @ rest
            if abs(at.point.penalised - level) <= 1e-10 and abs(float(rest @ step)) <= 1e-12:
                found = float(a @ at.point.b)
                return found if side * (found - float(a @ self.top.point.b)) > 0 else None
            moved = self._moved(at, step)
            if moved is None:
                return None
            at = moved
        return None

    def value(self, j: int, v: float) -> float | None:
        """The greatest penalised likelihood with coefficient j at v; None if not found."""
        a, at = self.to_given[j], self.top
        for _ in range(FEW):
            reach = self._reach(at, a)
            if not reach > 0:
                return None
            away = v - float(a @ at.point.b)
            m = (float(a @ at.inverse @ at.score) - away) / reach
            rest = at.score - m * a
            step = at.inverse @ rest
            if abs(away) <= 1e-12 * (abs(v) + np.sqrt(reach)) and abs(float(rest @ step)) <= 1e-12:
                return at.point.penalised + self.logdet
            moved = self._moved(at, step)
            if moved is None:
                return None
            at = moved
        return None

    @staticmethod
    def _reach(at: _Local, a: Floats) -> float:
        return float(a @ at.inverse @ a)

    def _moved(self, at: _Local, step: Floats) -> _Local | None:
        size = self.likelihood.change(step)
        if not np.isfinite(size):
            return None
        return self._local(at.point.b + min(1.0, LONGEST / max(size, 1e-300)) * step)

    def _local(self, b: Floats) -> _Local:
        point = self.likelihood.at(b)
        root = np.asarray(np.linalg.inv(np.linalg.cholesky(point.information)))
        score = self.likelihood.score(point, root)
        A = self._curvature(point, root)
        try:
            np.linalg.cholesky(A)
            inverse = np.asarray(np.linalg.inv(A))
        except np.linalg.LinAlgError:  # not a maximum in all directions: the model of the likelihood alone
            inverse = root.T @ root
        return _Local(point, score, inverse)

    def _curvature(self, point: PenalisedPoint, root: Floats) -> Floats:
        """A of the module; T in chunks of rows."""
        assert point.rows is not None
        X, w = self.likelihood.lifted, point.rows.curvature  # c p (1 - p)
        Z = X @ root.T
        g = (Z * Z).sum(axis=1)
        felt = w * g > FELT
        slope = ((w * (2.0 * point.rows.wrong - 1.0) * self.likelihood.loss.y)[:, None] * X)[felt]
        Z = Z[felt]
        n, width = slope.shape
        if n <= width**2:
            twice = slope.T @ (np.square(Z @ Z.T) @ slope)
        else:
            T, rows = np.zeros((width**2, width)), max(1, CHUNK // width**2)
            for begin in range(0, n, rows):
                z = Z[begin : begin + rows]
                T += (z[:, :, None] * z[:, None, :]).reshape(len(z), -1).T @ slope[begin : begin + rows]
            twice = T.T @ T
        bend = w * (1.0 - 6.0 * w / self.likelihood.c) * g
        return np.asarray(point.information - 0.5 * X.T @ (bend[:, None] * X) + 0.5 * twice)
