"""What comes with the rows: an offset, or grouped binomial outcomes (successes out of trials) with their counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.validation import Labels, Table, check_finite_vector, check_lengths
from separatrix.validation.table import need_same_index


@dataclass(frozen=True, slots=True)
class GroupedOutcomes:
    """Successes and trials of the rows that were given; ``units`` is the row that each expanded row comes from."""

    successes: Floats
    trials: Floats
    units: NDArray[np.intp]

    @property
    def n(self) -> int:
        """Rows with a trial."""
        return int(np.count_nonzero(self.trials))

    @property
    def constant(self) -> float:
        """The sum of log binomial coefficients, which the log-likelihood of counts has and that of trials has not."""
        pairs = zip(self.trials.tolist(), self.successes.tolist(), strict=True)
        return math.fsum(math.lgamma(n + 1) - math.lgamma(s + 1) - math.lgamma(n - s + 1) for n, s in pairs)

    def total(self, values: Floats) -> Floats:
        """Sums over the expanded rows of each given row."""
        out = np.zeros((len(self.trials), *values.shape[1:]))
        np.add.at(out, self.units, values)
        return out


def check_grouped(X: Any, y: Any, trials: Any, n: int) -> tuple[Floats, Floats]:
    """Successes and trials: whole numbers, with successes from 0 to the trials of the row."""
    found = []
    for values, what in ((y, "y"), (trials, "trials")):
        need_same_index(X, values, what)
        if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
            values = np.full(n, values)
        counts = check_finite_vector(values, what=what)
        check_lengths(n, len(counts), what)
        wrong = np.flatnonzero((counts < 0) | (counts != np.rint(counts)))
        if len(wrong):
            meant = "successes" if what == "y" else "trials"
            raise DataError(f"{what} is {counts[wrong[0]]:g} at row {wrong[0]}: with trials it counts {meant}, from 0.")
        found.append(counts)
    successes, total = found
    above = np.flatnonzero(successes > total)
    if len(above):
        i = above[0]
        raise DataError(f"row {i} has {successes[i]:g} successes in {total[i]:g} trials: y counts successes.")
    if not successes.any() or (successes == total).all():
        which = "success" if successes.any() else "failure"
        raise DataError(f"every trial is a {which}, one class only: add rows with other outcomes.")
    return successes, total


def expanded(
    table: Table, successes: Floats, trials: Floats, offset: Floats | None
) -> tuple[Table, Labels, Floats, Floats | None, GroupedOutcomes]:
    """Rows of class 1 with their successes as weights, then rows of class 0 with their failures."""
    failures = trials - successes
    ones, zeros = np.flatnonzero(successes), np.flatnonzero(failures)
    units = np.concatenate([ones, zeros]).astype(np.intp)
    labels = Labels(np.array([0, 1]), np.repeat([1, 0], [len(ones), len(zeros)]).astype(np.intp))
    weights = np.concatenate([successes[ones], failures[zeros]])
    shift = None if offset is None else np.ascontiguousarray(offset[units])
    rows = Table(table.X[units] if table.sparse else np.ascontiguousarray(table.X[units]), table.names)
    return rows, labels, weights, shift, GroupedOutcomes(successes, trials, units)


def check_offset(offset: Any, n: int, labels: Labels, multiclass: str) -> Floats:
    """An offset with one number for each row, or one for each row and class."""
    count = len(labels.classes)
    several = count > 2 and multiclass == "multinomial"
    array = np.asarray(offset) if not hasattr(offset, "columns") else np.asarray(offset.to_numpy())
    if array.ndim == 2 and several:
        flat = check_finite_vector(array.reshape(-1), what="offset (row by row)")
        check_lengths(n, array.shape[0], "offset")
        if array.shape[1] != count:
            raise DataError(f"offset has {array.shape[1]} columns and there are {count} classes: pass one a class.")
        return np.ascontiguousarray(flat.reshape(array.shape))
    if array.ndim != 1 or several:
        wanted = f"({n}, {count})" if several else f"({n},)"
        raise DataError(f"offset has shape {array.shape} and needs {wanted}: one number added to each score.")
    out = check_finite_vector(offset, what="offset")
    check_lengths(n, len(out), "offset")
    return out
