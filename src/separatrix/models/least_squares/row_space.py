"""Least squares within the space that the rows span, corrected in twofold precision.

The minimum-norm solution, and every ridge solution, is a combination of rows, w = X't, with sum t = 0 where b is
free. The iteration updates t and computes w from it in twofold precision, so that rounding never adds a
combination of columns that vanishes on the rows, which a small penalty could not remove again. With
A = U L V_r' D as in :mod:`singular_values` the solution is w = A'v with

    v = U (L G L + alpha)^-1 U'r,    G = V_r'D^2 V_r,    U'r = L^-1 V_r'D^-1 A'r.

Each step solves this for the residuals r, where the rows are independent, and otherwise for their gradient A'r,
both in twofold precision from the doubles given. Columns of any units enter by D alone, through factors that
are exact row by row (Cox and Higham 1998). The rank is decided once, by the rule; directions whose singular values
count as zero are left out for every penalty.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.twofold import twofold_add, twofold_times

STEPS = 40
ALIKE = 1e3  # ratio of the lengths of columns up to which their squares keep enough digits
SETTLED = 2.0**-58  # of the largest weight: a step that changes no bit of it
CLOSE = 1e-13  # the last step of an iteration that converged
LEAK = 1e-8  # of the weights: what may lie along directions that the rank rule leaves out


class RowSteps(Protocol):
    """The solution of normal equations within the space of the rows, for residuals or for a gradient."""

    @property
    def independent(self) -> bool: ...

    def step(self, right: Floats) -> Floats: ...


class RowSpace:
    """The factors U, L and V_r of scaled rows, and the solution of their normal equations in the row space."""

    def __init__(self, U: Floats, values: Floats, V: Floats, scale: Floats, alpha: float, independent: bool) -> None:
        self.U, self.values, self.V, self.scale, self.independent = U, values, V, scale, independent
        alike = float(scale.max()) <= ALIKE * float(scale.min())
        root = (_cholesky if alike else _triangle)(scale[:, None] * V.T) * values
        self.R, self.order = _pivoted(np.vstack([root, np.sqrt(alpha) * np.eye(len(values))]))

    def step(self, right: Floats) -> Floats:
        """v for residuals (of independent rows) or for a gradient."""
        linalg = scipy_linalg()
        inside = self.U.T @ right if self.independent else (self.V @ (right / self.scale)) / self.values
        z = np.empty_like(inside)
        half = linalg.solve_triangular(self.R, inside[self.order], trans=1, check_finite=False)
        z[self.order] = linalg.solve_triangular(self.R, half, check_finite=False)  # what overflows is no step
        return np.asarray(self.U @ z)


def _pivoted(M: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """R and the order of columns with M[:, order] = QR; large rows first, so that small ones keep their digits."""
    rows = np.argsort(-np.abs(M).max(axis=1), kind="stable")
    R, order = scipy_linalg().qr(M[rows], mode="r", pivoting=True)
    return np.asarray(R[: M.shape[1]]), order


def _cholesky(M: Floats) -> Floats:
    """T with T'T = M'M, for rows of about the same size."""
    return np.asarray(np.linalg.cholesky(M.T @ M).T)


def _triangle(M: Floats) -> Floats:
    """T with T'T = M'M, its columns in the order of M."""
    R, order = _pivoted(M)
    out = np.empty_like(R)
    out[:, order] = R
    return out


class Combination:
    """The iterate for one target: t, w = X't and b as twofold numbers."""

    def __init__(
        self, rows: kernels.Rows, y: Floats, c: Floats, alpha: float, shift: Floats | None, lift: bool, level: float
    ) -> None:
        """``level`` is where a free b starts, the mean of y: gradients of residuals far from zero have no digits left
        for columns that are far from zero too."""
        self.rows, self.y, self.c = rows, y, c
        self.alpha, self.shift, self.lift = alpha, shift, lift
        self.roots = np.sqrt(c)
        self.t, self.t_low = np.zeros(rows.n), np.zeros(rows.n)
        self.w, self.w_low = np.zeros(rows.d + 1), np.zeros(rows.d + 1)
        self.b, self.b_low = np.full(1, level), np.zeros(1)
        if shift is not None:
            self.w[-1] = level

    def defects(self) -> tuple[Floats, Floats]:
        """The gradient with respect to lifted weights, and y - X w - b - alpha t/c."""
        g, g_low, residuals = np.zeros_like(self.w), np.zeros_like(self.w), np.empty(len(self.y))
        kernels.residual_gradient(self.rows, self.y, self.c, self.w, self.w_low, g, g_low, residuals)
        pull, pull_low = twofold_times(self.alpha, self.w, self.w_low)
        if self.shift is not None:
            pull[-1] = pull_low[-1] = 0.0
        g, g_low = twofold_add(g, g_low - pull_low, -pull)
        return g + g_low, residuals - self.alpha * (self.t / self.c)

    def step(self, space: RowSteps) -> float:
        """Move by one step; its size, relative to the largest weight."""
        g, residuals = self.defects()
        if space.independent:
            level = float(self.c @ residuals) / float(self.c.sum()) if self.shift is not None else 0.0
            right = self.roots * (residuals - level)
        else:
            right = g[:-1] - self.shift * g[-1] if self.shift is not None else g if self.lift else g[:-1]
        before = self.w + self.w_low
        self.t, self.t_low = twofold_add(self.t, self.t_low, self.roots * space.step(right))
        self.w, self.w_low = _combination(self.rows, self.t, self.t_low)
        rest, self.w[-1], self.w_low[-1] = self.w[-1], self.w[-1] * self.lift, self.w_low[-1] * self.lift
        if self.shift is not None:
            self.w[:-1], self.w_low[:-1] = twofold_add(self.w[:-1], self.w_low[:-1], -self.shift * rest)
            moved = self.w[:-1] + self.w_low[:-1] - before[:-1]
            change = g[-1] / float(self.c.sum()) - self.shift @ moved
            self.b, self.b_low = twofold_add(self.b, self.b_low, np.array([change]))
            self.w[-1], self.w_low[-1] = self.b[0], self.b_low[0]
        return float(np.abs(self.w + self.w_low - before)[:-1].max()) / (float(np.abs(self.w[:-1]).max()) or 1.0)


def refine_combination(found: Combination, space: RowSteps, dropped: Floats) -> Floats | None:
    """Lifted weights of the solution among the combinations of rows, or None where steps do not shrink.

    ``dropped`` are directions of weights that the rank rule leaves out (rows). Where rows vary along them by
    rounding, very large t would bring them back; then there is no answer here either.
    """
    before = np.inf
    for _ in range(STEPS):
        size = found.step(space)
        if not np.isfinite(size) or (size > 0.5 * before and before > CLOSE):
            return None
        if size <= SETTLED or size > 0.5 * before:
            break
        before = size
    lifted = found.w + found.w_low
    w = lifted[: dropped.shape[1]]
    along = np.abs(dropped @ w) / np.linalg.norm(dropped, axis=1)
    return lifted if np.all(along <= LEAK * np.linalg.norm(w)) else None


def _combination(rows: kernels.Rows, t: Floats, t_low: Floats) -> tuple[Floats, Floats]:
    """sum t_i (x_i, 1) for twofold t, as a pair; of the low parts double precision is enough."""
    none = np.zeros(rows.d + 1)
    high, low, more = none.copy(), none.copy(), none.copy()
    kernels.residual_gradient(rows, t, None, none, none, high, low, None)
    if t_low.any():
        kernels.combine(rows, np.arange(rows.n), t_low, more[:-1])
        more[-1] = t_low.sum()
    return twofold_add(high, low, more)
