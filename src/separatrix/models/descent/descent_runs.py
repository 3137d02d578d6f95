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
from separatrix.errors import DataError
from separatrix.models.class_labels import newcomers, with_class
from separatrix.models.descent.descent_state import DescentRule, DescentState
from separatrix.models.descent.steepest_descent import KEPT, DescentTrace, descend, points_kept
from separatrix.numerics.driver import drive
from separatrix.numerics.schedules import LineSearch
from separatrix.numerics.status import Status


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
    """Where a descent ended, why, and its trace."""

    lifted: Floats
    status: Status
    trace: DescentTrace


@dataclass(frozen=True, slots=True)
class Descending:
    """A rule with the rows it looks at, their targets and weights, and when it ends."""

    rule: DescentRule
    rows: kernels.Rows
    y: Floats
    weights: Floats | None
    max_epochs: float
    tolerance: float

    def run(self, order: Indices | None, chance: kernels.Word) -> DescentRun:
        """Passes over batches, in an ``order`` that is shuffled before each, or as the rows stand."""
        solver = EpochDescent(self, order, chance)
        start = Epoch(self.rule.start(np.zeros(self.rows.d + 1)), True, False)
        driven = drive(solver, start, max_steps=self.max_epochs, at_limit=Status.MAX_STEPS)
        points = points_kept(solver.points, self.rows.d + 1)
        trace = DescentTrace(np.array(solver.values), np.array(solver.norms), np.array(solver.alphas), points)
        return DescentRun(driven.state.descent.weights(), driven.status, trace)

    def run_whole(self) -> DescentRun:
        """Every step by all rows: the plain descent, with proximal steps for l1."""
        rule, searched = self.rule, self.rule.schedule
        if isinstance(searched, LineSearch):
            searched = LineSearch(searched.a0 * rule.scale, searched.shrink, searched.slope)
        found = descend(
            lambda lifted: rule.smooth(self.rows, self.y, self.weights, lifted),
            np.zeros(self.rows.d + 1),
            searched if isinstance(searched, LineSearch) else lambda k: rule.scale * searched(k),
            self.max_epochs,
            self.tolerance,
            momentum=rule.momentum,
            average=rule.average,
            proximal=rule.proximal if rule.l1 else None,
        )
        status = Status.NONFINITE if found.status is Status.UNDEFINED else found.status
        return DescentRun(found.theta if found.average is None else found.average, status, found.trace)


@dataclass(frozen=True, slots=True)
class Epoch:
    """The state of a descent after a pass (it moves on in place), whether it is finite, and whether it converged."""

    descent: DescentState
    finite: bool
    rests: bool


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
        return Status.STATIONARY if epoch.rests else None

    def step(self, epoch: Epoch) -> Epoch:
        rule, state, task = self.task.rule, epoch.descent, self.task
        before, first = state.now(), int(state.counts[1])
        state.sums[:] = 0.0
        if self.order is not None:
            kernels.shuffle(self.order, self.chance)
        rule.scan(state, task.rows, task.y, task.weights, self.order)
        now = state.now()
        if not np.isfinite(now).all():
            return Epoch(state, False, False)
        made = max(1, int(state.counts[1]) - first)
        alpha = float(rule.alphas(max(0, int(state.counts[1]) - 1), 1)[0])
        moved = float(np.linalg.norm(now - before))
        self.values.append(float(state.sums[0] / state.sums[1]) + rule.penalty(now))
        self.norms.append(moved / (made * alpha))
        self.alphas.append(alpha)
        if len(self.points) * len(before) < KEPT:
            self.points.append(before)
        return Epoch(state, True, moved <= task.tolerance * max(1.0, float(np.linalg.norm(now))))


def scaled_to(rule: DescentRule, rows: kernels.Rows) -> DescentRule:
    """The rule with automatic steps divided by the greatest |(x, 1)|^2 of these rows."""
    if not rule.automatic:
        return rule
    norms = np.empty(rows.n)
    kernels.norms2(rows, norms)
    reach = float(norms.max()) + 1.0
    if not np.isfinite(reach):
        raise DataError(f"the squares of the numbers in X overflow at row {int(norms.argmax())}: scale the columns.")
    return replace(rule, automatic=False, scale=rule.scale / reach)
