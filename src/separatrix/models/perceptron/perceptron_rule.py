"""The perceptron as a rule of passes, and as a solver for the orders without passes.

On a mistake at (x, y): w += c y x, b += c y. Cyclic and shuffled passes are streamable; restart, any and worst
look for their next row among all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.models.perceptron.passes import NO_LIMIT, SLICE, CountedPasses, LabelledRows, Order
from separatrix.numerics.status import Status

ROOM = 2**16  # updates logged in one call of the orders without passes


@dataclass(slots=True)
class PerceptronState:
    """What a run carries along: the lifted weights and the account of its mistakes."""

    lifted: Floats
    updates: int = 0
    visits: int = 0
    mistakes: int = 0  # in the pass under way
    last: int = -1  # position of the last update in the pass before
    log: list[Indices] = field(default_factory=list)

    def count(self, updates: int, visits: int, log: Indices | None) -> None:
        """Enter what a kernel did into the account."""
        self.updates += updates
        self.mistakes += updates
        self.visits += visits
        if log is not None and updates:
            self.log.append(log[:updates].copy())

    @contextmanager
    def whole(self) -> Iterator[None]:
        """A block that is done or undone: an interruption inside it leaves weights and account agreeing."""
        weights, entries = self.lifted.copy(), len(self.log)
        kept = self.updates, self.visits, self.mistakes, self.last
        try:
            yield
        except BaseException:
            self.lifted[:] = weights
            self.updates, self.visits, self.mistakes, self.last = kept
            del self.log[entries:]
            raise


@dataclass(slots=True)
class PerceptronRule(CountedPasses):
    """One look at each row per pass, in the order they lie or shuffled anew."""

    bias: bool
    zero_is_mistake: bool
    order: Order
    streak: bool = False  # end as soon as n rows in a row were right, not only after a clean pass
    max_updates: float = math.inf
    keep_log: bool = False
    habit: NDArray[np.int8] | None = None  # which rows were mistakes at the last look: it speeds the next one up
    last_updates: int = 0  # in the last scan

    def step(self, state: PerceptronState, chunk: LabelledRows) -> None:
        n = chunk.rows.n
        if self.habit is None or len(self.habit) != n:
            self.habit = np.zeros(n, dtype=np.int8)
        self.order.next(n)
        if not self.streak or state.updates == 0:
            self.scan(state, chunk, 0, n)
            return
        resume = state.last + 1
        self.scan(state, chunk, 0, resume)
        if state.mistakes:
            self.scan(state, chunk, resume, n)

    def scan(self, state: PerceptronState, chunk: LabelledRows, begin: int, end: int) -> None:
        """Look at positions begin .. end once."""
        room = min(self.max_updates - state.updates, NO_LIMIT)
        log = np.empty(end - begin, dtype=np.int64) if self.keep_log else None
        with state.whole(), kernels.looking_ahead(chunk.rows, self.last_updates) as ahead:
            updates, visits, last = kernels.perceptron_pass(
                chunk.rows, chunk.y, chunk.step, self.order.rows, state.lifted, self.bias, self.zero_is_mistake,
                log, begin, end, int(room), self.habit, ahead,
            )  # fmt: skip
            state.count(updates, visits, log)
            self.last_updates = updates
            if updates:
                state.last = last


@dataclass(slots=True)
class ViolatorSearch:
    """Restart, any or worst: update on the next violator until none is left or the limit is reached; a solver."""

    chunk: LabelledRows
    order: str
    bias: bool
    zero_is_mistake: bool
    max_updates: float
    chance: kernels.Word
    keep_log: bool = False
    at: int = 0  # the row that is looked at next; behind the last one there was no violator
    found: Indices = field(init=False)

    def __post_init__(self) -> None:
        self.found = np.empty(self.chunk.rows.n if self.order == "any" else 0, dtype=np.int64)

    def terminate(self, state: PerceptronState) -> Status | None:
        if kernels.first_nonfinite(state.lifted) >= 0:
            return Status.NONFINITE
        if self.at == self.chunk.rows.n:
            return Status.CONVERGED
        return Status.MAX_UPDATES if state.updates >= self.max_updates else None

    def step(self, state: PerceptronState) -> PerceptronState:
        chunk, state.mistakes = self.chunk, 0
        room = int(min(self.max_updates - state.updates, ROOM if self.keep_log else NO_LIMIT))
        budget = max(1, SLICE // max(1, chunk.rows.d))
        log = np.empty(room, dtype=np.int64) if self.keep_log else None
        shared = (chunk.rows, chunk.y, chunk.step, state.lifted, self.bias, self.zero_is_mistake, log)
        with state.whole():
            if self.order == "restart":
                updates, visits, at = kernels.perceptron_restart(*shared, self.at, room, budget)
            elif self.order == "worst":
                updates, visits, at = kernels.perceptron_worst(*shared, chunk.norm, room, budget)
            else:
                updates, visits, at = kernels.perceptron_any(*shared, self.chance, self.found, room, budget)
            state.count(updates, visits, log)
            self.at = at
        return state
