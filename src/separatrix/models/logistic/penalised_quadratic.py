"""A quadratic with an elastic-net penalty, with coordinates that descent moves; three ways to hold the quadratic.

    q(v) = g.(v - w) + (v - w)'H(v - w)/2 + alpha |v|_1 + ridge/2 |v|^2

:class:`GramQuadratic` holds H, of which a pass costs p^2; :class:`ScaledQuadratic` holds the columns of the table times
the square roots of the curvatures of its rows, for more columns; :class:`ClassQuadratic` holds columns and
probabilities, for more than two classes. A free intercept is minimised over beforehand, or is one more coordinate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.losses.information import all_classes, inverse_between_classes, weighted_gram
from separatrix.losses.logistic import dense
from separatrix.models.logistic.active_newton import ElasticNet, Order, least_common

OVERFLOW = "the squares of the numbers in X or y overflow: scale the columns."
CONSTANT = 1e-26  # of the square of a mean: what rounding leaves of a constant column's
FEW = 2**15  # numbers of a dense table whose calls cost more than its arithmetic
MOST_DENSE = 2**24  # numbers up to which sparse columns are made dense for their products
FEWEST_SLOW, COORDINATES = 3, 8  # slow passes before a leap: at least, and one for so many coordinates in use
ALIKE = 1e-14  # differences of probabilities that are rounding
SLICE = 2**24  # sparse numbers looked at between two chances to interrupt


@dataclass(frozen=True, slots=True)
class CentredGram:
    """H with free intercepts minimised over: where weights move by v, these move by ``-drift @ v``, if it is known."""

    H: Floats
    drift: Floats | None = None


class GramQuadratic:
    """H itself; coordinates of several classes may stand one after the other."""

    free: NDArray[np.bool_] | None = None
    most = 1000

    def __init__(self, gram: CentredGram, g: Floats, V: Floats, net: ElasticNet) -> None:
        self.gram, self.H, self.net, self.shape = gram, np.ascontiguousarray(gram.H), net, V.shape
        self.w, self.v, self.slope = V.reshape(-1), V.reshape(-1).copy(), g.reshape(-1).copy()
        self.movable = np.flatnonzero(np.diagonal(self.H) + net.ridge > 0)

    @property
    def weights(self) -> Floats:
        return self.v.reshape(self.shape)

    @property
    def patience(self) -> int:
        """A leap solves with a matrix of the u coordinates in use, u^3/3 multiplications, where a pass takes u^2.

        Of several classes, where passes hardly move what classes share, a leap is worth it at once.
        """
        return FEWEST_SLOW if self.shape[0] > 1 else max(FEWEST_SLOW, int(np.count_nonzero(self.v)) // COORDINATES)

    @property
    def intercepts(self) -> Floats | None:
        return None if self.gram.drift is None else -self.gram.drift @ (self.v - self.w)

    @property
    def curvatures(self) -> Floats:
        return np.diagonal(self.H)

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

    def settle(self) -> None:
        if self.shape[0] == 1:
            return
        self.v = np.ascontiguousarray(least_common(self.weights, self.net)).reshape(-1)

    def _times(self, order: Order, d: Floats) -> Floats:
        whole = np.zeros(len(self.v))
        whole[order] = d
        return np.asarray(self.H @ whole)


def gram_of_two(X: Any, curvature: Floats, lift: bool) -> CentredGram:
    """Of two classes: columns are centred by their means; of few numbers in one copy, which takes fewer calls."""
    total = float(curvature.sum())
    if isinstance(X, np.ndarray) and X.size <= FEW and total > 0:
        with np.errstate(over="ignore", invalid="ignore"):
            mean = curvature @ X / total if lift else None
            Z = np.asarray(X if mean is None else X - mean, dtype=np.float64)
            H = (Z.T * curvature) @ Z
        if not np.isfinite(H).all():
            raise DataError(OVERFLOW)
        if mean is not None:
            constant = np.diagonal(H) <= CONSTANT * total * mean**2
            H[constant], H[:, constant] = 0.0, 0.0
        return CentredGram(H, None if mean is None else mean[None, :])
    gram = weighted_gram(X, curvature, lift)
    return CentredGram(gram.A, gram.x_mean[None, :] if lift else None)


def gram_of_chosen(X: Any, chosen: Order, curvature: Floats, lift: bool) -> CentredGram:
    """The same for some columns of sparse rows, without making anything of the others."""
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
    return CentredGram(half)


def gram_of_many(X: Any, P: Floats, weights: Floats | None, lift: bool) -> CentredGram:
    """Of all classes, by a Schur complement."""
    (n, columns), K = X.shape, P.shape[1]
    if n and float(np.ptp(P, axis=0).max()) <= ALIKE:  # as where all weights are zero: one matrix of columns serves all
        between = np.diag(P[0]) - np.outer(P[0], P[0])
        own = gram_of_two(X, np.ones(n) if weights is None else weights, lift)
        means = None if own.drift is None else in_blocks(np.eye(K), own.drift)
        return CentredGram(in_blocks(between, own.H), means)
    H = all_classes(np.column_stack([dense(X), np.ones(n)]) if lift else dense(X), P.T, weights)
    if not lift:
        return CentredGram(H)
    blocks = H.reshape(K, columns + 1, K, columns + 1)
    side = blocks[:, :-1, :, -1].reshape(-1, K)
    drift = inverse_between_classes(blocks[:, -1, :, -1]) @ side.T
    H = blocks[:, :-1, :, :-1].reshape(len(side), -1)
    del blocks  # the larger matrix
    for k, part in enumerate(np.split(H, K)):
        part -= side[k * columns : (k + 1) * columns] @ drift
    return CentredGram(H, drift)


def in_blocks(between: Floats, own: Floats) -> Floats:
    """Kronecker's product: a block for each pair of classes."""
    blocks = between[:, None, :, None] * own[None, :, None, :]
    return blocks.reshape(len(between) * len(own), -1)


class ScaledQuadratic:
    """z_j = sqrt(h) x_j, for columns x_j (the rows of ``part``) and curvatures h of the rows, for two classes.

    Kept up to date are  moved = sum (v_j - w_j) z_j  and the part of it that a free intercept takes.
    """

    free: NDArray[np.bool_] | None = None
    most = 1000

    def __init__(self, part: Any, curvature: Floats, g: Floats, lift: bool, V: Floats, net: ElasticNet) -> None:
        root, self.g, self.net = np.sqrt(curvature), np.ascontiguousarray(g.reshape(-1)), net
        if isinstance(part, np.ndarray):
            self.Z = np.ascontiguousarray(part * root)
        else:
            self.Z = type(part)((part.data * root[part.indices], part.indices, part.indptr), shape=part.shape)
        self.rows = kernels.rows(self.Z)
        self.length = float(np.linalg.norm(root)) if lift else 0.0
        self.along, squares = np.zeros(self.rows.n), np.empty(self.rows.n)
        if self.length > 0:
            kernels.scores(self.rows, np.append(root / self.length, 0.0), self.along)
        kernels.norms2(self.rows, squares)
        self.curvatures = np.maximum(squares - self.along**2, 0.0)
        self.movable = np.flatnonzero(self.curvatures + net.ridge > 0)
        self.w, self.v, self.shape = V.reshape(-1), V.reshape(-1).copy(), V.shape
        self.moved, self.drift = np.zeros(self.rows.d), np.zeros(1)
        self.patience = 3 if self.Z.size <= MOST_DENSE // 16 else 25  # a leap costs dozens of passes

    @property
    def weights(self) -> Floats:
        return self.v.reshape(self.shape)

    @property
    def intercepts(self) -> Floats | None:
        return -self.drift / self.length if self.length > 0 else None

    def sweep(self, order: Order) -> float:
        return kernels.lasso_pass(
            self.rows, order, self.g, self.curvatures, self.along, self.net.alpha, self.net.ridge,
            self.v, self.moved, self.drift,
        )  # fmt: skip

    def slopes(self, order: Order) -> Floats:
        return self.g[order] + self._across(order, self.moved, float(self.drift[0]))

    def product(self, order: Order, d: Floats) -> Floats:
        return self._across(order, *self._along(order, d))

    def matrix(self, order: Order) -> Floats:
        Z, along = self.Z[order], self.along[order]
        Z = dense(Z) if Z.shape[0] * Z.shape[1] <= MOST_DENSE else Z
        return dense(Z @ Z.T) - np.outer(along, along)

    def move(self, order: Order, v: Floats) -> None:
        self.v[order] = v
        moved, drift = self._along(np.arange(len(self.v)), self.v - self.w)
        self.moved[:], self.drift[0] = moved, drift

    def settle(self) -> None:
        """Two classes have one vector, of which the quadratic sees every move."""

    def _along(self, order: Order, d: Floats) -> tuple[Floats, float]:
        whole, out = np.zeros(len(self.v)), np.zeros(self.rows.d)
        whole[order] = d
        kernels.combine(self.rows, order, whole, out)
        return out, float(self.along[order] @ d)

    def _across(self, order: Order, moved: Floats, drift: float) -> Floats:
        out = np.zeros(len(self.v))
        kernels.weighted_sums(self.rows, order, moved, out, None)
        return np.asarray(out[order] - drift * self.along[order])


class ClassQuadratic:
    """Columns as the rows of a table, with the probabilities of all classes; intercepts are coordinates of their own.

    Kept up to date are the added scores  u_k = sum_j (v_kj - w_kj) x_j  and their mean over the classes.
    """

    most, patience = 300, 10

    def __init__(
        self, part: Any, P: Floats, counts: Floats | None, g: Floats, lift: bool, V: Floats, net: ElasticNet
    ) -> None:
        self.rows, self.counts, self.lift, self.net, self.P = (
            kernels.rows(part),
            counts,
            lift,
            net,
            np.ascontiguousarray(P.T),
        )
        (classes, n), d = self.P.shape, g.shape[1]
        self.width, every = d + int(lift), np.arange(d)
        slope, curvature = np.zeros((2, classes, self.width))
        slope[:, :d] = g
        for k, p in enumerate(self.P):
            h = p * (1.0 - p) if counts is None else counts * p * (1.0 - p)
            first, second = np.zeros(d), np.zeros(d)
            kernels.weighted_sums(self.rows, every, h, first, second)
            curvature[k, :d] = second
            curvature[k, d:] = h.sum()
        self.g, self.curvatures = slope.reshape(-1), curvature.reshape(-1)
        self.movable = np.flatnonzero(self.curvatures + net.ridge > 0)
        w = np.column_stack([V, np.zeros(len(V))]) if lift else V
        self.w, self.v = w.reshape(-1), w.reshape(-1).copy()
        self.U, self.mean = np.zeros(classes * n), np.zeros(n)
        self.free = np.tile(np.arange(self.width) >= d, classes) if lift else None

    @property
    def weights(self) -> Floats:
        return np.ascontiguousarray(self.v.reshape(len(self.P), self.width)[:, : self.rows.n])

    @property
    def intercepts(self) -> Floats | None:
        return self.v.reshape(len(self.P), self.width)[:, -1].copy() if self.lift else None

    def sweep(self, order: Order) -> float:
        return kernels.class_lasso_pass(
            self.rows, order, self.width, self.counts, self.P.reshape(-1), self.g, self.curvatures, self.net.alpha,
            self.net.ridge, self.v, self.U, self.mean,
        )  # fmt: skip

    def slopes(self, order: Order) -> Floats:
        return np.asarray(self.g[order] + self._across(order, self.U.reshape(self.P.shape), self.mean))

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

    def settle(self) -> None:
        """Scores that all classes have in common are left as they are: ``u - mean`` does not see them."""
        V = self.v.reshape(len(self.P), self.width)
        V[:, : self.rows.n] = least_common(V[:, : self.rows.n], self.net)

    def _along(self, d: Floats) -> tuple[Floats, Floats]:
        U, n = np.zeros(self.P.shape), self.rows.n
        for u, part in zip(U, d.reshape(len(self.P), self.width), strict=True):
            kernels.combine(self.rows, np.flatnonzero(part[:n]), np.ascontiguousarray(part[:n]), u)
            u += part[-1] if self.lift else 0.0
        return U, np.einsum("ij,ij->j", self.P, U)

    def _across(self, order: Order, U: Floats, mean: Floats) -> Floats:
        n = self.rows.n
        out, every = np.zeros((len(self.P), self.width)), np.arange(n)
        for k, u in enumerate(U):
            r = self.P[k] * (u - mean)
            r = r if self.counts is None else r * self.counts
            first = np.zeros(n)
            kernels.weighted_sums(self.rows, every, r, first, None)
            out[k, :n], out[k, n:] = first, r.sum()
        return np.asarray(out.reshape(-1)[order])
