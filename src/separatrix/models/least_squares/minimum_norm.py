"""The shortest minimiser where rows do not determine one: by singular values, inner products, or iteration.

svd    A = U L V' D with D the lengths of the columns, which the rank rule must not feel, while the norm
       to be least is that of the unscaled weights. Of few combinations N = D^-1 V_0 that vanish, what
       D^-1 V_r L_r^-1 U_r' y has of them is taken away; of many, with Q T = D V_r, the shortest is
       Q T^-T L_r^-1 U_r' y
dual   w = A' v with (A A' + alpha) v = y, for rows that are few and sparse
lsqr   a Krylov method that starts from zero and so ends at the shortest (Paige and Saunders 1982)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.least_squares.orthogonal_factors import centre_of, counted_rows
from separatrix.numerics.least_squares_problem import Problem, Solution
from separatrix.numerics.normal_equations import EPS, dependent_columns, rank_limit, residual_sum, shortest


def solve_svd(problem: Problem, name: str) -> Solution:
    """By singular values of the centred (b free) or lifted rows."""
    X, Y, c = counted_rows(problem)
    s = np.sqrt(c)[:, None]
    d = X.shape[1]
    shift = centre_of(X, c) if problem.free else None
    level = (c @ (Y - Y[0])) / c.sum() + Y[0] if problem.free else np.zeros(Y.shape[1])
    if shift is not None:
        A = X - shift
        again = (c @ A) / c.sum()  # what the rounding of the mean left: noise to the rank of near-constant columns
        A -= again
    else:
        A = np.column_stack([X, np.ones(len(X))]) if problem.lift else X
    A = s * A
    alpha = problem.alpha if problem.alpha > (EPS * float(np.linalg.norm(A))) ** 2 else 0.0  # too small to be felt
    inverse = _Pseudo(A, alpha)
    w = inverse.times(s * (Y - level))
    for _ in range(2 if inverse.interpolates or alpha else 0):  # the residuals left, solved for again
        left = s * (Y - level) - A @ w
        w = w + (inverse.times(left) if not alpha else inverse.ridge_step(A.T @ left - alpha * w))
    lifted = np.zeros((Y.shape[1], d + 1))
    lifted[:, : len(w)] = w.T
    if shift is not None:
        lifted[:, -1] = level - shift @ w - again @ w
    rank = inverse.rank + (1 if problem.free else 0)
    wide = name == "wide"
    dependent = () if wide or alpha else dependent_columns(inverse.null(), d)
    return Solution(lifted, residual_sum(problem, lifted), rank, inverse.condition, name, None, dependent)


class _Pseudo:
    """The pseudo-inverse of A in the sense of the module, or that of ridge."""

    def __init__(self, A: Floats, alpha: float) -> None:
        self.A, self.alpha = A, alpha
        lengths = np.linalg.norm(A, axis=0)
        self.scale = np.ones(A.shape[1]) if alpha else np.where(lengths > 0, lengths, 1.0)
        self.U, self.values, self.V = _singular(A / self.scale)
        top = float(self.values[0]) if len(self.values) else 0.0
        self.kept = self.values > rank_limit(max(A.shape)) * top
        self.rank = int(self.kept.sum())
        kept = self.values[self.kept]
        if alpha:
            self.rank = A.shape[1]
            low = kept[-1] if self.kept.all() and len(kept) == A.shape[1] else 0.0
            self.condition = float(np.sqrt((top**2 + alpha) / (low**2 + alpha)))
        else:
            self.condition = float(kept[0] / kept[-1]) if len(kept) else np.inf
        self.interpolates = not alpha and self.rank >= A.shape[0] - 1
        self.few = len(self.values) == A.shape[1]
        if not alpha and not self.few:
            self.Q, self.T = np.linalg.qr(self.scale[:, None] * self.V[self.kept].T)

    def times(self, y: Floats) -> Floats:
        if self.alpha:
            return np.asarray(self.V.T @ ((self.values / (self.values**2 + self.alpha))[:, None] * (self.U.T @ y)))
        if not self.rank:
            return np.zeros((self.A.shape[1], y.shape[1]))
        right = (self.U[:, self.kept].T @ y) / self.values[self.kept][:, None]
        if self.few:
            return shortest((self.V[self.kept].T @ right) / self.scale[:, None], self.V[~self.kept].T, self.scale)
        return np.asarray(self.Q @ np.linalg.solve(self.T.T, right))

    def ridge_step(self, g: Floats) -> Floats:
        inside = self.V @ g
        step = self.V.T @ (inside / (self.values**2 + self.alpha)[:, None])
        return np.asarray(step + (g - self.V.T @ inside) / self.alpha)

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


def _centred_operator(problem: Problem) -> tuple[Any, Floats, Floats, Floats, Floats]:
    """Sparse rows times the roots of their weights, those roots, the shift, targets and their level."""
    X = problem.X.astype(np.float64)
    c = np.ones(problem.n) if problem.weights is None else problem.weights
    s = np.sqrt(c)
    S = X.multiply(s[:, None]).tocsr()
    if not problem.free:
        if problem.lift:
            from scipy import sparse

            S = sparse.hstack([S, sparse.csr_array(s[:, None])]).tocsr()
        return S, s, np.zeros(S.shape[1]), problem.Y, np.zeros(problem.Y.shape[1])
    total = c.sum()
    return S, s, np.asarray(X.T @ c / total).ravel(), problem.Y, c @ problem.Y / total


def _finish(
    problem: Problem, w: Floats, shift: Floats, level: Floats, rank: int, condition: float, name: str
) -> Solution:
    lifted = np.zeros((w.shape[1], problem.X.shape[1] + 1))
    lifted[:, : len(w)] = w.T
    if problem.free:
        lifted[:, -1] = level - shift @ w
    return Solution(lifted, residual_sum(problem, lifted), rank, condition, name, None)


def solve_dual(problem: Problem) -> Solution:
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
    low = 0.0 if problem.alpha else float(values[0])
    condition = float(np.sqrt((values[-1] + problem.alpha) / (low + problem.alpha)))
    rank = problem.p if problem.alpha else len(values) + (1 if problem.free else 0)
    return _finish(problem, transposed(v), shift, level, rank, condition, "dual")


def solve_lsqr(problem: Problem) -> Solution:
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
