"""Ridge solution of sparse rows by conjugate gradients (Hestenes and Stiefel 1952), with a proved distance.

The normal equations (A'CA + alpha) w = A'Cy, the columns centred where the bias is free, are never made: a product
reads the rows once. The columns are scaled by the diagonal (Jacobi). The system has no eigenvalue below alpha, so that
the solution is within |residual| / alpha of w; the residual is computed anew from the rows at the end.
"""

from __future__ import annotations

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.least_squares.twofold_refinement import residual_sum
from separatrix.numerics.least_squares_problem import LeastSquaresProblem, Solution

CLOSE = 1e-10  # |w - solution| / |w|
STEPS = 100  # for systems that need more, other methods are better


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
