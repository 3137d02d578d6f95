"""The rows of a logistic fit that count, checked once: weights, offset, and their numbers in the table given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.logistic.problem import Task
from separatrix.proofs.certificate import Source
from separatrix.proofs.separability import Given
from separatrix.validation import Labels, Table, check_finite_vector, check_lengths


@dataclass(frozen=True)
class Counted:
    """The rows that count: of weight above zero, with their numbers in the table that was given."""

    table: Table
    labels: Labels
    weights: Floats | None
    offset: Floats | None
    origin: NDArray[np.int64] | None
    source: Source

    @staticmethod
    def of(table: Table, labels: Labels, weights: Floats | None, offset: Floats | None, analytic: bool) -> Counted:
        origin: NDArray[np.int64] | None = None
        source = Source(table, labels)
        if weights is not None and not weights.all():
            origin = np.flatnonzero(weights)
            source = Source(table, labels, tuple(np.flatnonzero(weights == 0).tolist()))
            codes = labels.codes[origin]
            missing = np.setdiff1d(np.arange(len(labels.classes)), codes)
            if len(missing):
                raise DataError(
                    f"class {labels.classes[missing].tolist()[0]!r} has weight zero in all its rows: "
                    "give some weight to it, or leave its rows out."
                )
            table, labels = Table(table.X[origin], table.names), Labels(labels.classes, codes)
            weights = weights[origin]
            offset = None if offset is None else np.ascontiguousarray(offset[origin])
        if weights is not None and analytic:
            weights = weights * (len(weights) / weights.sum())
        return Counted(table, labels, weights, offset, origin, source)

    @property
    def names(self) -> list[str]:
        return list(self.table.names or (f"x{j}" for j in range(self.table.d)))

    @property
    def fractional(self) -> bool:
        """Whether some weight is not a whole number."""
        return self.weights is not None and bool((self.weights != np.rint(self.weights)).any())

    def task(self, lift: bool) -> Task:
        codes = np.asarray(self.labels.codes, dtype=np.intp)
        return Task(self.table.X, codes, len(self.labels.classes), self.weights, self.offset, lift)

    def given(self, lift: bool) -> Given:
        codes = np.asarray(self.labels.codes, dtype=np.intp)
        return Given(self.table, Labels(self.labels.classes, codes), self.origin, self.source, lift, "binary64")


def check_offset(offset: Any, n: int, labels: Labels, multiclass: str) -> Floats:
    count = len(labels.classes)
    array = np.asarray(offset) if not hasattr(offset, "columns") else np.asarray(offset.to_numpy())
    if array.ndim == 2 and count > 2 and multiclass == "multinomial":
        flat = check_finite_vector(array.reshape(-1), what="offset (row by row)")
        check_lengths(n, array.shape[0], "offset")
        if array.shape[1] != count:
            raise DataError(f"offset has {array.shape[1]} columns and there are {count} classes: pass one a class.")
        return np.ascontiguousarray(flat.reshape(array.shape))
    if array.ndim != 1 or (count > 2 and multiclass == "multinomial"):
        wanted = f"({n}, {count})" if count > 2 and multiclass == "multinomial" else f"({n},)"
        raise DataError(f"offset has shape {array.shape} and needs {wanted}: one number added to each score.")
    out = check_finite_vector(offset, what="offset")
    check_lengths(n, len(out), "offset")
    return out
