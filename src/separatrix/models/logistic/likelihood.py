"""A fitted likelihood with its rows: information, scores, what it is compared with, and the influence of each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.firth import FirthLikelihood, firth, firth_estimate, likelihood_intercepts, truth
from separatrix.models.logistic.multinomial_loss import class_information, softmax
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.numerics.status import raise_interruption

STEPS = 1000
CERTAIN = 1e-10  # a loss below which all rows count as certain


@dataclass(frozen=True)
class FittedLikelihood:
    """``estimate`` (K - 1, p) against the first class, on the lifted rows; ``penalised`` for Firth's.

    Where no maximum exists, ``fates`` says of each coefficient what it does on the way to the supremum:
    "finite", "+inf", "-inf" or "undetermined"; the estimate is then far along that way.
    """

    problem: LogisticProblem
    estimate: Floats
    penalised: bool
    fates: tuple[str, ...] | None = None

    @cached_property
    def lifted(self) -> Floats:
        return self.problem.lifted()

    @cached_property
    def counts(self) -> Floats:
        return self.problem.counts

    @cached_property
    def offset(self) -> Floats | None:
        return self.problem.class_offset

    @property
    def _own(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.arange(self.problem.n), self.problem.codes

    @cached_property
    def _at(self) -> tuple[Floats, float]:
        scores = np.column_stack([np.zeros(self.problem.n), self.lifted @ self.estimate.T])
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
            inner = np.linalg.inv(class_information(Q, self.probabilities[:, 1:], self.problem.weights))
        except np.linalg.LinAlgError:  # on the way to infinity nothing is left of it
            return np.full((self.estimate.size, self.estimate.size), np.nan)
        back = np.kron(np.eye(self.problem.classes - 1), np.linalg.inv(R) / scale[:, None])
        return np.asarray(back @ inner @ back.T)

    @property
    def residuals(self) -> Floats:
        """y - p against the first class."""
        return truth(self.problem) - self.probabilities[:, 1:]

    @cached_property
    def scores(self) -> Floats:
        """The derivative of each row's log-likelihood, without its weight."""
        R = self.residuals
        return np.asarray((R[:, :, None] * self.lifted[:, None, :]).reshape(self.problem.n, -1))

    def robust(self, groups: NDArray[np.intp] | None, frequencies: bool) -> Floats:
        """The sandwich of White (1982); with groups, scores are added up within each (Liang and Zeger 1986)."""
        n, k = float(self.counts.sum()) if frequencies else float(self.problem.n), self.estimate.size
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
        base = np.zeros((self.problem.n, self.problem.classes)) if self.offset is None else self.offset
        shift = likelihood_intercepts(base, self.problem.codes, self.problem.weights) if self.problem.lift else 0.0
        return -float(self.counts @ softmax(base + shift, self._own)[1])

    @cached_property
    def null_penalised(self) -> float:
        """The penalised likelihood with all slopes at zero, the determinant being that of the whole model."""
        likelihood, zero = FirthLikelihood(self.problem, self.lifted), np.zeros(self.estimate.size)
        if not self.problem.lift:
            return likelihood.at(zero).penalised
        slopes = np.tile(np.arange(self.lifted.shape[1]) < self.problem.d, self.problem.classes - 1)
        run = firth(likelihood, STEPS, zero, slopes)
        raise_interruption(run.status)
        return run.state.point.penalised

    @cached_property
    def maximum(self) -> float:
        """What profiles are compared with."""
        if not self.penalised:
            return self.loglik
        result = firth_estimate(self.problem, STEPS, [self.estimate])
        raise_interruption(result.status)
        return result.maxima[0]


def on_the_way(problem: LogisticProblem, estimate: Floats) -> Floats:
    """Coefficients (K - 1, p) of separated classes against the first, where the likelihood is at its supremum.

    Those that are finite have then reached their limits, since what is left of the others falls like e^-k.
    """
    loss = problem.loss()
    start = estimate if problem.lift else np.column_stack([estimate, np.zeros(len(estimate))])
    start = start if problem.classes == 2 else np.vstack([np.zeros(start.shape[1]), start])
    run = newton(loss, loss.point(start.reshape(-1)), STEPS, 1e-15, floor=CERTAIN)
    raise_interruption(run.status)
    return np.ascontiguousarray(problem.against_first(run.state.point.at.reshape(start.shape)))


def against_the_last(problem: LogisticProblem, vectors: Floats) -> tuple[LogisticProblem, Floats]:
    """The same rows with the last class put first, and the vectors of the others against it."""
    codes = (problem.codes + 1) % problem.classes
    offset = None if problem.offset is None else np.ascontiguousarray(np.roll(problem.offset, 1, axis=1))
    return replace(problem, codes=codes, offset=offset), vectors[:-1] - vectors[-1]


@dataclass(frozen=True, slots=True)
class LogisticInfluence:
    """How much each row says: leverage, residuals, and the change of the estimate without it.

    ``dfbeta`` (n, coefficients) and ``cooks`` are one step of Newton's method without the row (Pregibon 1981;
    Lesaffre and Albert 1989 for more than two classes). Residuals of two classes have the sign of y - p; of
    more they are lengths, and leverages are traces, so that they add up to the number of coefficients.
    """

    leverage: Floats
    pearson: Floats
    deviance: Floats
    dfbeta: Floats
    cooks: Floats


def influence_of(fitted: FittedLikelihood) -> LogisticInfluence:
    """The influence of each row; coefficients in the order of the summary.

    With r = y - p against the first class, W = diag(p) - p p', V the covariance and M_kl = x'V_kl x of a row of
    weight c, its deletion moves the estimate by  V (I (x) x) (1 - c W M)^-1 c r.
    """
    free, p = fitted.estimate.shape
    n, c, L = fitted.problem.n, fitted.counts, fitted.lifted
    P = fitted.probabilities[:, 1:]
    V = fitted.covariance.reshape(free, p, free, p)
    own = fitted.probabilities[np.arange(n), fitted.problem.codes]
    r = fitted.residuals
    W = np.einsum("ik,kl->ikl", P, np.eye(free)) - P[:, :, None] * P[:, None, :]
    left = np.einsum("ij,kjlm->iklm", L, V, optimize=True)  # x'V_kl of each row
    M = np.einsum("iklm,im->ikl", left, L, optimize=True)
    hat = c[:, None, None] * (W @ M)
    solved = np.linalg.solve(np.eye(free) - hat, (c[:, None] * r)[:, :, None])[:, :, 0]
    dfbeta = np.einsum("iklm,ik->ilm", left, solved, optimize=True).reshape(n, -1)
    cooks = np.einsum("ik,ikl,il->i", solved, M, solved, optimize=True) / fitted.estimate.size
    # W^-1 r = (1[y = k]/p_k - 1[y = 0]/p_0) over the classes but the first, so that r'W^-1 r = 1/p_y - 1
    size = np.sqrt(c * (1.0 - own) / own)
    deviance = np.sqrt(-2.0 * c * np.log(own))
    sign = np.where(fitted.problem.codes == 1, 1.0, -1.0) if free == 1 else np.ones(n)
    return LogisticInfluence(np.einsum("ikk->i", hat), sign * size, sign * deviance, dfbeta, cooks)
