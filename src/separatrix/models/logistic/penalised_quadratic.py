"""A quadratic with an elastic-net penalty, minimised by coordinate descent; two of three ways to hold the quadratic.

    q(v) = g.(v - w) + (v - w)'H(v - w)/2 + alpha |v|_1 + ridge/2 |v|^2

``gram.Gram`` holds H, of which a pass costs p^2; :class:`Scaled` holds the columns of the table times the
square roots of the curvatures of its rows, for more columns; :class:`Coupled` holds columns and probabilities,
for more than two classes. A free bias is minimised over beforehand, or is one more coordinate.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.active_newton import Net, Order, descend
from separatrix.models.logistic.multinomial_loss import dense

MOST_DENSE = 2**24  # numbers up to which sparse columns are made dense for their products


class Quadratic(Protocol):
    """A model of the loss around weights w, on a working set of columns."""

    def minimise(self, V: Floats, net: Net, enough: float) -> Floats: ...


class Scaled:
    """z_j = sqrt(h) x_j, for columns x_j (the rows of ``part``) and curvatures h of the rows, for two classes."""

    def __init__(self, part: Any, curvature: Floats, g: Floats, lift: bool) -> None:
        root, self.g = np.sqrt(curvature), np.ascontiguousarray(g.reshape(-1))
        if isinstance(part, np.ndarray):
            self.Z = np.ascontiguousarray(part * root)
        else:
            self.Z = type(part)((part.data * root[part.indices], part.indices, part.indptr), shape=part.shape)
        self.rows = kernels.rows(self.Z)
        length = float(np.linalg.norm(root))
        self.along, squares = np.zeros(self.rows.n), np.empty(self.rows.n)
        if lift and length > 0:
            kernels.scores(self.rows, np.append(root / length, 0.0), self.along)
        kernels.norms2(self.rows, squares)
        self.curvature = np.maximum(squares - self.along**2, 0.0)

    def minimise(self, V: Floats, net: Net, enough: float) -> Floats:
        state = ScaledState(self, V.reshape(-1), net)
        descend(state, net, np.flatnonzero(self.curvature + net.ridge > 0), enough)
        return state.v.reshape(V.shape)


class ScaledState:
    """Coordinates with  moved = sum (v_j - w_j) z_j  and the part of it that the bias takes."""

    free: NDArray[np.bool_] | None = None
    most, patience = 1000, 3

    def __init__(self, model: Scaled, w: Floats, net: Net) -> None:
        self.model, self.w, self.v, self.net = model, w, w.copy(), net
        self.moved, self.drift = np.zeros(model.rows.d), np.zeros(1)
        self.patience = 3 if model.Z.size <= MOST_DENSE // 16 else 25  # a leap costs dozens of passes

    def sweep(self, order: Order) -> float:
        m, net = self.model, self.net
        return kernels.lasso_pass(
            m.rows, order, m.g, m.curvature, m.along, net.alpha, net.ridge, self.v, self.moved, self.drift
        )

    def slopes(self, order: Order) -> Floats:
        return self.model.g[order] + self._across(order, self.moved, float(self.drift[0]))

    def product(self, order: Order, d: Floats) -> Floats:
        return self._across(order, *self._along(order, d))

    def matrix(self, order: Order) -> Floats:
        Z, along = self.model.Z[order], self.model.along[order]
        Z = dense(Z) if Z.shape[0] * Z.shape[1] <= MOST_DENSE else Z
        return dense(Z @ Z.T) - np.outer(along, along)

    def move(self, order: Order, v: Floats) -> None:
        self.v[order] = v
        moved, drift = self._along(np.arange(len(self.v)), self.v - self.w)
        self.moved[:], self.drift[0] = moved, drift

    def _along(self, order: Order, d: Floats) -> tuple[Floats, float]:
        whole, out = np.zeros(len(self.v)), np.zeros(self.model.rows.d)
        whole[order] = d
        kernels.combine(self.model.rows, order, whole, out)
        return out, float(self.model.along[order] @ d)

    def _across(self, order: Order, moved: Floats, drift: float) -> Floats:
        out = np.zeros(len(self.v))
        kernels.weighted_sums(self.model.rows, order, moved, out, None)
        return np.asarray(out[order] - drift * self.model.along[order])


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
        v = np.column_stack([V, np.zeros(len(V))]) if self.lift else V
        state = CoupledState(self, v, net)
        descend(state, net, np.flatnonzero(self.curvature.reshape(-1) + net.ridge > 0), enough)
        return np.ascontiguousarray(state.v.reshape(v.shape)[:, : V.shape[1]])


class CoupledState:
    """Coordinates with the scores u_k = sum_j (v_kj - w_kj) x_j that they add, and their mean over the classes."""

    most, patience = 300, 10

    def __init__(self, model: Coupled, w: Floats, net: Net) -> None:
        self.model, self.net, self.w, self.v = model, net, w.reshape(-1), w.reshape(-1).copy()
        classes, n = model.P.shape
        self.U, self.mean = np.zeros(classes * n), np.zeros(n)
        self.free = np.tile(np.arange(model.width) >= model.rows.n, classes) if model.lift else None

    def sweep(self, order: Order) -> float:
        m, net = self.model, self.net
        curvature, g, P = m.curvature.reshape(-1), m.g.reshape(-1), m.P.reshape(-1)
        return kernels.class_lasso_pass(
            m.rows, order, m.width, m.weights, P, g, curvature, net.alpha, net.ridge, self.v, self.U, self.mean
        )

    def slopes(self, order: Order) -> Floats:
        across = self._across(order, self.U.reshape(self.model.P.shape), self.mean)
        return np.asarray(self.model.g.reshape(-1)[order] + across)

    def product(self, order: Order, d: Floats) -> Floats:
        whole = np.zeros(len(self.v))
        whole[order] = d
        return self._across(order, *self._along(whole))

    def matrix(self, order: Order) -> Floats:
        return np.array([self.product(order, e) for e in np.eye(len(order))])

    def move(self, order: Order, v: Floats) -> None:
        self.v[order] = v
        U, self.mean[:] = self._along(self.v - self.w)
        self.U[:] = U.reshape(-1)

    def _along(self, d: Floats) -> tuple[Floats, Floats]:
        m = self.model
        U, D = np.zeros(m.P.shape), d.reshape(len(m.P), m.width)
        for u, part in zip(U, D, strict=True):
            kernels.combine(m.rows, np.flatnonzero(part[: m.rows.n]), np.ascontiguousarray(part[: m.rows.n]), u)
            u += part[-1] if m.lift else 0.0
        return U, np.asarray((m.P * U).sum(axis=0))

    def _across(self, order: Order, U: Floats, mean: Floats) -> Floats:
        m = self.model
        out, every = np.zeros((len(m.P), m.width)), np.arange(m.rows.n)
        for k, u in enumerate(U):
            r = m.P[k] * (u - mean)
            r = r if m.weights is None else r * m.weights
            first = np.zeros(m.rows.n)
            kernels.weighted_sums(m.rows, every, r, first, None)
            out[k, : m.rows.n], out[k, m.rows.n :] = first, r.sum()
        return np.asarray(out.reshape(-1)[order])
