"""One proximal Newton step of an elastic net: its columns, its quadratic model, and how far it is gone along.

A model is a matrix of the columns, or the columns themselves where these are many. Where its minimum may end the
search, it is solved for as many digits as the wanted gap asks for.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.losses.logistic import EPS, TINY
from separatrix.models.logistic.active_newton import Coordinates, ElasticNet, descend
from separatrix.models.logistic.centred_loss import CentredLoss, WeightsPoint
from separatrix.models.logistic.penalised_quadratic import (
    ClassQuadratic,
    GramQuadratic,
    ScaledQuadratic,
    gram_of_chosen,
    gram_of_many,
    gram_of_two,
)
from separatrix.models.logistic.problem import LogisticProblem

Columns = NDArray[np.intp]
MOST_GRAM = 600  # coordinates up to which the matrix of a dense model is made
MOST_LATE, LATE = 1200, 0.2  # the same of several classes, once the gap is this share of the first one
MOST_SLOW, COST = 3000, 2e10  # the same where steps gain ever little, and multiplications that the matrix may take
SMALL, EXACT = 600, 1e-12  # coordinates up to which passes over a matrix cost little: more digits are worth them
MOST_DENSE = 2**22  # numbers up to which sparse columns of several classes are made dense for it
FEW_ADDED, MOST_ADDED = 2**22, 4.0  # of sparse rows: numbers added up to which it is made, and for each of the table
MOST_SOLVED = 36.0  # the same once steps by columns gain no more
FIRST = 200  # columns of the first working set
ARMIJO = 1e-4
FEWEST = 2.0**-30
# Shares of softening, and values promised at most; lassos of rare columns whose rows are certain end at no gap without.
ATTEMPTS = (0.0, 4.0), (1e-5, 4.0), (1e-3, 4.0), (0.01, 4.0), (0.3, np.inf), (0.0, np.inf)
LEFT = 5.0  # what a step leaves, about: so many times the square of what it promises
ENOUGH_SLOW = 1e-2  # of what passes have changed, where steps gain ever little since their models are left early
ENOUGH = 0.2  # share of a wanted gap that slopes above alpha may cost


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


def quadratic_of(
    loss: CentredLoss,
    place: WeightsPoint,
    net: ElasticNet,
    W: Columns,
    progress: float,
    slow: bool = False,
) -> Coordinates:
    """The loss around a place, as a quadratic in the weights of these columns."""
    V, g = np.ascontiguousarray(place.V[:, W]), np.ascontiguousarray(place.slopes[:, W])
    h, lift, two = place.curvature, loss.lift, loss.classes == 2
    few = not two and loss.n * len(W) <= MOST_DENSE
    most = MOST_GRAM if two or progress > LATE else MOST_LATE
    most = MOST_SLOW if slow and loss.n * g.size**2 <= COST else most
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
    tol: float,
    slow: bool = False,
) -> WeightsPoint | None:
    """One step on the columns W, halved until it gains; None where it does not.

    A step that promises little is made as exact as the wanted gap asks for. One that does not gain, or is promised more
    than there is, is made again with curvatures that are softened.
    """
    for share, most in ATTEMPTS:
        model = quadratic_of(loss, softened(loss, place, share), net, W, progress, slow)
        small = isinstance(model, GramQuadratic) and len(model.H) <= (SMALL if progress < 1.0 else FIRST)
        descend(model, net, model.movable, EXACT if small else ENOUGH_SLOW if slow else min(0.1, 0.1 * progress))
        after = with_weights(place, W, model)
        gain = min(max(-0.5 * promise(place, net, after) / value, 0.0), 1.0)
        if not share and not small and min(gain, LEFT * gain**2) <= tol:
            descend(model, net, model.movable, 0.0, exact_for(model, tol * value))
            after = with_weights(place, W, model)
        b = model.intercepts
        if not loss.sparse and not place.V.any():
            longer = first_multiple(loss, place, net, after)
            after, b = longer * after, None if b is None else longer * b
        moved = search(loss, place, net, after, value, None if b is None else place.b + b, most)
        if moved is not None:
            return moved
    return None


def with_weights(place: WeightsPoint, W: Columns, model: Coordinates) -> Floats:
    """The weights of a place, with those of a model for the columns W."""
    after = place.V.copy()
    after[:, W] = model.weights
    return after


def promise(place: WeightsPoint, net: ElasticNet, after: Floats) -> float:
    """How the value changes on the way to these weights by its slopes here: once to twice what a model gains."""
    return float((place.slopes * (after - place.V)).sum()) + net.value(after) - net.value(place.V)


def exact_for(model: Coordinates, gap: float) -> float:
    """The least change of a pass, as ``descend`` has it, that leaves slopes above alpha which cost a share of this gap.

    A slope that is e above alpha costs e |v|_1; the squares of all of them, over the curvatures, are such a change.
    """
    size, used = max(float(np.abs(model.v).sum()), TINY), int(np.count_nonzero(model.v))
    return float((ENOUGH * gap / size) ** 2 * np.sqrt(used) / max(float(model.curvatures.max(initial=0.0)), TINY))


def softened(loss: CentredLoss, place: WeightsPoint, share: float) -> WeightsPoint:
    """The place with the curvatures of probabilities that are drawn towards equal ones by a share.

    Where rows are certain they have next to no curvature, and a step may be any number of times too long. The share is
    of what probabilities of other classes are on average: where nearly all rows are right, less is enough.
    """
    if not share:
        return place
    share *= min(1.0, 2.0 * float(place.others.sum()) / loss.n)
    if loss.classes > 2:
        return replace(place, curvature=(1.0 - share) * place.curvature + share / loss.classes)
    q = (1.0 - share) * place.others + 0.5 * share
    return replace(place, curvature=q * (1.0 - q) if loss.weights is None else loss.weights * q * (1.0 - q))


def first_multiple(loss: CentredLoss, place: WeightsPoint, net: ElasticNet, after: Floats) -> float:
    """How many times a first step is taken: at zero rows have the greatest curvature, and it is too short."""
    problem = LogisticProblem.of(loss.X, loss.codes, loss.classes, loss.weights, loss.offset, loss.lift)
    step = problem.parameters_of(np.column_stack([-after, np.zeros(len(after))]))
    b = place.b if loss.classes == 2 else place.b[:-1] - place.b[-1]
    with np.errstate(all="ignore"):
        costs = net.alpha * float(np.abs(after).sum()), net.ridge * float((after**2).sum())
        return problem.objective().multiple(step, b, *costs)


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
    promised, noise, share = promise(place, net, after), 8 * EPS * abs(value), 1.0
    if not -most * value < promised < noise:  # a value is above zero: a model that promises many of them knows nothing
        return None
    while share >= FEWEST:
        V = after if share == 1.0 else place.V + share * step
        moved = loss.place(V, place.b if b is None else place.b + share * (b - place.b))
        if moved.loss + net.value(V) <= value + ARMIJO * share * promised + noise:
            return moved
        share *= 0.5
    return None
