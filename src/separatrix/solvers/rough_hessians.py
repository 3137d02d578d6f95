"""Rough Hessians of an objective: at zero, its blocks, its diagonal; each solves with gradients of (K - 1) vectors.

Blocks and diagonals are those of all K classes, one for each, as residuals of all classes have them; what a step moves
in all classes is left out of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.losses.hessian import Hessian
from separatrix.losses.logistic import DIAGONAL, TINY, Logistic, dense
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.moments import Moments, Totals, merge
from separatrix.rows.protocol import Leaf, Pass, added

ROWS = 8  # rows of a block for each column
CANDIDATES = 8  # rows that each of them is chosen from
FLAT = 1e-10  # of the largest: added to the diagonal, for columns that do not vary where a class has curvature
SAME_DIAGONAL, SAME_BLOCKS = 1.1, 1.5  # they are made anew once the sum of the curvatures has changed by this factor


def _columns(leaf: Leaf, d: int) -> Moments:
    return Moments(d).add(leaf.X, None, None, leaf.counts)


def _squares(leaf: Leaf) -> tuple[Floats, Floats]:
    """Sums and sums of squares of the columns, and of a constant, with the weights of the rows."""
    first, second = np.zeros((2, leaf.d + 1))
    kernels.curvature_diagonal(leaf.rows, np.ascontiguousarray(leaf.counts), 0, leaf.n, first, second)
    return first, second


COLUMNS = Pass(_columns, merge, "columns")  # moments of the columns with the weights of the rows
SQUARES = Pass(_squares, added, "columns")


class AtZero:
    """The Hessian where all classes are equally likely: for each vector that of the rows, by one Gram matrix of them.

    Of two classes rows have the curvature 1/4 there, of K more (I - 11'/K)/K between vectors. ``share`` is the share
    of all rows that the moments are of.
    """

    def __init__(self, totals: Totals, loss: Logistic, ridge: float, share: float = 1.0) -> None:
        self.loss, self.parts, self.share = loss, 4.0 if loss.two else float(loss.classes), share
        mean, weight = totals.mean[0], float(totals.weight[0])
        A = totals.scatter.copy() if loss.lift else totals.scatter + weight * np.outer(mean, mean)
        A[np.diag_indices(len(A))] += self.parts * share * ridge
        drift, between = (mean[None], np.array([[1.0 / weight]])) if loss.lift else (None, None)
        self.rows = Hessian(A, drift, between, 1, len(A))

    def correction(self, g: Floats) -> Floats:
        G = g.reshape(self.loss.vectors, -1)
        G = (self.parts * self.share) * (G if self.loss.two else G + G.sum(axis=0))
        return self.rows.corrections(G).reshape(-1)


class Preconditioner:
    """Rough Hessians of an objective by point, kept while the curvature stays about the same."""

    def __init__(self, loss: Objective, blocks: bool) -> None:
        self.loss, self.blocks, self.size = loss, blocks, 0.0
        self.made: Any = None

    def __call__(self, point: Point) -> Any:
        size, same = float(self.loss.curvature(point).sum()), SAME_BLOCKS if self.blocks else SAME_DIAGONAL
        if self.made is None or not (self.size > 0 and 1.0 / same < size / self.size < same):
            self.made, self.size = (Blocks if self.blocks else Diagonal)(self.loss, point), size
        return self.made


class OfClasses:
    """What solves class by class: weights by ``weights_of``, intercepts by their means and totals."""

    loss: Logistic
    means: Floats
    totals: Floats

    def correction(self, g: Floats) -> Floats:
        G = self.loss.of_all(g.reshape(self.loss.vectors, -1))
        out = np.zeros_like(G)
        out[:, :-1] = self.weights_of(G[:, :-1] - self.means * G[:, -1:])
        if self.loss.lift:
            out[:, -1] = G[:, -1] / self.totals - (self.means * out[:, :-1]).sum(axis=1)
        return self.loss.differences(out).reshape(-1)

    def weights_of(self, G: Floats) -> Floats:
        raise NotImplementedError("a rough Hessian says how it is solved with")


class Diagonal(OfClasses):
    """The Hessian without what columns have in common, but for the intercepts."""

    def __init__(self, loss: Objective, point: Point) -> None:
        self.loss = loss.loss
        first, second = loss.rows.reduce(DIAGONAL, loss.loss, point.place)
        self.totals = np.maximum(second[:, -1], TINY)
        self.means = first[:, :-1] / self.totals[:, None] if loss.lift else np.zeros_like(first[:, :-1])
        D = np.maximum(second[:, :-1] - self.totals[:, None] * self.means**2, 0.0) + loss.ridge
        self.D = np.maximum(D, 1e-12 * float(D.max(initial=0.0)) or 1.0)

    def weights_of(self, G: Floats) -> Floats:
        return np.asarray(G / self.D)


class Blocks(OfClasses):
    """The blocks of the classes, by rows with much curvature: those where the running sum passes a whole multiple."""

    def __init__(self, loss: Objective, point: Point) -> None:
        self.loss, d = loss.loss, loss.d
        stride = max(1, loss.n // (CANDIDATES * ROWS * (d + 1)))
        some = loss.rows.take(stride)
        X, H = some.X, stride * loss.loss.curvatures(some, loss.loss.state(some, point.place))
        blocks, self.means, self.totals = np.empty((len(H), d, d)), np.zeros((len(H), d)), np.ones(len(H))
        for k, h in enumerate(H):
            chosen, weights = in_proportion(h, ROWS * (d + 1))
            rows = dense(X[chosen] if len(chosen) < some.n else X)
            self.totals[k] = max(float(weights.sum()), TINY)
            if loss.lift:
                self.means[k] = weights @ rows / self.totals[k]
                rows = rows - self.means[k]
            blocks[k] = (rows.T * weights) @ rows
        own = np.arange(d)
        diagonals = blocks[:, own, own] + loss.ridge
        blocks[:, own, own] = diagonals + np.maximum(FLAT * diagonals.max(axis=1, keepdims=True), TINY)
        scale = np.sqrt(blocks[:, own, own])
        blocks /= scale[:, :, None] * scale[:, None, :]
        self.inverses = np.linalg.inv(blocks) / (scale[:, :, None] * scale[:, None, :])

    def weights_of(self, G: Floats) -> Floats:
        return np.asarray(np.matmul(self.inverses, G[:, :, None])[:, :, 0])


def in_proportion(h: Floats, most: int) -> tuple[NDArray[np.intp], Floats]:
    """About ``most`` row numbers in proportion to h, and weights that make their sums those of all rows."""
    total = float(h.sum())
    if len(h) <= 1.5 * most or not total > 0:
        return np.arange(len(h)), np.maximum(h, 1e-300)
    chance = np.minimum(h * (most / total), 1.0)
    place = np.floor(np.cumsum(chance) + 0.5)
    chosen = np.flatnonzero(np.diff(place, prepend=0.0))
    return chosen, h[chosen] / chance[chosen]
