"""Ridge logistic regression to a relative duality gap.

On many rows a tenth of them or less gives a start and the Hessian there, with which each pass over all rows divides
what is left to gain by about a hundred (Byrd, Chin, Neveitt and Nocedal 2011). The same rows also prove how much is
left. Every k-th row may miss nearly all rows that a rare column depends on. How many rows of a sample inform about
column j is

    (sum x_ij^2)^2 / sum x_ij^4,

the count of the ones for a column of zeros and ones. Where that is small, all rows in which the column is far above
its mean square are taken, with a weight that counts them once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import TINY, BinaryLoss, ConjugateGradients, LossPoint, SampleHessian
from separatrix.models.logistic.class_newton import class_start, shared
from separatrix.models.logistic.duality_gap import SampleGap, curvature_gap, duality_gap, last_step
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import NewtonState, newton, newton_cg
from separatrix.models.logistic.problem import (
    FEWEST,
    SAMPLE,
    STRIDE,
    LogisticProblem,
    LogisticResult,
    by_gradients,
    by_inner_products,
    ridge_by_products,
    sample_stride,
)
from separatrix.models.logistic.quasi_newton import (
    LBFGS,
    LBFGSState,
    ScaledModel,
    first_step,
    kept,
    kept_newton,
    with_model,
)
from separatrix.models.logistic.row_factor import row_factors
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status

ROUNDING = 1e-12  # relative gaps below this are not told from zero
COARSE = 4  # the sample itself begins at the minimum of each so many of its rows
ENOUGH = 200  # rows for each parameter, from which a quarter of them has a start of its own
ROUGH = 0.1  # how exactly a sample is solved, in parameters a row: its minimum is some ten times as far off
RARE = 100.0  # rows of a sample that must inform about each column
MOST = 4  # the rows of rare columns are taken where they are at most one in so many
LEAD, FAR = 1e3, 1e-4  # times the wanted gap, at most, that a last step of several classes may be promised to gain
AHEAD, CLASSES_AHEAD = 10, 100  # times the wanted gap that such steps may still promise to gain: the last one gains it
PATIENCE, FALL = 15, 0.3  # steps in which what they promise must fall to that share
POWERS = 8  # numbers that are read in the time of the powers of one, which stay in the first cache


def ridge(
    problem: LogisticProblem, penalty: float, tol: float, max_iter: float, start: Floats | None = None
) -> LogisticResult:
    """Minimise the loss plus penalty/2 |w|^2 to a relative duality gap of at most ``tol``."""
    loss = problem.loss(penalty)
    at = np.zeros(loss.length) if start is None else problem.shortest(start).reshape(-1).copy()
    first = None
    if start is None and by_inner_products(problem, penalty):
        first = few_rows(problem, loss, tol, max_iter)
    elif start is None:
        first = sampled_start(problem, loss, tol, max_iter) if isinstance(loss, BinaryLoss) else None
        first = first or quasi_newton_start(problem, loss, tol, max_iter)
    found = finished(problem, loss, first or Searched(loss.point(at), Status.MAX_ITERATIONS), tol, max_iter)
    if found.status is Status.ILL_CONDITIONED and first is not None:  # by other steps, from zero
        again = finished(problem, loss, Searched(loss.point(at), Status.MAX_ITERATIONS), tol, max_iter)
        found = again if again.point.value < found.point.value else found
    return result_of(problem, loss, found)


@dataclass(slots=True)
class Searched:
    """Where a search ended and why, all steps so far, those of the last search, its tolerance, and the gap if known.

    ``solver`` has the step that leads on from the point, of several classes.
    """

    point: LossPoint
    status: Status
    steps: int = 0
    last: int = 0
    wanted: float | None = None
    gap: float | None = None
    solver: ConjugateGradients | None = None


@dataclass(frozen=True)
class GapSearch:
    """A solver whose step is a search to a tolerance, each more exact than the one before, until the gap is proved."""

    problem: LogisticProblem
    loss: BinaryLoss | MultinomialLoss
    tol: float
    max_iter: float

    def terminate(self, state: Searched) -> Status | None:
        if state.status is not Status.OPTIMAL:
            going = state.status is Status.MAX_ITERATIONS and state.steps < self.max_iter
            return None if going else state.status
        value, wanted = state.point.value, self.tol if state.wanted is None else state.wanted
        if isinstance(self.loss, MultinomialLoss) or ridge_by_products(self.problem):
            how = self.problem.wide, ridge_by_products(self.problem), state.solver
            state.point, state.gap = last_step(self.loss, state.point, self.tol, *how)
        elif state.gap is None or not np.isfinite(state.gap):
            state.gap = duality_gap(self.loss, state.point)
        if state.gap <= self.tol * value:
            return Status.OPTIMAL
        if wanted < 1e-30 or (wanted < self.tol and not state.last):  # the gap asks for more digits than there are
            if not self.problem.wide:
                state.gap = min(state.gap, curvature_gap(self.loss, state.point))
            return Status.OPTIMAL if state.gap <= max(self.tol, ROUNDING) * value else Status.ILL_CONDITIONED
        return None

    def step(self, state: Searched) -> Searched:
        products = ridge_by_products(self.problem)
        first = max(self.tol, min(LEAD * self.tol, FAR)) if products else self.tol
        wanted = first if state.wanted is None else state.wanted
        wanted = wanted * 0.01 if state.status is Status.OPTIMAL else wanted
        left = self.max_iter - state.steps
        if ridge_by_products(self.problem):
            at = class_start(self.loss, state.point) if isinstance(self.loss, MultinomialLoss) else state.point
            run = newton_cg(self.loss, at, left, wanted)
        elif isinstance(self.loss, BinaryLoss):
            run = kept_newton(self.loss, state.point, left, wanted)
        else:
            at = (
                state.point
                if state.point.at.any()
                else first_step(self.loss, state.point, self.loss.model(state.point))[0]
            )
            run = newton(self.loss, at, left, wanted)
        ended = run.state
        return Searched(ended.point, run.status, state.steps + run.steps, run.steps, wanted, ended.gap, ended.solver)


def finished(
    problem: LogisticProblem, loss: BinaryLoss | MultinomialLoss, found: Searched, tol: float, max_iter: float
) -> Searched:
    """The search from where another one ended, with its gap."""
    if found.status is not Status.OPTIMAL or found.gap is None:
        run = drive(GapSearch(problem, loss, tol, max_iter), found)
        found = replace(run.state, status=run.status)
    gap = found.gap
    if gap is None or not np.isfinite(gap):
        gap = duality_gap(loss, found.point)
    proved = gap <= tol * found.point.value  # whatever kept a step from being made
    stopped = found.status in (Status.ILL_CONDITIONED, Status.MAX_ITERATIONS)
    return replace(found, gap=gap, status=Status.OPTIMAL if proved and stopped else found.status)


def result_of(problem: LogisticProblem, loss: BinaryLoss | MultinomialLoss, found: Searched) -> LogisticResult:
    vectors, value = problem.shortest(found.point.at), found.point.value  # at the minimum they add up to zero
    part = value - 0.5 * loss.ridge * float((vectors[:, :-1] ** 2).sum())
    gap = None if found.gap is None else found.gap / max(value, TINY)
    return LogisticResult(vectors, found.status, found.steps, part, gap)


def few_rows(
    problem: LogisticProblem, loss: BinaryLoss | MultinomialLoss, tol: float, max_iter: float
) -> Searched | None:
    """The minimum by the inner products of the rows; None where these are dependent."""

    def search(square: LogisticProblem, start: Floats | None, most: float) -> LogisticResult:
        return ridge(square, loss.ridge, 0.5 * tol, most, start)

    first, steps = None, 0
    for factor in row_factors(problem):
        run = factor.minimum(loss, tol, max_iter - steps, search)
        steps += run.steps
        if run.status is not Status.MAX_ITERATIONS:
            return Searched(run.state.point, run.status, steps, gap=run.state.gap)
        first = Searched(run.state.point, run.status, steps)  # goes on with all columns
        if steps >= max_iter:
            break
    return first


def quasi_newton_start(
    problem: LogisticProblem, loss: BinaryLoss | MultinomialLoss, tol: float, max_iter: float
) -> Searched | None:
    """Many parameters by L-BFGS around the Hessian at zero, or around its diagonal; None where columns share too much.

    Each pass over the rows is a step and a pair. The last Newton step, which proves the gap, is preconditioned by the
    pairs. A step by the diagonal alone overshoots where the columns have a factor in common: that takes Newton steps.
    """
    if not by_gradients(problem):
        return None
    zero = loss.point(np.zeros(loss.length))
    rough = (shared(loss) or loss.diagonal(zero)) if isinstance(loss, MultinomialLoss) else loss.preconditioner(zero)
    point, pairs = first_step(loss, zero, rough)
    if not pairs.count:
        return None
    model = ScaledModel(rough, pairs)
    ahead = AHEAD if problem.classes == 2 else CLASSES_AHEAD
    search = LBFGS(loss, model, pairs, ahead * tol, None, PATIENCE, FALL)
    run = drive(search, LBFGSState(point), max_steps=max_iter - 1)
    point, steps = run.state.point, run.steps + 1
    if run.status is not Status.OPTIMAL:
        return Searched(point, run.status if run.status is Status.INTERRUPTED else Status.MAX_ITERATIONS, steps)
    solver = ConjugateGradients(loss, point, lambda g: pairs.correct(g, model.correction))
    point, gap = last_step(loss, point, tol, wide=False, solver=solver)
    proved = gap <= tol * point.value
    return Searched(point, Status.OPTIMAL if proved else Status.MAX_ITERATIONS, steps + 1, gap=gap)


def standardised_ridge(problem: LogisticProblem, tol: float, max_iter: float, C: float = 1.0) -> LogisticResult:
    """A ridge on columns divided by their standard deviations; without an intercept, by their root mean squares."""
    X, c = problem.X, problem.counts
    total = c.sum()
    squares = X.multiply(X) if problem.sparse else X * X
    mean = np.asarray(X.T @ c) / total if problem.lift else np.zeros(problem.d)
    scale = np.sqrt(np.maximum(np.asarray(squares.T @ c) / total - mean**2, 0.0))
    scale = np.where(scale > 1e-12 * np.maximum(np.abs(mean), 1e-300), scale, 1.0)
    scaled = X.multiply(1.0 / scale).tocsr() if problem.sparse else X / scale
    result = ridge(replace(problem, X=scaled), 1.0 / C, tol, max_iter)
    vectors = result.vectors.copy()
    vectors[:, :-1] /= scale
    return replace(result, vectors=vectors)


# -- samples of many rows ---------------------------------------------------------------------------


def sampled_start(problem: LogisticProblem, loss: BinaryLoss, tol: float, max_iter: float) -> Searched | None:
    """Passes over all rows with the Hessian of a sample, or None where a sample would not be much smaller."""
    stride = sample_stride(problem, penalised=True)
    if problem.wide or stride < STRIDE:
        return None
    sample, rows, share = sampled(problem, stride)
    small = sample.binary_loss(loss.ridge * share)
    rough = rough_minimum(sample, small)
    at = rough.state.point
    if rough.status is not Status.OPTIMAL:
        return Searched(loss.point(at.at), rough.status) if rough.status is Status.INTERRUPTED else None
    model = SampleHessian(small.model(at), share)
    gap = SampleGap(loss, small, rows, at.curvature / share, model, tol)
    run = with_model(loss, loss.point(at.at), model, tol, max_iter, gap)
    status = Status.MAX_ITERATIONS if run.status is Status.ILL_CONDITIONED else run.status
    return Searched(run.state.point, status, run.steps, gap=run.state.gap if status is Status.OPTIMAL else None)


def rough_minimum(sample: LogisticProblem, loss: BinaryLoss) -> Driven[NewtonState] | Driven[LBFGSState]:
    """Roughly the minimum of a sample, for which the Hessian of a quarter of its rows is good enough, and so on.

    Where it is not, as on classes that are nearly separated, one of the sample leads on from where that has led.
    """
    enough = ROUGH * max(sample.parameters, FEWEST) / sample.n
    some = sample.rows(slice(None, None, COARSE))
    share = some.n / sample.n
    few = some.binary_loss(loss.ridge * share)
    large = some.n > ENOUGH * max(sample.parameters, FEWEST)
    first = rough_minimum(some, few) if large else kept_newton(few, few.point(np.zeros(few.length)), 50, enough)
    if first.status is not Status.OPTIMAL:
        return first
    start, model = loss.point(first.state.point.at), SampleHessian(few.model(first.state.point), share)
    run = with_model(loss, start, model, enough, 50)
    if run.status in (Status.OPTIMAL, Status.INTERRUPTED):
        return run
    own = kept(loss, run.state.point)
    if own is not None:
        run = with_model(loss, run.state.point, own, enough, 50)
    return run if run.status in (Status.OPTIMAL, Status.INTERRUPTED) else newton(loss, run.state.point, 50, enough)


def sampled(problem: LogisticProblem, stride: int) -> tuple[LogisticProblem, NDArray[np.intp], float]:
    """Some of the rows, their numbers, and the share of all rows that they stand for, by which penalties are scaled."""
    plain, share = problem.rows(slice(None, None, stride)), -(-problem.n // stride) / problem.n
    every = np.arange(0, problem.n, stride)
    few = slice(None, None, max(1, plain.n // (SAMPLE * max(problem.parameters, FEWEST))))
    if problem.sparse or not np.isfinite(rare_limits(plain.X[few])).any():  # enough of these, enough of all
        return plain, every, share
    limits = rare_limits(plain.X)
    if not np.isfinite(limits).any():
        return plain, every, share
    needed = exceeding(problem.X, limits)
    if needed.sum() * MOST > problem.n:
        return plain, every, share
    chosen = needed.copy()
    chosen[::stride] = True
    rows = np.flatnonzero(chosen)
    some = problem.rows(rows)
    weights = np.where(needed[rows], share, 1.0)
    return replace(some, weights=weights if some.weights is None else weights * some.weights), rows, share


def rare_limits(X: Any) -> Floats:
    """For each column that too few rows inform about, the size above which its rows are needed; inf for the others."""
    blocks = kernels.row_blocks(len(X), POWERS * X.size)

    def largest(own: tuple[int, int]) -> Any:
        rows = X[slice(*own)]
        return np.maximum(rows.max(axis=0), -rows.min(axis=0))

    def powers(own: tuple[int, int]) -> Floats:
        squares = np.square(X[slice(*own)] * unit)
        return np.array([squares.sum(axis=0), np.square(squares, out=squares).sum(axis=0)])

    with np.errstate(all="ignore"):
        top = np.max(kernels.each_part(largest, blocks), axis=0).astype(np.float64)
        unit = 1.0 / np.where(top > 0, top, 1.0)
        second, fourth = np.add.reduce(kernels.each_part(powers, blocks))
        common = np.square(second) >= RARE * fourth
        limits = top * np.sqrt(second / RARE)
    return np.where(common & (top > 0), np.inf, limits)


def exceeding(X: Any, limits: Floats) -> NDArray[np.bool_]:
    """Rows in which a column is larger than its limit."""
    out = np.empty(len(X), dtype=np.int8)
    kernels.rows_above(kernels.rows(X), limits, out)
    return out.view(np.bool_)
