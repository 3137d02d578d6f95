"""The matrix of a quadratic with an elastic-net penalty, minimised by coordinate descent (see lasso.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.active_newton import Net, Order, descend
from separatrix.models.logistic.binary_loss import weighted_gram
from separatrix.models.logistic.multinomial_loss import class_information, dense

SLICE = 2**24  # sparse numbers looked at between two chances to interrupt


class Gram:
    """H itself; coordinates of several classes may stand one after the other."""

    SMALL, EXACT = 600, 1e-12  # up to here passes cost little: the minimum itself

    def __init__(self, H: Floats, g: Floats) -> None:
        self.H, self.g = np.ascontiguousarray(H), g

    @staticmethod
    def of_two(X: Any, curvature: Floats, g: Floats, lift: bool) -> Gram:
        """The bias is minimised over: columns are centred by their means."""
        return Gram(weighted_gram(X, curvature, 0.0, lift).A, g) if lift else Gram(uncentred(X, curvature), g)

    @staticmethod
    def of_chosen(X: Any, chosen: Order, curvature: Floats, g: Floats, lift: bool) -> Gram:
        """The same of some columns of sparse rows, without making anything of the others."""
        rows, place, sums = kernels.rows(X), np.full(X.shape[1], -1, dtype=np.int64), np.zeros(len(chosen))
        place[chosen] = np.arange(len(chosen))
        half = np.zeros((len(chosen), len(chosen)))
        step = max(1, SLICE * rows.n // max(1, int(X.nnz)))
        for begin in range(0, rows.n, step):
            kernels.chosen_gram(rows, curvature, place, begin, min(begin + step, rows.n), sums, half.reshape(-1))
        half += half.T
        total = float(curvature.sum())
        if lift and total > 0:
            squares = np.diagonal(half).copy()
            half -= np.outer(sums, sums / total)
            constant = ~(np.diagonal(half) > 1e-12 * squares)  # nothing is left of them but rounding
            half[constant], half[:, constant] = 0.0, 0.0
        return Gram(half, g)

    @staticmethod
    def of_many(X: Any, P: Floats, weights: Floats | None, g: Floats, lift: bool) -> Gram:
        """All classes; the biases are minimised over by a Schur complement."""
        columns, classes = X.shape[1], P.shape[1]
        rows = np.column_stack([dense(X), np.ones(len(P))]) if lift else dense(X)
        H = class_information(rows, P, weights)
        if not lift:
            return Gram(H, g)
        bias = np.arange(columns, H.shape[0], columns + 1)
        rest = np.setdiff1d(np.arange(H.shape[0]), bias)
        inverse = np.linalg.pinv(H[np.ix_(bias, bias)], hermitian=True)
        H = H[np.ix_(rest, rest)] - H[np.ix_(rest, bias)] @ inverse @ H[np.ix_(bias, rest)]
        assert len(H) == columns * classes
        return Gram(H, g)

    def minimise(self, V: Floats, net: Net, enough: float) -> Floats:
        state = GramState(self.H, V.reshape(-1).copy(), self.g.reshape(-1).copy(), net)
        enough = self.EXACT if len(self.H) <= self.SMALL else enough
        descend(state, net, np.flatnonzero(np.diagonal(self.H) + net.ridge > 0), enough)
        return state.v.reshape(V.shape)


class GramState:
    """Coordinates with the slopes of the quadratic there."""

    free: NDArray[np.bool_] | None = None
    most, patience = 1000, 3

    def __init__(self, H: Floats, v: Floats, slope: Floats, net: Net) -> None:
        self.H, self.v, self.slope, self.net = H, v, slope, net

    def sweep(self, order: Order) -> float:
        return kernels.gram_pass(self.H, order, self.net.alpha, self.net.ridge, self.v, self.slope)

    def slopes(self, order: Order) -> Floats:
        return self.slope[order]

    def product(self, order: Order, d: Floats) -> Floats:
        return np.asarray(self._times(order, d)[order])

    def matrix(self, order: Order) -> Floats:
        return self.H[np.ix_(order, order)]

    def move(self, order: Order, v: Floats) -> None:
        self.slope += self._times(order, v - self.v[order])
        self.v[order] = v

    def _times(self, order: Order, d: Floats) -> Floats:
        whole = np.zeros(len(self.v))
        whole[order] = d
        return np.asarray(self.H @ whole)


def uncentred(X: Any, curvature: Floats) -> Floats:
    return weighted_gram(X, curvature, 0.0, False).A
