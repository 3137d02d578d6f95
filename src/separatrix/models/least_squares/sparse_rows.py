"""Sparse rows with too many columns for a table of their squares: through inner products of rows, or by iteration.

dual   w = A'v with (A A' + alpha) v = y, for rows that are few
lsqr   a Krylov method that starts from zero and so ends at the minimum-norm solution (Paige and Saunders 1982)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.least_squares.twofold_refinement import residual_sum
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.least_squares_problem import LeastSquaresProblem, Solution


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
