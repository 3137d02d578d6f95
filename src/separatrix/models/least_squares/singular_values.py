"""Solutions from singular values, for dependent columns or rows, and for penalties that are lost beside them.

A penalty of more than 1e-17 sum c_i |x_i|^2 is resolved in every direction. A smaller one cannot be told from rounding
in directions in which the rows do not vary. There the rank rule decides, as it does for alpha = 0, and the solution is
computed within the row space (row_space.py). The rule applies to A = U L V'D with D the lengths of the columns, so that
it does not depend on their units; the norm to be minimised is that of the unscaled weights. Where corrections do not
shrink, the solution comes from orthogonal factors; of less than full rank from the singular values alone: if few
combinations N = D^-1 V_0 vanish, it is D^-1 V_r L_r^-1 U_r'y minus its projection onto N; otherwise, with Q T = D V_r,
it is Q T^-T L_r^-1 U_r'y.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import PrecisionWarning, warn_user
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.least_squares.gram_of_rows import CentredRows, combination, is_resolved
from separatrix.models.least_squares.orthogonal_factors import OrthogonalFactors, rows_of
from separatrix.models.least_squares.row_space import RowSpace, refine_combination
from separatrix.models.least_squares.twofold_refinement import residual_sum
from separatrix.numerics.gram_matrix import rank_limit
from separatrix.numerics.normal_equations import LeastSquaresProblem, Solution, dependent_columns, shortest


def solve_svd(problem: LeastSquaresProblem, design: CentredRows, name: str) -> Solution:
    """By singular values of the centred (b free) or lifted rows."""
    resolved = is_resolved(problem, design.X, design.c)
    inverse = PseudoInverse(design.A)
    lifted = design.lifted(np.zeros((design.A.shape[1], design.Y.shape[1])))
    if inverse.rank:
        space = inverse.row_space(problem.alpha, problem.free)
        for k in range(len(lifted)):
            refined = refine_combination(combination(problem, design, k), space, inverse.dropped)
            lifted[k] = _unrefined(problem, design, inverse, k, resolved) if refined is None else refined
    lifted[:, design.without_spread()] = 0.0
    rank, condition = inverse.rank + (1 if problem.free else 0), inverse.condition
    dependent: tuple[int, ...] = ()
    if resolved:
        rank, condition = problem.p, _penalised_condition(design.A, problem.alpha)
    elif name == "wide":
        condition = np.inf
    elif not problem.alpha:
        dependent = dependent_columns(inverse.null(), design.X.shape[1])
    return Solution(lifted, residual_sum(rows_of(problem), lifted), rank, condition, name, None, dependent)


def _penalised_condition(A: Floats, alpha: float) -> float:
    values = np.linalg.svd(A, compute_uv=False)
    low = float(values[-1]) if len(values) == A.shape[1] else 0.0
    return float(np.sqrt((values[0] ** 2 + alpha) / (low**2 + alpha)))


def _unrefined(
    problem: LeastSquaresProblem, design: CentredRows, inverse: PseudoInverse, k: int, resolved: bool
) -> Floats:
    """The best available solution where corrections in the row space do not shrink."""
    if inverse.rank < design.A.shape[1] and not resolved:
        if problem.alpha:
            warn_user(
                f"alpha={problem.alpha:g} is lost in rounding for these rows: the weights are those of "
                "alpha=0; scale the columns, or set a larger alpha.",
                PrecisionWarning,
            )
        return np.asarray(design.lifted(inverse.shortest(design.targets))[k])
    factors = OrthogonalFactors(design.X, design.c, problem.alpha, problem.lift, problem.free)
    out = np.zeros(design.X.shape[1] + 1)
    out[: problem.p] = factors.solve(np.ascontiguousarray(design.Y[:, k]))[0]
    return out


class PseudoInverse:
    """The pseudo-inverse of A with the rank rule on scaled columns."""

    def __init__(self, A: Floats) -> None:
        self.A = A
        lengths = np.linalg.norm(A, axis=0)
        self.scale = np.where(lengths > 0, lengths, 1.0)
        self.U, self.values, self.V = _singular(A / self.scale)
        top = float(self.values[0]) if len(self.values) else 0.0
        self.kept = self.values > rank_limit(max(A.shape)) * top
        self.rank = int(self.kept.sum())
        kept = self.values[self.kept]
        self.condition = float(kept[0] / kept[-1]) if len(kept) else np.inf

    def shortest(self, y: Floats) -> Floats:
        w = self.times(y)
        for _ in range(2 if self.rank >= len(self.A) - 1 else 0):  # solve again for the residuals
            w = w + self.times(y - self.A @ w)
        return w

    def times(self, y: Floats) -> Floats:
        V, right = self.V[self.kept], (self.U[:, self.kept].T @ y) / self.values[self.kept][:, None]
        if len(self.values) == self.A.shape[1]:
            return shortest((V.T @ right) / self.scale[:, None], self.V[~self.kept].T, self.scale)
        M = self.scale[:, None] * V.T
        rows = np.argsort(-np.abs(M).max(axis=1), kind="stable")  # large rows first: small ones keep their digits
        Q, T, order = scipy_linalg().qr(M[rows], mode="economic", pivoting=True)
        w = np.empty((len(M), right.shape[1]))
        w[rows] = Q @ scipy_linalg().solve_triangular(T, right[order], trans=1)
        return w

    def row_space(self, alpha: float, free: bool) -> RowSpace:
        independent = self.rank == len(self.A) - (1 if free else 0)
        kept = self.kept
        return RowSpace(self.U[:, kept], self.values[kept], self.V[kept], self.scale, alpha, independent)

    @property
    def dropped(self) -> Floats:
        """Directions of weights whose singular values count as zero."""
        V = self.V[~self.kept]
        return np.asarray(np.where(np.abs(V) > 1e-12, V, 0.0) / self.scale)

    def null(self) -> Floats:
        """An orthonormal basis of the combinations of scaled columns that vanish."""
        kept = self.V[self.kept]
        return np.asarray(np.eye(self.A.shape[1]) - kept.T @ kept)


def _singular(A: Floats) -> tuple[Floats, Floats, Floats]:
    """Singular values and vectors; of tall matrices through their triangle."""
    if A.shape[0] <= A.shape[1]:
        return np.linalg.svd(A, full_matrices=False)
    Q, R = np.linalg.qr(A)
    U, values, V = np.linalg.svd(R)
    return Q @ U, values, V
