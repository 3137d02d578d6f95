"""Ridge solutions of wide and about square tables from one Cholesky factor: that of the inner products of rows.

    (A'A + alpha)^-1 A'y = A'K^-1 y,    (A'A + alpha)^-1 g = (g - A'K^-1 A g)/alpha,    K = A A' + alpha

The first gives the solution, the second the corrections by gradients in twofold precision (twofold_refinement.py),
which shrink as long as the squared condition is far below 1/eps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.least_squares_problem import LeastSquaresProblem

REFINABLE = 1e10  # the greatest condition of K, as LAPACK estimates it in the 1-norm


class RowProducts:
    """(A'A + alpha)^-1 through the Cholesky factor of A A' + alpha; A has at most as many rows as columns."""

    def __init__(self, A: Floats, problem: LeastSquaresProblem, weight: float, shift: Floats | None) -> None:
        from scipy.linalg import lapack
        from scipy.linalg.blas import dsyrk

        self.A, self.alpha, self.lift, self.free = A, problem.alpha, problem.lift, problem.free
        self.weight, self.shift, self.scale = weight, shift, np.ones(A.shape[1])
        K = dsyrk(1.0, A.T, trans=1, lower=1)
        K[np.diag_indices_from(K)] += self.alpha
        size = float(np.abs(K + np.tril(K, -1).T).sum(axis=0).max())
        self.factor, failed = lapack.dpotrf(K, lower=1)
        self.usable = not failed and np.isfinite(size)
        if self.usable:
            share, _ = lapack.dpocon(self.factor, size, uplo="L")
            self.usable = bool(share * REFINABLE >= 1.0)

    def _solve(self, right: Floats) -> Any:
        from scipy.linalg.lapack import dpotrs

        return dpotrs(self.factor, right, lower=1)[0]

    @property
    def condition(self) -> float:
        """sqrt((s^2 + alpha)/alpha) with the largest singular value s: A'A is singular, since A is wide or centred."""
        v, value = self.A @ (np.ones(len(self.A)) @ self.A), 0.0
        for _ in range(POWERS):
            v /= np.linalg.norm(v) or 1.0
            v, before, value = self.A @ (v @ self.A), value, 0.0
            value = float(np.linalg.norm(v))
            if value <= before * (1.0 + DIGITS):
                break
        return float(np.sqrt((value + self.alpha) / self.alpha))

    def weights(self, y: Floats) -> Floats:
        return np.asarray(self.A.T @ self._solve(y))

    def _inverse_times(self, g: Floats) -> Floats:
        return np.asarray((g - self.A.T @ self._solve(self.A @ g)) / self.alpha)

    def correction(self, g: Floats) -> Floats:
        """The lifted step for a lifted gradient."""
        if self.shift is not None:
            w = self._inverse_times(g[:-1] - self.shift * g[-1])
            return np.append(w, g[-1] / self.weight - self.shift @ w)
        return self._inverse_times(g) if self.lift else np.append(self._inverse_times(g[:-1]), 0.0)
