"""What is done within a time budget, decided from the size of the table so that it can be repeated.

Costs are rough seconds on one processor that has nothing else to do. On a slower or busier machine they are scaled by
what a piece of fixed work takes there, in powers of two. What is left out is recorded with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import floor, log2
from time import perf_counter

import numpy as np

from separatrix.errors import SeparatrixError

FOLDS = 5
REPORT = 2.5  # seconds that drawing and writing the report take
LEAST = 0.25  # share of what was allowed that steps have after a table that was slow to read
SMALL = 0.15  # seconds that are worth a try on the slowest machine
YARDSTICK = 0.04  # seconds of the fixed work that measures the machine
NEWTON = 2.5e-9  # a cell, for each column: forming a Hessian
PASS = 4e-9  # a cell, for each pass over the rows
A_PRODUCT = 6e-10  # a row cubed, where columns are many: nearest points by inner products
A_MARGIN = 4e-8  # a row, for each column, where columns are many


class OutOfTime(SeparatrixError):
    """A step was cut short between two of its parts."""


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that was not done, and why."""

    what: str
    why: str


@dataclass
class Clock:
    """Seconds spent on each stage, what was left out, and a callback for progress.

    Steps share ``budget``: what was allowed less what drawing and writing the report will take on this machine, but
    at least a quarter of what was allowed from the moment that the table is read. Shares count from that moment.
    """

    allowed: float
    report: Callable[[str], None] = lambda stage: None
    began: float | None = None  # by ``now``; default: when the clock is made
    now: Callable[[], float] = lambda: perf_counter()
    slowness: float = 1.0  # how many times longer than the costs here say steps take
    stages: dict[str, float] = field(default_factory=dict)
    omissions: list[Omission] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._began = self.now() if self.began is None else self.began
        self._read = 0.0  # seconds until the table was read

    def start_steps(self) -> None:
        """The table is read: what is spent from now on is spent on the steps."""
        self._read = self.spent

    def calibrate(self, work: Callable[[], None] | None = None) -> None:
        """Measure how slow this machine is now: 1, 2, 4, … so that small differences change nothing."""
        start = self.now()
        (work or fixed_work)()
        self.slowness = 2.0 ** floor(log2(max((self.now() - start) / YARDSTICK, 1.0)))

    @property
    def budget(self) -> float:
        least = 0.6 if self.slowness == 1 else 0.4
        return max(self.allowed - REPORT * self.slowness, least * self.allowed, self._read + LEAST * self.allowed)

    @property
    def spent(self) -> float:
        return self.now() - self._began

    @property
    def left(self) -> float:
        return self.budget - self.spent

    def late(self, share: float) -> bool:
        """Whether more than a share of the seconds for steps is spent."""
        return self.spent - self._read > share * (self.budget - self._read)

    def part(self, share: float) -> float:
        """Seconds that a step may take: a share of those for steps, or half of what is left if that is less."""
        return max(0.05, min(share * (self.budget - self._read), 0.5 * self.left))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure one stage."""
        self.report(name)
        start = self.now()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + self.now() - start

    def leave_out(self, what: str, why: str) -> None:
        """Record what was not done."""
        self.omissions.append(Omission(what, why))


def fixed_work() -> None:
    """Products, sorting and a loop of the interpreter, as the steps of an audit mix them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 40))
    for _ in range(12):
        X.T @ (X * X[:, :1])
        np.sort(X, axis=0)
    total = 0
    for k in range(150_000):
        total += k & 3


@dataclass(frozen=True)
class Plan:
    """Sizes that decide what is done; ``budget`` in seconds of a machine that has nothing else to do."""

    n: int
    d: int
    cells: int
    score_vectors: int
    budget: float

    @property
    def comparison_rows(self) -> int:
        """Rows that learners are compared on: all, or as many as a fifth of the budget allows."""
        return min(self.n, max(2000, int(0.2 * self.budget / self._a_row)))

    @property
    def _a_row(self) -> float:
        """Seconds that each row costs in the comparison."""
        width = self.cells / max(self.n, 1)
        newton = NEWTON * width * min(width * self.score_vectors, 1000)
        return FOLDS * (2 * newton + 60 * PASS * width * self.score_vectors + 2e-7 * width)

    def allows(self, seconds: float, part: float) -> bool:
        """Whether a cost fits into a part of the budget, as small ones always do: they are cut if they must be."""
        return seconds <= max(part * self.budget, SMALL)

    @property
    def margins(self) -> bool:
        """Whether nearest points of the classes are computed: their solver holds columns in full."""
        size = self.n * self.d
        if self.d > 1000 and not self.allows(A_PRODUCT * min(self.n, 2500) ** 3, 0.2):
            return False  # rows are known by their inner products
        return self.d <= 10_000 or size <= 4_000_000 or self.allows(A_MARGIN * size, 0.2)

    @property
    def coefficient_fates(self) -> bool:
        """Whether each coefficient's fate is decided exactly."""
        return self.d <= 200 and self.n * self.d <= 4_000_000


@dataclass(frozen=True)
class Session:
    """What the steps of an audit share beside the table."""

    clock: Clock
    plan: Plan
    seed: int
    level: float
