"""A fitted likelihood with its rows: information, scores, what it is compared with, and the influence of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import InferenceError
from separatrix.losses.information import class_information, weighted_gram
from separatrix.losses.logistic import dense
from separatrix.models.logistic.firth import firth, firth_estimate, likelihood_intercepts
from separatrix.models.logistic.firth_likelihood import FirthLikelihood, logdet_of, orthonormal, truth
from separatrix.models.logistic.grouped import GroupedOutcomes
from separatrix.models.logistic.probabilities import softmax
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.numerics.gram_matrix import first_pivots, independent_columns
from separatrix.numerics.status import raise_interruption
from separatrix.solvers.newton import newton
from separatrix.statistics.sandwich import cluster_codes, cluster_meat, lagged_meat, need_lags

STEPS = 1000
ENOUGH = 1e5  # squared condition up to which moments give standard errors to ten digits
CERTAIN = 1e-10  # a loss below which all rows count as certain


@dataclass(frozen=True)
class FittedLikelihood:
    """``estimate`` (K - 1, p) against the first class, on the lifted rows; ``penalised`` for Firth's.

    Where no maximum exists, ``fates`` says of each coefficient what it does on the way to the supremum:
    "finite", "+inf", "-inf" or "undetermined"; the estimate is then far along that way. ``aliased`` are columns that
    were left out of the problem, since they are linear combinations of the intercept and columns before them. With
    ``added`` the problem has pseudo-rows, and the column before the intercept is one that tells them apart.
    """

    problem: LogisticProblem
    estimate: Floats
    penalised: bool
    fates: tuple[str, ...] | None = None
    aliased: tuple[int, ...] = ()
    added: bool = False

    @property
    def shown(self) -> NDArray[np.intp]:
        """The coefficients that a summary has: all but that of an added column."""
        own = np.arange(self.estimate.size)
        return np.delete(own, -2) if self.added else own

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
        """The inverse of the information: from moments, or where digits would be lost from orthogonal factors."""
        problem, free = self.problem, self.problem.classes - 1
        if free == 1:
            p = self.probabilities[:, 1]
            gram = weighted_gram(problem.X, self.counts * p * (1.0 - p), problem.lift)
            if gram.squared_condition <= ENOUGH:
                root = gram.basis().root()
                root = root if problem.lift else root[:-1]
                return np.asarray(root @ root.T)
        scale = np.linalg.norm(self.lifted, axis=0)
        Q, R = np.linalg.qr(self.lifted / scale)
        try:
            inner = np.linalg.inv(class_information(Q, self.probabilities.T[1:], problem.weights))
        except np.linalg.LinAlgError:  # on the way to infinity nothing is left of it
            return np.full((self.estimate.size, self.estimate.size), np.nan)
        back = np.kron(np.eye(free), np.linalg.inv(R) / scale[:, None])
        return np.asarray(back @ inner @ back.T)

    @cached_property
    def own_constant(self) -> bool:
        """Whether the columns contain a constant, where no intercept was asked for."""
        problem = self.problem
        if problem.lift:
            return False
        return bool(len(independent_columns(problem.X, problem.weights, True).others))

    @property
    def residuals(self) -> Floats:
        """y - p against the first class."""
        return truth(self.problem) - self.probabilities[:, 1:]

    @cached_property
    def scores(self) -> Floats:
        """The derivative of each row's log-likelihood, without its weight."""
        R = self.residuals
        return np.asarray((R[:, :, None] * self.lifted[:, None, :]).reshape(self.problem.n, -1))

    def sandwich(
        self,
        kind: str,
        groups: Any,
        lags: int | None,
        frequencies: bool,
        grouped: GroupedOutcomes | None = None,
    ) -> Floats:
        """The sandwich of White (1982) and its relatives: HC0 to HC3, "cluster" by ``groups``, "HAC" over ``lags``.

        HC1 has the factor n/(n - k); HC2 and HC3 divide the squared residual by 1 - h or its square, h the leverage. Of
        grouped outcomes the units are the rows that were given, not single trials.
        """
        if grouped is not None:
            return self._grouped_sandwich(kind, groups, lags, grouped)
        n, k = float(self.counts.sum()) if frequencies else float(self.problem.n), self.estimate.size
        V, c = self.covariance, self.counts
        if kind == "cluster":
            codes = cluster_codes(groups, self.problem.n, None)
            meat, count = cluster_meat(c[:, None] * self.scores, codes)
            return np.asarray(count / (count - 1) * (n - 1) / (n - k) * V @ meat @ V)
        if kind == "HAC":
            return np.asarray(V @ lagged_meat(c[:, None] * self.scores, need_lags(lags, self.problem.n)) @ V)
        factor = c if frequencies else c**2
        if kind in ("HC2", "HC3"):
            if self.estimate.shape[0] > 1:
                raise InferenceError(f"{kind} is for two classes: use 'HC0' or 'HC1' for more.")
            p = self.probabilities[:, 1]
            h = p * (1.0 - p) * np.einsum("ij,jk,ik->i", self.lifted, V, self.lifted, optimize=True)
            left = 1.0 - (h if frequencies else c * h)
            factor = factor / (left if kind == "HC2" else left**2)
        meat = self.scores.T @ (factor[:, None] * self.scores)
        return np.asarray((n / (n - k) if kind == "HC1" else 1.0) * V @ meat @ V)

    def _grouped_sandwich(self, kind: str, groups: Any, lags: int | None, grouped: GroupedOutcomes) -> Floats:
        V, k, used = self.covariance, self.estimate.size, grouped.trials > 0
        scores, n = grouped.total(self.counts[:, None] * self.scores)[used], grouped.n
        if kind == "cluster":
            meat, count = cluster_meat(scores, cluster_codes(groups, len(used), used))
            return np.asarray(count / (count - 1) * (n - 1) / (n - k) * V @ meat @ V)
        if kind == "HAC":
            return np.asarray(V @ lagged_meat(scores, need_lags(lags, n)) @ V)
        if kind in ("HC2", "HC3"):
            p = self.probabilities[:, 1]
            h = self.counts * p * (1.0 - p) * np.einsum("ij,jk,ik->i", self.lifted, V, self.lifted, optimize=True)
            scores = scores / ((1.0 - grouped.total(h)[used]) ** (0.5 if kind == "HC2" else 1.0))[:, None]
        return np.asarray((n / (n - k) if kind == "HC1" else 1.0) * V @ (scores.T @ scores) @ V)

    @cached_property
    def null_loglik(self) -> float:
        """The log-likelihood of a constant alone, which the columns may contain (of no parameter, without any)."""
        return self._loglik_of_constant(self.problem.lift or self.own_constant)

    def _loglik_of_constant(self, constant: bool) -> float:
        problem = self.problem
        if self.offset is None:
            counts = np.bincount(problem.codes, weights=problem.weights, minlength=problem.classes)
            shares = counts / counts.sum() if constant else np.full(len(counts), 1.0 / len(counts))
            return float(counts @ np.log(shares))
        shift = likelihood_intercepts(self.offset, problem.codes, problem.weights) if constant else 0.0
        return -float(self.counts @ softmax(self.offset + shift, self._own)[1])

    @property
    def null_maximum(self) -> float:
        """What the maximum is compared with: all slopes at zero, an added column kept."""
        if self.added:
            return self.loglik_without(np.arange(self.estimate.size) < self.problem.d - 1)
        return self.null_penalised if self.penalised else self.null_loglik

    @cached_property
    def null_penalised(self) -> float:
        """The penalised likelihood with all slopes at zero, the determinant being that of the whole model."""
        lifted, change = self.lifted, 0.0
        free = int(lifted.shape[1] - 1) if self.problem.lift else None
        if self.own_constant:  # in the place of one of the columns; the others still span the same with it
            own, *_ = np.linalg.lstsq(lifted, np.ones(len(lifted)), rcond=None)
            free = int(np.abs(own * np.linalg.norm(lifted, axis=0)).argmax())
            lifted, change = lifted.copy(), (self.problem.classes - 1) * float(np.log(abs(own[free])))
            lifted[:, free] = 1.0
        return self.penalised_without(np.arange(lifted.shape[1]) != free, lifted) - change

    def penalised_without(self, held: NDArray[np.bool_], lifted: Floats | None = None) -> float:
        """The penalised likelihood with the coefficients of ``held`` columns at zero, of all classes."""
        lifted = self.lifted if lifted is None else lifted
        order = np.argsort(held, kind="stable")
        Q, R = orthonormal(lifted[:, order])
        fixed = np.tile(held[order], self.problem.classes - 1)
        run = firth(FirthLikelihood(self.problem, Q), STEPS, np.zeros(self.estimate.size), fixed)
        raise_interruption(run.status)
        return run.state.point.penalised + logdet_of(R, self.problem.classes)

    def loglik_without(self, held: NDArray[np.bool_]) -> float:
        """The greatest likelihood with the coefficients of ``held`` columns at zero, of all classes."""
        d = self.problem.d
        if held[:d].all():  # a constant that the columns contained is gone with them
            return self._loglik_of_constant(self.problem.lift)
        part = self.problem.columns(np.flatnonzero(~held[:d]))
        loss = part.objective()
        run = newton(loss, loss.zero(), STEPS)
        raise_interruption(run.status)
        return -float(run.state.point.value)

    @cached_property
    def maximum(self) -> float:
        """What profiles are compared with."""
        if not self.penalised:
            return self.loglik
        result = firth_estimate(self.problem, STEPS, [self.estimate])
        raise_interruption(result.status)
        return result.maxima[0]


def without_aliased(problem: LogisticProblem, against: Floats, penalised: bool) -> FittedLikelihood:
    """The fit with the coefficients that it has without its aliased columns; the scores are the same."""
    lifted = problem.lifted()
    kept = first_independent(problem)
    part = lifted[:, [*kept, *([lifted.shape[1] - 1] if problem.lift else [])]]
    scale = np.linalg.norm(part, axis=0)
    found, *_ = np.linalg.lstsq(part / scale, lifted @ against.T, rcond=None)
    aliased = tuple(np.setdiff1d(np.arange(problem.d), kept).tolist())
    return FittedLikelihood(problem.columns(kept), (found / scale[:, None]).T, penalised, None, aliased)


def first_independent(problem: LogisticProblem) -> NDArray[np.intp]:
    """The columns that are not linear combinations of the intercept and columns before them."""
    gram = weighted_gram(problem.X, problem.counts, problem.lift)
    flat = np.sqrt(np.diagonal(gram.A)[: problem.d]) <= 1e-14 * np.sqrt(gram.weight) * np.abs(gram.x_mean[: problem.d])
    scaled = np.where(flat[:, None] | flat, 0.0, gram.scaled[: problem.d, : problem.d])
    return first_pivots(scaled, len(independent_columns(problem.X, problem.weights, problem.lift).kept))


def on_the_way(problem: LogisticProblem, estimate: Floats) -> Floats:
    """Coefficients (K - 1, p) of separated classes against the first, where the likelihood is at its supremum.

    Those that are finite have then reached their limits, since what is left of the others falls like e^-k.
    """
    loss = problem.objective()
    start = estimate if problem.lift else np.column_stack([estimate, np.zeros(len(estimate))])
    start = start if problem.classes == 2 else np.vstack([np.zeros(start.shape[1]), start])
    run = newton(loss, loss.point(problem.parameters_of(start)), STEPS, 1e-15, floor=CERTAIN)
    raise_interruption(run.status)
    return np.ascontiguousarray(problem.against_first(problem.vectors_of(run.state.point.at)))


def against_the_last(problem: LogisticProblem, vectors: Floats) -> tuple[LogisticProblem, Floats]:
    """The same rows with the last class put first, and the vectors of the others against it."""
    codes = (problem.codes + 1) % problem.classes
    offset = None if problem.offset is None else np.ascontiguousarray(np.roll(problem.offset, 1, axis=1))
    return problem.changed(codes=codes, offset=offset), vectors[:-1] - vectors[-1]


# -- FLAC: Firth's estimate with an added covariate, whose fitted probabilities add up to the class counts --
#
# Firth's score for two classes is that of maximum likelihood on three copies of the rows: as they are, and twice with
# weight h_i/2, once with each outcome, h the leverages at the estimate. FLAC tells the copies apart by a column that is
# 1 in the pseudo-rows, and is the maximum of that likelihood (Puhr, Heinze, Nold, Lusa and Geroldinger 2017). Each row
# has both outcomes, so that the maximum exists.


def leverages(problem: LogisticProblem, against: Floats) -> Floats:
    """h_i = w_i x'I^-1 x of one copy of each row, at coefficients (1, p)."""
    fitted = FittedLikelihood(problem, against, True)
    p = fitted.probabilities[:, 1]
    return np.asarray(p * (1.0 - p) * np.einsum("ij,jk,ik->i", fitted.lifted, fitted.covariance, fitted.lifted))


def with_pseudo_rows(problem: LogisticProblem, h: Floats) -> LogisticProblem:
    """The rows, and for each two pseudo-rows with both outcomes; the last column tells them apart."""
    n, X, c = problem.n, dense(problem.X), problem.counts
    column = np.repeat([0.0, 1.0], [n, 2 * n])
    codes = np.concatenate([problem.codes, problem.codes, 1 - problem.codes]).astype(np.intp)
    weights = np.concatenate([c, 0.5 * c * h, 0.5 * c * h])
    offset = None if problem.offset is None else np.tile(problem.offset, 3)
    rows = np.ascontiguousarray(np.column_stack([np.tile(X, (3, 1)), column]))
    return problem.changed(X=rows, codes=codes, weights=weights, offset=offset)


def added_likelihood(problem: LogisticProblem, against: Floats, h: Floats) -> FittedLikelihood:
    """The maximum with the pseudo-rows, searched from coefficients (1, d + 1) of the rows."""
    whole = with_pseudo_rows(problem, h)
    loss = whole.objective()
    start = np.concatenate([against[0, :-1], [0.0], against[0, -1:]])
    run = newton(loss, loss.point(start), STEPS)
    raise_interruption(run.status)
    return FittedLikelihood(whole, run.state.point.at.reshape(1, -1), False, added=True)


def flac(problem: LogisticProblem, firth: Floats) -> tuple[Floats, Floats]:
    """Coefficients (1, p) without that of the added column, and the leverages at Firth's estimate."""
    h = leverages(problem, firth)
    return np.delete(added_likelihood(problem, firth, h).estimate, -2, axis=1), h
