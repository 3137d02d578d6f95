"""Passes over labelled rows, for the one loop, and what to do about a run that ended before they were separated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.errors import IterationWarning, ScaleWarning, warn_user
from separatrix.models.perceptron.online_rule import OnlineKernel, Vectors
from separatrix.numerics.status import Status

NO_LIMIT = 2**62
BLOCK = 1 << 16  # rows that stay together in the order "blocks"
BY_CHANCE = ("shuffle", "blocks")
SLICE = 2**24  # multiplications between two chances to interrupt


@dataclass(frozen=True, slots=True)
class LabelledRows:
    """A chunk: rows, labels -1, +1 or 0 (skip) or numbers of classes (-1: skip), and the size of updates (None: 1)."""

    rows: kernels.Rows
    y: NDArray[Any]  # int8, or int32 for numbers of classes
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


class CountedPasses:
    """A rule for ``solve`` whose state counts all updates, and the mistakes of the pass under way."""

    __slots__ = ()

    def is_finite(self, state: Any) -> bool:
        """Whether the weights are still numbers."""
        return kernels.first_nonfinite(state.lifted) < 0

    def measure(self, state: Any) -> PassMeasure:
        measured = PassMeasure(state.mistakes, state.updates, self.is_finite(state))
        state.mistakes = 0
        return measured


@dataclass(slots=True)
class OnlineState:
    """What a run of passes carries along."""

    vectors: Vectors
    kernel: OnlineKernel
    mistakes: int = 0  # in the pass under way
    updates: int = 0


@dataclass(slots=True)
class OnlinePasses(CountedPasses):
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

    def is_finite(self, state: OnlineState) -> bool:
        return CountedPasses.is_finite(self, state.vectors)


FAR_APART = 100.0  # ratio of the largest entries of two columns from which on they should be scaled
HEAD = 1000  # rows whose order is looked at before that of all
LOOKED_AT = 10_000  # rows that tell the scale of their columns
HARDLY = 2 / 3  # mistakes of a class against the rest, as a share of its rows, from which on it is hardly told apart
LIMITS = {Status.MAX_ITERATIONS: "max_iter", Status.MAX_UPDATES: "max_updates"}


def warn_of_run(
    model: Any,
    X: Any,
    codes: NDArray[np.integer[Any]],
    in_order: bool,
    scale_free: bool = False,
    against_rest: Sequence[int] = (),
) -> None:
    """Warn of a run that ended at a limit, and of what kept it from separating the rows.

    ``codes`` numbers the classes of the rows that count, in the order they lie, and ``in_order`` says that they
    were learned from in that order; ``scale_free`` learners adapt to columns of any scale; ``against_rest`` has
    the misclassified rows of each class, learned against the rest. A single pass is what the caller asked for, and its
    end is not a limit.
    """
    status = model.status_
    if status is Status.NONFINITE:
        warn_user(f"{type(model).__name__}: {status.value}.", IterationWarning)
        return
    if status not in LIMITS and status is not Status.PLATEAU:
        return
    advice = []
    if in_order and is_sorted(codes):
        advice.append('rows are sorted by class; shuffle them (order="shuffle")')
    if not scale_free and (factor := scale_factor(X)) > FAR_APART:
        advice.append(f"columns differ in scale by a factor of {factor:,.0f}; standardise them")
    once = status is Status.MAX_ITERATIONS and model.max_iter == 1
    if not advice and not once and (name := lost_class(model, codes, against_rest)) is not None:
        who = "" if "multiclass" in model.get_params(deep=False) else "AveragedPerceptron with "
        advice.append(
            f"no hyperplane was found that keeps class {name} apart from the rest; compare all classes at once "
            f'({who}multiclass="kesler")'
        )
    if not advice and status in LIMITS and not once:
        advice.append(f"raise {LIMITS[status]}, or no hyperplane separates the classes (see separability)")
    if advice:
        passes = "a pass" if model.n_iter_ == 1 else f"{model.n_iter_:,} passes"
        found = f"{model.errors_:,} of {len(codes):,} rows misclassified"
        warn_user(
            f"{type(model).__name__} stopped after {passes} with {found}: {', and '.join(advice)}.", IterationWarning
        )


def lost_class(model: Any, codes: NDArray[np.integer[Any]], against_rest: Sequence[int]) -> str | None:
    """The class that is hardest to keep apart, where that saves less than a third of never predicting it."""
    if len(against_rest) < 3:
        return None
    left = np.array(against_rest) / np.bincount(codes, minlength=len(against_rest)).clip(1)
    k = int(left.argmax())
    return repr(model.classes_.tolist()[k]) if left[k] > HARDLY else None


def warn_of_scale(model: Any, X: Any) -> None:
    """Warn of columns that a kernel of distances or products cannot see beside larger ones."""
    if (factor := scale_factor(X)) > FAR_APART:
        name = type(model).__name__
        warn_user(f"{name}: columns differ in scale by a factor of {factor:,.0f}; standardise them.", ScaleWarning)


def is_sorted(codes: NDArray[np.integer[Any]]) -> bool:
    """Whether the rows of every class lie together, and some class has more than one."""
    if np.count_nonzero(np.diff(codes[:HEAD])) > codes.max(initial=0):  # more changes than there are classes
        return False
    classes = len(np.unique(codes))
    return len(codes) > classes and np.count_nonzero(np.diff(codes)) == classes - 1


def scale_factor(X: Any) -> float:
    """The largest absolute entry of a column over the smallest such, of some of the rows; zero columns do not count."""
    if (stride := X.shape[0] // LOOKED_AT) > 1:
        X = X[::stride].copy()  # side by side, as they are read twice
    if isinstance(X, np.ndarray):
        most = np.maximum(X.max(axis=0), -X.min(axis=0))
    else:
        most = np.zeros(X.shape[1], dtype=X.dtype)
        np.maximum.at(most, X.indices, np.abs(X.data))
    most = most[most > 0]
    return float(most.max()) / float(most.min()) if len(most) else 1.0
