"""A quadratic with an elastic-net penalty, minimised by coordinate descent; three ways to hold the quadratic.

    q(v) = g.(v - w) + (v - w)'H(v - w)/2 + alpha |v|_1 + ridge/2 |v|^2

:class:`Gram` holds H, of which a pass costs p^2; :class:`Scaled` holds the columns of the table times the
square roots of the curvatures of its rows, for more columns; :class:`Coupled` holds columns and probabilities,
for more than two classes. A free bias is minimised over beforehand, or is one more coordinate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.maths.logistic import weighted_gram
from separatrix.maths.multinomial import class_information, dense

Floats = NDArray[np.float64]
Order = NDArray[np.int64]
MOST_PASSES = 2000


@dataclass(frozen=True, slots=True)
class Net:
    """alpha |v|_1 + ridge/2 |v|^2"""

    alpha: float
    ridge: float

    def value(self, V: Floats) -> float:
        return self.alpha * float(np.abs(V).sum()) + 0.5 * self.ridge * float((V**2).sum())


class Quadratic(Protocol):
    """A model of the loss around weights w, on a working set of columns."""

    def minimise(self, V: Floats, net: Net, enough: float) -> Floats: ...


def descend(sweep: Callable[[Order], float], v: Floats, every: Order, enough: float) -> None:
    """Passes over all coordinates, and between them over those not zero until these rest.

    Ends when a pass over all changes less than ``enough`` of what has been changed.
    """
    total, passes = 0.0, 0
    while passes < MOST_PASSES:
        change = sweep(every)
        total, passes, rest = total + change, passes + 1, 0.1 * change
        if not change > enough * total:
            return
        while passes < MOST_PASSES:
            change = sweep(every[v[every] != 0])
            total, passes = total + change, passes + 1
            if not change > max(rest, enough * total):
                break


class Gram:
    """H itself; coordinates of several classes may stand one after the other."""

    EXACT = 1e-12  # passes cost little: the minimum itself

    def __init__(self, H: Floats, g: Floats) -> None:
        self.H, self.g = np.ascontiguousarray(H), g

    @staticmethod
    def of_two(X: Any, curvature: Floats, g: Floats, lift: bool) -> Gram:
        """The bias is minimised over: columns are centred by their means."""
        return Gram(weighted_gram(X, curvature, 0.0, lift).A, g) if lift else Gram(uncentred(X, curvature), g)

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
        v, slope = V.reshape(-1).copy(), self.g.reshape(-1).copy()
        every = np.flatnonzero(np.diagonal(self.H) + net.ridge > 0)

        def sweep(order: Order) -> float:
            return kernels.gram_pass(self.H, order, net.alpha, net.ridge, v, slope)

        descend(sweep, v, every, self.EXACT)
        return v.reshape(V.shape)


def uncentred(X: Any, curvature: Floats) -> Floats:
    return weighted_gram(X, curvature, 0.0, False).A


class Scaled:
    """z_j = sqrt(h) x_j, for columns x_j (the rows of ``part``) and curvatures h of the rows, for two classes."""

    def __init__(self, part: Any, curvature: Floats, g: Floats, lift: bool) -> None:
        root, self.g = np.sqrt(curvature), np.ascontiguousarray(g.reshape(-1))
        if isinstance(part, np.ndarray):
            self.rows = kernels.Rows.dense(np.ascontiguousarray(part * root))
        else:
            self.rows = kernels.Rows.csr(part.data * root[part.indices], part.indices, part.indptr, part.shape[1])
        length = float(np.linalg.norm(root))
        self.along, squares = np.zeros(self.rows.n), np.empty(self.rows.n)
        if lift and length > 0:
            kernels.scores(self.rows, np.append(root / length, 0.0), self.along)
        kernels.norms2(self.rows, squares)
        self.curvature = np.maximum(squares - self.along**2, 0.0)

    def minimise(self, V: Floats, net: Net, enough: float) -> Floats:
        v, moved, drift = V.reshape(-1).copy(), np.zeros(self.rows.d), np.zeros(1)
        every = np.flatnonzero(self.curvature + net.ridge > 0)

        def sweep(order: Order) -> float:
            return kernels.lasso_pass(
                self.rows, order, self.g, self.curvature, self.along, net.alpha, net.ridge, v, moved, drift
            )

        descend(sweep, v, every, enough)
        return v.reshape(V.shape)


class Coupled:
    """Columns as the rows of a table, with the probabilities of all classes; biases are coordinates of their own."""

    def __init__(self, part: Any, P: Floats, weights: Floats | None, g: Floats, lift: bool) -> None:
        self.rows, self.weights, self.lift = kernels.rows(part), weights, lift
        self.P = np.ascontiguousarray(P.T)
        classes, d = g.shape
        self.width, every = d + int(lift), np.arange(d)
        self.g, self.curvature = np.zeros((2, classes, self.width))
        self.g[:, :d] = g
        for k, p in enumerate(self.P):
            h = p * (1.0 - p) if weights is None else weights * p * (1.0 - p)
            first, second = np.zeros(d), np.zeros(d)
            kernels.weighted_sums(self.rows, every, h, first, second)
            self.curvature[k, :d] = second
            self.curvature[k, d:] = h.sum()

    def minimise(self, V: Floats, net: Net, enough: float) -> Floats:
        classes, n = self.P.shape
        v = np.column_stack([V, np.zeros(classes)]).reshape(-1) if self.lift else V.reshape(-1).copy()
        U, mean = np.zeros(classes * n), np.zeros(n)
        curvature, g, P = self.curvature.reshape(-1), self.g.reshape(-1), self.P.reshape(-1)
        every = np.flatnonzero(curvature + net.ridge > 0)

        def sweep(order: Order) -> float:
            return kernels.class_lasso_pass(
                self.rows, order, self.width, self.weights, P, g, curvature, net.alpha, net.ridge, v, U, mean
            )

        descend(sweep, v, every, enough)
        return np.ascontiguousarray(v.reshape(classes, self.width)[:, : V.shape[1]])
