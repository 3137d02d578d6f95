"""Elastic-net logistic regression: proximal Newton steps on working sets of columns (Lee, Sun and Saunders 2014).

    F(V) = min over b of L(V, b) + alpha |V|_1 + ridge/2 |V|^2,    L the logistic loss

The biases are minimised over at every point. Each step minimises a quadratic model of L plus the penalty on the
columns that are in use or whose slopes exceed alpha. A run ends at a relative duality gap: the fitted
probabilities, drawn towards the labels until no slope exceeds alpha, bound F from below. Columns that the
gap proves to be out of every minimiser are dropped (Ndiaye, Fercoq, Gramfort and Salmon 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import Interruption
from separatrix.models.logistic.active_newton import Net
from separatrix.models.logistic.binary_loss import Binary
from separatrix.models.logistic.centred_problem import Place, Problem, lower_bound
from separatrix.models.logistic.duality_gap import net_gap
from separatrix.models.logistic.gram_quadratic import Gram
from separatrix.models.logistic.penalised_quadratic import Coupled, Quadratic, Scaled
from separatrix.models.logistic.sparse_coordinate_descent import ASIDE, ByColumns
from separatrix.numerics.status import Status

Columns = NDArray[np.intp]
EPS = float(np.finfo(np.float64).eps)
MOST_GRAM = 600  # coordinates up to which the matrix of a dense model is made
MOST_DENSE = 2**22  # numbers up to which sparse columns of several classes are made dense for it
FEW_ADDED, MOST_ADDED = 2**22, 4.0  # of sparse rows: numbers added up to which it is made, and for each of the table
MOST_PROOFS, MOST_SOLVED = 3, 36.0  # lower bounds tried for by columns, and as MOST_ADDED when these have failed
FIRST = 200  # columns of the first working set
ARMIJO = 1e-4
FEWEST = 2.0**-30
SLOW, IDLE = 3, 20  # steps in a row that leave the gap as it is: another proof is tried, and the search ended
MOST_PROVED = 1000  # columns up to which that proof is tried


@dataclass(frozen=True, slots=True)
class Found:
    """Lifted vectors (k, d + 1), how the run ended, the loss without the penalty, and the relative gap."""

    vectors: Floats
    status: Status
    steps: int
    loss: float
    gap: float


def proximal_newton(problem: Problem, net: Net, start: Floats, tol: float, max_iter: float) -> Found:
    """Minimise from lifted vectors to a relative duality gap of ``tol``."""
    V, b = np.ascontiguousarray(start[:, :-1]), start[:, -1].copy()
    whole, alive, sparse_two = problem.d, np.arange(problem.d), problem.sparse and problem.classes == 2
    place, draws = problem.place(V, b), np.random.default_rng(0)
    bound, first, before, steps, idle, proofs = -np.inf, 0.0, np.inf, 0, 0, 0

    def found(status: Status, gap: float) -> Found:
        full = np.zeros((len(V), whole + 1))
        full[:, alive], full[:, -1] = place.V, place.b
        return Found(full, status, steps, place.loss, gap)

    try:
        while True:
            value = place.loss + net.value(place.V)
            here, share = lower_bound(problem, place, net)
            bound = max(bound, here)
            gap = max(0.0, value - bound) / max(value, np.finfo(float).tiny)
            first = first or gap
            if not np.isfinite(value):
                return found(Status.NONFINITE, gap)
            if gap <= tol:
                return found(Status.OPTIMAL, gap)
            if steps >= max_iter:
                return found(Status.MAX_ITERATIONS, gap)
            kept = problem.kept(place, net, share, max(0.0, value - here))
            if 2 * len(kept) <= problem.d and problem.by_columns and not sparse_two:
                problem, place, alive = problem.columns(kept), place.columns(kept), alive[kept]
                kept = np.arange(len(kept))
            W = above(place, net, kept)
            if not len(W):  # no weight in use, and no slope above alpha
                return found(Status.OPTIMAL if gap <= max(tol, 1e-6) else Status.ILL_CONDITIONED, gap)
            if sparse_two and proofs < MOST_PROOFS and not by_matrix(problem, W):
                model = ByColumns(problem, place, net, W, draws)
                moved, bound, tried = step_by_columns(model, value, bound, tol)
                proofs += tried
                if moved is None and value - bound > tol * value:
                    proofs = MOST_PROOFS
                    continue
            else:
                W = working_set(problem, place, net, kept)
                moved = advance(problem, place, net, W, value, gap / first)
            if moved is None and value - bound <= tol * value:
                return found(Status.OPTIMAL, max(0.0, value - bound) / value)
            if (moved is None or idle == SLOW) and (proved := by_curvature(problem, place, net) / value) <= tol:
                return found(Status.OPTIMAL, proved)
            if moved is None or idle > IDLE:
                return found(Status.ILL_CONDITIONED, gap)
            gained = value - moved.loss - net.value(moved.V) > 1e-6 * value
            idle = 0 if gained or gap <= 0.5 * before else idle + 1  # the gap may fall when the value cannot
            place, steps, before = moved, steps + 1, min(gap, before)
    except KeyboardInterrupt as stop:
        raise Interruption(found(Status.INTERRUPTED, np.inf).vectors.reshape(-1)) from stop


def by_curvature(problem: Problem, place: Place, net: Net) -> float:
    """What is left to gain at most, for penalties too small for a dual point; inf where that is not known."""
    if problem.classes > 2 or problem.X is None or problem.d > MOST_PROVED:
        return np.inf
    objective = Binary(problem.X, problem.signs, problem.weights, problem.offset, net.ridge, problem.lift)
    return net_gap(objective, objective.point(np.append(place.V[0], place.b)), net.alpha)


def above(place: Place, net: Net, kept: Columns) -> Columns:
    """Columns in use, and those kept whose slopes are above alpha."""
    chosen = (place.V != 0).any(axis=0)
    chosen[kept] |= np.abs(place.slopes[:, kept]).max(axis=0) > net.alpha
    return np.flatnonzero(chosen)


def working_set(problem: Problem, place: Place, net: Net, kept: Columns) -> Columns:
    """Columns in use, and those with the steepest slopes above alpha: at most as many again."""
    used = (place.V != 0).any(axis=0)
    if not problem.sparse and len(kept) * len(place.V) <= MOST_GRAM // 2:
        return kept
    slope = np.abs(place.slopes).max(axis=0)
    new = kept[(slope[kept] > net.alpha) & ~used[kept]]
    most = max(FIRST, int(used.sum()))
    if len(new) > most:
        new = new[np.argpartition(-slope[new], most)[:most]]
    return np.sort(np.concatenate([np.flatnonzero(used), new]))


def model_of(problem: Problem, place: Place, W: Columns) -> Quadratic:
    """The loss around a place, as a function of the weights of these columns."""
    g, h, lift = np.ascontiguousarray(place.slopes[:, W]), place.curvature, problem.lift
    few = problem.classes > 2 and problem.n * len(W) <= MOST_DENSE
    if g.size <= MOST_GRAM and (few or not problem.sparse):
        X = problem.X if len(W) == problem.d and not problem.sparse else problem.table(W)
        return Gram.of_two(X, h, g, lift) if problem.classes == 2 else Gram.of_many(X, h, problem.weights, g, lift)
    if problem.sparse and problem.classes == 2 and additions(problem, W) <= max(FEW_ADDED, MOST_SOLVED * problem.X.nnz):
        return Gram.of_chosen(problem.X, W, h, g, lift)
    part = problem.across[W] if problem.sparse else np.ascontiguousarray(problem.X[:, W].T)
    return Scaled(part, h, g, lift) if problem.classes == 2 else Coupled(part, h, problem.weights, g, lift)


def by_matrix(problem: Problem, W: Columns) -> bool:
    """Whether sparse columns W are taken by their matrix, while nothing has been made of the columns themselves."""
    return not problem.by_columns and additions(problem, W) <= max(FEW_ADDED, MOST_ADDED * problem.X.nnz)


def additions(problem: Problem, W: Columns) -> float:
    """About how many numbers are added to make the matrix of sparse columns W row by row, and its own."""
    return 0.5 * problem.n * float(problem.filled[W].sum()) ** 2 + float(len(W)) ** 2


def step_by_columns(model: ByColumns, value: float, bound: float, tol: float) -> tuple[Place | None, float, bool]:
    """One step by a model of sparse columns; where it may end the run, a lower bound of the minimum is tried for."""
    place, net = model.place, model.net
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of which no step is made
        model.descend()
        expected = value + model.value() - net.value(place.V)
        last = expected - bound > (1.0 - ASIDE) * tol * expected and model.beyond() <= ASIDE * tol * expected
        if last:
            bound = max(bound, model.prove(expected, tol))
    return search(model.problem, place, net, model.v[None, :], value), bound, last


def advance(problem: Problem, place: Place, net: Net, W: Columns, value: float, progress: float) -> Place | None:
    """One step on the columns W, halved until it gains; None where none does."""
    before, after = np.ascontiguousarray(place.V[:, W]), place.V.copy()
    after[:, W] = model_of(problem, place, W).minimise(before, net, min(0.1, 0.1 * progress))
    return search(problem, place, net, after, value)


def search(problem: Problem, place: Place, net: Net, after: Floats, value: float) -> Place | None:
    """The way to these weights, halved until it gains."""
    step = after - place.V
    promise = float((place.slopes * step).sum()) + net.value(after) - net.value(place.V)
    noise, share = 8 * EPS * abs(value), 1.0
    if not promise < noise:
        return None
    while share >= FEWEST:
        V = after if share == 1.0 else place.V + share * step
        moved = problem.place(V, place.b)
        if moved.loss + net.value(V) <= value + ARMIJO * share * promise + noise:
            return moved
        share *= 0.5
    return None
