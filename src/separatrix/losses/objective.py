"""An objective as solvers see it: the loss of all rows plus ridge/2 |w|^2, wherever the rows live.

    F(U) = sum over rows of loss_i + ridge/2 |W|^2,    W the symmetric weights of the vectors U (K - 1, d + 1)

Parameters are one vector: (u_k, b_k) one after the other. Without an intercept its place stays zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.hessian import Hessian
from separatrix.losses.logistic import (
    CURVATURE,
    EPS,
    GRAM,
    PRODUCT,
    REACH,
    ROUNDING,
    TINY,
    VALUE,
    At,
    Logistic,
    Standard,
    narrow,
)
from separatrix.rows.protocol import Leaf, Pass, Rows

ALONG = 1000  # rows that tell how long a first step should be
STANDARD = 4096  # rows that tell the mean and the scale of a column
_numbers = count(1)  # of points, in this process


@dataclass(eq=False, slots=True)
class Point:
    """Parameters with the value and the gradient there; what rows know of it stays with them, by its number."""

    at: Floats
    value: float
    gradient: Floats
    place: At
    curvature: Floats | None = None


class Objective:
    """The loss of rows plus a ridge."""

    def __init__(self, rows: Rows, loss: Logistic, ridge: float = 0.0) -> None:
        self.rows, self.loss, self.ridge = rows, loss, ridge
        self.n, self.d, self.k, self.lift = rows.n, rows.d, loss.vectors, loss.lift

    @property
    def length(self) -> int:
        return self.k * (self.d + 1)

    def zero(self) -> Point:
        """The point with all parameters zero."""
        return self.point(np.zeros(self.length))

    def vectors(self, at: Floats) -> Floats:
        return at.reshape(self.k, self.d + 1)

    def point(self, at: Floats) -> Point:
        place = next(_numbers), self.vectors(at)
        value, G = self.rows.reduce(VALUE, self.loss, place)
        G = G.copy()  # rows keep theirs
        if self.ridge:
            W = self.loss.penalty(place[1])
            value += 0.5 * self.ridge * float(np.vdot(W, place[1]))
            W *= self.ridge
            G += W
        if not self.lift:
            G[:, -1] = 0.0
        return Point(at, value, G.reshape(-1), place)

    def moved(self, point: Point, ridge: float) -> Point:
        """The same point with this objective's loss and another penalty, without a pass."""
        more, W = ridge - self.ridge, self.loss.penalty(point.place[1])
        value = point.value + 0.5 * more * float((W[:, :-1] * point.place[1][:, :-1]).sum())
        return replace(point, value=value, gradient=point.gradient + (more * W).reshape(-1))

    def product(self, point: Point, v: Floats) -> Floats:
        """The Hessian times v; of several classes by dense rows to about six digits."""
        T = self.vectors(v)
        out = self.rows.reduce(PRODUCT, self.loss, point.place, T, self.standard)
        if self.ridge:
            out = out + self.ridge * self.loss.penalty(T)
        if not self.lift:
            out[:, -1] = 0.0
        return np.asarray(out.reshape(-1))

    def hessian(self, point: Point, share: float = 1.0) -> Hessian:
        found = self.rows.reduce(GRAM, self.loss, point.place)
        return Hessian.of(found, self.loss, self.d, self.ridge, share)

    def curvature(self, point: Point) -> Floats:
        """The sum of the curvatures of the rows for each class, of two classes the one."""
        if point.curvature is None:
            point.curvature = self.rows.reduce(CURVATURE, self.loss, point.place)
        return point.curvature

    def left(self, point: Point) -> float:
        """|g|^2/(2 ridge), which bounds what is left to gain; for intercepts with their own curvature, about."""
        G = self.loss.of_all(self.vectors(point.gradient))
        with np.errstate(over="ignore"):
            weights = float((G[:, :-1] * (G[:, :-1] / self.ridge)).sum())  # in this order: squares may underflow
            biases = G[:, -1] * (G[:, -1] / np.maximum(self.curvature(point), TINY))
            return 0.5 * (weights + float(biases.sum()))

    def reach(self, step: Floats) -> float:
        """The greatest change of a score by a step."""
        return float(self.rows.reduce(REACH, self.loss, self.vectors(step)))

    def rounding(self, point: Point) -> Floats:
        """A gradient as large as the rounding errors of the one at a point, with signs that centring does not cancel.

        Sums of +-r (x, 1) are wrong by about EPS times the sum of the sizes, and  sum r |x| <= sqrt(sum r sum r x^2).
        """
        first, second = self.rows.reduce(ROUNDING, self.loss, point.place)
        out = EPS * np.sqrt(second) * np.sqrt(second[:, -1:])
        out[:, :-1] *= np.where(first[:, :-1] > 0, -1.0, 1.0)
        if not self.lift:
            out[:, -1] = 0.0
        return np.asarray(out.reshape(-1))

    @cached_property
    def some(self) -> Leaf:
        """Some rows, for the length of a first step."""
        return self.rows.take(max(1, self.n // ALONG))

    def multiple(self, step: Floats, biases: Floats | None = None, cost: float = 0.0, squares: float = 0.0) -> float:
        """About how many times a step from zero leads to the least loss along it, by some of the rows.

        There may be intercepts besides, and another penalty: ``cost`` a step, and ``squares`` times its square/2.
        """
        T, some = -self.vectors(step), self.some
        S, share = self.loss.scores(some, T), some.n / self.n
        b = np.zeros(self.k) if biases is None else biases
        squares += self.ridge * float((self.loss.penalty(T)[:, :-1] * T[:, :-1]).sum())
        return least_along(lambda a: self.loss.slope(some, S, a, b) + share * (a * squares + cost))

    @cached_property
    def standard(self) -> Standard | None:
        """How rows of several classes are held in single precision, where they stay in memory; None for as they are."""
        if self.loss.two or self.rows.sparse or not self.rows.keeps:
            return None
        some = self.rows.take(max(1, self.n // STANDARD)).X.astype(np.float64)
        with np.errstate(all="ignore"):
            mean, scale = some.mean(axis=0), some.std(axis=0)
            scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
            found = Standard(mean, scale)
            return found if np.isfinite(mean).all() and self.rows.reduce(FINITE, found) else None


def _finite(leaf: Leaf, standard: Standard) -> bool:
    return bool(np.isfinite(narrow(leaf, standard)).all())


FINITE = Pass(_finite, min)


def least_along(slope: Callable[[float], float]) -> float:
    """About where a slope that grows with its place becomes zero, by secants from 0 and 1; at least a tenth."""
    before, low, at = 0.0, slope(0.0), 1.0
    for _ in range(8):
        here = slope(at)
        bend = (here - low) / (at - before)
        if not bend > 0:
            break
        before, low, at = at, here, min(max(at - here / bend, 0.1), 3.0 * at)
        if abs(at - before) <= 0.05 * at:
            break
    return at
