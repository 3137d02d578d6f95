"""Few rows with many columns: the same ridge problem on as many columns as there are rows.

With  XX' = LL'  and  w = X'L^-T u,  scores Xw are Lu and |w| is |u|, for the Cholesky factor L of the inner products.

Products in single precision take half the time. What their rounding does to the scores is an offset, known once u is:
at the minimum  r + a/C = 0  for the residuals r at the scores, with  a = L^-T u,  whatever L is. So the problem on L
with that offset has the minimum of the rows themselves, but for what the offset changes on the way there, and each
search brings the gap down by as much as L is exact. The gap is that of the rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.logistic.binary_loss import BinaryLoss
from separatrix.models.logistic.duality_gap import duality_gap
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import NewtonState
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult
from separatrix.numerics.driver import Driven
from separatrix.numerics.gram_matrix import inner_products
from separatrix.numerics.status import Status

LARGE = 2**24  # multiplications of inner products from which single precision saves more than it may ask for later
TURNS, NEAR, FALL = 5, 0.01, 0.1  # searches with offsets, the relative gap that the first may leave, and the share of
# it that the others may leave

Search = Callable[[LogisticProblem, Floats | None, float], LogisticResult]


@dataclass(frozen=True, slots=True)
class RowFactor:
    """A problem, and the same problem on the columns of a factor of its inner products."""

    problem: LogisticProblem
    square: LogisticProblem

    def minimum(
        self, loss: BinaryLoss | MultinomialLoss, tol: float, max_iter: float, search: Search
    ) -> Driven[NewtonState]:
        """The minimum with a proved relative gap of ``tol``, or where searches with offsets no longer bring it down.

        ``search`` finds the minimum of a problem, from vectors if there are any, in so many steps at most; only the
        first has the square problem.
        """
        square, steps, enough = self.square, 0, NEAR
        vectors: Floats | None = None
        for _ in range(TURNS):
            found = search(square, vectors, max_iter - steps)
            vectors, steps = found.vectors, steps + found.steps
            W = self.of_all_columns(vectors)
            point = loss.point(W.reshape(-1).copy())
            gap = duality_gap(loss, point)
            proved, stopped = gap <= tol * point.value, found.status is Status.INTERRUPTED
            status = Status.OPTIMAL if proved else Status.INTERRUPTED if stopped else Status.MAX_ITERATIONS
            run = Driven(NewtonState(point, gap=gap), status, steps)
            if proved or stopped or steps >= max_iter or not gap <= enough * point.value:
                break
            enough = FALL * gap / point.value
            rounding = self.problem.scores(W) - replace(square, offset=None).scores(vectors)
            square = replace(square, offset=rounding[:, 1].copy() if square.classes == 2 else rounding)
        return run

    def of_all_columns(self, vectors: Floats) -> Floats:
        """The lifted vectors w of all columns for those of the factor."""
        factor = self.square.X
        a = scipy_linalg().lapack.dtrtrs(factor.T, vectors[:, :-1].T, lower=0)[0]
        return np.column_stack([np.asarray(self.problem.X.T @ a).T, vectors[:, -1]])


def row_factors(problem: LogisticProblem) -> Iterator[RowFactor]:
    """Factors of the inner products in single and in double precision, as far as the rows are independent for them.

    Of small tables there is only the second.
    """
    for number in (np.float32, np.float64) if problem.n * problem.X.size >= LARGE else (np.float64,):
        with np.errstate(all="ignore"):
            factor, dependent = scipy_linalg().lapack.dpotrf(inner_products(problem.X, number), lower=1, clean=1)
        if not dependent and np.isfinite(factor[-1]).all():
            yield RowFactor(problem, replace(problem, X=np.ascontiguousarray(factor)))
