"""Firth's bias reduction: maximise  l(b) + log|I(b)|/2, which is finite whatever the separation (Firth 1993).

Steps are I^-1 times the adjusted score, corrected by the pairs of earlier steps, limited in length and halved until
they gain. The function may have several maxima, and a long step may cross from one to another: a few searches, from
starts that have little in common, go on until little is left to gain, and where they end at different maxima, further
ones follow. From the highest maximum a last search goes on to the last digits.

Searches of two classes begin on paths of Newton's method to easier maxima. The first is the maximum of
l(b) + sum c_i h_i (log p_i + log(1 - p_i))/2  with the leverages h_i at zero, which is concave and finite: the
likelihood of rows to which h_i/2 successes and failures are added. The second is where Newton's method for l(b) itself
is after a few steps. Searches from the two mostly end at the same maximum; where that path is long, zero is a third
start. Where they end at different ones, columns with rows far out have several scales at which log|I|/2 offsets the
likelihood, and the steps in between, from small coefficients to large ones, lead to the maxima at these scales.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.losses.logistic import EPS
from separatrix.models.logistic.firth_likelihood import FirthLikelihood, PenalisedPoint, RowLoss, logdet_of, orthonormal
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status
from separatrix.solvers.lbfgs import StepPairs

LONGEST = 1.0  # the root mean square change of the scores by one step
APART = 0.1  # two maxima differ by more standard errors than this, along the line through them
SETTLED, PLACED = 0.0, 1e-10  # what is left to gain at an estimate, and where a search for a maximum's place ends
LARGE_SETTLED, LARGE_PLACED = 1e-16, 1e-4  # the same of large tables: 1e-8 standard errors are left
EASY = 5  # points of a path up to which a search from zero waits until the two end at different maxima
STEPS, FEW = 12, 10  # of a path; FEW for large tables
LEFT = 1e-3  # what is still to gain where a path ends
RIDGE = 1e-9  # of the rows: classes may be separated
CANCELLED = 1e-6  # of a sum of probabilities: what is left of it without their squares may be rounding
LARGE = 2**22  # multiplications of one information matrix, from which on a search takes narrow ones, and few starts


@dataclass(slots=True)
class FirthState:
    """A point, steps before it, the decrement of the last if that was near, its point and slope, and the next step."""

    point: PenalisedPoint
    pairs: StepPairs
    before: float = np.inf
    last: tuple[Floats, Floats] | None = None
    slope: Floats = field(default_factory=lambda: np.zeros(0))
    step: Floats = field(default_factory=lambda: np.zeros(0))
    decrement: float = np.inf

    @property
    def scale(self) -> float:
        return max(abs(self.point.penalised), abs(self.point.loglik), 1.0)

    def near(self, likelihood: FirthLikelihood) -> bool:
        """Whether the step promises no more than the penalised likelihood may be wrong by.

        On orthonormal columns, b has a mean square score s. Rows with curvature have scores near 0, so that the
        information along b is 1/s^2 of the rest, and its rounding errors, of the rest, are s^2 units of log|I|.
        """
        limit = 64 * EPS * self.scale
        return abs(self.decrement) <= limit or abs(self.decrement) <= EPS * likelihood.change(self.point.b) ** 2


@dataclass(frozen=True, slots=True)
class FirthSearch:
    """Quasi-Newton steps in the ``free`` coefficients, until at most ``enough`` is left; the determinant is of all."""

    likelihood: FirthLikelihood
    free: NDArray[np.bool_]
    enough: float
    weighed: bool  # whether a step is long by the rows that are not certain: rows far out then allow longer ones

    def terminate(self, state: FirthState) -> Status | None:
        point, free = state.point, self.free
        if point.factor is None:
            return Status.NONFINITE
        root = np.asarray(np.linalg.inv(point.factor))
        own = root if free.all() else np.linalg.inv(np.linalg.cholesky(point.information[np.ix_(free, free)]))
        state.slope = -self.likelihood.score(point, root)[free]
        if state.last is not None:
            state.pairs.learn((point.b - state.last[0])[free], state.slope - state.last[1])
        state.step = state.pairs.correct(state.slope, (own.T @ own).__matmul__)
        state.decrement = 0.5 * float(state.slope @ state.step)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        if 0 <= state.decrement <= self.enough:
            return Status.OPTIMAL
        return Status.OPTIMAL if state.near(self.likelihood) and abs(state.decrement) >= 0.25 * state.before else None

    def step(self, state: FirthState) -> FirthState | None:
        point, near = state.point, state.near(self.likelihood)
        whole = np.zeros(len(self.free))
        whole[self.free] = state.step
        share = (
            1.0
            if near
            else min(1.0, LONGEST / max(self.likelihood.change(whole, point if self.weighed else None), EPS))
        )
        least = 2.0**-30 * share
        while share >= least:
            moved = point.b.copy()
            moved[self.free] -= share * state.step
            ahead = self.likelihood.at(moved)
            enough = (
                point.penalised + 1e-4 * share * state.decrement - 8 * max(self.likelihood.noise, EPS * state.scale)
            )
            if near or ahead.penalised >= enough:
                before = abs(state.decrement) if near else np.inf
                return FirthState(ahead, state.pairs, before, (point.b, state.slope))
            rise = 2.0 * share * state.decrement
            bend = rise - (ahead.penalised - point.penalised)  # of a parabola, whose top is the next guess
            share *= max(0.1, 0.5 * rise / bend) if 0 < rise < bend < np.inf else 0.1
        return None


def firth(
    likelihood: FirthLikelihood,
    max_iter: float,
    start: Floats,
    fixed: NDArray[np.bool_] | None = None,
    enough: float = SETTLED,
    weighed: bool = False,
    pairs: StepPairs | None = None,
) -> Driven[FirthState]:
    """Maximise from ``start``; coefficients marked in ``fixed`` stay where they are. ``pairs`` are of earlier steps."""
    free = np.ones(len(start), dtype=bool) if fixed is None else ~fixed
    state = FirthState(likelihood.at(start), pairs or StepPairs())
    return drive(FirthSearch(likelihood, free, enough, weighed), state, max_steps=max_iter)


def firth_estimate(
    problem: LogisticProblem,
    max_iter: float,
    starts: Sequence[Floats | None] | None = None,
    more: Callable[[], Sequence[Floats | None]] | None = None,
) -> LogisticResult:
    """The highest maximum that searches on orthonormal columns reach; vectors (K - 1, p) against the first class.

    A search is made from each of the ``starts`` (vectors, or None for zero), by default from those of
    the module. One that does not end at a maximum of its own adds nothing, unless
    none does. Where they end at different maxima, ``more`` gives further starts.
    """
    with one_blas_thread():
        return FirthEstimate(problem, max_iter).highest(starts, more)


class FirthEstimate:
    """Searches for maxima on orthonormal columns: of large tables first with narrow numbers."""

    def __init__(self, problem: LogisticProblem, max_iter: float) -> None:
        self.problem, self.max_iter = problem, max_iter
        Q, self.R = orthonormal(problem.lifted())
        self.likelihood = self.rough = FirthLikelihood(problem, Q)
        self.large = problem.classes == 2 and Q.size * Q.shape[1] > LARGE
        self.settled, self.placed = (LARGE_SETTLED, LARGE_PLACED) if self.large else (SETTLED, PLACED)
        if self.large:
            self.rough = FirthLikelihood(problem, Q, narrow=True)

    def highest(
        self, starts: Sequence[Floats | None] | None, more: Callable[[], Sequence[Floats | None]] | None
    ) -> LogisticResult:
        between, Q = list[Floats](), self.likelihood.lifted
        waiting: list[Floats]
        if Q.shape[0] == Q.shape[1]:
            waiting = [np.linalg.solve(Q, saturated_scores(self.problem)).T.reshape(-1).astype(np.float64)]
        elif starts is None:
            most = FEW if self.large else STEPS
            path = newton_path(self.rough, [self.rough.loss], most)
            waiting = [path[-1], added_leverages(self.rough)]
            if len(path) > most:  # the likelihood has no maximum, or a far one
                waiting.append(path[-4])
            if not self.large:
                waiting, between = (waiting, path[:-1]) if len(path) <= EASY else ([*waiting, path[0]], path[1:-1])
        else:
            waiting = self.on_basis(starts)
        runs, maxima = list[Driven[FirthState]](), list[Driven[FirthState]]()
        while waiting:
            run = firth(self.rough, self.max_iter, waiting.pop(0), None, self.placed, weighed=True)
            runs.append(run)
            if run.status is Status.INTERRUPTED:
                break
            if run.status is Status.OPTIMAL and all(apart(run.state.point, m.state.point) for m in maxima):
                maxima.append(run)
            if not waiting and maxima and (len(maxima) > 1 or any(r.status is not Status.OPTIMAL for r in runs)):
                waiting = between + ([] if self.large or more is None else self.on_basis(more()))
                between, more = [], None
        best = max(maxima, key=lambda run: run.state.point.penalised) if maxima else runs[0]
        others, steps = [run.state.point.penalised for run in maxima if run is not best], sum(r.steps for r in runs)
        if runs[-1].status is Status.INTERRUPTED:
            best = replace(best, status=Status.INTERRUPTED)
        elif maxima or self.large:  # to the last digits, also where narrow numbers have too few for rows far out
            pairs = None if self.large else best.state.pairs  # of narrow numbers they have too few digits
            best = firth(
                self.likelihood,
                self.max_iter - best.steps,
                best.state.point.b,
                None,
                self.settled,
                weighed=not maxima,
                pairs=pairs,
            )
            steps += best.steps
        point, logdet = best.state.point, logdet_of(self.R, self.problem.classes)
        return LogisticResult(
            np.asarray(np.linalg.solve(self.R, point.b.reshape(self.likelihood.free, -1).T).T, dtype=np.float64),
            best.status,
            steps,
            -point.loglik,
            maxima=tuple(value + logdet for value in (point.penalised, *sorted(others, reverse=True))),
        )

    def on_basis(self, starts: Sequence[Floats | None]) -> list[Floats]:
        """Vectors (K - 1, p) as coefficients of the orthonormal columns."""
        zero = np.zeros(self.likelihood.free * len(self.R))
        return [zero if start is None else (start @ self.R.T).reshape(-1) for start in starts]


def saturated_scores(problem: LogisticProblem) -> Floats:
    """Log-odds (n, K - 1) at Firth's estimate of as many independent rows as parameters: no search is needed.

    |I| is then a constant times the product of all probabilities, so that each row has its own maximum of
    c log p_y + sum_k log p_k / 2,  p_k = (c 1[y = k] + 1/2)/(c + K/2): 3/4 for the own one of two classes.
    """
    odds = np.full((problem.n, problem.classes), 0.5)
    odds[np.arange(problem.n), problem.codes] += problem.counts
    scores = np.log(odds) if problem.class_offset is None else np.log(odds) - problem.class_offset
    return np.asarray(scores[:, 1:] - scores[:, :1])


def apart(one: PenalisedPoint, other: PenalisedPoint) -> bool:
    """Whether two points are at different maxima: in standard errors, and by more than rounding."""
    line = one.b - other.b
    distinct = float(np.linalg.norm(line)) > 1e-6 * (1.0 + float(np.linalg.norm(one.b)))
    return distinct and float(line @ one.information @ line) > APART**2


def likelihood_intercepts(scores: Floats, codes: NDArray[np.intp], weights: Floats | None) -> Floats:
    """What to add to the scores (n, K) so that fitted probabilities add up to the class counts (FLIC).

    The maximum-likelihood intercepts at fixed other coefficients (Puhr, Heinze, Nold, Lusa and Geroldinger 2017).
    """
    nothing = np.zeros(scores.shape[1])
    return fitted_intercepts(scores, codes, weights, nothing)[0]


def fitted_intercepts(
    scores: Floats,
    codes: NDArray[np.intp],
    weights: Floats | None,
    start: Floats,
    other: Callable[[], Floats] | None = None,
) -> tuple[Floats, Floats, Floats, Floats]:
    """The most likely intercepts at fixed scores (n, K) besides, with probabilities, weighted residuals and losses.

    The search begins at ``start``, or at ``other`` where that is better and the first is far off.
    """
    S, codes = np.ascontiguousarray(scores.T), np.ascontiguousarray(codes, dtype=np.int64)
    P, R, losses = np.empty_like(S), np.empty_like(S), np.empty(len(scores))

    def value(at: Floats) -> float:
        return kernels.class_probabilities(S, at, codes, weights, P, R, None, losses)

    at, first = start.copy(), value(start)
    counts = np.bincount(codes, weights=weights, minlength=len(S))
    for k in range(100):
        g = -R.sum(axis=1)
        H = P @ (P if weights is None else P * weights).T
        bend, sums = counts - g - np.diagonal(H), counts - g
        if not (bend > CANCELLED * sums).all():
            bend = (P * (1.0 - P) if weights is None else P * (1.0 - P) * weights).sum(axis=1)
        if k == 0 and other is not None and (np.abs(g) > 2.0 * bend).any():
            if value(far := other()) < first:
                at = far
                continue
            value(start)
        H *= -1.0
        H[np.diag_indices(len(H))] = bend
        try:
            step = np.linalg.solve(H[1:, 1:], g[1:])
        except np.linalg.LinAlgError:  # a class without any curvature: its rows, and the others', are certain
            step = np.linalg.lstsq(H[1:, 1:], g[1:])[0]
        size = float(np.abs(step).max())
        at[1:] += step / max(1.0, size)
        value(at)
        if size < 1e-7:  # the error that is left is a part of its square
            break
    return at, P.T, R.T, losses


# -- where searches begin --


def added_leverages(likelihood: FirthLikelihood) -> Floats:
    """The first of the module's two starts."""
    point, y, c = likelihood.at(np.zeros(likelihood.lifted.shape[1])), likelihood.loss.y, likelihood.c
    if point.factor is None or point.rows is None:
        return point.b
    half = 0.5 * likelihood.norms(np.asarray(np.linalg.inv(point.factor))) * point.rows.curvature
    return newton_path(likelihood, [likelihood.rows_of(y, c + half), likelihood.rows_of(-y, half)])[-1]


def newton_path(likelihood: FirthLikelihood, losses: list[RowLoss], most: int = STEPS) -> list[Floats]:
    """Zero and the points that Newton's method for the sum of some losses goes through."""
    b = np.zeros(likelihood.lifted.shape[1])
    path, rows = [b], [loss.point(b) for loss in losses]
    ridge = RIDGE * float(likelihood.c.sum()) * np.eye(len(b))
    for _ in range(most):
        value, slope = sum(row.value for row in rows), sum(row.gradient for row in rows)
        curvature = sum(row.curvature for row in rows)
        step = np.linalg.solve(likelihood.gram(np.asarray(curvature)) + ridge, slope)
        if not 0.5 * float(slope @ step) > LEFT:
            break
        for _ in range(10):
            ahead = [loss.point(b - step) for loss in losses]
            if sum(row.value for row in ahead) < value:
                break
            step = 0.5 * step
        else:
            break
        b, rows = b - step, ahead
        path.append(b)
    return path
