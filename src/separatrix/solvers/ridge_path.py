"""Ridge fits of the same rows, penalty after penalty.

A penalty adds to the diagonal of the Hessian and nothing else, and from one penalty to the next the rest changes
little. Each fit therefore begins where the last one ended, whose value and gradient follow without a pass. It goes on
with the Hessian of an earlier point, corrected by all steps since; where a step leaves too much, the Hessian is made
anew. The same matrix proves the gap. Few rows with many columns have one factor for all penalties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.hessian import Hessian
from separatrix.losses.logistic import EPS
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status
from separatrix.rows.places import TableRows
from separatrix.solvers.choose import by_inner_products, by_products, choose, parameters
from separatrix.solvers.gap import KeptGap, step_gap
from separatrix.solvers.gram_of_rows import by_factor, row_factors
from separatrix.solvers.lbfgs import LBFGSState, StepPairs, first_step
from separatrix.solvers.minimise import Fit, finished, minimise
from separatrix.solvers.newton import backtrack
from separatrix.solvers.two_hessians import at_zero

MORE = 3  # steps like the last one that must be enough, or the Hessian is made anew
STEPS = 40  # after which a single fit takes over
KEPT, ROWS = 512, 4  # parameters up to which a Hessian is kept, and rows for each of them from which it is kept of more


class RidgePath:
    """Fits of one objective to a relative gap of ``tol``, each of which begins where the one before it ended."""

    def __init__(self, loss: Objective, tol: float, max_iter: float) -> None:
        self.loss, self.tol, self.max_iter = loss, tol, max_iter
        self.point: Point | None = None
        self.factor: Floats | None = None
        self.square: RidgePath | None = None
        rows, loss.ridge = loss.rows, 0.0
        if by_inner_products(loss):
            (leaf,) = rows.leaves()
            self.factor = next(row_factors(leaf), None)
        if self.factor is not None:
            table = TableRows(self.factor, leaf.codes, rows.classes, leaf.weights, leaf.offset)
            self.square = RidgePath(Objective(table, loss.loss), 0.5 * tol, max_iter)
        few = parameters(rows, loss.lift) <= max(KEPT, rows.n // ROWS) and rows.n > rows.d
        made = loss.loss.two or not by_products(rows, loss.lift, True)
        kept = few and made and self.factor is None and not rows.sparse
        self.steps = KeptSteps(loss, tol) if kept else None

    def fit(self, penalty: float) -> Fit:
        """Minimise the loss plus penalty/2 |w|^2."""
        if self.factor is not None and (found := self._by_factor(penalty)) is not None:
            return found
        begin = None if self.point is None else self.loss.moved(self.point, penalty)
        self.loss.ridge, found = penalty, None
        if self.steps is not None:
            with np.errstate(all="ignore"):
                found = self.steps.search(begin, self.max_iter)
        elif begin is not None:
            found = finished(self.loss, choose(self.loss), Fit(begin, Status.MAX_ITERATIONS), self.tol, self.max_iter)
        if found is None:
            start = None if begin is None else begin.at
            found = minimise(self.loss, self.tol, self.max_iter, start)
        self.point = found.point
        return found

    def _by_factor(self, penalty: float) -> Fit | None:
        """The fit by inner products of the rows; None where these do not prove its gap, and will not be asked again."""
        assert self.factor is not None

        def search(square: Objective, start: Floats | None, most: float) -> Any:
            if start is None and self.square is not None:
                return self.square.fit(penalty)
            return minimise(square, 0.5 * self.tol, most, start)

        self.loss.ridge = penalty
        (leaf,) = self.loss.rows.leaves()
        run = by_factor(self.loss, leaf, self.factor, self.tol, self.max_iter, search)
        self.point = run.state.point
        if run.status is not Status.MAX_ITERATIONS:
            return Fit(run.state.point, run.status, run.steps, gap=run.state.gap, ran=(("rows", run.steps),))
        self.factor = self.square = None
        return None


class KeptSteps:
    """Steps by a Hessian that is kept from fit to fit while they gain enough, as a solver."""

    def __init__(self, loss: Objective, tol: float) -> None:
        self.loss, self.tol = loss, tol
        self.model: Any = None
        self.ridge = 0.0
        self.made_at: Point | None = None
        self.pairs = StepPairs()
        self.fresh = False

    def search(self, begin: Point | None, max_iter: float) -> Fit | None:
        """The minimum with the penalty of the loss; None where these steps do not lead to it."""
        point = self._first() if begin is None else begin
        if self.made_at is not None:
            self._penalise()
        run = drive(self, LBFGSState(point), max_steps=min(STEPS, max_iter))
        state, ended = run.state, run.status in (Status.OPTIMAL, Status.INTERRUPTED) or run.steps >= max_iter
        if not ended:
            self.made_at = None
            return None
        gap = state.gap if run.status is Status.OPTIMAL else step_gap(self.loss, state.point, 0.0 * state.point.at)
        return Fit(state.point, run.status, run.steps, gap=gap, ran=(("hessians", run.steps),))

    def _first(self) -> Point:
        """The point after a step from zero."""
        zero = self.loss.zero()
        if self.loss.rows.shifted:
            self._make(zero)
            point, self.pairs = first_step(self.loss, zero, self.model)
            self.fresh = False
            return point
        return first_step(self.loss, zero, at_zero(self.loss))[0]

    def _make(self, point: Point) -> None:
        """The Hessian at a point."""
        self.made_at, self.pairs, self.fresh = point, StepPairs(), True
        self.model, self.ridge = self.loss.hessian(point), self.loss.ridge

    def _penalise(self) -> None:
        """The Hessian, and the pairs of steps since, with the penalty that the loss has now."""
        more = self.loss.ridge - self.ridge
        if not more or not isinstance(self.model, Hessian):
            return
        loss = self.loss.loss
        self.pairs.penalise(lambda step: more * loss.penalty(self.loss.vectors(step)).reshape(-1))
        self.model, self.ridge = self.model.penalised(more, loss), self.loss.ridge

    def terminate(self, state: LBFGSState) -> Status | None:
        point = state.point
        if self.made_at is None:
            self._make(point)
        self._look(state)
        enough = self.tol * abs(point.value)
        if not self.fresh and self._slow(state, enough):
            self._make(point)
            self._look(state)
        if not np.isfinite(state.decrement):
            return Status.NONFINITE
        if state.decrement <= enough and (state.earlier or not state.decrement > 0):
            assert self.made_at is not None
            state.gap = KeptGap(self.loss, self.model, self.made_at)(point)
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
        return LBFGSState(moved, (*state.earlier, state.decrement))
