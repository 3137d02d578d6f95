"""Least-squares problems and their solutions, by normal equations from moments, and the rank rule.

With a free bias the centred scatter S_xx w = S_xy determines w, and b = mean(y) - w.mean(x); otherwise
X'X (w, b) = X'y with the constant column in X. Columns are scaled to length 1 before anything is solved. The basis
of a solution is that in which its covariance is known.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.gram_matrix import EPS, GramMatrix, rank_limit, unit_diagonal
from separatrix.numerics.moments import Totals

FEW = 256  # columns up to which an inverse costs less than loading scipy.linalg, whose BLAS takes 60 MB of its own
INVERTIBLE = 1e3  # squared condition up to which products with an inverse keep as many digits as a factor
TWELVE = 1e-11  # of the largest slope: an error by its bound, of which up to a third was seen
RESOLVED = 1e-8  # of the trace: the smallest penalty that moments resolve in all directions


class NormalEquations(GramMatrix):
    """(A + alpha I) w = c, with A and c from moments; see the module."""

    def penalised(self, alpha: float) -> NormalEquations:
        """The same equations with another alpha."""
        out = copy(self)
        for name in ("values", "inverse"):
            out.__dict__.pop(name, None)
        out.alpha = alpha
        out.scale, out.scaled = unit_diagonal(self.A, alpha)
        return out

    @cached_property
    def values(self) -> Floats:
        """Eigenvalues of the scaled matrix, ascending."""
        return np.asarray(np.linalg.eigvalsh(self.scaled), dtype=np.float64)

    @property
    def squared_condition(self) -> float:
        return _squared_condition(self.values, self.p)

    @property
    def condition(self) -> float:
        return float(np.sqrt(self.squared_condition))

    def later_condition(self) -> Callable[[], float]:
        """The condition, when it is asked for; of these equations only the scaled matrix is kept until then."""
        return partial(_condition, self.scaled, self.p)

    @cached_property
    def inverse(self) -> NormalInverse:
        """The inverse of the scaled matrix, with a bound of its squared condition."""
        found = _of_few_columns(self.scaled) if len(self.scaled) <= FEW else _of_many_columns(self.scaled)
        if not self.alpha:
            return found
        # A is positive semidefinite: no eigenvalue of the scaled matrix is below this one.
        least = self.alpha / float(np.max(self.scale * self.scale, initial=self.alpha))
        return replace(found, bound=min(found.bound, found.size / least))

    @property
    def contraction(self) -> float:
        """A bound of how much of an error a correction leaves: rounding of the moments and of their inverse."""
        away = float(np.max(np.abs(self.x_mean) * np.sqrt(self.weight) / self.scale[: self.d], initial=0.0))
        return 2 * self.p * (int(self.rows.sum()) + self.p) * EPS * self.inverse.bound * (1 + away)

    def _lifted(self, w: Floats) -> Floats:
        """Solutions of the reduced system (columns) as lifted weights (rows)."""
        if self.free:
            return np.vstack([w, (self.y_mean - self.x_mean @ w)[None]]).T.copy()
        return w.T.copy() if self.lift else np.vstack([w, np.zeros((1, w.shape[1]))]).T.copy()

    def inverse_times(self, v: Floats) -> Floats:
        scale = self.scale[:, None] if v.ndim == 2 else self.scale
        return np.asarray(self.inverse.times(v / scale) / scale)

    def solve(self) -> Floats:
        """Lifted weights, one row per target; the matrix has full rank."""
        return self._lifted(self.inverse_times(self.c))

    def solve_by_rank(self) -> tuple[Floats, int, tuple[int, ...]]:
        """Lifted weights of the minimum-norm solution, the rank, and the linearly dependent columns.

        With A = D V L V' D of rank r, D^-1 V_r L_r^-1 V_r' D^-1 c is a minimiser; see :func:`shortest`.
        """
        if (Q := self._row_space()) is not None:
            inner = Q.T @ self.A @ Q + self.alpha * np.eye(Q.shape[1])
            w = Q @ np.linalg.solve(inner, Q.T @ self.c)
            return self._lifted(w), Q.shape[1] + self.p - len(Q), ()
        values, vectors, kept = _spectrum(self.scaled)
        missing = len(values) - int(kept.sum())
        if not missing:
            return self.solve(), self.p, ()
        if not kept.any():
            return self._lifted(np.zeros_like(self.c)), self.p - missing, ()
        V = vectors[:, kept]
        right = (V.T @ (self.c / self.scale[:, None])) / values[kept][:, None]
        w = shortest((V @ right) / self.scale[:, None], vectors[:, ~kept], self.scale)
        return self._lifted(w), self.p - missing, dependent_columns(vectors[:, ~kept], self.d)

    def _row_space(self) -> Floats | None:
        """An orthonormal basis of the range of A, where A is singular and the penalty is small beside its rounding.

        There the penalty would divide rounding errors of A; its rank decides, and the penalty acts on the rest.
        """
        if not 0 < self.alpha <= RESOLVED * float(np.trace(self.A)):
            return None
        scale, scaled = unit_diagonal(self.A)
        _, vectors, kept = _spectrum(scaled)
        return None if kept.all() else np.linalg.qr(scale[:, None] * vectors[:, kept])[0]

    def effective_rank(self) -> float:
        """The trace of y -> X w + b: degrees of freedom that a penalised fit uses."""
        Q = self._row_space()
        if Q is None:
            trace = np.trace(self.inverse_times(self.A))
        else:
            inner = Q.T @ self.A @ Q
            trace = np.trace(np.linalg.solve(inner + self.alpha * np.eye(len(inner)), inner))
        return float(trace) + (1.0 if self.free else 0.0)

    def rss(self, lifted: Floats) -> Floats:
        """Residual sums of squares by the moments; digits are lost as they near zero."""
        w = lifted[:, : len(self.A)].T
        left = self.spread - 2 * (w * self.c).sum(axis=0) + (w * (self.A @ w)).sum(axis=0)
        return np.asarray(np.maximum(left, 0.0), dtype=np.float64)

    def loses_bias(self, lifted: Floats) -> bool:
        """Whether b is a small difference of large numbers."""
        if not self.free:
            return False
        parts = np.abs(self.y_mean) + np.abs(lifted[:, :-1]) @ np.abs(self.x_mean)
        return bool(np.any(parts > 1e3 * np.abs(lifted[:, -1])) and np.any(parts > 1e-9 * np.sqrt(self.spread)))

    @property
    def size2(self) -> Floats:
        """The sums of squares of the targets, about zero."""
        return np.asarray(self.spread + self.weight * self.y_mean**2 if self.free else self.spread)

    def loses_digits(self, lifted: Floats, rss: Floats) -> bool:
        """Whether gradients in double precision cannot give the weights twelve digits, by a bound of their rounding.

        With columns of length s_j, far from zero by their means m_j, residuals r and weights w in units of 1/s_j, the
        gradient has an error of  EPS (|y| + sum |w_j| (1 + |m_j|/s_j) + max (1 + |m_j|/s_j) |r|)  in units of s_j.
        """
        w = np.abs(lifted[:, : len(self.A)]) * self.scale
        far = np.ones(len(self.scale))
        if self.free:
            far += np.sqrt(self.weight) * np.abs(self.x_mean) / self.scale
        errors = EPS * (np.sqrt(self.size2) + w @ far + np.max(far, initial=1.0) * np.sqrt(rss))
        largest = self.inverse.bound / self.inverse.size if self.inverse.size else 1.0
        return bool(np.any(largest * errors > TWELVE * np.max(w[:, : self.d], axis=1, initial=0.0)))

    def correction(self, g: Floats) -> Floats:
        """The lifted step for a lifted gradient."""
        if self.free:
            w = self.inverse_times(g[:-1] - self.x_mean * g[-1])
            return np.append(w, g[-1] / self.weight - self.x_mean @ w)
        if self.lift:
            return self.inverse_times(g)
        return np.append(self.inverse_times(g[:-1]), 0.0)

    def corrections(self, G: Floats) -> Floats:
        """The lifted steps for lifted gradients, one row a target."""
        if not self.free:
            steps = np.zeros_like(G)
            steps[:, : len(self.A)] = self.inverse_times(G[:, : len(self.A)].T).T
            return steps
        w = self.inverse_times(G[:, :-1].T - self.x_mean[:, None] * G[:, -1])
        return np.vstack([w, (G[:, -1] / self.weight - self.x_mean @ w)[None]]).T.copy()

    def basis(self) -> Basis:
        """The Cholesky factor, bordered by the bias."""
        return self.later_basis()()

    def later_basis(self) -> Callable[[], Basis]:
        """The same, when it is asked for."""
        centre = (self.x_mean, float(np.sqrt(self.weight))) if self.free else None
        return partial(_basis, self.scaled, self.scale, centre, self.lift)


@dataclass(frozen=True, slots=True)
class NormalInverse:
    """Solutions of a symmetric system of columns, the 1-norm of its matrix, and a bound of its condition."""

    times: Callable[[Floats], Floats]
    size: float
    bound: float


def _of_few_columns(matrix: Floats) -> NormalInverse:
    """By the inverse where it is accurate; the product of both 1-norms bounds the condition."""
    size = float(np.abs(matrix).sum(axis=0).max(initial=0.0))
    solve = partial(np.linalg.solve, matrix)
    try:
        inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
    except np.linalg.LinAlgError:
        return NormalInverse(solve, size, np.inf)
    bound = size * float(np.abs(inverse).sum(axis=0).max(initial=0.0))
    return NormalInverse(
        inverse.__matmul__ if bound <= INVERTIBLE else solve, size, bound if np.isfinite(bound) else np.inf
    )


def _of_many_columns(matrix: Floats) -> NormalInverse:
    """By Cholesky's factor, a sixth of the work of an inverse; LAPACK estimates the condition from it."""
    lapack = scipy_linalg().lapack
    size = float(lapack.dlange("1", matrix.T))
    factor, failed = lapack.dpotrf(matrix.T, clean=0)
    share = 0.0 if failed else float(lapack.dpocon(factor, size)[0])
    if not share:
        return NormalInverse(partial(np.linalg.solve, matrix), size, np.inf)
    return NormalInverse(lambda v: np.asarray(lapack.dpotrs(factor, v)[0]), size, 1.0 / share)


def _squared_condition(values: Floats, p: int) -> float:
    if not len(values):  # no columns
        return 1.0
    low, high = float(values[0]), float(values[-1])
    return high / low if low > rank_limit(p) * high else np.inf


def _condition(scaled: Floats, p: int) -> float:
    return float(np.sqrt(_squared_condition(np.asarray(np.linalg.eigvalsh(scaled), dtype=np.float64), p)))


def _basis(scaled: Floats, scale: Floats, centre: tuple[Floats, float] | None, lift: bool) -> Basis:
    triangle = np.asarray(np.linalg.cholesky(scaled).T, dtype=np.float64)
    if centre is None:
        return Basis(triangle, scale, None, lift)
    bordered = np.eye(len(triangle) + 1)
    bordered[:-1, :-1] = triangle
    return Basis(bordered, np.append(scale, centre[1]), centre[0], True)


def _spectrum(scaled: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Eigenvalues, eigenvectors, and which of them the rank rule keeps."""
    values, vectors = np.linalg.eigh(scaled)
    return values, vectors, values > rank_limit(len(values)) * max(values[-1], 0.0)


def normal_equations(totals: Totals, problem: LeastSquaresProblem) -> NormalEquations:
    return NormalEquations(totals, int(problem.X.shape[1]), problem.alpha, problem.lift, problem.free)


def dependent_columns(null: Floats, d: int) -> tuple[int, ...]:
    """Columns with a share in a vanishing combination (the bias, if a row, is left out)."""
    share = np.linalg.norm(null, axis=1)[:d]
    return tuple(int(j) for j in np.flatnonzero(share > 1e-6))


def shortest(w: Floats, null: Floats, scale: Floats) -> Floats:
    """Of all w + D^-1 N v, the shortest: N are combinations of scaled columns that vanish.

    A column without a share in them keeps its weight, whatever its scale: shares of rounding size are none.
    """
    clean = np.where(np.abs(null) > 1e-12, null, 0.0) / scale[:, None]
    size = np.linalg.norm(clean, axis=0)
    Q, _ = np.linalg.qr(clean[:, size > 0] / size[size > 0])
    return np.asarray(w - Q @ (Q.T @ w))


@dataclass(frozen=True, slots=True)
class Basis:
    """An upper triangle R with R'R the scaled normal matrix: w = v/scale, b = v_b/scale_b - shift.w."""

    triangle: Floats
    scale: Floats
    shift: Floats | None
    lift: bool

    def root(self) -> Floats:
        """B of shape (d + 1, p) with B B' the inverse of the normal matrix, the bias last."""
        return self.unscale(np.asarray(np.linalg.solve(self.triangle, np.eye(len(self.triangle))), dtype=np.float64))

    def scores(self, rows: Floats) -> Floats:
        """Lifted rows times B; columns are centred first: beside their means their spread may have few digits."""
        v = np.asarray(np.linalg.solve(self.triangle, np.eye(len(self.triangle)))) / self.scale[:, None]
        if not self.lift:
            return np.asarray(rows @ v)
        return np.asarray((rows if self.shift is None else rows - self.shift) @ v[:-1] + v[-1])

    def unscale(self, v: Floats) -> Floats:
        """Solutions of the scaled problem (columns of v) as lifted weights (d + 1 rows)."""
        out = v / self.scale[:, None]
        if not self.lift:
            return np.vstack([out, np.zeros((1, v.shape[1]))])
        if self.shift is not None:
            out[-1] -= self.shift @ out[:-1]
        return out


@dataclass(frozen=True, slots=True)
class LeastSquaresProblem:
    """Checked rows, targets (n, k) and weights; the penalty, whether there is a bias and whether it is free."""

    X: Any
    Y: Floats
    weights: Floats | None
    alpha: float
    lift: bool
    free: bool

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def counted(self) -> int:
        """Rows with a weight."""
        return self.n if self.weights is None else int(np.count_nonzero(self.weights))

    @property
    def p(self) -> int:
        return int(self.X.shape[1]) + (1 if self.lift else 0)

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)


@dataclass(frozen=True, slots=True)
class Solution:
    """Lifted weights (k, d + 1), the residual sums, and how they were found.

    ``basis`` is None where coefficients are not unique; ``dependent`` are linearly dependent columns. What only a
    summary needs, the condition and the basis, may be given as functions that compute it.
    """

    lifted: Floats
    rss: Floats
    rank: int
    condition: float | Callable[[], float]
    solver: str
    basis: Basis | Callable[[], Basis] | None
    dependent: tuple[int, ...] = ()

    @property
    def condition_now(self) -> float:
        return self.condition() if callable(self.condition) else self.condition
