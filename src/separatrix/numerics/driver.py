"""The one loop: a solver moves a state, the driver counts steps, ends at limits and records an interruption.

A solver supplies ``terminate(state)``, why the run ends here (None: it goes on), and ``step(state)``, the next state
(None: no step improves any more). A state is complete whenever it is returned, and the first one is cheap to make
(``init``, by convention): what is costly is computed when ``terminate`` asks for it. An interruption ends the run with
the last complete state and ``Status.INTERRUPTED``; solvers never catch it, and estimators raise it again once the
partial model is stored (:func:`separatrix.numerics.status.raise_interruption`). Solvers never loop over steps,
kernels never decide to stop, and nothing prints.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from separatrix.callbacks import STEPS
from separatrix.numerics.status import Measured, Status, Stop

State = TypeVar("State")
Chunk = TypeVar("Chunk")
Measure = TypeVar("Measure", bound=Measured)
StateIn = TypeVar("StateIn", contravariant=True)
ChunkIn = TypeVar("ChunkIn", contravariant=True)
MeasureOut = TypeVar("MeasureOut", bound=Measured, covariant=True)


class Solver(Protocol[State]):
    """An iterative method without its loop."""

    def terminate(self, state: State, /) -> Status | None: ...
    def step(self, state: State, /) -> State | None: ...


@dataclass(frozen=True, slots=True)
class Driven(Generic[State]):
    """The last complete state, why the run ended, and how many steps were taken."""

    state: State
    status: Status
    steps: int


def drive(
    solver: Solver[State],
    state: State,
    *,
    max_steps: float = float("inf"),
    at_limit: Status = Status.MAX_ITERATIONS,
    watch: Callable[[State], None] | None = None,
) -> Driven[State]:
    """Step after step until the solver ends the run, a limit is reached, or Ctrl-C is pressed.

    Parameters
    ----------
    solver : the method
    state : the first state
    max_steps : limit on the steps, looked at after ``terminate``
    at_limit : the status of a run that ends there
    watch : called with each new state, for progress; what it raises ends the run as an error
    """
    steps, told = 0, STEPS.get()
    try:
        while (status := solver.terminate(state)) is None:
            if steps >= max_steps:
                status = at_limit
                break
            before = 0 if told is None else told.count
            moved = solver.step(state)
            if moved is None:
                status = Status.ILL_CONDITIONED
                break
            state, steps = moved, steps + 1
            if watch is not None:
                watch(state)
            if told is not None:
                told.ended(before)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Driven(state, status, steps)


class Rule(Protocol[StateIn, ChunkIn, MeasureOut]):
    """What learns from passes over rows.

    ``step(state, chunk)`` is one pass over the rows of a chunk, and ``measure(state)`` reports what it saw, without a
    second one. The same ``step`` serves an array, a stream and a partition.
    """

    def step(self, state: StateIn, chunk: ChunkIn, /) -> None: ...
    def measure(self, state: StateIn, /) -> MeasureOut: ...


@dataclass(frozen=True, slots=True)
class Solved(Generic[State, Measure]):
    """The state at the end, why it ended, and what each pass measured."""

    state: State
    status: Status
    passes: list[Measure]


@dataclass(frozen=True, slots=True)
class PassSolver(Generic[State, Chunk, Measure]):
    """A solver whose step is one pass of a rule over its rows; its state are the measures of the passes."""

    rule: Rule[State, Chunk, Measure]
    state: State
    chunk: Chunk
    stop: Stop

    def terminate(self, passes: list[Measure]) -> Status | None:
        return self.stop(passes) if passes else None

    def step(self, passes: list[Measure]) -> list[Measure]:
        self.rule.step(self.state, self.chunk)
        passes.append(self.rule.measure(self.state))
        return passes


def solve(
    rule: Rule[State, Chunk, Measure],
    state: State,
    chunk: Chunk,
    stop: Stop,
    watch: Callable[[Measure], None] | None = None,
) -> Solved[State, Measure]:
    """Pass after pass of a rule, which moves ``state`` in place, until ``stop`` ends them."""
    last = None if watch is None else lambda passes: watch(passes[-1])
    driven = drive(PassSolver(rule, state, chunk, stop), list[Measure](), watch=last)
    return Solved(state, driven.status, driven.state)
