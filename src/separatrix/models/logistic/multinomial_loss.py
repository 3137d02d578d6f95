"""The logistic loss of more than two classes as a smooth function: value, gradient and Hessian.

    F(W, b) = sum c_i (log sum_k exp s_ik - s_i,y_i) + ridge/2 |W|^2,   s_ik = w_k.x_i + b_k + o_ik

Parameters are one vector: (w_k, b_k) one after the other. Without an intercept its place stays zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import ALONG, EPS, TINY, LossPoint, dense, least_along
from separatrix.models.logistic.class_hessians import (
    ClassBlocks,
    NarrowRows,
    PlainDiagonal,
    add_balanced,
    class_information,
    scores_against_last,
)

CACHE = 2**18  # numbers of a chunk of rows, their scores and probabilities
BLOCK_PRICE = 6  # blocks are made where the square of the columns is at most so many times the rows


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
        X = X.astype(np.float64) if X.dtype == np.float32 and X.size <= CACHE * 4 else X  # once, not in every pass
        self.X, self.codes, self.classes = X, np.ascontiguousarray(codes, dtype=np.int64), classes
        self.weights, self.offset, self.ridge, self.lift = weights, offset, ridge, lift
        self.n, self.d = int(X.shape[0]), int(X.shape[1])
        self.own = np.arange(self.n), self.codes
        self.blocks: ClassBlocks | None = None
        self.last_model: tuple[LossPoint, ClassHessian] | None = None
        self.narrow_at: LossPoint | None = None  # the point that narrow_p has the probabilities of
        self.narrow_p: Any = None
        self.narrow_c = None if weights is None else weights.astype(np.float32)

    @cached_property
    def narrow(self) -> NarrowRows | None:
        """Dense rows for products, or None."""
        made = NarrowRows(self.X, self.chunks) if isinstance(self.X, np.ndarray) else None
        return made if made is not None and made.usable else None

    @property
    def length(self) -> int:
        return self.classes * (self.d + 1)

    @property
    def chunks(self) -> list[slice]:
        """Rows that stay in the cache between the two products of a pass; of sparse rows all at once."""
        step = max(256, min(8192, CACHE // (self.d + 2 * self.classes))) if isinstance(self.X, np.ndarray) else self.n
        return [slice(begin, begin + step) for begin in range(0, self.n, step)]

    def point(self, at: Floats) -> LossPoint:
        V, chunks = at.reshape(self.classes, self.d + 1), self.chunks
        biases, zero = V[:, -1].copy(), not at.any()
        P, wrong = np.empty((self.classes, self.n)), np.empty(self.n)

        def add(part: slice, G: Floats) -> float:
            X, codes = self.X[part], self.codes[part]
            out = P if len(chunks) == 1 else None
            s = np.zeros((self.classes, len(codes))) if zero else class_scores(X, V, out)
            if self.offset is not None:
                s += self.offset[part].T
            R, c = np.empty_like(s), None if self.weights is None else self.weights[part]
            loss = kernels.class_probabilities(s, biases, codes, c, s, R, wrong[part], None)
            if s is not P:
                P[:, part] = s
            G[:, :-1] += class_sums(X, R)
            G[:, -1] += R.sum(axis=1)
            return loss

        value, G = self._over_rows(add)
        return self._finished(at, value, G, P, wrong)

    def _over_rows(self, add: Callable[[slice, Floats], float]) -> tuple[float, Floats]:
        """The sum of what ``add`` returns for the chunks of all rows, and of what it adds to (K, d + 1) numbers."""
        chunks = self.chunks

        def run(own: tuple[int, int]) -> tuple[float, Floats]:
            G = np.zeros((self.classes, self.d + 1))
            return sum(add(part, G) for part in chunks[slice(*own)]), G

        blocks = kernels.row_blocks(len(chunks), self.n * (self.d + self.classes), align=1)
        values, sums = zip(*kernels.each_part(run, blocks), strict=True)
        return sum(values), np.add.reduce(sums)

    def _finished(self, at: Floats, value: float, G: Floats, P: Floats, wrong: Floats) -> LossPoint:
        W = at.reshape(self.classes, -1)[:, :-1]
        self._penalise(G, W)
        penalty = 0.5 * self.ridge * float((W**2).sum()) if self.ridge else 0.0
        return LossPoint(at, value + penalty, G.reshape(-1), P.T, wrong)

    def _penalise(self, G: Floats, W: Floats) -> None:
        G[:, :-1] += self.ridge * W
        if not self.lift:
            G[:, -1] = 0.0

    def product(self, point: LossPoint, v: Floats) -> Floats:
        """The Hessian times v; of dense rows to about six digits."""
        V, P = v.reshape(self.classes, self.d + 1), point.curvature.T

        narrow = self.narrow
        if narrow is not None and self.narrow_at is not point:
            self.narrow_at, self.narrow_p = point, P.astype(np.float32)
        moved = None if narrow is None else narrow.moved(V)

        def add(part: slice, out: Floats) -> float:
            if narrow is not None and moved is not None:
                narrow.add(part, self.narrow_p, self.narrow_c, moved[0], out)
                return 0.0
            X, p = self.X[part], P[:, part]
            s = class_scores(X, V) + V[:, -1:]
            s *= p
            s -= p * s.sum(axis=0)
            if self.weights is not None:
                s *= self.weights[part]
            out[:, :-1] += class_sums(X, s)
            out[:, -1] += s.sum(axis=1)
            return 0.0

        out = self._over_rows(add)[1]
        out = out if narrow is None or moved is None else narrow.back(out, moved[1])
        self._penalise(out, V[:, :-1])
        return out.reshape(-1)

    def release(self, point: LossPoint) -> None:
        """Points of several classes are let go."""

    def left(self, point: LossPoint) -> float:
        G, P = point.gradient.reshape(self.classes, self.d + 1), point.curvature.T
        h = np.array(
            [float(p @ (1.0 - p)) if self.weights is None else float((self.weights * p) @ (1.0 - p)) for p in P]
        )
        with np.errstate(over="ignore"):
            biases = float((G[:, -1] * (G[:, -1] / np.maximum(h, TINY))).sum())
            return 0.5 * (float((G[:, :-1] * (G[:, :-1] / self.ridge)).sum()) + biases)

    def preconditioner(self, point: LossPoint) -> ClassBlocks | PlainDiagonal:
        """The blocks of the classes, kept while the curvature stays about the same, or only the diagonal.

        For many columns or sparse rows the blocks would cost more than the products that they save.
        """
        if not isinstance(self.X, np.ndarray) or self.d**2 > BLOCK_PRICE * self.n:
            return self.diagonal(point)
        if self.blocks is None or not self.blocks.still_good(point.curvature):
            self.blocks = ClassBlocks.at(self.X, point.curvature, self.weights, self.ridge, self.lift)
        return self.blocks

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

    def multiple(self, step: Floats, bias: Floats | None = None, cost: float = 0.0) -> float:
        some, V = slice(None, None, max(1, self.n // ALONG)), -step.reshape(self.classes, self.d + 1)
        S, codes = class_scores(self.X[some], V) + V[:, -1:], self.codes[some].copy()
        biases = np.zeros(self.classes) if bias is None else bias
        c, o = (None if v is None else v[some].copy() for v in (self.weights, self.offset))
        penalty, R, share = self.ridge * float((V[:, :-1] ** 2).sum()), np.empty_like(S), len(codes) / self.n

        def slope(a: float) -> float:
            scores = a * S if o is None else a * S + o.T
            kernels.class_probabilities(scores, biases, codes, c, scores, R, None, None)
            return float(np.vdot(R, S)) + share * (a * penalty + cost)

        return least_along(slope)

    def reach(self, step: Floats) -> float:
        V = step.reshape(self.classes, self.d + 1)
        scores = class_scores(self.X, V) + V[:, -1:]
        return float((scores.max(axis=0) - scores.min(axis=0)).max())

    def rounding(self, point: LossPoint) -> Floats:
        sizes = point.curvature.T.copy()
        sizes[self.codes, self.own[0]] = point.wrong
        sizes *= 1.0 if self.weights is None else self.weights
        squares = self.X.multiply(self.X) if hasattr(self.X, "multiply") else np.square(self.X, dtype=np.float64)
        second, total = np.asarray(sizes @ squares), sizes.sum(axis=1, keepdims=True)
        signs = np.where(np.asarray(sizes @ self.X) > 0, -1.0, 1.0)
        return np.column_stack([EPS * signs * np.sqrt(second) * np.sqrt(total), EPS * total]).reshape(-1)

    def information(self, point: LossPoint) -> Floats:
        """The part of the Hessian that is a sum over rows, of the classes that a step moves."""
        lifted = np.column_stack([dense(self.X), np.ones(self.n)]) if self.lift else dense(self.X)
        free = self.classes if self.ridge else self.classes - 1
        return class_information(lifted, point.curvature[:, :free], self.weights)

    def model(self, point: LossPoint) -> ClassHessian:
        """The Hessian at a point; that of the last one asked for is kept."""
        if self.last_model is None or self.last_model[0] is not point:
            found = determined(self.information(point), self.classes, self.d, self.ridge, self.lift)
            self.last_model = point, found
        return self.last_model[1]


def determined(information: Floats, classes: int, d: int, ridge: float, lift: bool) -> ClassHessian:
    """The Hessian of parameters that are determined: of all but a common intercept (ridge), or a common vector."""
    free = classes if ridge else classes - 1
    kept = np.arange(classes * (d + 1)).reshape(classes, -1)[:free, : d + int(lift)].reshape(-1)
    if ridge:
        information[np.diag_indices(len(information))] += np.where(kept % (d + 1) < d, ridge, 0.0)
        if lift:
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


def class_scores(X: Any, V: Floats, out: Floats | None = None) -> Floats:
    """Scores (K, n) of rows by lifted vectors, without intercepts; of dense rows less those of the last class."""
    if isinstance(X, np.ndarray):
        return np.asarray(scores_against_last(X, V[:, :-1], out))
    return np.ascontiguousarray(np.asarray(X @ V[:, :-1].T).T)


def class_sums(X: Any, R: Floats) -> Floats:
    """sum r_ki x_i for each class, where the r of a row add up to zero."""
    if not isinstance(X, np.ndarray):
        return np.asarray((X.T @ np.ascontiguousarray(R.T)).T)
    out = np.zeros((len(R), X.shape[1]))
    add_balanced(out, X, R)
    return out


def softmax(s: Floats, own: tuple[Any, Any]) -> tuple[Floats, Floats]:
    """Probabilities (n, K) of the classes and the loss of each row, from scores of any size."""
    P, loss = np.array(s.T, order="C"), np.empty(len(s))
    codes = np.ascontiguousarray(own[1], dtype=np.int64)
    kernels.class_probabilities(P, np.zeros(len(P)), codes, None, P, None, None, loss)
    return P.T, loss
