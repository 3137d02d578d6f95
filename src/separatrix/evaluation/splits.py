"""Which rows learn and which rows judge: parts of a table and folds, stratified, by groups or in time.

Rows are named by their numbers. Groups are never torn apart; in time the judged rows always come after
those learned from, and rows of the same moment stay together.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, ParameterError
from separatrix.validation import Labels, check_labels, check_lengths, frames
from separatrix.validation.labels import label_vector

Rows = NDArray[np.intp]
Fold = tuple[Rows, Rows]  # rows to learn from, rows to judge


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
    if not stratify or regression:
        return None
    array = frames.vector_of(y) if frames.is_frame(y) else np.asarray(y)
    if regression is None and array.dtype.kind == "f" and not np.all(array == np.floor(array)):
        return None
    return check_labels(y)


def random_parts(n: int, sizes: list[int], labels: Labels | None, rng: np.random.Generator) -> list[Rows]:
    """Disjoint parts of these sizes, and the rest; each with its share of every class."""
    total = sum(sizes)
    codes = None if labels is None else labels.codes
    if labels is not None:
        need_enough(labels, sum(size > 0 for size in sizes) + 1, "parts of the table")
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
    """The same with whole groups: parts are filled, in random order, to the size that comes nearest."""
    codes = check_labels(groups, what="groups").codes
    counts = np.bincount(codes)
    wanted = sum(size > 0 for size in sizes) + 1
    if len(counts) < wanted:
        raise DataError(f"there are {len(counts)} groups and {wanted} parts to fill: use fewer parts.")
    order, part_of, at = rng.permutation(len(counts)), np.full(len(counts), len(sizes)), 0
    for part, size in enumerate(sizes):
        filled = 0
        while filled < size and len(order) - at > sum(s > 0 for s in sizes[part + 1 :]) + 1:
            m = int(counts[order[at]])
            if filled and abs(filled + m - size) > abs(filled - size):
                break
            part_of[order[at]] = part
            filled, at = filled + m, at + 1
        if size and not filled:
            raise DataError("the groups are too few or too large for these parts: lower their shares.")
    return [np.flatnonzero(part_of[codes] == part) for part in range(len(sizes) + 1)]


def time_order(time: Any, n: int) -> tuple[Rows, NDArray[np.intp]]:
    """Rows from early to late, and the number of each one's moment in that order."""
    moments = label_vector(time, what="time")
    check_lengths(n, len(moments), "time")
    if moments.dtype.kind == "f" and not np.isfinite(moments).all():
        raise DataError(f"time has a NaN or inf at row {int(np.flatnonzero(~np.isfinite(moments))[0])}.")
    order = np.argsort(moments, kind="stable")
    ranked = moments[order]
    changed = np.concatenate([[False], ranked[1:] != ranked[:-1]])
    return order, np.cumsum(changed)


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
        begin = cut_before(number, end - size)
        parts.append(order[begin:end])
        end = begin
    if not end:
        raise DataError("nothing is left for training: too many rows have the same time.")
    return [*parts, order[:end]]


def time_folds(time: Any, folds: int, n: int) -> list[Fold]:
    """Each fold learns from everything before the rows that it judges."""
    order, number = time_order(time, n)
    cuts = [cut_before(number, round(n * (k + 1) / (folds + 1))) for k in range(folds)] + [n]
    made = [(order[:a], order[a:b]) for a, b in pairwise(cuts)]
    for k, (train, test) in enumerate(made):
        if not len(train) or not len(test):
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
    if not isinstance(folds, (int, np.integer)) or isinstance(folds, bool):
        return _given_folds(folds, n, None if labels is None else labels.codes, groups)
    if folds < 2:
        raise ParameterError(f"folds is {folds}: it must be at least 2.")
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ParameterError(f"repeats is {repeats!r}: it must be a whole number of at least 1.")
    if folds > n:
        raise DataError(f"{n} row(s) (n_samples = {n}) cannot make {folds} folds: use at most {n}.")
    if time is not None:
        if groups is not None:
            raise ParameterError("groups and time cannot both rule the folds: choose one.")
        return time_folds(time, int(folds), n)
    rng = np.random.default_rng(seed)
    codes = None if labels is None else labels.codes
    out: list[Fold] = []
    for _ in range(int(repeats)):
        part = _group_folds(groups, codes, int(folds), n, rng) if groups is not None else None
        if part is None:
            if labels is not None:
                need_enough(labels, int(folds), "folds")
            part = _dealt(n, codes, int(folds), rng)
        out += [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(int(folds))]
    return out


def need_enough(labels: Labels, least: int, what: str) -> None:
    """Every class has a row for each part, or which one has not."""
    counts = np.bincount(labels.codes, minlength=len(labels.classes))
    k = int(counts.argmin())
    if counts[k] < least:
        advice = f"use at most {counts[k]}" if counts[k] >= 2 else "merge it with another class or leave it out"
        raise DataError(
            f"class {_name(labels.classes[k])} has {counts[k]} row(s), fewer than {least} {what}: "
            f"{advice}, or pass stratify=False."
        )


def _name(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _dealt(n: int, codes: NDArray[np.intp] | None, folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows shuffled, sorted by class, and dealt out like cards: sizes and classes differ by one at most."""
    order = rng.permutation(n)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    part = np.empty(n, dtype=np.intp)
    part[order] = np.arange(n) % folds
    return part


def _group_folds(
    groups: Any, codes: NDArray[np.intp] | None, folds: int, n: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    own = check_labels(groups, what="groups")
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


def _quiet_split(splitter: Any, codes: NDArray[np.intp], groups: NDArray[np.intp]) -> list[Fold]:
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class in y")
        return list(splitter.split(codes, codes, groups))


def _given_folds(folds: Any, n: int, codes: NDArray[np.intp] | None, groups: Any) -> list[Fold]:
    if hasattr(folds, "split") and not isinstance(folds, (str, bytes)):
        folds = folds.split(np.zeros((n, 1)), codes, groups)
    if not isinstance(folds, Iterable) or isinstance(folds, (str, bytes)):
        raise ParameterError(f"folds is {folds!r}: it can be a number, pairs of row numbers, or a splitter.")
    out = []
    for k, pair in enumerate(folds):
        train, test = (np.asarray(rows) for rows in pair)
        for rows in (train, test):
            if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
                raise DataError(f"fold {k} must be two arrays of row numbers in 0 .. {n - 1}, neither of them empty.")
        if len(np.intersect1d(train, test)):
            raise DataError(f"fold {k} learns from rows that it judges (row {np.intersect1d(train, test)[0]}).")
        out.append((train.astype(np.intp), test.astype(np.intp)))
    if len(out) < 2:
        raise DataError(f"{len(out)} folds were given: at least 2 are needed.")
    return out


def check_training_classes(folds: list[Fold], labels: Labels) -> None:
    """Every class is learned in every fold, or which fold lacks which class."""
    for k, (train, _) in enumerate(folds):
        lacking = np.flatnonzero(np.bincount(labels.codes[train], minlength=len(labels.classes)) == 0)
        if len(lacking):
            raise DataError(
                f"fold {k} would be learned without class {_name(labels.classes[lacking[0]])}: "
                "use fewer folds or other groups."
            )
