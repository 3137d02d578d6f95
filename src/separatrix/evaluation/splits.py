"""Which rows learn and which rows judge: parts of a table and folds, stratified, by groups or in time.

Rows are named by their numbers. Groups are kept together; in time the test rows always come after
those learned from, and rows of the same moment stay together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.validation import Labels, check_labels, check_lengths, check_targets, frames
from separatrix.validation.labels import label_vector
from separatrix.validation.targets import as_vector

Rows = NDArray[np.intp]
FEW = 8  # classes up to which rows are parted by them one by one, without sorting


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
    array = frames.vector_of(y) if frames.is_frame(y) else np.asarray(y)
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
            own = order[codes[order] == k]
            rank[own] = (np.arange(m) + rng.random()) / max(m, 1)
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
    made = [Fold(n, order[a:b], order[:a]) for a, b in pairwise(cuts)]
    for k, fold in enumerate(made):
        if not len(fold.train) or not len(fold.test):
            raise DataError(f"fold {k} in time has no rows: too many share the same time; use fewer folds.")
    return made


def make_folds(
    n: int,
    folds: Any,
    repeats: int,
    labels: Labels | None,
    groups: Any,
    time: Any,
    seed: int,
) -> list[Fold]:
    """``folds`` as a number, as pairs of row numbers, or as a splitter of scikit-learn's."""
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ParameterError(f"repeats is {repeats!r}: it must be a whole number of at least 1.")
    if repeats > 1 and not dealt_anew(folds, time):
        raise ParameterError(
            f"repeats is {repeats}, and folds that are given or defined by time cannot be drawn again."
        )
    if not isinstance(folds, (int, np.integer)) or isinstance(folds, bool):
        return _given_folds(folds, n, None if labels is None else labels.codes, groups)
    if folds < 2:
        raise ParameterError(f"folds is {folds}: it must be at least 2.")
    if folds > n:
        raise DataError(f"{n} row(s) (n_samples = {n}) cannot make {folds} folds: use at most {n}.")
    if time is not None:
        if groups is not None:
            raise ParameterError("groups and time cannot both define the folds: choose one.")
        return time_folds(time, int(folds), n)
    rng = np.random.default_rng(seed)
    codes = None if labels is None else labels.codes
    out: list[Fold] = []
    for _ in range(int(repeats)):
        part = _group_folds(groups, codes, int(folds), n, rng) if groups is not None else None
        if part is None:
            if labels is not None:
                need_enough(labels, int(folds), "folds")
            part = _dealt(n, labels, int(folds), rng)
        out += [Fold(n, np.flatnonzero(part == k)) for k in range(int(folds))]
    return out


def dealt_anew(folds: Any, time: Any) -> bool:
    """Whether folds are dealt at random, so that they can be dealt again."""
    return time is None and isinstance(folds, (int, np.integer))


def need_enough(labels: Labels, least: int, what: str, advice: str = "") -> None:
    """Every class has a row for each part, or which one has not."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    k = int(counts.argmin())
    if counts[k] < least:
        if counts[k] < 2:
            advice = "merge it with another class or leave it out"
        raise DataError(
            f"class {_name(labels.classes[k])} has {counts[k]} row(s), fewer than {least} {what}: "
            f"{advice or f'use at most {counts[k]}'}, or pass stratify=False."
        )


def _name(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _dealt(n: int, labels: Labels | None, folds: int, rng: np.random.Generator) -> NDArray[Any]:
    """Rows shuffled, sorted by class, and dealt out like cards: sizes and classes differ by one at most."""
    kind = np.int8 if folds <= np.iinfo(np.int8).max else np.intp
    part, order = np.empty(n, dtype=kind), rng.permutation(n)
    if labels is not None:
        own, count = labels.codes[order], len(labels.classes)
        if count <= FEW:
            order = np.concatenate([np.compress(own == k, order) for k in range(count)])
        else:
            order = order[np.argsort(own, kind="stable")]
    part[order] = np.tile(np.arange(folds, dtype=kind), n // folds + 1)[:n]
    return part


def _group_folds(
    groups: Any, codes: NDArray[np.intp] | None, folds: int, n: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    own = check_labels(groups, what="groups", ids=True)
    check_lengths(n, len(own.codes), "groups")
    if len(own.classes) < folds:
        raise DataError(f"there are {len(own.classes)} groups, fewer than {folds} folds: use folds={len(own.classes)}.")
    part = np.empty(n, dtype=np.intp)
    seed = int(rng.integers(2**31))
    if codes is None:
        made = GroupKFold(folds, shuffle=True, random_state=seed).split(part, None, own.codes)
    else:
        made = _quiet_split(StratifiedGroupKFold(folds, shuffle=True, random_state=seed), codes, own.codes)
    for k, (_, test) in enumerate(made):
        if not len(test):
            raise DataError(f"the groups leave fold {k} empty: use fewer folds, or stratify=False.")
        part[test] = k
    return part


def _quiet_split(splitter: Any, codes: NDArray[np.intp], groups: NDArray[np.intp]) -> list[tuple[Rows, Rows]]:
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class in y")
        return list(splitter.split(codes, codes, groups))


def _given_folds(folds: Any, n: int, codes: NDArray[np.intp] | None, groups: Any) -> list[Fold]:
    if hasattr(folds, "split") and not isinstance(folds, (str, bytes, type)):
        try:
            folds = list(folds.split(np.zeros((n, 1)), codes, groups))
        except ValueError as refused:  # what scikit-learn's splitters raise, in their words
            raise DataError(f"{type(folds).__name__} cannot split these rows: {refused}") from refused
    if not isinstance(folds, Iterable) or isinstance(folds, (str, bytes, type)):
        raise ParameterError(f"folds is {folds!r}: it can be a number, pairs of row numbers, or a splitter.")
    out = []
    for k, pair in enumerate(folds):
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            raise ParameterError(f"fold {k} is not a pair: pass (training rows, test rows) for each fold.")
        train, test = (np.asarray(rows) for rows in pair)
        for rows in (train, test):
            if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
                raise DataError(f"fold {k} must be two arrays of row numbers in 0 .. {n - 1}, neither of them empty.")
        if len(np.intersect1d(train, test)):
            raise DataError(f"fold {k} has rows in both training and test (row {np.intersect1d(train, test)[0]}).")
        if len(np.unique(test)) < len(test):
            raise DataError(f"fold {k} has a test row twice: name each row once.")
        out.append(Fold(n, test.astype(np.intp), train.astype(np.intp)))
    if len(out) < 2:
        raise DataError(f"{len(out)} folds were given: at least 2 are needed.")
    return out


def check_training_classes(folds: list[Fold], labels: Labels) -> None:
    """Every class is learned in every fold, or which fold lacks which class."""
    for k, fold in enumerate(folds):
        own = labels.codes[fold.train]
        if len(labels.classes) == 2 and own.min() < own.max():
            continue
        lacking = np.flatnonzero(np.bincount(own, minlength=len(labels.classes)) == 0)
        if len(lacking):
            count = int(np.count_nonzero(labels.codes == lacking[0]))
            raise DataError(
                f"fold {k} would be learned without class {_name(labels.classes[lacking[0]])}, which has {count} "
                "row(s): use fewer folds or other groups, or leave the class out."
            )
