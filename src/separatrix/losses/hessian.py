"""The Hessian of an objective, with free intercepts minimised over: a matrix of the weights alone.

Where weights move by v, the best intercepts move by ``-drift @ v``; ``between`` is the inverse of their own block.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.losses.logistic import EPS, Logistic

TRUSTED = 1e3  # condition up to which an inverse costs no digit that is needed
FEW = 256  # numbers of a step up to which an inverse costs less than loading scipy.linalg, whose BLAS takes 60 MB


class Hessian:
    """A matrix that gradients are solved with; directions without curvature are left alone, and ``flat`` says so.

    ``share`` is the share of all rows that those of the matrix stand for.
    """

    def __init__(
        self, A: Floats, drift: Floats | None, between: Floats | None, vectors: int, d: int, share: float = 1.0
    ) -> None:
        self.A, self.drift, self.between, self.vectors, self.d, self.share = A, drift, between, vectors, d, share
        self.flat, self.finite = False, True
        self._solve: Any = None

    @staticmethod
    def of(found: Any, loss: Logistic, d: int, ridge: float, share: float = 1.0) -> Hessian:
        """From what a pass over the rows has made: moments of two classes, the information of more."""
        own = np.arange(d)
        if loss.two:
            totals = found.totals(last=True)
            A, mean, weight = totals.scatter, totals.mean[0], float(totals.weight[0])
            if not loss.lift:
                A = A + weight * np.outer(mean, mean)
            A[own, own] += ridge
            between = np.array([[1.0 / weight if weight > 0 else 0.0]]) if loss.lift else None
            return Hessian(A, mean[None] if loss.lift else None, between, 1, d, share)
        k, p = loss.vectors, d + int(loss.lift)
        blocks = found.reshape(k, p, k, p)
        if ridge:
            for a in range(k):
                blocks[a, own, :, own] -= ridge / loss.classes
                blocks[a, own, a, own] += ridge
        if not loss.lift:
            return Hessian(blocks.reshape(k * p, k * p), None, None, k, d, share)
        side = blocks[:, :-1, :, -1].reshape(k * d, k)
        between = inverse(blocks[:, -1, :, -1])
        drift = between @ side.T
        return Hessian(blocks[:, :-1, :, :-1].reshape(k * d, k * d) - side @ drift, drift, between, k, d, share)

    def penalised(self, more: float, loss: Logistic) -> Hessian:
        """The same with a ridge that is so much greater."""
        A, p = self.A.copy(), len(self.A) // self.vectors
        blocks, own = A.reshape(self.vectors, p, self.vectors, p), np.arange(self.d)
        for a in range(self.vectors):
            if not loss.two:
                blocks[a, own, :, own] -= more / loss.classes
            blocks[a, own, a, own] += more
        return Hessian(A, self.drift, self.between, self.vectors, self.d, self.share)

    def correction(self, g: Floats) -> Floats:
        """The step that a gradient asks for."""
        if self.vectors == 1:
            out = np.zeros(len(g))
            if self.drift is None or self.between is None:
                out[:-1] = self.solve(g[:-1])
            else:
                mean = self.drift[0]
                out[:-1] = w = self.solve(g[:-1] - g[-1] * mean)
                out[-1] = self.between[0, 0] * g[-1] - mean @ w
            return self.share * out if self.share != 1.0 else out
        G = g.reshape(self.vectors, -1)
        out = np.zeros(G.shape)
        right = G[:, :-1].reshape(-1)
        if self.drift is None or self.between is None:
            out[:, :-1] = self.solve(right).reshape(self.vectors, -1)
        else:
            w = self.solve(right - G[:, -1] @ self.drift)
            out[:, :-1] = w.reshape(self.vectors, -1)
            out[:, -1] = self.between @ G[:, -1] - self.drift @ w
        return (self.share * out).reshape(-1) if self.share != 1.0 else out.reshape(-1)

    def corrections(self, G: Floats) -> Floats:
        """The steps of several gradients (m, d + 1), of the Hessian of one vector."""
        out = np.zeros(G.shape)
        if self.drift is None or self.between is None:
            out[:, :-1] = self.solve(G[:, :-1].T).T
        else:
            mean = self.drift[0]
            out[:, :-1] = w = self.solve((G[:, :-1] - G[:, -1:] * mean).T).T
            out[:, -1] = self.between[0, 0] * G[:, -1] - w @ mean
        if self.share != 1.0:
            out *= self.share
        return out

    def solve(self, right: Floats) -> Floats:
        """A^-1 times vectors (columns), computed with a diagonal of ones."""
        solver = self._solve or self._solver()
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        return np.asarray(solver(right / scale) / scale)

    def covariance(self, classes: int) -> Floats:
        """The inverse for coefficients against the first class, each class with its intercept last."""
        k, d = self.vectors, self.d
        inner = self.solve(np.eye(len(self.A)))
        if self.drift is None or self.between is None:
            whole, p = inner.reshape(k, d, k, d), d
        else:
            p, whole = d + 1, np.empty((k, d + 1, k, d + 1))
            side = -self.drift @ inner
            whole[:, :d, :, :d] = inner.reshape(k, d, k, d)
            whole[:, d, :, :d] = side.reshape(k, k, d)
            whole[:, :d, :, d] = side.T.reshape(k, d, k)
            whole[:, d, :, d] = self.between - side @ self.drift.T
        if classes > 2:  # from vectors against the last class: b_j = u_j - u_1, and -u_1 for the last
            M = np.vstack([np.eye(k)[1:], np.zeros(k)])
            M[:, 0] -= 1.0
            whole = np.einsum("ab,bicj,dc->aidj", M, whole, M)
        return np.asarray(whole.reshape(k * p, k * p))

    @property
    def regular(self) -> bool:
        """Whether all directions have curvature."""
        if self._solve is None:
            self._solver()
        return not self.flat and self.finite

    def _solver(self) -> Any:
        self._solve = self._made()
        return self._solve

    def _made(self) -> Any:
        diagonal = np.diagonal(self.A)
        self.scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        scaled = self.A / self.scale / self.scale[:, None]
        size = len(scaled)
        if not np.isfinite(scaled).all():
            self.finite = False
            return lambda right: np.full(right.shape, np.nan)
        shift = 64 * size * EPS
        try:
            if size <= FEW:
                found = np.linalg.inv(scaled)
                if size * float(np.abs(found).sum(axis=0).max(initial=0.0)) <= TRUSTED:  # no number of A is above 1
                    return found.__matmul__
                np.linalg.cholesky(scaled - shift * np.eye(size))
                return partial(np.linalg.solve, scaled)
            lapack = scipy_linalg().lapack
            factor, failed = lapack.dpotrf(scaled - shift * np.eye(size), lower=1)
            if not failed:
                factor, failed = lapack.dpotrf(scaled, lower=1)
            if not failed:
                return lambda right: lapack.dpotrs(factor, right, lower=1)[0]
        except np.linalg.LinAlgError:
            pass
        values, vectors = np.linalg.eigh(scaled)
        bent = values > shift * values[-1] if size else np.zeros(0, dtype=bool)
        self.flat, V = not bent.all(), vectors[:, bent]
        kept = values[bent]
        return lambda right: V @ ((V.T @ right).T / kept).T


def inverse(A: Floats) -> Floats:
    """Of a small symmetric matrix, which may be singular where a class has no curvature left."""
    top = float(np.abs(A).max(initial=0.0))
    with np.errstate(all="ignore"):
        try:
            found = np.asarray(np.linalg.inv(A), dtype=np.float64)
            if float(np.abs(found).max(initial=0.0)) * top <= 1e12:
                return found
        except np.linalg.LinAlgError:
            pass
        return np.asarray(np.linalg.pinv(A, hermitian=True)) if np.isfinite(A).all() else np.full_like(A, np.nan)
