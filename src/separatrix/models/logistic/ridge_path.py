"""Ridge logistic fits of the same rows, penalty after penalty.

A penalty adds to the diagonal of the Hessian and nothing else, and from one penalty to the next the rest changes
little. Each fit therefore begins where the last one ended, whose value and gradient follow without a pass. Of two
classes it goes on with the Hessian of an earlier point, corrected by all steps since; where a step leaves too much, the
Hessian is made anew. The same matrix proves the gap (:class:`separatrix.models.logistic.duality_gap.KeptGap`). Few rows
with many columns have one factor for all penalties (row_factor.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.logistic.binary_loss import EPS, BinaryLoss, HessianModel, LossPoint, SampleHessian, backtrack
from separatrix.models.logistic.duality_gap import KeptGap, duality_gap
from separatrix.models.logistic.logistic_ridge import Searched, finished, result_of, ridge
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult, by_inner_products
from separatrix.models.logistic.quasi_newton import LBFGSState, StepPairs, first_step
from separatrix.models.logistic.row_factor import RowFactor, row_factors
from separatrix.numerics.driver import drive
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status

MORE = 3  # steps like the last one that must be enough, or the Hessian is made anew
STEPS = 40  # after which a single fit takes over
FACTORED = 100  # columns from which a factor costs less than an inverse and the load of scipy.linalg
MOST, ROWS = 512, 4  # parameters up to which a Hessian is kept, and rows for each of them from which it is kept of more


class RidgeFits:
    """Fits of one problem to a relative gap of ``tol``, each of which begins where the one before it ended."""

    def __init__(self, problem: LogisticProblem, tol: float, max_iter: float) -> None:
        self.problem, self.tol, self.max_iter = problem, tol, max_iter
        self.loss = problem.loss(1.0)
        self.point: LossPoint | None = None
        self.factor = next(row_factors(problem), None) if by_inner_products(problem) else None
        self.square = RidgeFits(self.factor.square, 0.5 * tol, max_iter) if self.factor else None
        few = problem.parameters <= max(MOST, problem.n // ROWS) and problem.n > problem.d
        kept = few and not (problem.wide or by_inner_products(problem))
        self.steps = KeptSteps(self.loss, tol) if kept and isinstance(self.loss, BinaryLoss) else None

    def fit(self, penalty: float) -> LogisticResult:
        """Minimise the loss plus penalty/2 |w|^2."""
        if self.factor is not None and (found := self._by_factor(self.factor, penalty)) is not None:
            return result_of(self.problem, self.loss, found)
        begin = None if self.point is None else self._moved(penalty)
        self.loss.ridge = penalty
        found = None
        if self.steps is not None:
            with np.errstate(all="ignore"):
                found = self.steps.search(begin, self.max_iter)
        elif begin is not None:
            found = finished(self.problem, self.loss, Searched(begin, Status.MAX_ITERATIONS), self.tol, self.max_iter)
        if found is None:
            start = None if begin is None else begin.at.reshape(-1, self.problem.d + 1)
            single = ridge(self.problem, penalty, self.tol, self.max_iter, start)
            self.point = self.loss.point(single.vectors.reshape(-1))
            return single
        self.point = found.point
        return result_of(self.problem, self.loss, found)

    def _by_factor(self, factor: RowFactor, penalty: float) -> Searched | None:
        """The fit by inner products of the rows; None where these do not prove its gap, and will not be asked again."""

        def search(square: LogisticProblem, start: Floats | None, most: float) -> LogisticResult:
            if start is None and self.square is not None:
                return self.square.fit(penalty)
            return ridge(square, penalty, 0.5 * self.tol, most, start)

        self.loss.ridge = penalty
        run = factor.minimum(self.loss, self.tol, self.max_iter, search)
        self.point = run.state.point
        if run.status is not Status.MAX_ITERATIONS:
            return Searched(run.state.point, run.status, run.steps, gap=run.state.gap)
        self.factor = self.square = None
        return None

    def _moved(self, penalty: float) -> LossPoint:
        """The last point with another penalty."""
        assert self.point is not None
        more, last = penalty - self.loss.ridge, self.point
        at = last.at.reshape(-1, self.problem.d + 1)
        gradient = last.gradient.reshape(at.shape).copy()
        gradient[:, :-1] += more * at[:, :-1]
        if isinstance(self.loss, MultinomialLoss):
            self.loss.blocks = None  # whose diagonals have the penalty
        return replace(last, value=last.value + 0.5 * more * float((at[:, :-1] ** 2).sum()), gradient=gradient.ravel())


class Factored:
    """The inverse of normal equations with a free intercept, or without one, by Cholesky's factor."""

    def __init__(self, gram: NormalEquations) -> None:
        self.gram = gram
        self.factor, failed = scipy_linalg().lapack.dpotrf(gram.scaled, lower=1)
        if failed:
            raise np.linalg.LinAlgError("the Hessian is singular.")

    def correction(self, g: Floats) -> Floats:
        gram, out = self.gram, np.zeros(len(g))
        right = g[:-1] - gram.x_mean * g[-1] if gram.free else g[:-1]
        solved = scipy_linalg().lapack.dpotrs(self.factor, right / gram.scale, lower=1)[0]
        out[:-1] = solved / gram.scale
        if gram.free:
            out[-1] = g[-1] / gram.weight - gram.x_mean @ out[:-1]
        return out


class KeptSteps:
    """Steps by a Hessian that is kept from fit to fit while they gain enough, as a solver for the driver."""

    def __init__(self, loss: BinaryLoss, tol: float) -> None:
        self.loss, self.tol = loss, tol
        self.gram: NormalEquations | None = None
        self.model: HessianModel
        self.pairs: StepPairs

    def search(self, begin: LossPoint | None, max_iter: float) -> Searched | None:
        """The minimum with the penalty of the loss; None where these steps do not lead to it."""
        try:
            point = self._first() if begin is None else begin
            if self.gram is not None:
                self._use(self.gram)
            run = drive(self, LBFGSState(point), max_steps=min(STEPS, max_iter))
        except np.linalg.LinAlgError:
            self.gram = None
            return None
        state, ended = run.state, run.status in (Status.OPTIMAL, Status.INTERRUPTED) or run.steps >= max_iter
        if not ended:
            self.gram = None
            return None
        gap = state.gap if run.status is Status.OPTIMAL else duality_gap(self.loss, state.point)
        return Searched(state.point, run.status, run.steps, gap=gap)

    def _first(self) -> LossPoint:
        """The point after a step from zero."""
        loss = self.loss
        zero = loss.point(np.zeros(loss.length))
        self._make(zero)
        point, self.pairs = first_step(loss, zero, self.model)
        self.fresh = False
        return point

    def _make(self, point: LossPoint) -> None:
        """The Hessian at a point."""
        self.kept, self.pairs, self.fresh = point.curvature.copy(), StepPairs(), True
        self._use(self.loss.model(point))

    def _use(self, gram: NormalEquations) -> None:
        """A Hessian, and the pairs of steps since, with the penalty that the loss has now."""
        self.pairs.penalise(self.loss.ridge - gram.alpha)
        self.gram = gram.penalised(self.loss.ridge)
        self.model = Factored(self.gram) if self.loss.d >= FACTORED else SampleHessian(self.gram, 1.0)
        self.gap = KeptGap(self.loss, self.model, self.kept)

    def terminate(self, state: LBFGSState) -> Status | None:
        point = state.point
        if self.gram is None:
            self._make(point)
        self._look(state)
        enough = self.tol * abs(point.value)
        if not self.fresh and self._slow(state, enough):
            self._make(point)
            self._look(state)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        if state.decrement <= enough and (state.earlier or not state.decrement > 0):
            state.gap = self.gap(point)
            if state.gap <= enough:
                return Status.OPTIMAL
        small = state.decrement <= 64 * EPS * abs(point.value)
        return Status.ILL_CONDITIONED if small and state.decrement > 0.25 * state.before else None

    def _slow(self, state: LBFGSState, enough: float) -> bool:
        """Whether steps like the last one would take longer than a new Hessian and a few steps with it."""
        rate = state.decrement / state.before
        return bool(state.earlier) and not state.decrement * min(rate, 1.0) ** MORE <= enough

    def _look(self, state: LBFGSState) -> None:
        state.step = self.pairs.correct(state.point.gradient, self.model.correction)
        state.decrement = 0.5 * float(state.point.gradient @ state.step)

    def step(self, state: LBFGSState) -> LBFGSState | None:
        assert state.step is not None
        moved = backtrack(self.loss, state.point, state.step, state.decrement)
        if moved is None:
            return None
        self.fresh = False
        self.pairs.learn(moved.at - state.point.at, moved.gradient - state.point.gradient)
        self.loss.release(state.point)
        return LBFGSState(moved, (*state.earlier, state.decrement))
