"""What is done within a time budget: a plan in units of work, fixed by the table and the budget, and a clock.

The plan decides which learners, rows and proofs there are, from the size of the table and rough costs on one processor.
It fills half of the budget, so that a machine which is twice as slow, or busy, does the same and gives the same advice.
The clock is a ceiling: what it cuts is recorded as cut. Each question has a share of the budget that earlier ones
cannot use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from separatrix.errors import SeparatrixError

FOLDS = 5
REPORT = 2.5  # seconds that drawing and writing the report take
LEAST = 0.25  # share of what was allowed that steps have after a table that was slow to read
PLANNED = 0.5  # share of the budget that the plan fills
SMALL = 0.15  # seconds that are worth a try on the slowest machine
NEWTON = 2.5e-9  # a cell, for each column: forming a Hessian
PASS = 4e-9  # a cell, for each pass over the rows
PREDICTED = 1e-7  # a cell: encoding rows for a few learners and predicting them
A_PRODUCT = 6e-10  # a row cubed, where columns are many: nearest points by inner products
A_MARGIN = 4e-8  # a row, for each column, where columns are many
A_CLASS = 3e-8  # a cell, for each column: proving whether a hyperplane separates one class from the others
ALL_CLASSES = 6e-7  # the same for all classes at once
PROOFS = 0.3  # share of the steps that proofs about many classes may take, so that the other questions have theirs


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

    Steps share ``budget``: what was allowed less what drawing and writing the report take, but at least a quarter of
    what was allowed from the moment that the table is read. Shares count from that moment.
    """

    allowed: float
    report: Callable[[str], None] = lambda stage: None
    began: float | None = None  # by ``now``; default: when the clock is made
    now: Callable[[], float] = lambda: perf_counter()
    stages: dict[str, float] = field(default_factory=dict)
    omissions: list[Omission] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._began = self.now() if self.began is None else self.began
        self._read = 0.0  # seconds until the table was read

    def start_steps(self) -> None:
        """The table is read: what is spent from now on is spent on the steps."""
        self._read = self.spent

    @property
    def budget(self) -> float:
        return max(steps_of(self.allowed), self._read + LEAST * self.allowed)

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


def steps_of(allowed: float) -> float:
    """Seconds of a budget that are for the steps: without the report, where that leaves most of them."""
    return max(allowed - REPORT, 0.6 * allowed)


@dataclass(frozen=True)
class AuditPlan:
    """Sizes that decide what is done; ``budget`` in seconds of a machine that has nothing else to do."""

    n: int
    d: int
    cells: int
    score_vectors: int
    budget: float

    @classmethod
    def for_table(cls, n: int, d: int, cells: int, score_vectors: int, allowed: float) -> AuditPlan:
        """What fits into half of the seconds allowed, whatever the machine is doing."""
        return cls(n, d, cells, score_vectors, PLANNED * steps_of(allowed))

    @property
    def comparison_rows(self) -> int:
        """Rows that learners are fitted on in the comparison: all, or as many as a fifth of the budget allows."""
        return min(self.n, max(2000, int(0.2 * self.budget / (FOLDS * self._a_row))))

    @property
    def predicted_rows(self) -> int:
        """Rows that the folds predict: all, or as many as a tenth of the budget allows."""
        return min(self.n, max(self.comparison_rows, int(0.1 * self.budget / (PREDICTED * self._width))))

    @property
    def fitted_rows(self) -> int:
        """Rows that the choice is fitted on: all, or as many as a tenth of the budget allows."""
        return min(self.n, max(self.comparison_rows, int(0.1 * self.budget / self._a_row)))

    @property
    def _width(self) -> float:
        return max(self.cells / max(self.n, 1), 1.0) * self.score_vectors

    @property
    def _a_row(self) -> float:
        """Seconds that each row costs where learners are fitted once."""
        width = self.cells / max(self.n, 1)
        newton = NEWTON * width * min(width * self.score_vectors, 1000)
        return 2 * newton + 60 * PASS * width * self.score_vectors + 2e-7 * width

    def allows(self, seconds: float, part: float) -> bool:
        """Whether a cost fits into a part of the budget, as small ones always do."""
        return seconds <= max(part * self.budget, SMALL)

    @property
    def margins(self) -> bool:
        """Whether nearest points of the classes are computed: their solver holds columns in full."""
        size = self.n * self.d
        if self.d > 1000 and not self.allows(A_PRODUCT * min(self.n, 2500) ** 3, 0.35):
            return False  # rows are known by their inner products
        return self.d <= 10_000 or size <= 4_000_000 or self.allows(A_MARGIN * size, 0.35)

    def classes_apart(self, classes: int) -> int:
        """How many classes are compared with all others, each by a proof."""
        each = A_CLASS * self.cells * self.d
        return classes if self.allows(classes * each, PROOFS) else max(1, int(PROOFS * self.budget / each))

    def classes_together(self, classes: int) -> bool:
        """Whether all classes are separated at once."""
        return self.allows((A_CLASS * classes + ALL_CLASSES) * self.cells * self.d, PROOFS)

    @property
    def coefficient_fates(self) -> bool:
        """Whether each coefficient's fate is decided exactly."""
        return self.d <= 200 and self.n * self.d <= 4_000_000


@dataclass(frozen=True)
class Session:
    """What the steps of an audit share beside the table."""

    clock: Clock
    plan: AuditPlan
    seed: int
    level: float
