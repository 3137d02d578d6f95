"""Parts and folds in time: test rows come after those learned from; rows of one moment stay together."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError
from separatrix.evaluation.splits import Fold, Rows
from separatrix.validation import check_lengths
from separatrix.validation.labels import label_vector
from separatrix.validation.targets import as_vector


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
