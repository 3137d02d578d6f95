"""Training and test rows: parts of a table, and folds, stratified, by groups or in time.

Rows are named by their numbers. Groups are kept together; in time the test rows always come after
those learned from, and rows of the same moment stay together. Which split a call gets is decided in
fold_assignment.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.validation import (
    Labels,
    check_labels,
    check_lengths,
    check_targets,
    containers,
    count_rows,
    shown_label,
)
from separatrix.validation.labels import label_vector
from separatrix.validation.table import as_vector, need_same_index

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Fold:
    """Rows to judge, and rows to learn from: those given, or all others of n, which are listed when asked for."""

    n: int
    test: Rows
    given: Rows | None = None

    @cached_property
    def train(self) -> Rows:
        """Rows to learn from."""
        if self.given is not None:
            return self.given
        others = np.ones(self.n, dtype=np.bool_)
        others[self.test] = False
        return np.flatnonzero(others)

    @property
    def learned_from(self) -> int:
        """How many those are."""
        return self.n - len(self.test) if self.given is None else len(self.given)

    def __iter__(self) -> Iterator[Rows]:
        yield self.train
        yield self.test


def seed_of(random_state: Any) -> int:
    """A seed that can be reported: as given, or drawn."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise ParameterError(f"random_state is {random_state!r}: it can be None, a whole number or a numpy generator.")


def labelled_rows(X: Any, y: Any) -> int:
    """How many rows there are, each with its label or target."""
    n = count_rows(X)
    check_lengths(n, count_rows(y, what="y"), "y")
    need_same_index(X, y)
    return n


def share_of(name: str, value: Any, n: int) -> int:
    """A share of the rows, or a number of them, as a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ParameterError(f"{name} is {value!r}: it must be a share between 0 and 1, or a number of rows.")
    if isinstance(value, (int, np.integer)):
        rows = int(value)
        if not 0 <= rows < n:
            raise ParameterError(f"{name} is {rows} rows of {n}: it must leave rows for training.")
        return rows
    if not 0 <= value < 1:
        raise ParameterError(f"{name} is {value!r}: a share must lie in [0, 1).")
    return round(float(value) * n)


def classes_to_balance(y: Any, stratify: bool, regression: bool | None = None) -> Labels | None:
    """The classes to stratify by; None for real targets or where that is not wanted."""
    if not isinstance(stratify, (bool, np.bool_)):
        raise ParameterError("stratify must be True or False: the classes it balances are those of y.")
    if not stratify or regression:
        return None
    array = containers.vector_of(y) if containers.is_frame(y) else np.asarray(y)
    if regression is None and array.dtype.kind == "f":
        known = array[np.isfinite(array)]  # a missing label is for check_labels to name
        if not np.all(known == np.floor(known)):
            check_targets(y)
            return None
    return check_labels(y)


def random_parts(n: int, sizes: list[int], labels: Labels | None, rng: np.random.Generator) -> list[Rows]:
    """Disjoint parts of these sizes, and the rest; each with its share of every class."""
    total = sum(sizes)
    codes = None if labels is None else labels.codes
    if labels is not None:
        need_enough(labels, sum(size > 0 for size in sizes) + 1, "parts of the table", "pass validation=0")
    if total >= n:
        raise DataError(f"{n} rows are too few for a test and a validation part of {total} rows: lower their shares.")
    order = rng.permutation(n)
    if codes is not None:
        # Rows of each class are spread evenly over [0, 1); cutting that line cuts every class in proportion.
        counts = np.bincount(codes)
        rank = np.empty(n)
        for k, m in enumerate(counts):
            of_class = order[codes[order] == k]
            rank[of_class] = (np.arange(m) + rng.random()) / max(m, 1)
        order = order[np.argsort(rank[order], kind="stable")]
    ends = np.cumsum([0, *sizes])
    parts = [order[a:b] for a, b in pairwise(ends)]
    return [*(np.sort(part) for part in parts), np.sort(order[total:])]


def group_parts(groups: NDArray[Any], sizes: list[int], rng: np.random.Generator) -> list[Rows]:
    """The same with whole groups: in random order, a group joins a part if that brings it nearer to its size."""
    codes = check_labels(groups, what="groups", ids=True).codes
    counts = np.bincount(codes)
    wanted = sum(size > 0 for size in sizes) + 1
    if len(counts) < wanted:
        raise DataError(f"there are {len(counts)} group(s) and {wanted} parts to fill: use fewer parts.")
    left, part_of = rng.permutation(len(counts)).tolist(), np.full(len(counts), len(sizes))
    for part, size in enumerate(sizes):
        if not size:
            continue
        kept_back = sum(s > 0 for s in sizes[part + 1 :]) + 1  # groups that the other parts need
        filled = 0
        for group in list(left):
            m = int(counts[group])
            if len(left) > kept_back and abs(filled + m - size) < abs(filled - size):
                part_of[group] = part
                left.remove(group)
                filled += m
        if not filled:  # every group is more than twice too large
            least = min(left, key=lambda g: int(counts[g]))
            part_of[least] = part
            left.remove(least)
    return [np.flatnonzero(part_of[codes] == part) for part in range(len(sizes) + 1)]


def need_enough(labels: Labels, least: int, what: str, advice: str = "") -> None:
    """Every class has a row for each part, or which one has not."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    k = int(counts.argmin())
    if counts[k] < least:
        if counts[k] < 2:
            advice = "merge it with another class or leave it out"
        raise DataError(
            f"class {shown_label(labels.classes[k])} has {counts[k]} row(s), fewer than {least} {what}: "
            f"{advice or f'use at most {counts[k]}'}, or pass stratify=False."
        )


def time_order(time: Any, n: int) -> tuple[Rows, NDArray[np.intp]]:
    """Rows from early to late, and the number of each one's moment in that order."""
    moments = _moments(time)
    check_lengths(n, len(moments), "time")
    try:
        order = np.argsort(moments, kind="stable")
    except TypeError as mixed:
        raise DataTypeError("time mixes values that have no order: use one kind, for example dates.") from mixed
    ranked = moments[order]
    changed = np.concatenate([[False], ranked[1:] != ranked[:-1]])
    return order, np.cumsum(changed)


def _moments(time: Any) -> NDArray[Any]:
    """Dates, numbers or text that can be put in order; none of them missing."""
    moments = as_vector(time, "time")
    if moments.dtype.kind not in "mM":
        moments = label_vector(time, what="time", ids=True)
    missing = np.asarray(moments != moments, dtype=bool)  # NaN and NaT, also among objects
    if moments.dtype.kind == "f":
        missing |= np.isinf(moments)
    if missing.any():
        raise DataError(f"time has no moment (NaN, NaT or inf) at row {int(np.flatnonzero(missing)[0])}: drop the row.")
    return moments


def cut_before(number: NDArray[np.intp], at: int) -> int:
    """The cut nearest to ``at`` from below that does not part rows of the same moment."""
    while 0 < at < len(number) and number[at] == number[at - 1]:
        at -= 1
    return at


def time_parts(time: Any, sizes: list[int], n: int) -> list[Rows]:
    """The last rows are the first part (test), those before them the second, the earliest the rest."""
    order, number = time_order(time, n)
    parts, end = [], n
    for size in sizes:
        begin = cut_before(number, max(end - size, 0))
        parts.append(order[begin:end])
        end = begin
    if not end:
        raise DataError("nothing is left for training: too many rows have the same time; lower the shares.")
    return [*parts, order[:end]]


def time_folds(time: Any, folds: int, n: int) -> list[Fold]:
    """Each fold learns from everything before the rows that it judges."""
    order, number = time_order(time, n)
    cuts = [cut_before(number, round(n * (k + 1) / (folds + 1))) for k in range(folds)] + [n]
    fold_list = [Fold(n, order[a:b], order[:a]) for a, b in pairwise(cuts)]
    for k, fold in enumerate(fold_list):
        if not len(fold.train) or not len(fold.test):
            raise DataError(f"fold {k} in time has no rows: too many share the same time; use fewer folds.")
    return fold_list
