"""One descent on the loss of linear scores, from zero until it converges: by batches of rows, or by all of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.models.class_labels import newcomers, with_class
from separatrix.models.descent.column_scale import ColumnScale
from separatrix.models.descent.descent_state import DescentRule, DescentState
from separatrix.models.descent.steepest_descent import KEPT, DescentTrace, descend, points_kept
from separatrix.numerics.driver import drive
from separatrix.numerics.schedules import LineSearch
from separatrix.numerics.status import Status

NEAR = 4.0  # times the tolerance: where the gradient met during a pass is short enough to look at all rows for it


class DescentClasses:
    """The sorted classes, a state for each (for the second of two that were declared), and the phantom."""

    def __init__(self, fresh: DescentState, classes: Sequence[Any] | None) -> None:
        self.classes: list[Any] = [] if classes is None else list(classes)
        self.phantom = fresh if classes is None else None
        own = self.classes[1:] if len(self.classes) == 2 else self.classes
        self.states = {label: deepcopy(fresh) for label in own}

    @classmethod
    def of(cls, lifted: list[Floats], classes: list[Any], rule: DescentRule) -> DescentClasses:
        """From the weights of a fit; the set of classes is closed."""
        book = cls(rule.start(np.zeros_like(lifted[0])), classes)
        book.states = {label: rule.start(w) for label, w in zip(book.states, lifted, strict=True)}
        return book

    def vectors(self) -> list[DescentState]:
        """The states in the order of the classes; one, that of the second, for two classes."""
        kept = self.classes[1:] if len(self.classes) == 2 else self.classes
        return [self.states[label] for label in kept]

    def learn(self, labels: NDArray[Any], rule: DescentRule, rows: kernels.Rows, weights: Floats | None) -> None:
        """One pass over a chunk, a new class joining where it first appears."""
        begin = 0
        for at, label in newcomers(labels, self.classes, self.phantom is not None):
            self._segment(labels, rule, rows, weights, begin, at)
            self.classes = with_class(self.classes, label)
            assert self.phantom is not None
            self.states[label] = deepcopy(self.phantom)
            begin = at
        self._segment(labels, rule, rows, weights, begin, len(labels))

    def _segment(
        self, labels: NDArray[Any], rule: DescentRule, rows: kernels.Rows, weights: Floats | None, begin: int, end: int
    ) -> None:
        if begin == end:
            return
        for label, state in self.states.items():
            rule.scan(state, rows, np.where(labels == label, 1.0, -1.0), weights, None, begin, end)
        if self.phantom is not None:
            rule.scan(self.phantom, rows, np.full(len(labels), -1.0), weights, None, begin, end)


@dataclass(frozen=True, slots=True)
class DescentRun:
    """Where a descent ended, why, its trace, and how long the gradient is there."""

    lifted: Floats
    status: Status
    trace: DescentTrace
    gradient: float


@dataclass(frozen=True, slots=True)
class Descending:
    """A rule with the rows it looks at, their targets and weights, the scale of their columns, and when it ends."""

    rule: DescentRule
    rows: kernels.Rows
    y: Floats
    weights: Floats | None
    scale: ColumnScale
    max_iter: float
    tol: float

    def evaluate(self, lifted: Floats) -> tuple[float, Floats]:
        """J without its l1 part, and the gradient of that."""
        return self.rule.smooth(self.rows, self.y, self.weights, lifted)

    def run(self, order: Indices | None, chance: kernels.Word) -> DescentRun:
        """Passes over batches, in an ``order`` that is shuffled before each, or as the rows stand."""
        solver = EpochDescent(self, order, chance)
        start = Epoch(self.rule.start(np.zeros(self.rows.d + 1)), True, None)
        driven = drive(solver, start, max_steps=self.max_iter, at_limit=Status.MAX_ITERATIONS)
        points = points_kept(solver.points, self.rows.d + 1)
        trace = DescentTrace(np.array(solver.values), np.array(solver.norms), np.array(solver.alphas), points)
        status, lifted = driven.status, driven.state.descent.weights()
        length = float("nan")
        if status in (Status.STATIONARY, Status.MAX_ITERATIONS):
            value, length = solver.measured(driven.state)
            first, g = self.evaluate(np.zeros(self.rows.d + 1))
            climbed = value > first and length > self.rule.gradient_left(np.zeros_like(g), g)
            status = Status.DIVERGED if climbed and status is Status.MAX_ITERATIONS else status
        return self._ended(lifted, status, trace, length)

    def run_whole(self) -> DescentRun:
        """Every step by all rows: the plain descent, with proximal steps for l1."""
        rule, searched = self.rule, self.rule.schedule
        if isinstance(searched, LineSearch):
            searched = LineSearch(searched.a0 * rule.scale, searched.shrink, searched.slope)
        found = descend(
            self.evaluate,
            np.zeros(self.rows.d + 1),
            searched if isinstance(searched, LineSearch) else lambda k: rule.scale * searched(k),
            self.max_iter,
            self.tol,
            momentum=rule.momentum,
            average=rule.average,
            proximal=rule.proximal if rule.l1 else None,
            left=rule.gradient_left,
        )
        status = Status.NONFINITE if found.status is Status.UNDEFINED else found.status
        lifted = found.theta if found.average is None else found.average
        length = rule.gradient_left(lifted, self.evaluate(lifted)[1])
        return self._ended(lifted, status, found.trace, length)

    def _ended(self, lifted: Floats, status: Status, trace: DescentTrace, length: float) -> DescentRun:
        """The run in the columns and units that were given."""
        given, theta = self.scale.back(lifted), self.scale.back(trace.theta)
        values = trace.value * self.scale.unit**2
        status = status if np.isfinite(given).all() else Status.NONFINITE
        return DescentRun(given, status, replace(trace, value=values, theta=theta), length)


@dataclass(frozen=True, slots=True)
class Epoch:
    """The state of a descent after a pass (it moves on in place), whether it is finite, and J and |grad J| if known."""

    descent: DescentState
    finite: bool
    measured: tuple[float, float] | None


class EpochDescent:
    """Descent by batches as a solver: a step is one pass over the rows."""

    def __init__(self, task: Descending, order: Indices | None, chance: kernels.Word) -> None:
        self.task, self.order, self.chance = task, order, chance
        self.values: list[float] = []
        self.norms: list[float] = []
        self.alphas: list[float] = []
        self.points: list[Floats] = []

    def terminate(self, epoch: Epoch) -> Status | None:
        if not epoch.finite:
            return Status.NONFINITE
        still = np.inf if epoch.measured is None else epoch.measured[1]
        return Status.STATIONARY if still <= self.task.tol else None

    def measured(self, epoch: Epoch) -> tuple[float, float]:
        """J and the length of its gradient at the weights that the model would predict with."""
        if epoch.measured is not None:
            return epoch.measured
        rule, lifted = self.task.rule, epoch.descent.weights()
        value, g = self.task.evaluate(lifted)
        return value + rule.lasso(lifted), rule.gradient_left(lifted, g)

    def step(self, epoch: Epoch) -> Epoch:
        rule, state, task = self.task.rule, epoch.descent, self.task
        before, first = state.now(), int(state.counts[1])
        state.sums[:] = 0.0
        if self.order is not None:
            kernels.shuffle(self.order, self.chance)
        rule.scan(state, task.rows, task.y, task.weights, self.order)
        now = state.now()
        if not np.isfinite(now).all():
            return Epoch(state, False, None)
        steps = max(1, int(state.counts[1]) - first)
        alpha = float(rule.alphas(max(0, int(state.counts[1]) - 1), 1)[0])
        self.values.append(float(state.sums[0] / state.sums[1]) + rule.ridge(now) + rule.lasso(now))
        self.norms.append((1.0 - rule.momentum) * float(np.linalg.norm(now - before)) / (steps * alpha))
        self.alphas.append(alpha)
        if len(self.points) * len(before) < KEPT:
            self.points.append(before)
        after = Epoch(state, True, None)
        if self.norms[-1] > NEAR * task.tol:  # the gradient is not worth a pass yet
            return after
        return replace(after, measured=self.measured(after))


def scaled_to(rule: DescentRule, rows: kernels.Rows, weights: Floats | None) -> DescentRule:
    """The rule with automatic steps divided by the greatest c |(x, 1)|^2 of these rows."""
    if not rule.automatic:
        return rule
    norms = np.empty(rows.n)
    kernels.norms2(rows, norms)
    reach = (norms + 1.0) * (1.0 if weights is None else weights)
    return replace(rule, automatic=False, scale=rule.scale / float(reach.max()))
