"""A proof of overlap at a maximum, from the gradient and the Gram matrix of a few rows.

With the notation of existence.py, A = Z'QZ and r = Z'q, the weights  lambda = q (1 - Z s),  s = A^-1 r,  cancel; and
since A holds q_i z_i z_i',  |z_i.s| <= sqrt(r'A^-1 r/q_i). So  r'A^-1 r <= min q/4  proves overlap, and r is the
gradient, which is next to nothing at a maximum. That leaves room for a rough lower bound of A:

- the sum over some of the rows only;
- of several classes, whose z are (x, 1) (x) (e_y - e_k) with q_k = P(k|x): the variance of numbers v_k under P is at
  most their mean square distance from v_y, so that  sum_k q_k (e_y - e_k)(e_y - e_k)' >= diag p - pp' >= min_k p_k
  on vectors whose classes add up to zero (the eigenvalues of diag p - pp' and of diag p interlace). Then
  r'A^-1 r <= sum_k r_k'G^-1 r_k  with  G = sum c_i min_k p_ik (x_i, 1)(x_i, 1)',  a matrix of one class.

A sum of n terms is wrong by at most n units of the sum of their sizes, in any order (Higham 2002, 3.1), and
sum |r_i||x_ij| <= |r||x_j|.
"""

from __future__ import annotations

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import LossPoint, dense
from separatrix.models.logistic.problem import LogisticProblem

ROWS = 16  # rows of the Gram matrix for each column
MOST_COLUMNS = 2000  # beyond, the matrix would cost more than the fit
UNIT = 2.0**-53


def gradient_proves_overlap(problem: LogisticProblem, point: LossPoint) -> bool:
    """Whether the unpenalised gradient at a point is small enough to prove that classes overlap; False proves nothing.

    The rounding errors of the gradient and of the matrix are bounded.
    """
    p = problem.d + int(problem.lift)
    if p > MOST_COLUMNS or problem.n <= p:
        return False
    with np.errstate(all="ignore"):
        least_q, residuals, h = _weights(problem, point)
        if not (np.isfinite(point.gradient).all() and least_q > 0):
            return False
        some = slice(None, None, max(1, problem.n // (ROWS * p)))
        Z, h = dense(problem.X[some]), h[some]
        Z = np.column_stack([Z, np.ones(len(Z))]) if problem.lift else Z
        A = Z.T @ (h[:, None] * Z)
        diagonal = np.diagonal(A)
        if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
            return False
        D = 1.0 / np.sqrt(diagonal)
        share = 2.0 * (len(Z) + p + 20) * UNIT
        least = float(np.linalg.eigvalsh(A * D * D[:, None])[0]) - share * p - 16.0 * p * p * UNIT
        if not least > 0:
            return False
        G = point.gradient.reshape(-1, problem.d + 1)[:, :p]
        lengths = np.zeros(problem.d + 1)
        kernels.curvature_diagonal(kernels.rows(problem.X), np.ones(problem.n), 0, problem.n, None, lengths)
        rounding = (
            2.0 * (problem.n + problem.classes + 20) * UNIT * residuals * np.linalg.norm(D * np.sqrt(lengths[:p]))
        )
        distance = float(np.linalg.norm(D * G)) + 1.01 * rounding
        return bool(1.01 * distance <= 0.5 * np.sqrt(0.99 * least * least_q))


def _weights(problem: LogisticProblem, point: LossPoint) -> tuple[float, float, Floats]:
    """The least weight of a row on its side, the length of all residuals, and what each row gives to the matrix."""
    c = problem.counts
    if problem.classes == 2:
        q = c * point.wrong
        return float(q.min()), float(np.linalg.norm(q)), q
    P, own = point.curvature, (np.arange(problem.n), problem.codes)
    others = P * c[:, None]
    others[own] = np.inf
    least = float(others.min())
    others[own] = c * point.wrong
    right = np.maximum(1.0 - point.wrong, 0.0)
    return least, float(np.linalg.norm(others)), 0.99 * c * np.minimum(P.min(axis=1), right)
