"""Least squares with weights that are not negative (Lawson and Hanson 1974).

    minimise  sum c_i (y_i - w.x_i - b)^2 + alpha |w|^2  over  w >= 0

The columns in use are found from the normal equations, and their weights are then solved for like any others, to
the last digits. The minimum is there when all these weights are above zero and the gradient, in twofold precision,
pulls no other weight above zero; otherwise a column is dropped or added.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.row_files import columns_of
from separatrix.errors import ParameterError, PrecisionWarning, warn_user
from separatrix.models.least_squares.choose import LIMITS
from separatrix.models.least_squares.orthogonal_factors import rows_of
from separatrix.models.least_squares.ridge_solver import from_moments, solve_directly
from separatrix.models.least_squares.twofold_refinement import penalised_gradient, residual_sum, residuals_of
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.moments import Totals
from separatrix.numerics.normal_equations import LeastSquaresProblem, NormalEquations, Solution, normal_equations

NAME = "non-negative"


def solve_non_negative(problem: LeastSquaresProblem, totals: Totals, solver: str) -> Solution:
    """The minimisers, target by target, and the rank of the columns that any of them uses."""
    d = int(problem.X.shape[1])
    if d * d > LIMITS.table:
        most = math.isqrt(LIMITS.table)
        raise ParameterError(f"positive=True takes at most {most} columns, and X has {d}: select some of them.")
    lifted, conditions = np.zeros((problem.Y.shape[1], d + 1)), [1.0]
    for k in range(len(lifted)):
        one = replace(problem, Y=np.ascontiguousarray(problem.Y[:, [k]]))
        lifted[k], condition = _one_target(one, totals.columns(np.append(np.arange(d), d + k)), solver)
        conditions.append(condition)
    return Solution(
        lifted, residual_sum(rows_of(problem), lifted), _rank(problem.lift, lifted), max(conditions), NAME, None
    )


def from_moments_non_negative(totals: Totals, alpha: float, d: int, lift: bool, free: bool) -> Solution:
    """The solution from moments alone."""
    lifted = np.zeros((len(totals.mean[0]) - d, d + 1))
    normal = NormalEquations(totals, d, alpha, lift, free)
    for k in range(len(lifted)):
        used = columns_in_use(normal, k)
        kept = np.flatnonzero(used)
        lifted[k, -1] = _bias_alone(normal, k)
        if len(kept):
            part = NormalEquations(totals.columns(np.append(kept, d + k)), len(kept), alpha, lift, free)
            lifted[k, np.append(kept, d)] = from_moments(part).lifted[0]
            np.maximum(lifted[k, :-1], 0.0, out=lifted[k, :-1])
    return Solution(lifted, normal.rss(lifted), _rank(lift, lifted), normal.condition, "moments", None)


def _rank(lift: bool, lifted: Floats) -> int:
    return int((lifted[:, :-1] > 0).any(axis=0).sum()) + (1 if lift else 0)


def _bias_alone(normal: NormalEquations, k: int) -> float:
    """The bias that is best without any column."""
    if not normal.lift:
        return 0.0
    share = 1.0 if normal.free else normal.weight / (normal.weight + normal.alpha)
    return share * float(normal.y_mean[k])


def _one_target(problem: LeastSquaresProblem, totals: Totals, solver: str) -> tuple[Floats, float]:
    d = int(problem.X.shape[1])
    normal = normal_equations(totals, problem)
    used = columns_in_use(normal, 0)
    residuals = residuals_of(rows_of(problem), 0)
    slack = 64 * EPS * normal.scale[:d] * np.sqrt(normal.spread[0])  # the rounding of a gradient
    for _ in range(3 * d):
        kept, condition = np.flatnonzero(used), 1.0
        lifted = np.zeros(d + 1)
        lifted[-1] = _bias_alone(normal, 0)
        if len(kept):
            small = replace(problem, X=columns_of(problem.X, kept))
            part = solve_directly(small, partial(totals.columns, np.append(kept, d)), solver)
            lifted[np.append(kept, d)], condition = part.lifted[0], part.condition_now
        if (lifted[kept] <= 0).any():
            used &= lifted[:-1] > 0
            continue
        g, rest, _ = residuals(lifted, np.zeros(d + 1))
        g = penalised_gradient(g, rest, lifted, np.zeros(d + 1), normal)[:d]
        pulled = np.where(used, -np.inf, g - slack)
        if pulled.max() <= 0:
            return lifted, condition
        used[int((pulled / normal.scale[:d]).argmax())] = True
    warn_user(
        "rounding decides which weights are zero, and those given may not be the minimum under positive=True: scale "
        "the columns, or drop some that are nearly linearly dependent.",
        PrecisionWarning,
    )
    return np.append(np.maximum(lifted[:-1], 0.0), lifted[-1]), condition


def columns_in_use(normal: NormalEquations, k: int) -> NDArray[np.bool_]:
    """Columns with a weight above zero, by the normal equations of the k-th target, the bias eliminated."""
    from scipy.optimize import nnls

    d, M, c = normal.d, normal.A + normal.alpha * np.eye(len(normal.A)), normal.c[:, k]
    if len(M) > d:
        share = M[:d, d] / M[d, d]
        M, c = M[:d, :d] - np.outer(share, M[d, :d]), c[:d] - share * c[d]
    scale = np.sqrt(np.maximum(np.diagonal(M), 0.0))
    used = scale > 0
    values, V = np.linalg.eigh(M[np.ix_(used, used)] / scale[used] / scale[used][:, None])
    kept = values > len(values) * EPS * max(float(values.max(initial=0.0)), 0.0)
    root = np.sqrt(values[kept])
    found = np.zeros(d)
    if kept.any():
        found[used] = nnls(root[:, None] * V[:, kept].T, (V[:, kept].T @ (c[used] / scale[used])) / root)[0]
    return np.asarray(found > 0)
