"""Few rows with many columns: the same ridge problem on as many columns as there are rows.

With  XX' = LL'  and  w = X'L^-T u,  scores Xw are Lu and |w| is |u|, for the Cholesky factor L of the inner products.

Products in single precision take half the time. What their rounding does to the scores is an offset, known once u is:
at the minimum  r + a/C = 0  for the residuals r at the scores, with  a = L^-T u,  whatever L is. So the problem on L
with that offset has the minimum of the rows themselves, but for what the offset changes on the way there, and each
search brings the gap down by as much as L is exact. The gap is that of the rows as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.losses.logistic import Logistic
from separatrix.losses.objective import Objective
from separatrix.numerics.driver import Driven
from separatrix.numerics.gram_matrix import inner_products
from separatrix.numerics.status import Status
from separatrix.rows.places import TableRows
from separatrix.rows.protocol import Leaf
from separatrix.solvers.gap import step_gap
from separatrix.solvers.newton import NewtonState

LARGE = 2**24  # multiplications of inner products from which single precision saves more than it may ask for later
TURNS, NEAR, FALL = 5, 0.01, 0.1  # searches with offsets, the relative gap that the first may leave, and the share of
# it that the others may leave

Search = Callable[[Objective, Floats | None, float], Any]  # of an objective, from vectors, in so many steps at most


def minimum_by_rows(loss: Objective, tol: float, max_iter: float, search: Search) -> Driven[NewtonState] | None:
    """The minimum with a proved relative gap of ``tol``, or where searches with offsets no longer bring it down.

    None where the rows are dependent.
    """
    run, steps = None, 0
    (leaf,) = loss.rows.leaves()
    for factor in row_factors(leaf):
        run = by_factor(loss, leaf, factor, tol, max_iter - steps, search)
        steps += run.steps
        if run.status is not Status.MAX_ITERATIONS or steps >= max_iter:
            break
    return None if run is None else Driven(run.state, run.status, steps)


def by_factor(
    loss: Objective, leaf: Leaf, factor: Floats, tol: float, max_iter: float, search: Search
) -> Driven[NewtonState]:
    """The same by one factor of the inner products."""
    enough, offset, steps = NEAR, leaf.offset, 0
    vectors: Floats | None = None
    for _ in range(TURNS):
        square = Objective(
            TableRows(factor, leaf.codes, loss.rows.classes, leaf.weights, offset), loss.loss, loss.ridge
        )
        found = search(square, vectors, max_iter - steps)
        vectors, steps = square.vectors(found.point.at), steps + found.steps
        U = of_all_columns(leaf, factor, vectors)
        point = loss.point(U.reshape(-1).copy())
        gap = step_gap(loss, point, np.zeros(loss.length))
        proved, stopped = gap <= tol * point.value, found.status is Status.INTERRUPTED
        status = Status.OPTIMAL if proved else Status.INTERRUPTED if stopped else Status.MAX_ITERATIONS
        run = Driven(NewtonState(point, gap=gap), status, steps)
        if proved or stopped or steps >= max_iter or not gap <= enough * point.value:
            break
        enough = FALL * gap / point.value
        offset = offset_of(loss.loss, leaf, loss.loss.scores(leaf, U) - loss.loss.scores(Leaf(factor), vectors))
    return run


def offset_of(loss: Logistic, leaf: Leaf, S: Floats) -> Floats:
    """The offset of the rows and what changes S of the scores add to it."""
    if loss.two:
        return np.asarray(S[0] if leaf.offset is None else leaf.offset + S[0])
    more = np.vstack([S, np.zeros(leaf.n)]).T
    return np.ascontiguousarray(more if leaf.offset is None else leaf.offset + more)


def of_all_columns(leaf: Leaf, factor: Floats, vectors: Floats) -> Floats:
    """The vectors of all columns for those of the factor."""
    a = scipy_linalg().lapack.dtrtrs(factor.T, vectors[:, :-1].T, lower=0)[0]
    return np.column_stack([np.asarray(leaf.X.T @ a).T, vectors[:, -1]])


def row_factors(leaf: Leaf) -> Iterator[Floats]:
    """Factors of the inner products in single and in double precision, as far as the rows are independent for them.

    Of small tables there is only the second.
    """
    for number in (np.float32, np.float64) if leaf.n * leaf.X.size >= LARGE else (np.float64,):
        with np.errstate(all="ignore"):
            factor, dependent = scipy_linalg().lapack.dpotrf(inner_products(leaf.X, number), lower=1, clean=1)
        if not dependent and np.isfinite(factor[-1]).all():
            yield np.ascontiguousarray(factor)
