"""The one loop: a rule moves a state over chunks of rows, the loop counts passes and decides to stop.

A rule supplies ``step(state, chunk)`` (online rules move here), ``end_pass(state)`` (batch rules move
here) and ``measure(state)`` (from what the pass already saw, never a second pass). The same ``step``
serves an array (one chunk), a file (many), a stream (rows) and a shard. Rules never loop over passes,
kernels never decide to stop, and nothing prints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from separatrix.numerics.status import Measured, Status, Stop

State = TypeVar("State")
Chunk = TypeVar("Chunk")
Measure = TypeVar("Measure", bound=Measured)
StateIn = TypeVar("StateIn", contravariant=True)
ChunkIn = TypeVar("ChunkIn", contravariant=True)
MeasureOut = TypeVar("MeasureOut", bound=Measured, covariant=True)


class Rule(Protocol[StateIn, ChunkIn, MeasureOut]):
    """What learns: everything but the loop."""

    def step(self, state: StateIn, chunk: ChunkIn, /) -> None: ...
    def end_pass(self, state: StateIn, /) -> None: ...
    def measure(self, state: StateIn, /) -> MeasureOut: ...


@dataclass(frozen=True, slots=True)
class Solved(Generic[State, Measure]):
    """The state at the end, why it ended, and what each pass measured."""

    state: State
    status: Status
    passes: list[Measure]


def solve(
    rule: Rule[State, Chunk, Measure],
    state: State,
    chunks: Iterable[Chunk],
    stop: Stop,
    watch: Callable[[Measure], None] | None = None,
) -> Solved[State, Measure]:
    """Pass after pass until ``stop`` says why; an interruption is a status, which the caller raises again."""
    passes: list[Measure] = []
    try:
        while True:
            for chunk in chunks:
                rule.step(state, chunk)
            rule.end_pass(state)
            passes.append(rule.measure(state))
            if watch is not None:
                watch(passes[-1])
            if (status := stop(passes)) is not None:
                return Solved(state, status, passes)
    except KeyboardInterrupt:
        return Solved(state, Status.INTERRUPTED, passes)
