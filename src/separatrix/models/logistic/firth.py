"""Firth's bias reduction: maximise  l(b) + log|I(b)|/2, which is finite whatever the separation (Firth 1993).

For K classes with the first as baseline, b = (b_1, ..., b_K-1) and I = sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i'.
The derivative of log|I|/2 adds to the residual 1[y_i = k] - p_ik of each row

    a_ik = p_ik/2 (M_kk - 2 (M p)_k - sum_l M_ll p_l + 2 p'M p),   M_kl = x_i' [I^-1]_kl x_i,

from the third cumulants of one draw; for two classes that is h_i (1/2 - p_i) with the leverage h_i
(Heinze and Schemper 2002; Bull, Mak and Greenwood 2002). Steps are I^-1 times the adjusted score, corrected by
the pairs of earlier steps, limited in length and halved until they gain. The function may have several maxima, and
a long step may cross from one to another: searches start at zero and at a second point and, where these
differ, at points along a path of ridge fits; the highest maximum wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.logistic.binary_loss import EPS
from separatrix.models.logistic.multinomial_loss import class_information, softmax
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult
from separatrix.models.logistic.quasi_newton import StepPairs
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

LONGEST = 1.0  # the root mean square change of the scores by one step
APART = 1e-4  # two maxima differ by more than this, measured in the same way


@dataclass(frozen=True, slots=True)
class PenalisedPoint:
    """Coefficients with the likelihood there, its penalised version, the information and all probabilities."""

    b: Floats
    loglik: float
    penalised: float
    information: Floats
    P: Floats


class FirthLikelihood:
    """The penalised likelihood on ``lifted`` rows of full column rank (n, p)."""

    def __init__(self, problem: LogisticProblem, lifted: Floats) -> None:
        self.problem, self.lifted, self.free = problem, lifted, problem.classes - 1
        self.own, self.offset, self.c = (np.arange(problem.n), problem.codes), problem.class_offset, problem.counts

    def at(self, b: Floats) -> PenalisedPoint:
        n, p = self.lifted.shape
        scores = np.column_stack([np.zeros(n), self.lifted @ b.reshape(self.free, p).T])
        P, loss = softmax(scores if self.offset is None else scores + self.offset, self.own)
        information = class_information(self.lifted, P[:, 1:], self.problem.weights)
        sign, logdet = np.linalg.slogdet(information)
        loglik = -float(np.sum(self.c * loss))
        return PenalisedPoint(b, loglik, loglik + 0.5 * float(logdet) if sign > 0 else -np.inf, information, P)

    def change(self, step: Floats) -> float:
        """The root mean square change of the scores by a step."""
        moved = self.lifted @ step.reshape(self.free, -1).T
        return float(np.sqrt(np.square(moved).sum() / len(moved)))

    def score(self, P: Floats, inverse: Floats) -> Floats:
        """The adjusted score, of the length of b."""
        n, p = self.lifted.shape
        q = P[:, 1:]
        M = np.empty((n, self.free, self.free))
        for k in range(self.free):
            for m in range(k + 1):
                block = inverse[k * p : (k + 1) * p, m * p : (m + 1) * p]
                M[:, k, m] = M[:, m, k] = np.einsum("ij,ij->i", self.lifted @ block, self.lifted)
        Mp = np.einsum("ikl,il->ik", M, q)
        diagonal = np.einsum("ikk->ik", M)
        inner = (diagonal * q).sum(axis=1) - 2.0 * (Mp * q).sum(axis=1)
        adjust = 0.5 * q * (diagonal - 2.0 * Mp - inner[:, None])
        R = self.c[:, None] * (truth(self.problem) - q + adjust)
        return np.asarray((R.T @ self.lifted).reshape(-1))


def truth(problem: LogisticProblem) -> Floats:
    """1[y_i = k] for the classes but the first."""
    return np.asarray(problem.codes[:, None] == np.arange(1, problem.classes), dtype=np.float64)


@dataclass(slots=True)
class FirthState:
    """A point, the decrement of the step before if that was near, the last point with its slope, and the next step."""

    point: PenalisedPoint
    before: float = np.inf
    last: tuple[Floats, Floats] | None = None
    slope: Floats = field(default_factory=lambda: np.zeros(0))
    step: Floats = field(default_factory=lambda: np.zeros(0))
    decrement: float = np.inf

    @property
    def scale(self) -> float:
        return max(abs(self.point.penalised), abs(self.point.loglik), 1.0)

    @property
    def near(self) -> bool:
        return abs(self.decrement) <= 64 * EPS * self.scale


@dataclass(frozen=True, slots=True)
class FirthSearch:
    """Quasi-Newton steps in the ``free`` coefficients; the determinant is of all."""

    likelihood: FirthLikelihood
    free: NDArray[np.bool_]
    pairs: StepPairs

    def terminate(self, state: FirthState) -> Status | None:
        point, free = state.point, self.free
        try:
            inverse = np.asarray(np.linalg.inv(point.information), dtype=np.float64)
            own = np.linalg.inv(point.information[np.ix_(free, free)])
        except np.linalg.LinAlgError:  # all rows are certain: an offset, or vectors, of hundreds
            return Status.NONFINITE
        state.slope = -self.likelihood.score(point.P, inverse)[free]
        if state.last is not None:
            self.pairs.learn((point.b - state.last[0])[free], state.slope - state.last[1])
        state.step = self.pairs.correct(state.slope, own.__matmul__)
        state.decrement = 0.5 * float(state.slope @ state.step)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        return Status.OPTIMAL if state.near and abs(state.decrement) >= 0.25 * state.before else None

    def step(self, state: FirthState) -> FirthState | None:
        point, near = state.point, state.near
        whole = np.zeros(len(self.free))
        whole[self.free] = state.step
        share = 1.0 if near else min(1.0, LONGEST / max(self.likelihood.change(whole), EPS))
        least = 2.0**-30 * share
        while share >= least:
            moved = point.b.copy()
            moved[self.free] -= share * state.step
            ahead = self.likelihood.at(moved)
            enough = point.penalised + 1e-4 * share * state.decrement - 8 * EPS * state.scale
            if near or ahead.penalised >= enough:
                before = abs(state.decrement) if near else np.inf
                return FirthState(ahead, before, (point.b, state.slope))
            share *= 0.5
        return None


def firth(
    likelihood: FirthLikelihood, max_iter: float, start: Floats, fixed: NDArray[np.bool_] | None = None
) -> Driven[FirthState]:
    """Maximise from ``start``; coefficients marked in ``fixed`` stay where they are."""
    free = np.ones(len(start), dtype=bool) if fixed is None else ~fixed
    solver = FirthSearch(likelihood, free, StepPairs())
    return drive(solver, FirthState(likelihood.at(start)), max_steps=max_iter)


def orthonormal(lifted: Floats) -> tuple[Floats, Floats]:
    """Columns q with mean square 1 and no correlation, and R with rows x = R'q.

    Firth's estimate moves with the basis, rounding does not: vectors are b = R^-1 b_q.
    """
    scale, length = np.linalg.norm(lifted, axis=0), np.sqrt(len(lifted))
    Q, R = np.linalg.qr(lifted / scale)
    return Q * length, R * scale / length


def logdet_of(R: Floats, classes: int) -> float:
    """log|I|/2 in the given columns minus that in orthonormal ones."""
    return (classes - 1) * float(np.log(np.abs(np.diagonal(R))).sum())


def firth_estimate(
    problem: LogisticProblem,
    max_iter: float,
    starts: Sequence[Floats | None] = (None,),
    more: Callable[[], Sequence[Floats | None]] | None = None,
) -> LogisticResult:
    """The highest maximum that searches on orthonormal columns reach; vectors (K - 1, p) against the first class.

    A search is made from each of the ``starts`` (vectors, or None for zero). One that does not end at a maximum of its
    own adds nothing, unless none does. Where they end at different maxima, ``more`` gives further starts.
    """
    with one_blas_thread():
        return _firth_estimate(problem, max_iter, starts, more)


def _firth_estimate(
    problem: LogisticProblem,
    max_iter: float,
    starts: Sequence[Floats | None],
    more: Callable[[], Sequence[Floats | None]] | None,
) -> LogisticResult:
    Q, R = orthonormal(problem.lifted())
    likelihood, free = FirthLikelihood(problem, Q), problem.classes - 1
    runs, maxima = list[Driven[FirthState]](), list[Driven[FirthState]]()
    waiting = list(starts)
    while waiting:
        start = waiting.pop(0)
        b = np.zeros(free * R.shape[1]) if start is None else (start @ R.T).reshape(-1)
        run = firth(likelihood, max_iter, b)
        runs.append(run)
        if run.status is Status.INTERRUPTED:
            break
        others = [m.state.point.b for m in maxima]
        if run.status is Status.OPTIMAL and all(np.linalg.norm(b - run.state.point.b) > APART for b in others):
            maxima.append(run)
        if not waiting and len(maxima) > 1 and more is not None:
            waiting, more = list(more()), None
    best = max(maxima, key=lambda run: run.state.point.penalised) if maxima else runs[0]
    logdet, point = logdet_of(R, problem.classes), best.state.point
    return LogisticResult(
        np.asarray(np.linalg.solve(R, point.b.reshape(free, -1).T).T, dtype=np.float64),
        runs[-1].status if runs[-1].status is Status.INTERRUPTED else best.status,
        best.steps if best is runs[0] and len(maxima) <= 1 else sum(run.steps for run in runs),
        -point.loglik,
        maxima=tuple(sorted((run.state.point.penalised + logdet for run in maxima or [best]), reverse=True)),
    )


def likelihood_intercepts(scores: Floats, codes: NDArray[np.intp], weights: Floats | None) -> Floats:
    """What to add to the scores (n, K) so that fitted probabilities add up to the class counts (FLIC).

    The maximum-likelihood intercepts at fixed other coefficients (Puhr, Heinze, Nold, Lusa and Geroldinger 2017).
    """
    nothing = np.zeros(scores.shape[1])
    return fitted_intercepts(scores, codes, weights, nothing, nothing)[0]


def fitted_intercepts(
    scores: Floats, codes: NDArray[np.intp], weights: Floats | None, start: Floats, other: Floats
) -> tuple[Floats, Floats, Floats]:
    """The most likely intercepts at fixed scores (n, K) besides, with the probabilities and losses of the rows.

    The search begins at ``start``, or at ``other`` where that is better and the first is far off.
    """
    own = np.arange(len(scores)), np.asarray(codes, dtype=np.intp)
    c = np.ones(len(scores)) if weights is None else weights
    counts = np.bincount(codes, weights=c, minlength=scores.shape[1])
    at, (P, loss) = start.copy(), softmax(scores + start, own)
    for k in range(100):
        g, H, bend = counts - c @ P, -(P * c[:, None]).T @ P, c @ (P * (1.0 - P))
        if k == 0 and (np.abs(g) > 2.0 * bend).any():
            P, elsewhere = softmax(scores + other, own)
            if c @ elsewhere < c @ loss:
                at, loss = other.copy(), elsewhere
                continue
            P, loss = softmax(scores + start, own)
        H[np.diag_indices(len(H))] = bend
        step = np.linalg.solve(H[1:, 1:], g[1:])
        size = float(np.abs(step).max())
        at[1:] += step / max(1.0, size)
        P, loss = softmax(scores + at, own)
        if size < 1e-8:  # the error that is left is about its square
            break
    return at, P, loss
