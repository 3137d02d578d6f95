"""Training and test rows of each fold: at random, by groups, in time, or as given."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, ParameterError
from separatrix.evaluation.splits import Fold, Rows, classes_to_balance, need_enough, time_folds
from separatrix.validation import Labels, check_labels, check_lengths, check_targets, shown_label


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


def _dealt(n: int, labels: Labels | None, folds: int, rng: np.random.Generator) -> NDArray[Any]:
    """Rows shuffled, sorted by class, and dealt out like cards: sizes and classes differ by one at most."""
    kind = np.int8 if folds <= np.iinfo(np.int8).max else np.intp
    part, order = np.empty(n, dtype=kind), rng.permutation(n)
    if labels is not None:
        order = order[np.argsort(labels.codes[order], kind="stable")]
    part[order] = np.tile(np.arange(folds, dtype=kind), n // folds + 1)[:n]
    return part


def _group_folds(
    groups: Any, codes: NDArray[np.intp] | None, folds: int, n: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

    group_labels = check_labels(groups, what="groups", ids=True)
    check_lengths(n, len(group_labels.codes), "groups")
    if len(group_labels.classes) < folds:
        count = len(group_labels.classes)
        raise DataError(f"there are {count} groups, fewer than {folds} folds: use folds={count}.")
    part = np.empty(n, dtype=np.intp)
    seed = int(rng.integers(2**31))
    if codes is None:
        splits = GroupKFold(folds, shuffle=True, random_state=seed).split(part, None, group_labels.codes)
    else:
        splits = _quiet_split(StratifiedGroupKFold(folds, shuffle=True, random_state=seed), codes, group_labels.codes)
    for k, (_, test) in enumerate(splits):
        if not len(test):
            raise DataError(f"the groups leave fold {k} empty: use fewer folds, or stratify=False.")
        part[test] = k
    return part


def _quiet_split(splitter: Any, codes: NDArray[np.intp], groups: NDArray[np.intp]) -> list[tuple[Rows, Rows]]:

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
        lacking = np.flatnonzero(np.bincount(labels.codes[fold.train], minlength=len(labels.classes)) == 0)
        if len(lacking):
            count = int(np.count_nonzero(labels.codes == lacking[0]))
            raise DataError(
                f"fold {k} would be learned without class {shown_label(labels.classes[lacking[0]])}, which has {count} "
                "row(s): use fewer folds or other groups, or leave the class out."
            )


def folds_for(
    n: int, folds: Any, repeats: int, y: Any, stratify: bool, groups: Any, time: Any, seed: int, regression: bool
) -> tuple[list[Fold], str]:
    """The folds, checked, and in words how they were made."""
    if regression:
        check_targets(y)
    labels = None if regression else check_labels(y)
    balance = classes_to_balance(y, stratify, regression) if time is None else None
    fold_list = make_folds(n, folds, repeats, balance, groups, time, seed)
    if labels is not None:
        if len(labels.classes) < 2:
            raise DataError(
                f"y has one class only ({labels.classes.tolist()[0]!r}): there is only one class to predict."
            )
        dealt_by_class = balance is not None and groups is None and dealt_anew(folds, time)
        if not dealt_by_class:  # for there every class has a row in every fold
            check_training_classes(fold_list, labels)
    if not isinstance(folds, (int, np.integer)):
        return fold_list, "folds as given"
    words = ["stratified"] if balance is not None else []
    words += ["whole groups"] if groups is not None else []
    words += ["trained on earlier rows, tested on later ones"] if time is not None else []
    return fold_list, ", ".join(words) or "at random"


def first_repeat(fold_list: list[Fold]) -> int:
    """How many folds pass before a row is judged for the second time."""
    seen = np.zeros(1 + max(int(fold.test.max(initial=-1)) for fold in fold_list), dtype=bool)
    for k, fold in enumerate(fold_list):
        if seen[fold.test].any():
            return k
        seen[fold.test] = True
    return len(fold_list)
