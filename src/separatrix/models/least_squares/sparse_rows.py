"""Sparse rows with too many columns for a table of their squares: through inner products of rows, or by iteration.

dual   w = A'v with (A A' + alpha) v = y, for rows that are few
lsqr   a Krylov method that starts from zero and so ends at the minimum-norm solution (Paige and Saunders 1982)

By conjugate gradients (Hestenes and Stiefel 1952) a ridge is solved with a proved distance. The normal equations
(A'CA + alpha) w = A'Cy, the columns centred where the bias is free, are never made: a product reads the rows once.
The columns are scaled by the diagonal (Jacobi). The system has no eigenvalue below alpha, so that the solution is
within |residual| / alpha of w; the residual is computed anew from the rows at the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.least_squares.twofold_refinement import residual_sum
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.normal_equations import LeastSquaresProblem, Solution

CLOSE = 1e-10  # |w - solution| / |w|
STEPS = 100  # for systems that need more, other methods are better


def _centred_operator(problem: LeastSquaresProblem) -> tuple[Any, Floats, Floats, Floats, Floats]:
    """Sparse rows times the roots of their weights, those roots, the shift, targets and their level."""
    X = problem.X.astype(np.float64, copy=False)
    c = np.ones(problem.n) if problem.weights is None else problem.weights
    s = np.sqrt(c)
    S = X if problem.weights is None else X.multiply(s[:, None]).tocsr()
    if not problem.free:
        if problem.lift:
            from scipy import sparse

            S = sparse.hstack([S, sparse.csr_array(s[:, None])]).tocsr()
        return S, s, np.zeros(S.shape[1]), problem.Y, np.zeros(problem.Y.shape[1])
    total = c.sum()
    return S, s, np.asarray(X.T @ c / total).ravel(), problem.Y, c @ problem.Y / total


def _finish(
    problem: LeastSquaresProblem, w: Floats, shift: Floats, level: Floats, rank: int, condition: float, name: str
) -> Solution:
    lifted = np.zeros((w.shape[1], problem.X.shape[1] + 1))
    lifted[:, : len(w)] = w.T
    if problem.free:
        lifted[:, -1] = level - shift @ w
    return Solution(lifted, residual_sum(problem, lifted), rank, condition, name, None)


def solve_dual(problem: LeastSquaresProblem) -> Solution:
    """Through the inner products of the rows; eigenvalues at or below n eps of the largest count as zero."""
    S, s, shift, Y, level = _centred_operator(problem)
    K = np.asarray((S @ S.T).todense())
    across = np.asarray(S @ shift).ravel()
    K = K - np.outer(across, s) - np.outer(s, across) + (shift @ shift) * np.outer(s, s)
    values, U = np.linalg.eigh(K)
    kept = values > problem.n * EPS * values[-1]
    U, values = U[:, kept], values[kept]

    def transposed(v: Floats) -> Floats:
        return np.asarray(S.T @ v - np.outer(shift, s @ v))

    y = s[:, None] * (Y - level)
    v = U @ ((U.T @ y) / (values + problem.alpha)[:, None])
    for _ in range(2):
        left = y - (K @ v + problem.alpha * v)
        v = v + U @ ((U.T @ left) / (values + problem.alpha)[:, None])
    low, high = (float(values[0]), float(values[-1])) if len(values) else (0.0, 0.0)
    if problem.alpha:
        low, high = problem.alpha, high + problem.alpha
    condition = float(np.sqrt(high / low)) if low else np.inf
    rank = problem.p if problem.alpha else len(values) + (1 if problem.free else 0)
    return _finish(problem, transposed(v), shift, level, rank, condition, "dual")


def solve_lsqr(problem: LeastSquaresProblem) -> Solution:
    """By iteration; the rank is not known then, and is given as the number of columns or rows."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    S, s, shift, Y, level = _centred_operator(problem)
    operator = LinearOperator(
        S.shape,
        matvec=lambda v: S @ np.ravel(v) - s * (shift @ np.ravel(v)),
        rmatvec=lambda u: S.T @ np.ravel(u) - shift * (s @ np.ravel(u)),
        dtype=np.float64,
    )
    columns, condition = [], 1.0
    for k in range(Y.shape[1]):
        found = lsqr(
            operator,
            s * (Y[:, k] - level[k]),
            damp=float(np.sqrt(problem.alpha)),
            atol=1e-14,
            btol=1e-14,
            conlim=0,
            iter_lim=10 * sum(S.shape),
        )
        columns.append(found[0])
        condition = max(condition, float(found[6]))
    rank = min(problem.n, problem.p)
    return _finish(problem, np.column_stack(columns), shift, level, rank, condition, "lsqr")


# -- by conjugate gradients --


class RidgeSystem:
    """(A'CA + alpha) times vectors, of the d columns or, where the bias is penalised, of those and a constant."""

    def __init__(self, problem: LeastSquaresProblem) -> None:
        self.alpha, self.free = problem.alpha, problem.free
        self.rows = kernels.rows(problem.X)
        self.n, self.d = problem.n, int(problem.X.shape[1])
        self.size = self.d + (1 if problem.lift and not problem.free else 0)
        self.c = np.ones(self.n) if problem.weights is None else problem.weights
        sums, squares = np.zeros(self.d + 1), np.zeros(self.d + 1)
        kernels.curvature_diagonal(self.rows, self.c, 0, self.n, sums, squares)
        self.shift = sums[:-1] / sums[-1] if self.free else np.zeros(self.d)
        self.diagonal = squares[: self.size] + self.alpha
        if self.free:
            self.diagonal = np.maximum(self.diagonal - self.shift * sums[:-1], self.alpha)

    def lifted(self, w: Floats, level: float) -> Floats:
        """w and its bias: the one that a level of the targets and w give, where it is free."""
        out = np.zeros(self.d + 1)
        out[: self.size] = w
        if self.free:
            out[-1] = level - float(self.shift @ w)
        return out

    def right(self, y: Floats) -> Floats:
        """A'Cy of targets that are centred where the bias is free"""
        u, out = self.c * y, np.zeros(self.d + 1)
        kernels.combine(self.rows, np.arange(self.n), u, out[:-1])
        out[-1] = u.sum()
        return self._of_columns(out)

    def times(self, w: Floats) -> Floats:
        out = np.zeros(self.d + 1)
        kernels.curvature_product(self.rows, self.c, self.lifted(w, 0.0), 0, self.n, out)
        return self._of_columns(out) + self.alpha * w

    def _of_columns(self, out: Floats) -> Floats:
        return out[:-1] - self.shift * out[-1] if self.free else out[: self.size]


def solve_cg(problem: LeastSquaresProblem) -> Solution | None:
    """The solution for a penalty alpha > 0; None where it is not proved to be close after some steps."""
    system = RidgeSystem(problem)
    level = system.c @ problem.Y / system.c.sum() if problem.free else np.zeros(problem.Y.shape[1])
    out, largest = [], system.alpha
    for y, mean in zip(problem.Y.T, level, strict=True):
        found = _one_target(system, system.right(y - mean))
        if found is None:
            return None
        out.append(system.lifted(found[0], float(mean)))
        largest = max(largest, found[1])
    lifted = np.array(out)
    condition = float(np.sqrt(largest / system.alpha))
    return Solution(lifted, residual_sum(problem, lifted), problem.p, condition, "cg", None)


def _one_target(system: RidgeSystem, right: Floats) -> tuple[Floats, float] | None:
    """w, and the largest quotient p'Ap / p'p of the directions: a bound of the largest eigenvalue from below."""
    w, left = np.zeros(system.size), right.copy()
    scaled = left / system.diagonal
    p, product, largest = scaled.copy(), float(left @ scaled), 0.0
    for _ in range(STEPS):
        if not product > 0 or np.linalg.norm(left) <= 0.5 * CLOSE * system.alpha * np.linalg.norm(w):
            break
        image = system.times(p)
        curvature = float(p @ image)
        largest = max(largest, curvature / float(p @ p))
        w += (product / curvature) * p
        left -= (product / curvature) * image
        scaled = left / system.diagonal
        product, before = float(left @ scaled), product
        p = scaled + (product / before) * p
    defect = float(np.linalg.norm(right - system.times(w)))
    return (w, largest) if defect <= CLOSE * system.alpha * np.linalg.norm(w) else None
