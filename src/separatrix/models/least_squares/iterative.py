"""Sparse rows by iteration, without a table of products: conjugate gradients for a penalty, LSQR for none.

By conjugate gradients (Hestenes and Stiefel 1952) a ridge is solved with a proved distance. The normal equations
(A'CA + alpha) w = A'Cy, the columns centred where the bias is free, are never made: a product reads the rows once. The
columns are scaled by the diagonal (Jacobi). The system has no eigenvalue below alpha, so that the solution is within
|gradient| / alpha of w. Gradients are taken in twofold precision; each is corrected by a run of steps of its own, so
that rounding in the steps costs no digits.

LSQR starts from zero and so ends at the solution of least norm (Paige and Saunders 1982).
"""

from __future__ import annotations

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.least_squares.gram_of_rows import RowsAbout
from separatrix.models.least_squares.orthogonal_factors import rows_of
from separatrix.models.least_squares.twofold_refinement import Residuals, penalised_gradient, residual_sum, residuals_of
from separatrix.numerics.normal_equations import LeastSquaresProblem, Solution
from separatrix.numerics.twofold import twofold_add

CLOSE = 1e-10  # |w - solution| / |w| that is proved
FALL = 1e-8  # of the length of a gradient, which one run of steps takes away
ROUNDS = 6  # runs of steps: two are the rule, since the first leaves eight digits


class RidgeSystem:
    """(A'CA + alpha) times vectors, of the d columns or, where the bias is penalised, of those and a constant."""

    def __init__(self, problem: LeastSquaresProblem) -> None:
        self.alpha, self.lift, self.free = problem.alpha, problem.lift, problem.free
        self.rows = kernels.rows(problem.X)
        self.n, self.d = problem.n, int(problem.X.shape[1])
        self.size = self.d + (1 if problem.lift and not problem.free else 0)
        self.c = np.ones(self.n) if problem.weights is None else problem.weights
        sums, squares = np.zeros(self.d + 1), np.zeros(self.d + 1)
        kernels.curvature_diagonal(self.rows, self.c, 0, self.n, sums, squares)
        self.weight = float(sums[-1])
        self.shift = sums[:-1] / self.weight if self.free else np.zeros(self.d)
        self.diagonal = squares[: self.size] + self.alpha
        if self.free:
            self.diagonal = np.maximum(self.diagonal - self.shift * sums[:-1], self.alpha)

    def lifted(self, w: Floats, level: float = 0.0) -> Floats:
        """w and its bias: the one that a level of the residuals and w give, where it is free."""
        out = np.zeros(self.d + 1)
        out[: self.size] = w
        if self.free:
            out[-1] = level - float(self.shift @ w)
        return out

    def reduced(self, g: Floats) -> Floats:
        """A lifted gradient as that of w alone, the bias eliminated."""
        return g[:-1] - self.shift * g[-1] if self.free else g[: self.size]

    def times(self, w: Floats) -> Floats:
        out = np.zeros(self.d + 1)
        kernels.curvature_product(self.rows, self.c, self.lifted(w), 0, self.n, out)
        return self.reduced(out) + self.alpha * w


def solve_cg(problem: LeastSquaresProblem, most: float) -> Solution | None:
    """The solution for a penalty alpha > 0; None where it is not proved to be close after ``most`` steps a target."""
    system = RidgeSystem(problem)
    out, largest = [], system.alpha
    rows = rows_of(problem)
    for k in range(problem.Y.shape[1]):
        found = _one_target(system, residuals_of(rows, k), most)
        if found is None:
            return None
        out.append(found[0])
        largest = max(largest, found[1])
    lifted = np.array(out)
    condition = float(np.sqrt(largest / system.alpha))
    return Solution(lifted, residual_sum(rows_of(problem), lifted), problem.p, condition, "cg", None)


def _one_target(system: RidgeSystem, residuals: Residuals, most: float) -> tuple[Floats, float] | None:
    """Lifted weights, and the largest quotient p'Ap / p'p of the directions: an eigenvalue is at least as large."""
    high, low, largest, taken = np.zeros(system.d + 1), np.zeros(system.d + 1), system.alpha, 0
    for _ in range(ROUNDS):
        g, rest, _ = residuals(high, low)
        g = penalised_gradient(g, rest, high, low, system)
        left = system.reduced(g)
        if high.any() and np.linalg.norm(left) <= CLOSE * system.alpha * np.linalg.norm(high[: system.size]):
            return high + low, largest
        step, steps, top = _steps(system, left, most - taken)
        taken, largest = taken + steps, max(largest, top)
        if not (left.any() or g[-1]):
            return high + low, largest  # zero is the solution
        if taken >= most or not np.isfinite(step).all():
            return None
        high, low = twofold_add(high, low, system.lifted(step, float(g[-1]) / system.weight))
    return None


def _steps(system: RidgeSystem, right: Floats, most: float) -> tuple[Floats, int, float]:
    """An approximate solution from zero, the steps taken, and the largest quotient of a direction."""
    w, left, scaled = np.zeros(system.size), right.copy(), right / system.diagonal
    p, product, largest, steps = scaled.copy(), float(right @ scaled), system.alpha, 0
    enough = FALL * float(np.linalg.norm(right))
    while product > 0 and np.linalg.norm(left) > enough and steps < most:
        image = system.times(p)
        curvature = float(p @ image)
        largest = max(largest, curvature / float(p @ p))
        w += (product / curvature) * p
        left -= (product / curvature) * image
        scaled = left / system.diagonal
        product, before = float(left @ scaled), product
        p = scaled + (product / before) * p
        steps += 1
    return w, steps, largest


def solve_lsqr(problem: LeastSquaresProblem) -> Solution:
    """By iteration; without a penalty the rank is not known then, and is given as the number of columns or rows."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    A = RowsAbout.of(problem)
    operator = LinearOperator(A.shape, matvec=A.times, rmatvec=A.back, dtype=np.float64)
    options = {"damp": float(np.sqrt(problem.alpha)), "atol": 1e-14, "btol": 1e-14, "conlim": 0}
    found = [lsqr(operator, y, iter_lim=10 * sum(A.shape), **options) for y in A.targets.T]
    lifted = A.lifted(np.column_stack([one[0] for one in found]))
    condition = max(1.0, *(float(one[6]) for one in found))
    rank = problem.p if problem.alpha else min(problem.n, problem.p)
    return Solution(lifted, residual_sum(rows_of(problem), lifted), rank, condition, "lsqr", None)
