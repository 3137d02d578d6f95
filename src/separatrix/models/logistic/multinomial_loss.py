"""The logistic loss of more than two classes as a smooth function: value, gradient and Hessian.

    F(W, b) = sum c_i (log sum_k exp s_ik - s_i,y_i) + ridge/2 |W|^2,   s_ik = w_k.x_i + b_k + o_ik

Parameters are one vector: (w_k, b_k) one after the other. Without an intercept its place stays zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import TINY, LossPoint, dense, rounding_of


class MultinomialLoss:
    """K classes with one vector each; the Hessian is that of K (d + 1) parameters.

    Unpenalised, the vectors are known up to a common one: steps are taken with the last class at zero.
    """

    def __init__(
        self,
        X: Any,
        codes: NDArray[np.intp],
        classes: int,
        weights: Floats | None = None,
        offset: Floats | None = None,
        ridge: float = 0.0,
        lift: bool = True,
    ) -> None:
        self.X, self.codes, self.classes = X, np.asarray(codes, dtype=np.intp), classes
        self.weights, self.offset, self.ridge, self.lift = weights, offset, ridge, lift
        self.n, self.d = int(X.shape[0]), int(X.shape[1])
        self.own = np.arange(self.n), self.codes

    @property
    def length(self) -> int:
        return self.classes * (self.d + 1)

    def scores(self, at: Floats) -> Floats:
        V = at.reshape(self.classes, self.d + 1)
        s = np.asarray(self.X @ V[:, :-1].T) + V[:, -1]
        return s if self.offset is None else s + self.offset

    def point(self, at: Floats) -> LossPoint:
        s = self.scores(at)
        P, loss = softmax(s, self.own)
        c = 1.0 if self.weights is None else self.weights
        R, wrong = P.copy(), P.sum(axis=1) - P[self.own]
        R[self.own] = -wrong
        R *= np.reshape(c, (-1, 1))
        V = at.reshape(self.classes, self.d + 1)
        G = np.empty_like(V)
        G[:, :-1] = np.asarray(self.X.T @ R).T + self.ridge * V[:, :-1]
        G[:, -1] = R.sum(axis=0) if self.lift else 0.0
        value = float(np.sum(c * loss)) + 0.5 * self.ridge * float((V[:, :-1] ** 2).sum())
        return LossPoint(at, value, G.reshape(-1), P, wrong)

    def product(self, point: LossPoint, v: Floats) -> Floats:
        """The Hessian times v."""
        V, P = v.reshape(self.classes, self.d + 1), point.curvature
        s = np.asarray(self.X @ V[:, :-1].T) + V[:, -1]
        R = P * (s - (P * s).sum(axis=1, keepdims=True))
        if self.weights is not None:
            R *= self.weights[:, None]
        out = np.empty_like(V)
        out[:, :-1] = np.asarray(self.X.T @ R).T + self.ridge * V[:, :-1]
        out[:, -1] = R.sum(axis=0) if self.lift else 0.0
        return out.reshape(-1)

    def left(self, point: LossPoint) -> float:
        G, P = point.gradient.reshape(self.classes, self.d + 1), point.curvature
        h = P * (1.0 - P) if self.weights is None else self.weights[:, None] * P * (1.0 - P)
        with np.errstate(over="ignore"):
            biases = float((G[:, -1] * (G[:, -1] / np.maximum(h.sum(axis=0), TINY))).sum())
            return 0.5 * (float((G[:, :-1] * (G[:, :-1] / self.ridge)).sum()) + biases)

    def diagonal(self, point: LossPoint) -> PlainDiagonal:
        """The diagonal of the Hessian, nowhere zero."""
        out, rows = np.zeros((self.classes, self.d + 1)), kernels.rows(self.X)
        for k, p in enumerate(point.curvature.T):
            h = p * (1.0 - p) if self.weights is None else self.weights * p * (1.0 - p)
            kernels.curvature_diagonal(rows, h, 0, self.n, None, out[k])
        out[:, :-1] += self.ridge
        if not self.lift:
            out[:, -1] = 1.0
        return PlainDiagonal(np.maximum(out, 1e-12 * float(out.max()) or 1.0).reshape(-1))

    def reach(self, step: Floats) -> float:
        V = step.reshape(self.classes, -1)
        return float(np.ptp(self.X @ V[:, :-1].T + V[:, -1], axis=1).max())

    def rounding(self, point: LossPoint) -> Floats:
        sizes, rows = point.curvature.copy(), kernels.rows(self.X)
        sizes[self.own] = point.wrong
        sizes *= 1.0 if self.weights is None else self.weights[:, None]
        return np.concatenate([rounding_of(rows, r) for r in sizes.T])

    def model(self, point: LossPoint) -> ClassHessian:
        """The Hessian of parameters that are determined: of all but a common intercept (ridge), or a common vector."""
        lifted = np.column_stack([dense(self.X), np.ones(self.n)]) if self.lift else dense(self.X)
        free = self.classes if self.ridge else self.classes - 1
        information = class_information(lifted, point.curvature[:, :free], self.weights)
        kept = np.arange(self.length).reshape(self.classes, -1)[:free, : lifted.shape[1]].reshape(-1)
        if self.ridge:
            weights = kept % (self.d + 1) < self.d
            information[np.diag_indices(len(information))] += np.where(weights, self.ridge, 0.0)
            if self.lift:
                kept, information = kept[:-1], information[:-1, :-1]
        return ClassHessian(information, kept)


class HeldLoss:
    """The unpenalised loss as a function of all coefficients (K - 1, p) against the first class but one, ``held``."""

    def __init__(
        self,
        lifted: Floats,
        codes: NDArray[np.intp],
        weights: Floats | None,
        offset: Floats | None,
        shape: tuple[int, ...],
        index: int,
    ) -> None:
        self.lifted, self.weights, self.offset, self.shape = lifted, weights, offset, shape
        self.own, self.index, self.held = (np.arange(len(codes)), codes), index, 0.0
        self.free = np.delete(np.arange(shape[0] * shape[1]), index)
        self.c = np.ones(len(codes)) if weights is None else weights

    def _scores(self, at: Floats, held: float) -> Floats:
        whole = np.empty(self.shape[0] * self.shape[1])
        whole[self.free], whole[self.index] = at, held
        return np.column_stack([np.zeros(len(self.lifted)), self.lifted @ whole.reshape(self.shape).T])

    def point(self, at: Floats) -> LossPoint:
        scores = self._scores(at, self.held)
        P, loss = softmax(scores if self.offset is None else scores + self.offset, self.own)
        R = P.copy()
        R[self.own] -= 1.0
        gradient = ((R[:, 1:] * self.c[:, None]).T @ self.lifted).reshape(-1)
        return LossPoint(at, float(self.c @ loss), gradient[self.free], P, -R[self.own])

    def model(self, point: LossPoint) -> ClassHessian:
        information = class_information(self.lifted, point.curvature[:, 1:], self.weights)
        return ClassHessian(information[np.ix_(self.free, self.free)], np.arange(len(self.free)))

    def reach(self, step: Floats) -> float:
        return float(np.abs(self._scores(step, 0.0)).max())

    def rounding(self, point: LossPoint) -> Floats:
        return np.zeros_like(point.at)  # a profile is of the likelihood alone


class PlainDiagonal:
    """A diagonal matrix of all parameters."""

    def __init__(self, D: Floats) -> None:
        self.D = D

    def correction(self, g: Floats) -> Floats:
        return np.asarray(g / self.D)


class ClassHessian:
    """A Hessian of the parameters ``kept``; directions without curvature are left alone, and ``flat`` says so."""

    def __init__(self, information: Floats, kept: NDArray[np.intp]) -> None:
        self.kept, self.flat = kept, False
        diagonal = np.diagonal(information)
        self.scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        self.scaled = information / self.scale / self.scale[:, None]

    def correction(self, g: Floats) -> Floats:
        size = len(self.scale)
        right, out = g[self.kept] / self.scale, np.zeros(len(g))
        try:
            np.linalg.cholesky(self.scaled - 64 * size * np.finfo(float).eps * np.eye(size))
            step = np.linalg.solve(self.scaled, right)
        except np.linalg.LinAlgError:  # flat directions
            values, vectors = np.linalg.eigh(self.scaled)
            bent = values > 64 * size * np.finfo(float).eps * values[-1]
            self.flat, V = not bent.all(), vectors[:, bent]
            step = V @ ((V.T @ right) / values[bent])
        out[self.kept] = step / self.scale
        return out


def softmax(s: Floats, own: tuple[Any, Any]) -> tuple[Floats, Floats]:
    """Probabilities of the classes and the loss of each row, from scores of any size."""
    top = s.max(axis=1, keepdims=True)
    e = np.exp(s - top)
    total = e.sum(axis=1, keepdims=True)
    loss = np.log(total[:, 0]) + (top[:, 0] - s[own])
    sure = total[:, 0] - e[own] < 1e-3  # the loss of a row that is nearly certain, without cancellation
    if np.any(sure):
        others = e[sure].copy()
        others[np.arange(len(others)), own[1][sure]] = 0.0
        loss[sure] = np.log1p(others.sum(axis=1))
    return e / total, loss


def class_information(lifted: Floats, P: Floats, weights: Floats | None) -> Floats:
    """sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i', block by block."""
    n, p = lifted.shape
    free = P.shape[1]
    c = np.ones(n) if weights is None else weights
    out = np.empty((free, p, free, p))
    for k in range(free):
        h = -(c * P[:, k])[:, None] * P[:, : k + 1]
        h[:, k] = c * P[:, k] * (1.0 - P[:, k])
        side = (h[:, :, None] * lifted[:, None, :]).reshape(n, -1)
        out[k, :, : k + 1] = (lifted.T @ side).reshape(p, k + 1, p)
        out[: k + 1, :, k] = np.moveaxis(out[k, :, : k + 1], 0, 2)
    return out.reshape(free * p, free * p)
