"""Logistic regression as an objective: value, gradient and curvature of two classes or of more.

    F(w, b) = sum c_i log(1 + exp(-y_i (w.x_i + b + o_i))) + ridge/2 |w|^2                    (two classes)
    F(W, b) = sum c_i (log sum_k exp s_ik - s_i,y_i) + ridge/2 |W|^2,   s_ik = w_k.x_i + b_k + o_ik

The gradient of the first is  -sum c_i (1 - P(y_i|x_i)) y_i (x_i, 1)  plus the penalty's. Parameters are one
vector: (w, b), or (w_k, b_k) one after the other. Without a bias its place stays zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.maths.moments import Moments
from separatrix.maths.normal_equations import NormalEquations

Floats = NDArray[np.float64]
TINY = float(np.finfo(np.float64).tiny)
SLICE = 2**24  # numbers looked at between two chances to interrupt


@dataclass(frozen=True, slots=True)
class Point:
    """Parameters with what one pass says of them; ``curvature`` has what the Hessian needs of each row.

    For two classes ``wrong`` is 1 - P(y_i|x_i), without the cancellation.
    """

    at: Floats
    value: float
    gradient: Floats
    curvature: Floats
    wrong: Floats


class Model(Protocol):
    """The Hessian at a point: what step a gradient asks for."""

    def correction(self, g: Floats) -> Floats: ...


class Curved(Protocol):
    """A smooth convex function of the parameters, with its Hessian."""

    def point(self, at: Floats) -> Point: ...
    def model(self, point: Point) -> Model: ...


class Objective(Curved, Protocol):
    """One whose Hessian is also known by its products with vectors."""

    @property
    def length(self) -> int: ...
    def product(self, point: Point, v: Floats) -> Floats: ...
    def diagonal(self, point: Point) -> Model: ...
    def left(self, point: Point) -> float: ...


class Binary:
    """Two classes: y is -1 or +1; ``weights`` and ``offset`` may be None."""

    def __init__(
        self,
        X: Any,
        y: NDArray[np.int8],
        weights: Floats | None = None,
        offset: Floats | None = None,
        ridge: float = 0.0,
        lift: bool = True,
    ) -> None:
        self.X, self.y, self.weights, self.offset = X, y, weights, offset
        self.ridge, self.lift = ridge, lift
        self.rows = kernels.rows(X)
        self.n, self.d = self.rows.n, self.rows.d
        self.stride = max(1024, SLICE * self.n // max(1, int(X.size)))

    @property
    def length(self) -> int:
        return self.d + 1

    def point(self, at: Floats) -> Point:
        gradient, curvature, wrong = np.zeros(self.d + 1), np.empty(self.n), np.empty(self.n)
        value = 0.0
        for begin in range(0, self.n, self.stride):
            end = min(begin + self.stride, self.n)
            value += kernels.logistic_pass(
                self.rows, self.y, self.weights, self.offset, at, begin, end, gradient, curvature, wrong
            )
        w = at[:-1]
        value += 0.5 * self.ridge * float(w @ w)
        gradient[:-1] += self.ridge * w
        if not self.lift:
            gradient[-1] = 0.0
        return Point(at, value, gradient, curvature, wrong)

    def sums(self, r: Floats) -> Floats:
        """sum r_i x_i"""
        out = np.zeros(self.d + 1)
        kernels.curvature_product(self.rows, r, np.append(np.zeros(self.d), 1.0), 0, self.n, out)
        return out[:-1]

    def model(self, point: Point) -> NormalEquations:
        return weighted_gram(self.X, point.curvature, self.ridge, self.lift)

    def product(self, point: Point, v: Floats) -> Floats:
        """The Hessian times v, in one read of the rows."""
        out = np.zeros(self.d + 1)
        for begin in range(0, self.n, self.stride):
            end = min(begin + self.stride, self.n)
            kernels.curvature_product(self.rows, point.curvature, v, begin, end, out)
        out[:-1] += self.ridge * v[:-1]
        if not self.lift:
            out[-1] = 0.0
        return out

    def left(self, point: Point) -> float:
        """|g|^2/(2 ridge), which bounds what is left to gain; for the bias with its own curvature, about."""
        g, bias = point.gradient[:-1], float(point.gradient[-1])
        return 0.5 * (float(g @ g) / self.ridge + bias**2 / max(float(point.curvature.sum()), TINY))

    def diagonal(self, point: Point) -> Diagonal:
        """The Hessian without what columns have in common, but for the bias."""
        first, D = np.zeros((2, self.d + 1))
        kernels.curvature_diagonal(self.rows, point.curvature, 0, self.n, first if self.lift else None, D)
        total = float(first[-1])
        if not total > 0:
            return Diagonal(D[:-1] + self.ridge, np.zeros(self.d), 0.0)
        mean = first[:-1] / total
        return Diagonal(np.maximum(D[:-1] - total * mean**2, 0.0) + self.ridge, mean, total)


class Diagonal:
    """A diagonal matrix of weights, bordered by a bias of curvature ``total`` (0 for none) as in a Hessian."""

    def __init__(self, D: Floats, mean: Floats, total: float) -> None:
        self.D, self.mean, self.total = np.maximum(D, 1e-12 * float(D.max(initial=0.0)) or 1.0), mean, total

    def correction(self, g: Floats) -> Floats:
        w = (g[:-1] - self.mean * g[-1]) / self.D
        return np.append(w, g[-1] / self.total - self.mean @ w if self.total > 0 else 0.0)


def weighted_gram(X: Any, weights: Floats, ridge: float, lift: bool) -> NormalEquations:
    """sum h_i (x_i, 1)(x_i, 1)' + ridge, by moments: the bias is eliminated without cancellation."""
    d = X.shape[1]
    totals = Moments(d).add(X, None, None, weights).totals()
    return NormalEquations(totals, d, ridge, lift, lift)


class Multinomial:
    """K classes with one vector each; the Hessian is that of K (d + 1) parameters.

    Unpenalised, the vectors are known up to a common one: steps are taken with the last class at zero, and
    :func:`centred` then makes the vectors add up to zero.
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

    def point(self, at: Floats) -> Point:
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
        return Point(at, value, G.reshape(-1), P, wrong)

    def product(self, point: Point, v: Floats) -> Floats:
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

    def left(self, point: Point) -> float:
        """|g|^2/(2 ridge), which bounds what is left to gain; for the biases with their own curvatures, about."""
        G, P = point.gradient.reshape(self.classes, self.d + 1), point.curvature
        h = P * (1.0 - P) if self.weights is None else self.weights[:, None] * P * (1.0 - P)
        biases = float((G[:, -1] ** 2 / np.maximum(h.sum(axis=0), TINY)).sum())
        return 0.5 * (float((G[:, :-1] ** 2).sum()) / self.ridge + biases)

    def diagonal(self, point: Point) -> Diagonals:
        """The diagonal of the Hessian, nowhere zero."""
        out, rows = np.zeros((self.classes, self.d + 1)), kernels.rows(self.X)
        for k, p in enumerate(point.curvature.T):
            h = p * (1.0 - p) if self.weights is None else self.weights * p * (1.0 - p)
            kernels.curvature_diagonal(rows, h, 0, self.n, None, out[k])
        out[:, :-1] += self.ridge
        if not self.lift:
            out[:, -1] = 1.0
        return Diagonals(np.maximum(out, 1e-12 * float(out.max()) or 1.0).reshape(-1))

    def model(self, point: Point) -> Blocks:
        K = self.classes
        lifted = np.column_stack([dense(self.X), np.full(self.n, 1.0 if self.lift else 0.0)])
        free = K if self.ridge else K - 1  # with a ridge all vectors are determined, but for the biases
        information = class_information(lifted, point.curvature[:, :free], self.weights)
        if self.ridge:
            information[np.diag_indices(len(information))] += np.tile(np.append(np.full(self.d, self.ridge), 0.0), free)
        return Blocks(information)


class Diagonals:
    """A diagonal matrix of all parameters."""

    def __init__(self, D: Floats) -> None:
        self.D = D

    def correction(self, g: Floats) -> Floats:
        return np.asarray(g / self.D)


class Blocks:
    """A Hessian of several class vectors; directions without curvature are left alone."""

    def __init__(self, information: Floats) -> None:
        diagonal = np.diagonal(information)
        self.scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        self.scaled = information / self.scale / self.scale[:, None]

    def correction(self, g: Floats) -> Floats:
        size = len(self.scale)
        right = g[:size] / self.scale
        try:
            np.linalg.cholesky(self.scaled - 64 * size * np.finfo(float).eps * np.eye(size))
            step = np.linalg.solve(self.scaled, right)
        except np.linalg.LinAlgError:  # flat directions
            values, vectors = np.linalg.eigh(self.scaled)
            V = vectors[:, values > 64 * size * np.finfo(float).eps * values[-1]]
            step = V @ ((V.T @ right) / values[values > 64 * size * np.finfo(float).eps * values[-1]])
        return np.append(step / self.scale, np.zeros(len(g) - size))


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


def dense(X: Any) -> Floats:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


def centred(at: Floats, classes: int) -> Floats:
    """The same model with vectors that add up to zero: of all equivalent ones the shortest."""
    V = at.reshape(classes, -1)
    return np.asarray((V - V.mean(axis=0)).reshape(-1))
