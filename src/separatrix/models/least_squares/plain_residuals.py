"""Gradients of a least-squares problem in double precision, for all targets in one read of the rows."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.least_squares_problem import LeastSquaresProblem

CHUNK = 2**16  # numbers of rows that stay in the cache between the two products


def gradient_of(problem: LeastSquaresProblem, lifted: Floats) -> tuple[Floats, Floats]:
    """Minus half the gradients at lifted weights (k, d + 1), and the residual sums of squares (k,)."""
    X, Y, c = problem.X, problem.Y, problem.weights
    gradient, rss = np.zeros_like(lifted), np.zeros(len(lifted))
    step = problem.n if problem.sparse else max(256, CHUNK // (problem.p + 2 * Y.shape[1]))
    w, b = lifted[:, :-1], lifted[:, -1]
    for begin in range(0, problem.n, step):
        part = slice(begin, begin + step)
        rows = X if problem.sparse else np.asarray(X[part], dtype=np.float64)
        R = Y[part] - b - np.asarray(rows @ w.T)
        weighted = R if c is None else R * c[part, None]
        gradient[:, :-1] += np.asarray(rows.T @ weighted).T
        gradient[:, -1] += weighted.sum(axis=0)
        rss += (R * weighted).sum(axis=0)
    penalised = slice(None) if problem.lift and not problem.free else slice(None, -1)
    gradient[:, penalised] -= problem.alpha * lifted[:, penalised]
    if not problem.lift:
        gradient[:, -1] = 0.0
    return gradient, rss
