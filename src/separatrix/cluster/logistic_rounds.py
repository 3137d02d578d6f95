"""The logistic loss of rows on workers: value, gradient and Hessian by rounds, for Newton's method.

Each partition evaluates the loss of its own rows by the classes of one machine; sums are joined in the fixed tree, and
the probabilities of the rows stay where they are. A round carries the point that it is about, so that any worker can
answer it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import HeldPart
from separatrix.data.row_files import columns_of
from separatrix.models.logistic.binary_loss import EPS, TINY, BinaryLoss, HessianModel, LossPoint, dense
from separatrix.models.logistic.class_hessians import class_information
from separatrix.models.logistic.multinomial_loss import MultinomialLoss, determined
from separatrix.numerics.moments import Moments, merge
from separatrix.numerics.normal_equations import NormalEquations


@dataclass(frozen=True, slots=True)
class LossSpec:
    """Which loss of which columns: classes, or one of them against the rest, and whether there is an intercept."""

    classes: int
    lift: bool
    ridge: bool = False  # whether a penalty makes all class vectors determined
    against: int | None = None  # the class whose log-odds against the rest are modelled
    kept: tuple[int, ...] | None = None  # columns, where others depend on them

    @property
    def vectors(self) -> int:
        return 1 if self.classes == 2 or self.against is not None else self.classes

    def columns_of(self, X: Any) -> Any:
        """The columns that are kept."""
        return X if self.kept is None else columns_of(X, list(self.kept))


def part_loss(part: HeldPart, spec: LossSpec) -> BinaryLoss | MultinomialLoss:
    """The unpenalised loss of a partition, made once."""
    if part.memo.get("spec") != spec:
        part.memo.clear()
        X = spec.columns_of(part.X)
        if spec.vectors == 1:
            sign = np.where(part.y == (1 if spec.against is None else spec.against), 1, -1).astype(np.int8)
            part.memo["loss"] = BinaryLoss(X, sign, part.weights, None, 0.0, spec.lift)
        else:
            part.memo["loss"] = MultinomialLoss(X, part.y, spec.classes, part.weights, None, 0.0, spec.lift)
        part.memo["spec"] = spec
    loss_: BinaryLoss | MultinomialLoss = part.memo["loss"]
    return loss_


def part_point(part: HeldPart, spec: LossSpec, at: Floats) -> LossPoint:
    """The loss at a point, kept until another point is asked for."""
    loss, last = part_loss(part, spec), part.memo.get("point")
    if last is None or not np.array_equal(last.at, at):
        if last is not None and isinstance(loss, BinaryLoss):
            loss.release(last)
        part.memo["point"] = loss.point(at)
    point: LossPoint = part.memo["point"]
    return point


def point_sums(part: HeldPart, spec: LossSpec, at: Floats) -> tuple[float, Floats, Floats]:
    """Value, gradient, and the curvature of each intercept."""
    point = part_point(part, spec, at)
    curvature = point.curvature
    if spec.vectors > 1:
        curvature = curvature * (1.0 - curvature)
        curvature = curvature if part.weights is None else part.weights[:, None] * curvature
        return point.value, point.gradient.copy(), curvature.sum(axis=0)
    return point.value, point.gradient.copy(), np.array([curvature.sum()])


def join_sums(left: Any, right: Any) -> Any:
    """Sums of two runs of partitions, entry by entry."""
    return tuple(a + b for a, b in zip(left, right, strict=True))


def curvature_sums(part: HeldPart, spec: LossSpec, at: Floats) -> Any:
    """The Hessian of a partition: weighted moments for two classes, blocks of classes for more."""
    point, loss = part_point(part, spec, at), part_loss(part, spec)
    if isinstance(loss, BinaryLoss):
        return Moments(loss.d).add(loss.X, None, None, point.curvature).flushed()
    return class_information(_lifted(loss), point.curvature[:, : spec.classes - (not spec.ridge)], part.weights)


def information_sums(part: HeldPart, spec: LossSpec, at: Floats) -> Floats:
    """The information of the coefficients against the first class."""
    point, loss = part_point(part, spec, at), part_loss(part, spec)
    return class_information(_lifted(loss), point.curvature[:, 1:], part.weights)


def _lifted(loss: Any) -> Floats:
    return np.column_stack([dense(loss.X), np.ones(loss.n)]) if loss.lift else dense(loss.X)


def part_reach(part: HeldPart, spec: LossSpec, step: Floats) -> float:
    """The greatest change of a score by a step."""
    return part_loss(part, spec).reach(step)


def rounding_sums(part: HeldPart, spec: LossSpec, at: Floats) -> Floats:
    """What the size of rounding errors of the gradient follows from: first and second sums, for each vector."""
    loss, point = part_loss(part, spec), part_point(part, spec, at)
    if isinstance(loss, BinaryLoss):
        sizes: NDArray[Any] = point.wrong[:, None]
    else:
        sizes = point.curvature.copy()
        sizes[loss.own] = point.wrong
    sizes = sizes if part.weights is None else sizes * part.weights[:, None]
    rows, out = kernels.rows(loss.X), np.zeros((sizes.shape[1], 2, loss.d + 1))
    for k, own in enumerate(sizes.T):
        kernels.curvature_diagonal(rows, np.ascontiguousarray(own), 0, rows.n, out[k, 0], out[k, 1])
    return out


def gram_sums(part: HeldPart, d: int) -> Moments:
    """Moments of the columns, with the weights of the rows."""
    weights = np.ones(part.n) if part.weights is None else part.weights
    return Moments(d).add(part.X, None, None, weights).flushed()


class RoundsLoss:
    """The loss of all rows plus a ridge, as a solver sees it; every method is a round."""

    def __init__(self, source: EncodedSource, spec: LossSpec, ridge: float = 0.0) -> None:
        self.rounds, self.spec, self.ridge, self.lift = source.rounds, spec, ridge, spec.lift
        self.d = source.d if spec.kept is None else len(spec.kept)

    @property
    def length(self) -> int:
        return self.spec.vectors * (self.d + 1)

    def _by_vector(self, v: Floats) -> Floats:
        return v.reshape(self.spec.vectors, self.d + 1)

    def point(self, at: Floats) -> LossPoint:
        value, gradient, curvature = self.rounds.reduce("loss", point_sums, self.spec, at, join=join_sums)
        gradient = gradient.copy()  # what comes from a worker may not be written to
        W, G = self._by_vector(at), self._by_vector(gradient)
        G[:, :-1] += self.ridge * W[:, :-1]
        if not self.lift:
            G[:, -1] = 0.0
        value += 0.5 * self.ridge * float((W[:, :-1] ** 2).sum())
        return LossPoint(at, value, gradient, curvature, np.empty(0))

    def model(self, point: LossPoint) -> HessianModel:
        join = merge if self.spec.vectors == 1 else np.add
        found = self.rounds.reduce("Hessian", curvature_sums, self.spec, point.at, join=join)
        if self.spec.vectors == 1:
            return NormalEquations(found.copy().totals(last=True), self.d, self.ridge, self.lift, self.lift)
        return determined(found.copy(), self.spec.classes, self.d, self.ridge, self.lift)

    def reach(self, step: Floats) -> float:
        return float(self.rounds.reduce("steps of scores", part_reach, self.spec, step, join=max))

    def rounding(self, point: LossPoint) -> Floats:
        sums = self.rounds.reduce("rounding", rounding_sums, self.spec, point.at, join=np.add)
        out = []
        for first, second in sums:
            own = EPS * np.sqrt(second) * np.sqrt(second[-1])
            own[:-1] *= np.where(first[:-1] > 0, -1.0, 1.0)
            own[-1] *= float(self.lift)
            out.append(own)
        return np.concatenate(out)

    def left(self, point: LossPoint) -> float:
        """|g|^2/(2 ridge) and, for intercepts, with their own curvature: a bound of what is left to gain, about."""
        G = self._by_vector(point.gradient)
        with np.errstate(over="ignore"):
            weights = float((G[:, :-1] * (G[:, :-1] / self.ridge)).sum())
            return 0.5 * (weights + float((G[:, -1] * (G[:, -1] / np.maximum(point.curvature, TINY))).sum()))

    # Of the protocol, for searches that only multiply by the Hessian. A round costs more than making it: Newton's is
    # the only search here, and more parameters than it can make are refused before.
    def product(self, point: LossPoint, v: Floats) -> Floats:
        raise NotImplementedError("on a cluster the Hessian is made")

    def preconditioner(self, point: LossPoint) -> HessianModel:
        raise NotImplementedError("on a cluster the Hessian is made")
