"""A fitted likelihood with its rows: information, scores, and what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import Point
from separatrix.models.logistic.firth import FirthLikelihood, firth, firth_in_basis, likelihood_intercepts
from separatrix.models.logistic.multinomial_loss import class_information, softmax
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.problem import Task

STEPS = 1000
CERTAIN = 1e-10  # a loss below which all rows count as certain


@dataclass(frozen=True)
class FittedLikelihood:
    """``estimate`` (K - 1, p) against the first class, on the lifted rows; ``penalised`` for Firth's.

    Where no maximum exists, ``fates`` says of each coefficient what it does on the way to the supremum:
    "finite", "+inf", "-inf" or "undetermined"; the estimate is then far along that way.
    """

    task: Task
    estimate: Floats
    penalised: bool
    fates: tuple[str, ...] | None = None

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
        try:
            inner = np.linalg.inv(class_information(Q, self.probabilities[:, 1:], self.task.weights))
        except np.linalg.LinAlgError:  # on the way to infinity nothing is left of it
            return np.full((self.estimate.size, self.estimate.size), np.nan)
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
        likelihood = self.firth_likelihood(np.arange(p))
        if not self.task.lift:
            return likelihood.at(np.zeros(self.estimate.size))[1]
        return firth(likelihood, STEPS, None, np.tile(one, self.task.classes - 1)).penalised

    @cached_property
    def maximum(self) -> float:
        """What profiles are compared with."""
        if not self.penalised:
            return self.loglik
        likelihood = self.firth_likelihood(np.arange(self.lifted.shape[1]))
        return firth_in_basis(likelihood, STEPS, [self.estimate]).penalised

    def firth_likelihood(self, order: NDArray[np.intp]) -> FirthLikelihood:
        """The penalised likelihood on the columns in this order."""
        rows = self.lifted[:, order]
        return FirthLikelihood(rows, self.task.codes, self.task.classes, self.task.weights, self.offset)


def certain(steps: int, point: Point) -> bool:
    """Whether all rows have their own class with a probability that is 1 for most purposes."""
    return point.value < CERTAIN


def on_the_way(task: Task, estimate: Floats) -> Floats:
    """Coefficients (K - 1, p) of separated classes against the first, where the likelihood is at its supremum.

    Those that are finite have then reached their limits, since what is left of the others falls like e^-k.
    """
    objective = task.objective()
    start = estimate if task.lift else np.column_stack([estimate, np.zeros(len(estimate))])
    start = start if task.classes == 2 else np.vstack([np.zeros(start.shape[1]), start])
    begin = objective.point(start.reshape(-1))
    run = newton(objective, begin, STEPS, 1e-15, pause=certain)
    at = run.point.at.reshape(start.shape)
    at = at if task.classes == 2 else at[1:] - at[0]
    return np.ascontiguousarray(at if task.lift else at[:, :-1])


def against_the_last(task: Task, vectors: Floats) -> tuple[Task, Floats]:
    """The same rows with the last class put first, and the vectors of the others against it."""
    codes = (task.codes + 1) % task.classes
    offset = None if task.offset is None else np.ascontiguousarray(np.roll(task.offset, 1, axis=1))
    return replace(task, codes=codes, offset=offset), vectors[:-1] - vectors[-1]
