"""The perceptron in the dual (Aizerman, Braverman & Rozonoer 1964): s(x) = sum_j a_j (k(x_j, x) + 1).

Rows are seen through a kernel k only; the 1 stands for the bias. A mistake at (x_i, y_i) adds y_i c to
a_i. While learning from all rows their scores are kept up to date, so that a pass reads them and only a
mistake computes: it adds one column of the kernel matrix. For the kernels that are built in, and rows
in the order they lie, columns are added late and block by block of rows, just before a pass comes to a
block: the block then stays in the cache while all columns that it lacks pass by. A pass needs no more than
the signs of scores: on dense rows they are found in single precision where a bound on the error proves them,
and in double where it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.perceptron.kernel_columns import KernelColumns
from separatrix.models.perceptron.passes import CountedPasses, LabelledRows, Order


@dataclass(slots=True)
class DualState:
    """What a run carries along: dual weights and the account."""

    a: Floats
    born: NDArray[np.int64]  # when each support row joined
    support: int = 0
    joined: int = 0
    updates: int = 0
    mistakes: int = 0
    visits: int = 0
    forgotten: int = 0

    @classmethod
    def begin(cls, n: int) -> DualState:
        return cls(np.zeros(n), np.zeros(n, dtype=np.int64))


class Scored(Protocol):
    """What a rule knows of the scores when a run has ended."""

    def errors(self, y: NDArray[np.int8]) -> int:
        """Rows that are wrong under the labels y."""

    def bounds(self) -> tuple[Floats, Floats]:
        """Scores, and how far each may be from the one that ``exact`` gives."""

    def exact(self, rows: NDArray[np.int64]) -> Floats:
        """Scores of some rows."""


@dataclass(slots=True)
class DualRule(CountedPasses):
    """Passes over the scores: a rule for ``solve``.

    At most ``max_support`` rows have a dual weight. When one more is needed the row with the least
    |a_j| is forgotten, the one that joined first of equals.
    """

    columns: KernelColumns
    scores: Floats  # zeros to begin with
    one: float
    zero_is_mistake: bool
    max_support: float
    order: Order

    def step(self, state: DualState, chunk: LabelledRows) -> None:
        n = len(chunk.y)
        order = self.order.next(n)
        t = kernels.first_mistake(self.scores, chunk.y, order, 0, n, self.zero_is_mistake)
        while t < n:
            i = t if order is None else int(order[t])
            move(state, i, step_of(chunk, i), self.max_support, self._add)
            t = kernels.first_mistake(self.scores, chunk.y, order, t + 1, n, self.zero_is_mistake)
        state.visits += n

    def _add(self, i: int, a: float) -> None:
        self.scores += a * (self.columns.column(i) + self.one)

    def is_finite(self, state: DualState) -> bool:
        return kernels.first_nonfinite(self.scores) < 0

    def errors(self, y: NDArray[np.int8]) -> int:
        m = y * self.scores
        right = (m > 0) | ((m == 0) & (not self.zero_is_mistake) & (y > 0))
        return int(np.count_nonzero(~right & (y != 0)))

    def bounds(self) -> tuple[Floats, Floats]:
        return self.scores, np.zeros(len(self.scores))

    def exact(self, rows: NDArray[np.int64]) -> Floats:
        return self.scores[rows]


@dataclass(slots=True)
class BlockedDualRule(CountedPasses):
    """The same for a kernel that is built in, in the order of the rows: the same weights, to the bit."""

    scores: kernels.LateScores
    zero_is_mistake: bool
    max_support: float

    def step(self, state: DualState, chunk: LabelledRows) -> None:
        for begin, end in self._blocks():
            t = self.scores.next_mistake(chunk.y, begin, end, self.zero_is_mistake)
            while t < end:
                move(state, t, step_of(chunk, t), self.max_support, self.scores.add)
                t = self.scores.next_mistake(chunk.y, t + 1, end, self.zero_is_mistake)
        state.visits += len(chunk.y)

    def is_finite(self, state: DualState) -> bool:
        # Scores that are screened are numbers, also those that lack entries.
        return self.scores.screened or all(self.scores.finite(begin, end) for begin, end in self._blocks())

    def errors(self, y: NDArray[np.int8]) -> int:
        return sum(self.scores.mistakes(y, begin, end, self.zero_is_mistake) for begin, end in self._blocks())

    def _blocks(self) -> Iterator[tuple[int, int]]:
        n, block = self.scores.n, self.scores.block
        return ((begin, min(begin + block, n)) for begin in range(0, n, block))

    def bounds(self) -> tuple[Floats, Floats]:
        s, e = np.empty(self.scores.n), np.empty(self.scores.n)
        self.scores.bounds(s, e)
        return s, e

    def exact(self, rows: NDArray[np.int64]) -> Floats:
        out = np.empty(len(rows))
        self.scores.exact(rows, out)
        return out


def step_of(chunk: LabelledRows, i: int) -> float:
    """What a mistake on row i adds to its dual weight."""
    return float(chunk.y[i]) * (1.0 if chunk.step is None else float(chunk.step[i]))


def move(state: DualState, i: int, a: float, max_support: float, add: Callable[[int, float], None]) -> None:
    """A mistake on row i: change its weight by a, and ``add`` it to the scores; forget a row if there is no room."""
    forget = join(state, i, max_support)
    if forget is not None:
        add(forget, -float(state.a[forget]))
        state.a[forget] = 0.0
    state.a[i] += a
    add(i, a)
    state.updates += 1
    state.mistakes += 1


def errors_of_classes(rules: Sequence[Scored], codes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows whose class has not the greatest score, the first of equals; rule k has the scores of class k."""
    known = [rule.bounds() for rule in rules]
    s, e = (np.array(part) for part in zip(*known, strict=True))
    best: NDArray[np.int64] = s.argmax(axis=0)
    rows = np.arange(s.shape[1])
    low = (s - e)[best, rows]
    high = s + e
    high[best, rows] = -np.inf
    open_rows = np.flatnonzero(~(low > high.max(axis=0)))
    best[open_rows] = np.array([rule.exact(open_rows) for rule in rules]).argmax(axis=0)
    wrong: NDArray[np.bool_] = best != codes
    return wrong


def join(state: DualState, i: int, max_support: float) -> int | None:
    """Let row i have a weight; where there is no room for it, the row to be forgotten."""
    if state.a[i] != 0:
        return None
    forget = None
    if state.support >= max_support:
        forget = least_weight(state.a, state.born)
        state.forgotten += 1
    else:
        state.support += 1
    state.born[i] = state.joined
    state.joined += 1
    return forget


def least_weight(a: Floats, born: NDArray[np.int64]) -> int:
    """The support row with the least |a_j|, the one that joined first of equals."""
    at = np.flatnonzero(a)
    size = np.abs(a[at])
    at = at[size == size.min()]
    return int(at[born[at].argmin()])
