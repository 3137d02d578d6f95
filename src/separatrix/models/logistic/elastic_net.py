"""Elastic-net logistic regression: proximal Newton steps on working sets of columns (Lee, Sun and Saunders 2014).

    F(V) = min over b of L(V, b) + alpha |V|_1 + ridge/2 |V|^2,    L the logistic loss

The intercepts are minimised over at every point. Each step minimises a quadratic model of L plus the penalty on the
columns that are in use or whose slopes exceed alpha. A run ends at a relative duality gap: the fitted
probabilities, drawn towards the labels until no slope exceeds alpha, bound F from below. Columns that the gap proves to
be out of every minimiser are dropped (Ndiaye, Fercoq, Gramfort and Salmon 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.logistic import TINY
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.centred_loss import CentredLoss, WeightsPoint, lower_bound
from separatrix.models.logistic.net_step import (
    FIRST,
    MOST_GRAM,
    Columns,
    above,
    advance,
    by_matrix,
    search,
    working_set,
)
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult
from separatrix.models.logistic.sparse_coordinate_descent import ASIDE, SparseQuadratic
from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status
from separatrix.solvers.gap import hessian_gap
from separatrix.solvers.minimise import said

FEW = 30  # weights of dense rows, all of which a step takes
SLOWLY = 0.3  # of what the step before gained
SLOW, IDLE = 3, 20  # steps in a row that leave the gap as it is: another proof is tried, and the search ended
MOST_PROVED = 1000  # columns up to which that proof is tried


@dataclass(frozen=True)
class NetState:
    """Weights on the columns still ``alive``, and what earlier steps have shown.

    ``bound`` is the best lower bound of the minimum before this point, ``first`` the first gap and ``before`` the least
    one, ``idle`` counts steps that left it as it was. ``gained`` is what the step before gained, and ``slow`` says that
    one gained hardly less than that before it, as where passes over correlated columns do not get far; ``stuck`` says
    that steps by sparse columns gain no more. ``ended`` is why a step was the last one, with the gap that was proved
    then.
    """

    loss: CentredLoss
    net: ElasticNet
    place: WeightsPoint
    alive: Columns
    bound: float = -np.inf
    first: float = 0.0
    before: float = np.inf
    steps: int = 0
    idle: int = 0
    gained: float = np.inf
    slow: bool = False
    stuck: bool = False
    ended: Status | None = None
    proved: float | None = None

    @cached_property
    def value(self) -> float:
        return self.place.loss + self.net.value(self.place.V)

    @cached_property
    def here(self) -> tuple[float, float]:
        """The lower bound that this point gives, and the share of the probabilities that gave it."""
        return lower_bound(self.loss, self.place, self.net)

    @property
    def known(self) -> float:
        """The gap that earlier steps prove."""
        return max(0.0, self.value - self.bound) / max(self.value, TINY)

    @cached_property
    def gap(self) -> float:
        return min(self.known, max(0.0, self.value - self.here[0]) / max(self.value, TINY))

    def end(self, status: Status, gap: float | None = None) -> NetState:
        return replace(self, ended=status, proved=gap)


@dataclass(frozen=True, slots=True)
class ProximalNewton:
    """Steps on working sets until the relative duality gap is at most ``tol``."""

    tol: float
    draws: np.random.Generator

    def terminate(self, state: NetState) -> Status | None:
        if state.ended is not None:
            return state.ended
        if not np.isfinite(state.value):
            return Status.NONFINITE
        return Status.OPTIMAL if state.known <= self.tol or state.gap <= self.tol else None

    def step(self, state: NetState) -> NetState:
        tol, net, value, gap = self.tol, state.net, state.value, state.gap
        (here, share), first = state.here, state.first or gap
        bound, sparse_two = max(state.bound, here), state.loss.sparse and state.loss.classes == 2
        few = not state.loss.sparse and state.place.V.size <= FEW  # all: to rule some out costs more than they do
        kept = np.arange(state.loss.d) if few else state.loss.kept(state.place, net, share, max(0.0, value - here))
        if 2 * len(kept) <= state.loss.d and state.loss.by_columns and not sparse_two:
            loss, place = state.loss.columns(kept), state.place.columns(kept)
            state = replace(state, loss=loss, place=place, alive=state.alive[kept])
            kept = np.arange(len(kept))
        loss, place = state.loss, state.place
        W = kept if few else above(place, net, kept)
        if not len(W):  # no weight in use, and no slope above alpha
            return state.end(Status.OPTIMAL if gap <= max(tol, 1e-6) else Status.ILL_CONDITIONED, gap)
        if sparse_two and not state.stuck and not by_matrix(loss, W):
            W = working_set(place, W, loss.n // 2)  # at most n are in use at a minimum
            model = SparseQuadratic(loss, place, net, W, self.draws)
            moved, bound = step_by_columns(model, value, bound, tol)
            if moved is None and value - bound > tol * value:
                return self.step(replace(state, bound=bound, first=first, stuck=True))
        else:
            few = few or (not loss.sparse and len(kept) * len(place.V) <= MOST_GRAM // 2)
            W = kept if few else working_set(place, W, FIRST)
            moved = advance(loss, place, net, W, value, gap / first, tol, state.slow)
        if moved is None and value - bound <= tol * value:
            return state.end(Status.OPTIMAL, max(0.0, value - bound) / value)
        if (moved is None or state.idle == SLOW) and (proved := by_curvature(loss, place, net) / value) <= tol:
            return state.end(Status.OPTIMAL, proved)
        if moved is None or state.idle > IDLE:
            return state.end(Status.ILL_CONDITIONED, gap)
        gained = value - moved.loss - net.value(moved.V)
        slow = state.slow or gained > SLOWLY * state.gained
        falls = gained > 1e-6 * value or gap <= 0.5 * state.before  # the gap may fall when the value cannot
        idle = 0 if falls else state.idle + 1
        least, steps, stuck = min(gap, state.before), state.steps + 1, state.stuck or idle == SLOW
        return NetState(loss, net, moved, state.alive, bound, first, least, steps, idle, gained, slow, stuck)


def proximal_newton(
    loss: CentredLoss, net: ElasticNet, tol: float, max_iter: float, start: Floats | None = None
) -> LogisticResult:
    """Minimise to a relative duality gap of ``tol``; the L1 part determines all vectors, but for a common intercept."""
    full = np.zeros((loss.problem.vectors, loss.d + 1)) if start is None else start.copy()
    if start is None and loss.lift and loss.offset is None:
        full[:, -1] = loss.shares()

    def first() -> NetState:
        place = loss.place(full[:, :-1].copy(), full[:, -1].copy())  # the place keeps them, and full is written below
        return NetState(loss, net, place, np.arange(loss.d))

    run = drive(ProximalNewton(tol, np.random.default_rng(0)), first(), max_steps=max_iter)  # which nobody else keeps
    state = run.state
    full[:, :-1] = 0.0
    full[:, state.alive], full[:, -1] = state.place.V, state.place.b
    if len(full) > 1:
        full[:, -1] -= full[:, -1].mean()
    gap = None
    if run.status is not Status.INTERRUPTED:
        gap = state.proved if state.proved is not None else state.known if state.known <= tol else state.gap
    plan = said((("net", state.steps),))
    return LogisticResult(full, run.status, state.steps, state.place.loss, gap, plan=plan)


def by_curvature(loss: CentredLoss, place: WeightsPoint, net: ElasticNet) -> float:
    """What is left to gain at most by the least subgradient, for penalties too small for a dual point; inf: unknown."""
    if loss.classes > 2 or loss.X is None or loss.d > MOST_PROVED:
        return np.inf
    smooth = LogisticProblem.of(loss.X, loss.codes, 2, loss.weights, loss.offset, loss.lift).objective(net.ridge)
    point = smooth.point(np.append(place.V[0], place.b))
    w, g = point.at[:-1], point.gradient[:-1]
    least = np.where(w != 0, g + net.alpha * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - net.alpha, 0.0))
    return hessian_gap(smooth, replace(point, gradient=np.append(least, point.gradient[-1])), smooth.hessian(point))


def step_by_columns(
    model: SparseQuadratic, value: float, bound: float, tol: float
) -> tuple[WeightsPoint | None, float]:
    """One step by a model of sparse columns; where it may end the run, a lower bound of the minimum is tried for."""
    place, net = model.place, model.net
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of which no step is made
        model.descend()
        expected = value + model.value() - net.value(place.V)
        last = expected - bound > (1.0 - ASIDE) * tol * expected and model.beyond() <= ASIDE * tol * expected
        if last:
            bound = max(bound, model.prove(expected, tol))
    return search(model.loss, place, net, model.v[None, :], value), bound
