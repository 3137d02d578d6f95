"""Rows times their labels, in units in which an interior-point method is safe."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats


class SignedRows:
    """Rows y_i x_i of a dense array or a CSR matrix, scaled, and moved to a centre where there is a bias."""

    def __init__(self, X: Any, y: NDArray[np.int8], bias: bool) -> None:
        self.y, self.bias = y.astype(np.float64), bias
        self.dense = isinstance(X, np.ndarray)
        values = X if self.dense else X.data
        top = max(float(values.max(initial=0)), -float(values.min(initial=0))) or 1.0
        self.X = X.astype(np.float64, copy=True)
        inside = self.X if self.dense else self.X.data
        inside /= top
        self.centre = np.zeros(X.shape[1])
        if bias and self.dense:
            self.centre = self.X.mean(axis=0)
            self.X -= self.centre
        rms = float(np.sqrt(np.sum(np.square(inside)) / X.shape[0])) or 1.0
        if not 0 < top * rms < np.inf:
            rms = 1.0
        inside /= rms
        self.centre, self.size = self.centre * top, top * rms
        self.n, self.d = int(X.shape[0]), int(X.shape[1])
        self.basis: Any = None

    @staticmethod
    def of(X: Any, y: NDArray[np.int8], bias: bool) -> SignedRows:
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
            small.X, small.basis = U[:, kept] * root, self.X.T @ (U[:, kept] / root)
        small.dense, small.d = True, small.X.shape[1]
        return small

    @cached_property
    def view(self) -> kernels.Rows:
        return kernels.rows(self.X)

    def times(self, w: Floats) -> Floats:
        return np.asarray(self.y * (self.X @ w))

    def back(self, z: Floats) -> Floats:
        if self.dense:
            return np.asarray((z * self.y) @ self.X)
        out = np.zeros(self.d)
        kernels.combine(self.view, np.arange(self.n), z * self.y, out)
        return out

    def gram(self, weights: Floats) -> tuple[Floats, Floats]:
        """X' diag(weights) X and X' weights"""
        if self.dense:
            root = self.X * np.sqrt(weights)[:, None]
            return np.asarray(root.T @ root), np.asarray(weights @ self.X)
        half, sums = np.zeros((self.d, self.d)), np.zeros(self.d)
        kernels.chosen_gram(self.view, weights, np.arange(self.d), 0, self.n, sums, half.reshape(-1))
        return half + half.T, sums
