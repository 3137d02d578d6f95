"""Elastic-net logistic regression: proximal Newton steps on working sets of columns (Lee, Sun and Saunders 2014).

    F(V) = min over b of L(V, b) + alpha |V|_1 + ridge/2 |V|^2,    L the logistic loss

The intercepts are minimised over at every point. Each step minimises a quadratic model of L plus the penalty on the
columns that are in use or whose slopes exceed alpha. A run ends at a relative duality gap: the fitted
probabilities, drawn towards the labels until no slope exceeds alpha, bound F from below. Columns that the
gap proves to be out of every minimiser are dropped (Ndiaye, Fercoq, Gramfort and Salmon 2017).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.active_newton import Coordinates, ElasticNet, descend
from separatrix.models.logistic.binary_loss import EPS, TINY, BinaryLoss
from separatrix.models.logistic.centred_loss import CentredLoss, WeightsPoint, lower_bound
from separatrix.models.logistic.duality_gap import net_gap
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.penalised_quadratic import (
    CentredGram,
    ClassQuadratic,
    GramQuadratic,
    ScaledQuadratic,
    gram_of_chosen,
    gram_of_many,
    gram_of_two,
)
from separatrix.models.logistic.problem import LogisticResult
from separatrix.models.logistic.sparse_coordinate_descent import ASIDE, SparseQuadratic
from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status

Columns = NDArray[np.intp]
MOST_GRAM = 600  # coordinates up to which the matrix of a dense model is made
MOST_LATE, LATE = 1200, 0.2  # the same of several classes, once the gap is this share of the first one
SMALL, EXACT = 600, 1e-12  # up to here passes over a matrix cost little: the minimum itself
MOST_DENSE = 2**22  # numbers up to which sparse columns of several classes are made dense for it
FEW_ADDED, MOST_ADDED = 2**22, 4.0  # of sparse rows: numbers added up to which it is made, and for each of the table
MOST_PROOFS, MOST_SOLVED = 30, 36.0  # lower bounds tried for by columns, and as MOST_ADDED when these have failed
KEPT = 1e-5  # gaps below which the matrix of the step before serves once more
DEAR, KEPT_DEAR, FALL = 60, 0.05, 0.25  # of several classes with so many coordinates it serves on, as long as gaps fall
FIRST = 200  # columns of the first working set
ARMIJO = 1e-4
FEWEST = 2.0**-30
ATTEMPTS = (0.0, 4.0), (0.01, 4.0), (0.3, np.inf), (0.0, np.inf)  # shares of softening, and values promised at most
SLOW, IDLE = 3, 20  # steps in a row that leave the gap as it is: another proof is tried, and the search ended
MOST_PROVED = 1000  # columns up to which that proof is tried


@dataclass(frozen=True)
class NetState:
    """Weights on the columns still ``alive``, and what earlier steps have shown.

    ``bound`` is the best lower bound of the minimum before this point, ``first`` the first gap and ``before`` the least
    one, ``idle`` counts steps that left it as it was, ``stuck`` says that steps by sparse columns gain no more.
    ``ended`` is why a step was the last one, with the gap that was proved then. ``matrix`` is the one that the step
    before was made with.
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
    stuck: bool = False
    ended: Status | None = None
    proved: float | None = None
    matrix: tuple[Columns, CentredGram] | None = None

    @cached_property
    def value(self) -> float:
        return self.place.loss + self.net.value(self.place.V)

    @cached_property
    def here(self) -> tuple[float, float]:
        """The lower bound that this point gives, and the share of the probabilities that gave it."""
        return lower_bound(self.loss, self.place, self.net)

    @cached_property
    def gap(self) -> float:
        return max(0.0, self.value - max(self.bound, self.here[0])) / max(self.value, TINY)

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
        return Status.OPTIMAL if state.gap <= self.tol else None

    def step(self, state: NetState) -> NetState:
        tol, net, value, gap = self.tol, state.net, state.value, state.gap
        (here, share), first = state.here, state.first or gap
        bound, sparse_two = max(state.bound, here), state.loss.sparse and state.loss.classes == 2
        kept = state.loss.kept(state.place, net, share, max(0.0, value - here))
        if 2 * len(kept) <= state.loss.d and state.loss.by_columns and not sparse_two:
            loss, place = state.loss.columns(kept), state.place.columns(kept)
            state = replace(state, loss=loss, place=place, alive=state.alive[kept])
            kept = np.arange(len(kept))
        loss, place, matrix = state.loss, state.place, None
        W = above(place, net, kept)
        if not len(W):  # no weight in use, and no slope above alpha
            return state.end(Status.OPTIMAL if gap <= max(tol, 1e-6) else Status.ILL_CONDITIONED, gap)
        if sparse_two and not state.stuck and not by_matrix(loss, W):
            W = working_set(place, W, loss.n // 2)  # at most n are in use at a minimum
            model = SparseQuadratic(loss, place, net, W, self.draws)
            moved, bound = step_by_columns(model, value, bound, tol)
            if moved is None and value - bound > tol * value:
                return self.step(replace(state, bound=bound, first=first, stuck=True))
        else:
            dear = loss.classes > 2 and place.V.size > DEAR
            near = state.matrix if gap <= (min(KEPT_DEAR, FALL * state.before) if dear else KEPT) else None
            few = not loss.sparse and len(kept) * len(place.V) <= MOST_GRAM // 2
            W = kept if few else working_set(place, W, FIRST)
            moved, matrix = advance(loss, place, net, W, value, gap / first, near)
            matrix = None if near is not None and matrix is near and not dear else matrix
        if moved is None and value - bound <= tol * value:
            return state.end(Status.OPTIMAL, max(0.0, value - bound) / value)
        if (moved is None or state.idle == SLOW) and (proved := by_curvature(loss, place, net) / value) <= tol:
            return state.end(Status.OPTIMAL, proved)
        if moved is None or state.idle > IDLE:
            return state.end(Status.ILL_CONDITIONED, gap)
        gained = value - moved.loss - net.value(moved.V) > 1e-6 * value
        idle = 0 if gained or gap <= 0.5 * state.before else state.idle + 1  # the gap may fall when the value cannot
        least, steps, stuck = min(gap, state.before), state.steps + 1, state.stuck or idle == SLOW
        return NetState(loss, net, moved, state.alive, bound, first, least, steps, idle, stuck, matrix=matrix)


def proximal_newton(
    loss: CentredLoss, net: ElasticNet, tol: float, max_iter: float, start: Floats | None = None
) -> LogisticResult:
    """Minimise to a relative duality gap of ``tol``; the L1 part determines all vectors, but for a common intercept."""
    full = np.zeros((loss.problem.vectors, loss.d + 1)) if start is None else start.copy()
    if start is None and loss.lift and loss.offset is None:
        full[:, -1] = loss.shares()
    place = loss.place(full[:, :-1].copy(), full[:, -1].copy())  # the place keeps them, and full is written below
    first = NetState(loss, net, place, np.arange(loss.d))
    run = drive(ProximalNewton(tol, np.random.default_rng(0)), first, max_steps=max_iter)
    state = run.state
    full[:, :-1] = 0.0
    full[:, state.alive], full[:, -1] = state.place.V, state.place.b
    if len(full) > 1:
        full[:, -1] -= full[:, -1].mean()
    gap = None if run.status is Status.INTERRUPTED else state.gap if state.proved is None else state.proved
    return LogisticResult(full, run.status, state.steps, state.place.loss, gap)


def by_curvature(loss: CentredLoss, place: WeightsPoint, net: ElasticNet) -> float:
    """What is left to gain at most, for penalties too small for a dual point; inf where that is not known."""
    if loss.classes > 2 or loss.X is None or loss.d > MOST_PROVED:
        return np.inf
    smooth = BinaryLoss(loss.X, loss.signs, loss.weights, loss.offset, net.ridge, loss.lift)
    return net_gap(smooth, smooth.point(np.append(place.V[0], place.b)), net.alpha)


# -- the columns of a step --------------------------------------------------------------------------


def above(place: WeightsPoint, net: ElasticNet, kept: Columns) -> Columns:
    """Columns in use, and those kept whose slopes are above alpha."""
    chosen = (place.V != 0).any(axis=0)
    chosen[kept] |= np.abs(place.slopes[:, kept]).max(axis=0) > net.alpha
    return np.flatnonzero(chosen)


def working_set(place: WeightsPoint, W: Columns, most: int) -> Columns:
    """Of columns W those in use, and with the steepest slopes among the others at most as many again, or ``most``."""
    used = (place.V[:, W] != 0).any(axis=0)
    new, most = W[~used], max(most, int(used.sum()))
    if len(new) <= most:
        return W
    steepest = np.argpartition(-np.abs(place.slopes[:, new]).max(axis=0), most)[:most]
    return np.sort(np.concatenate([W[used], new[steepest]]))


def by_matrix(loss: CentredLoss, W: Columns) -> bool:
    """Whether sparse columns W are taken by their matrix, while nothing has been made of the columns themselves."""
    return not loss.by_columns and additions(loss, W) <= max(FEW_ADDED, MOST_ADDED * loss.X.nnz)


def additions(loss: CentredLoss, W: Columns) -> float:
    """About how many numbers are added to make the matrix of sparse columns W row by row, and its own."""
    return 0.5 * loss.n * float(loss.filled[W].sum()) ** 2 + float(len(W)) ** 2


# -- the step itself --------------------------------------------------------------------------------


def quadratic_of(
    loss: CentredLoss,
    place: WeightsPoint,
    net: ElasticNet,
    W: Columns,
    progress: float,
    near: tuple[Columns, CentredGram] | None,
) -> Coordinates:
    """The loss around a place, as a quadratic in the weights of these columns, by the last step's matrix if given."""
    V, g = np.ascontiguousarray(place.V[:, W]), np.ascontiguousarray(place.slopes[:, W])
    if near is not None and len(near[1].H) == g.size and np.array_equal(near[0], W):
        return GramQuadratic(near[1], g, V, net)
    h, lift, two = place.curvature, loss.lift, loss.classes == 2
    few = not two and loss.n * len(W) <= MOST_DENSE
    most = MOST_GRAM if two or progress > LATE else MOST_LATE
    if g.size <= most and (few or not loss.sparse):
        X = loss.X if len(W) == loss.d and not loss.sparse else loss.table(W)
        return GramQuadratic(gram_of_two(X, h, lift) if two else gram_of_many(X, h, loss.weights, lift), g, V, net)
    if loss.sparse and two and additions(loss, W) <= max(FEW_ADDED, MOST_SOLVED * loss.X.nnz):
        return GramQuadratic(gram_of_chosen(loss.X, W, h, lift), g, V, net)
    part = loss.across[W] if loss.sparse else np.ascontiguousarray(loss.X[:, W].T)
    if two:
        return ScaledQuadratic(part, h, g, lift, V, net)
    return ClassQuadratic(part, h, loss.weights, g, lift, V, net)


def advance(
    loss: CentredLoss,
    place: WeightsPoint,
    net: ElasticNet,
    W: Columns,
    value: float,
    progress: float,
    near: tuple[Columns, CentredGram] | None = None,
) -> tuple[WeightsPoint | None, tuple[Columns, CentredGram] | None]:
    """One step on the columns W, halved until it gains (None where none does), and the matrix that was made for it.

    Where it does not, or is promised more than there is, the step is made again with curvatures that are softened.
    """
    for share, most in ATTEMPTS:
        model = quadratic_of(loss, softened(loss, place, share), net, W, progress, None if share else near)
        after, small = (
            place.V.copy(),
            isinstance(model, GramQuadratic) and len(model.H) <= (SMALL if progress < 1.0 else FIRST),
        )
        descend(model, net, model.movable, EXACT if small else min(0.1, 0.1 * progress))
        after[:, W] = model.weights
        if not loss.sparse and not place.V.any():
            after *= first_multiple(loss, place, net, after)
        drift = model.gram.drift if isinstance(model, GramQuadratic) else None
        b = None if drift is None else place.b - drift @ (after - place.V)[:, W].reshape(-1)
        moved = search(loss, place, net, after, value, b, most)
        if moved is not None:
            break
    if share or not isinstance(model, GramQuadratic):
        return moved, None
    return moved, near if near is not None and model.gram is near[1] else (W, model.gram)


def softened(loss: CentredLoss, place: WeightsPoint, share: float) -> WeightsPoint:
    """The place with the curvatures of probabilities that are drawn towards equal ones by a share.

    Where rows are certain they have next to no curvature, and a step may be any number of times too long.
    """
    if not share:
        return place
    if loss.classes > 2:
        return replace(place, curvature=(1.0 - share) * place.curvature + share / loss.classes)
    q = (1.0 - share) * place.others + 0.5 * share
    return replace(place, curvature=q * (1.0 - q) if loss.weights is None else loss.weights * q * (1.0 - q))


def first_multiple(loss: CentredLoss, place: WeightsPoint, net: ElasticNet, after: Floats) -> float:
    """How many times a first step is taken: at zero rows have the greatest curvature, and it is too short."""
    rows: tuple[Any, ...] = loss.weights, loss.offset, net.ridge, loss.lift
    smooth = (
        BinaryLoss(loss.X, loss.signs, *rows)
        if loss.classes == 2
        else MultinomialLoss(loss.X, loss.codes, loss.classes, *rows)
    )
    step = np.column_stack([-after, np.zeros(len(after))]).reshape(-1)
    with np.errstate(all="ignore"):
        return smooth.multiple(step, place.b, net.alpha * float(np.abs(after).sum()))


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


def search(
    loss: CentredLoss,
    place: WeightsPoint,
    net: ElasticNet,
    after: Floats,
    value: float,
    b: Floats | None = None,
    most: float = np.inf,
) -> WeightsPoint | None:
    """The way to these weights, halved until it gains; intercepts are about ``b``, ``most`` bounds the promise.

    A weight whose rows are all certain has no curvature that could move it: where its slope does not hold it, half.
    """
    idle = (after == place.V) & (np.abs(place.slopes) < 0.5 * net.alpha)
    after = np.where(idle, 0.5 * after, after)
    step = after - place.V
    promise = float((place.slopes * step).sum()) + net.value(after) - net.value(place.V)
    noise, share = 8 * EPS * abs(value), 1.0
    if not -most * value < promise < noise:  # a value is above zero: a model that promises many of them knows nothing
        return None
    while share >= FEWEST:
        V = after if share == 1.0 else place.V + share * step
        moved = loss.place(V, place.b if b is None else place.b + share * (b - place.b))
        if moved.loss + net.value(V) <= value + ARMIJO * share * promise + noise:
            return moved
        share *= 0.5
    return None
