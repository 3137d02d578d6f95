"""Passes over labelled rows, for the one loop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.models.perceptron.online_rule import OnlineKernel, Vectors

NO_LIMIT = 2**62
BLOCK = 1 << 16  # rows that stay together in the order "blocks"
BY_CHANCE = ("shuffle", "blocks")
SLICE = 2**24  # multiplications between two chances to interrupt


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """A chunk: rows, labels -1, +1 or 0 (skip) or numbers of classes (-1: skip), and the size of updates (None: 1)."""

    rows: kernels.Rows
    y: NDArray[np.int8]
    step: Floats | None = None
    norm: Floats | None = None

    @property
    def counted(self) -> int:
        """Rows that are not skipped."""
        return int(np.count_nonzero(self.y if self.y.dtype == np.int8 else self.y >= 0))


class PassMeasure(NamedTuple):
    """One pass: mistakes in it, updates so far, and whether the weights are still numbers."""

    mistakes: int
    updates: int
    finite: bool


class Order:
    """The order of the rows in a pass: as they lie (None), or shuffled anew each time.

    ``"blocks"`` keeps rows near each other together, for rows that lie in a file: blocks of 65,536 rows, counted from
    row 0, come in a new random order, and the rows of each are shuffled.
    """

    def __init__(self, chance: kernels.Word | None, blocks: bool = False) -> None:
        self.chance = chance
        self.blocks = blocks
        self.rows: Indices | None = None

    @classmethod
    def named(cls, order: str, chance: kernels.Word) -> Order:
        """The order of this name."""
        return cls(chance if order in BY_CHANCE else None, order == "blocks")

    def next(self, n: int) -> Indices | None:
        """The order of the next pass over n rows."""
        if self.chance is not None and self.blocks:
            self.rows = self._by_blocks(n, self.chance)
        elif self.chance is not None:
            if self.rows is None or len(self.rows) != n:
                self.rows = np.arange(n)
            kernels.shuffle(self.rows, self.chance)
        return self.rows

    def _by_blocks(self, n: int, chance: kernels.Word) -> Indices:
        blocks, rows, at = np.arange(-(-n // BLOCK)), np.empty(n, dtype=np.int64), 0
        kernels.shuffle(blocks, chance)
        for block in blocks.tolist():
            part = np.arange(block * BLOCK, min(n, (block + 1) * BLOCK))
            kernels.shuffle(part, chance)
            rows[at : at + len(part)] = part
            at += len(part)
        return rows


@dataclass(slots=True)
class OnlineState:
    """What a run of passes carries along."""

    vectors: Vectors
    kernel: OnlineKernel
    mistakes: int = 0  # in the pass under way
    updates: int = 0


@dataclass(slots=True)
class OnlinePasses:
    """One look at each row per pass, in the order they lie or shuffled anew: a rule for ``solve``."""

    order: Order
    max_updates: float = math.inf
    habit: NDArray[np.int8] | None = None  # which rows moved at the last look: it speeds the next one up
    last_updates: int = 0  # in the last step

    def step(self, state: OnlineState, chunk: LabelledRows) -> None:
        n = chunk.rows.n
        if self.habit is None or len(self.habit) != n:
            self.habit = np.zeros(n, dtype=np.int8)
        order = self.order.next(n)
        limit = int(min(self.max_updates - state.updates, NO_LIMIT))
        if state.vectors.seen is None:
            with kernels.looking_ahead(chunk.rows, self.last_updates) as ahead:
                updates, _, _ = state.kernel.binary(
                    0, chunk.rows, chunk.y, chunk.step, order, 0, n, limit, self.habit, ahead
                )
        else:
            updates, _, _ = state.kernel.kesler(chunk.rows, chunk.y, chunk.step, order, 0, n, limit)
        state.mistakes += updates
        state.updates += updates
        self.last_updates = updates

    def end_pass(self, state: OnlineState) -> None:
        """Online rules have moved already."""

    def measure(self, state: OnlineState) -> PassMeasure:
        measured = PassMeasure(state.mistakes, state.updates, kernels.first_nonfinite(state.vectors.lifted) < 0)
        state.mistakes = 0
        return measured
