"""A fitted likelihood with its rows: information, scores, and profiles of single coefficients.

The profile of b_j at v is the greatest likelihood (for Firth's estimate the greatest penalised one) with
b_j = v. An interval holds the v whose profile is within z^2/2 of the maximum, z the normal quantile
(Venzon and Moolgavkar 1988; Heinze and Schemper 2002 for the penalised one). Where the profile never falls so
far on one side, the interval has no end there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separatrix.learners.logistic_task import Task
from separatrix.maths.firth import FirthLikelihood, firth, firth_in_basis, likelihood_intercepts
from separatrix.maths.logistic import Binary, class_information, softmax
from separatrix.maths.newton import newton

Floats = NDArray[np.float64]
FARTHEST = 40  # doublings of a step after which a side of an interval counts as open
STEPS = 1000


@dataclass(frozen=True)
class FittedLikelihood:
    """``estimate`` (K - 1, p) against the first class, on the lifted rows; ``penalised`` for Firth's."""

    task: Task
    estimate: Floats
    penalised: bool

    @cached_property
    def lifted(self) -> Floats:
        return self.task.lifted()

    @cached_property
    def counts(self) -> Floats:
        return np.ones(self.task.n) if self.task.weights is None else self.task.weights

    @cached_property
    def offset(self) -> Floats | None:
        o = self.task.offset
        return o if o is None or o.ndim == 2 else np.column_stack([np.zeros(self.task.n), o])

    @property
    def _own(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.arange(self.task.n), self.task.codes

    @cached_property
    def _at(self) -> tuple[Floats, float]:
        scores = np.column_stack([np.zeros(self.task.n), self.lifted @ self.estimate.T])
        P, loss = softmax(scores if self.offset is None else scores + self.offset, self._own)
        return P, -float(self.counts @ loss)

    @property
    def loglik(self) -> float:
        return self._at[1]

    @property
    def probabilities(self) -> Floats:
        return self._at[0]

    @cached_property
    def covariance(self) -> Floats:
        """The inverse of the information, by an orthogonal basis of the rows."""
        scale = np.linalg.norm(self.lifted, axis=0)
        Q, R = np.linalg.qr(self.lifted / scale)
        inner = np.linalg.inv(class_information(Q, self.probabilities[:, 1:], self.task.weights))
        back = np.kron(np.eye(self.task.classes - 1), np.linalg.inv(R) / scale[:, None])
        return np.asarray(back @ inner @ back.T)

    @cached_property
    def scores(self) -> Floats:
        """The derivative of each row's log-likelihood, without its weight."""
        R = -self.probabilities[:, 1:]
        has = np.flatnonzero(self.task.codes > 0)
        R[has, self.task.codes[has] - 1] += 1.0
        return np.asarray((R[:, :, None] * self.lifted[:, None, :]).reshape(self.task.n, -1))

    def robust(self, groups: NDArray[np.intp] | None, frequencies: bool) -> Floats:
        """The sandwich of White (1982); with groups, scores are added up within each (Liang and Zeger 1986)."""
        n, k = float(self.counts.sum()) if frequencies else float(self.task.n), self.estimate.size
        if groups is None:
            c = self.counts if frequencies else self.counts**2
            meat = self.scores.T @ (c[:, None] * self.scores)
            return np.asarray(self.covariance @ meat @ self.covariance)
        sums = np.zeros((int(groups.max()) + 1, k))
        np.add.at(sums, groups, self.counts[:, None] * self.scores)
        factor = len(sums) / (len(sums) - 1) * (n - 1) / (n - k)
        return np.asarray(factor * self.covariance @ (sums.T @ sums) @ self.covariance)

    @cached_property
    def null_loglik(self) -> float:
        """The log-likelihood of the model with a bias alone (of no parameter, without a bias)."""
        base = np.zeros((self.task.n, self.task.classes)) if self.offset is None else self.offset
        shift = likelihood_intercepts(base, self.task.codes, self.task.weights) if self.task.lift else 0.0
        return -float(self.counts @ softmax(base + shift, self._own)[1])

    @cached_property
    def null_penalised(self) -> float:
        """The penalised likelihood with all slopes at zero, the determinant being that of the whole model."""
        p = self.lifted.shape[1]
        one = np.arange(p) < self.task.d
        likelihood = self._firth(np.arange(p))
        if not self.task.lift:
            return likelihood.at(np.zeros(self.estimate.size))[1]
        return firth(likelihood, STEPS, None, np.tile(one, self.task.classes - 1)).penalised

    # -- profiles, for two classes ------------------------------------------------------------------

    @cached_property
    def maximum(self) -> float:
        """What profiles are compared with."""
        if not self.penalised:
            return self.loglik
        return firth_in_basis(self._firth(np.arange(self.lifted.shape[1])), STEPS).penalised

    def _firth(self, order: NDArray[np.intp]) -> FirthLikelihood:
        rows = self.lifted[:, order]
        return FirthLikelihood(rows, self.task.codes, self.task.classes, self.task.weights, self.offset)

    def profile(self, j: int) -> Callable[[float], float]:
        """The profile of coefficient j as a function; each call begins where the last one ended."""
        return self._firth_profile(j) if self.penalised else self._likelihood_profile(j)

    def _likelihood_profile(self, j: int) -> Callable[[float], float]:
        others = np.delete(np.arange(self.lifted.shape[1]), j)
        X = np.ascontiguousarray(self.lifted[:, others]) if len(others) else np.zeros((self.task.n, 1))
        y = np.where(self.task.codes == 1, 1, -1).astype(np.int8)
        base = np.zeros(self.task.n) if self.task.offset is None else self.task.offset
        last = [np.append(self.estimate[0, others], 0.0) if len(others) else np.zeros(2)]

        def value(v: float) -> float:
            objective = Binary(X, y, self.task.weights, base + v * self.lifted[:, j], 0.0, False)
            point = objective.point(last[0])
            if len(others):
                point = newton(objective, point, STEPS, 1e-14).point
                last[0] = point.at
            return -point.value

        return value

    def _firth_profile(self, j: int) -> Callable[[float], float]:
        """On orthonormal columns with column j last, where fixing b_j fixes the last coordinate alone."""
        p = self.lifted.shape[1]
        order = np.append(np.delete(np.arange(p), j), j)
        inner = self._firth(order)
        scale = np.linalg.norm(inner.lifted, axis=0)
        Q, R = np.linalg.qr(inner.lifted / scale)
        length = np.sqrt(len(Q))
        R = R * scale / length
        inner.lifted = Q * length
        logdet = float(np.log(np.abs(np.diagonal(R))).sum())
        fixed = np.arange(p) == p - 1
        last = [R @ self.estimate[0, order]]

        def value(v: float) -> float:
            start = last[0].copy()
            start[-1] = R[-1, -1] * v
            found = firth(inner, STEPS, start, fixed)
            last[0] = found.vectors[0]
            return found.penalised + logdet

        return value

    def profile_interval(self, j: int, z: float, error: float) -> tuple[float, float]:
        """Where the profile falls by z^2/2, on both sides; infinite where it does not."""
        at = float(self.estimate[0, j])
        return self._crossing(j, at, -z * error, z), self._crossing(j, at, z * error, z)

    def _crossing(self, j: int, at: float, step: float, z: float) -> float:
        """A root of sqrt(2 (max - profile)) - z beyond ``at``: widened until bracketed, then by false position."""
        profile = self.profile(j)

        def distance(v: float) -> float:
            return float(np.sqrt(max(0.0, 2.0 * (self.maximum - profile(v))))) - z

        near, f_near = at, -z
        far = at + step
        f_far = distance(far)
        doublings = 0
        while f_far <= 0:
            if doublings == FARTHEST:
                return float(np.copysign(np.inf, step))
            near, f_near, far, doublings = far, f_far, at + 2.0 * (far - at), doublings + 1
            f_far = distance(far)
        for _ in range(200):
            v = far - f_far * (far - near) / (f_far - f_near)
            f = distance(v)
            if abs(f) < 1e-10 or abs(far - near) <= 1e-13 * abs(v):
                return v
            if f * f_far < 0:
                near, f_near = far, f_far
            else:
                f_near *= 0.5  # Illinois: the end that stays is drawn nearer
            far, f_far = v, f
        return far
