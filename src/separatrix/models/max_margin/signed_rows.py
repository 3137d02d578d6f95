"""Rows times their labels, in units in which an interior-point method is safe."""

from __future__ import annotations

import math
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.moments import Moments

SMALL = 2**16  # numbers of rows up to which a copy of them turned serves their products best
FULL, MOST_FULL = 3, 2**20  # places for each number of sparse rows, and in all, up to which these are made dense
SAFE = 1e-200, 1e200  # sums of squares that need no division


class SignedRows:
    """Rows y_i x_i of a dense array or a CSR matrix, scaled, and moved to a centre where there is a bias."""

    def __init__(self, X: Any, y: NDArray[np.int8], bias: bool) -> None:
        self.y, self.bias = y.astype(np.float64), bias
        self.n, self.d = int(X.shape[0]), int(X.shape[1])
        self.dense = isinstance(X, np.ndarray)
        self.X, top = _safe(X)
        self.centre = np.zeros(self.d)
        if bias and self.dense:
            self.centre = np.full(self.n, 1.0 / self.n) @ self.X
            self.X = self.X - self.centre
        elif top == 1.0:
            self.X = self.X.copy()
        inside = self.X if self.dense else self.X.data
        rms = math.sqrt(float(np.vdot(inside, inside)) / self.n) or 1.0
        if not 0 < top * rms < np.inf:
            rms = 1.0
        inside *= 1.0 / rms
        self.centre, self.size = self.centre * top, top * rms
        self.basis: Any = None

    @staticmethod
    def of(X: Any, y: NDArray[np.int8], bias: bool) -> SignedRows:
        if not isinstance(X, np.ndarray) and X.shape[0] * X.shape[1] <= min(FULL * X.nnz, MOST_FULL):
            X = X.toarray()
        rows = SignedRows(X, y, bias)
        return rows.reduced() if rows.d > rows.n else rows

    def reduced(self) -> SignedRows:
        """The same rows in coordinates of the space that they span, where there are more columns than rows."""
        small = copy(self)
        if self.dense:
            Q, R = np.linalg.qr(self.X.T)
            small.X, small.basis = np.ascontiguousarray(R.T), Q
        else:
            values, U = np.linalg.eigh((self.X @ self.X.T).toarray())
            kept = values > values[-1] * 1e-14
            root = np.sqrt(values[kept])
            small.X, small.basis = np.ascontiguousarray(U[:, kept] * root), self.X.T @ (U[:, kept] / root)
        small.dense, small.d = True, small.X.shape[1]
        return small

    @cached_property
    def view(self) -> kernels.Rows:
        return kernels.rows(self.X)

    @cached_property
    def every(self) -> NDArray[np.int64]:
        return np.arange(self.n)

    @cached_property
    def turned(self) -> Floats:
        return np.ascontiguousarray(self.X.T)

    def products(self, w: Floats, b: float) -> Floats:
        """w.x_i + b"""
        if self.dense:
            return np.asarray(self.X @ w + b)
        out = np.empty(self.n)
        kernels.scores(self.view, np.append(w, b), out)
        return out

    def sums(self, v: Floats) -> Floats:
        """sum v_i x_i"""
        if self.dense:
            return np.asarray(v @ self.X)
        out = np.zeros(self.d)
        kernels.combine(self.view, self.every, v, out)
        return out

    def scatter(self, weights: Floats) -> tuple[Floats, Floats]:
        """The mean m = sum h_i x_i / sum h_i and sum h_i (x_i - m)(x_i - m)', in Fortran's order above the diagonal."""
        if self.dense and self.X.size > SMALL:
            totals = Moments(self.d).add(self.X, None, None, weights).totals(last=True)
            return totals.mean[0], totals.scatter.T
        H = np.zeros((self.d, self.d))
        if self.dense:
            part = self.turned * weights
            sums = part.sum(axis=1)
            np.dot(part, self.turned.T, out=H)
        else:
            sums, own = np.zeros(self.d), np.arange(self.d)
            kernels.chosen_gram(self.view, weights, own, 0, self.n, sums, H.reshape(-1))
            H[own, own] *= 2.0
        total = float(weights.sum())
        return sums / total, scipy_linalg().blas.dsyr(-1.0 / total, sums, a=H.T, overwrite_a=1)


def _safe(X: Any) -> tuple[Any, float]:
    """Rows as doubles whose squares neither overflow nor vanish, and what they were divided by."""
    values = X if isinstance(X, np.ndarray) else X.data
    inside = np.asarray(values, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        size = float(np.vdot(inside, inside))
    top = 1.0 if SAFE[0] < size < SAFE[1] else float(np.abs(inside).max(initial=0)) or 1.0
    if top != 1.0:
        inside = inside / top
    if isinstance(X, np.ndarray):
        return inside, top
    return type(X)((inside, X.indices, X.indptr), shape=X.shape), top
