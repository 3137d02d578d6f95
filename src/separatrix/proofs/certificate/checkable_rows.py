"""Rows as a checker has them: classes by name, non-zeros, fingerprints, and files with numbers to the last bit."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from separatrix import checker
from separatrix.errors import DataError

LINES = 4096  # that are written together


def class_names(classes: NDArray[Any]) -> list[str]:
    """The classes by name, as a file would have them."""
    try:
        names = [checker.label_name(str(c)) for c in classes.tolist()]
    except ValueError as error:
        raise DataError(f"y: {error}.") from None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"y has several classes that read as {twice!r}: give them different names.")
    return names


def exact_table(X: Any, codes: NDArray[Any], classes: Sequence[str], reading: str, **more: Any) -> checker.ExactTable:
    """Rows as the checker takes them, where they lie: dense or CSR, float64 or float32."""
    scales = whole = starts = places = None
    if reading == "decimal":
        scales, whole = decimals_of(X)
    values = X
    if not isinstance(X, np.ndarray):
        starts, places, values = X.indptr, X.indices, X.data
    return checker.ExactTable(X.shape[1], list(classes), codes, values, starts, places, scales, whole, **more)


def decimals_of(X: Any) -> tuple[list[int], Any]:
    """The places of each column and each stored cell times that power of ten, of the decimals that doubles print as."""
    d = X.shape[1]
    values = X.ravel() if isinstance(X, np.ndarray) else X.data
    columns = np.tile(np.arange(d), len(X)) if isinstance(X, np.ndarray) else X.indices
    cells = [checker.decimal_cell(repr(v)) for v in values.tolist()]
    scales, whole = checker.scaled_decimals(cells, columns.tolist(), d)
    if max(map(abs, whole), default=0) < 2**63:
        return scales, np.array(whole, dtype=np.int64)
    return scales, whole


def put_csv(file: TextIO, names: Sequence[str], X: NDArray[np.float64], target: str, labels: Sequence[str]) -> None:
    """Write a header, then the columns and the labels, into an open file."""
    quoted = {label: '"' + label.replace('"', '""') + '"' for label in set(labels)}
    csv.writer(file, lineterminator="\n").writerow([*names, target])
    for start in range(0, len(X), LINES):
        block = X[start : start + LINES].tolist()
        lines = [
            ",".join([*map(repr, row), quoted[label]])
            for row, label in zip(block, labels[start : start + LINES], strict=True)
        ]
        file.write("\n".join(lines) + "\n")


def put_svmlight(file: TextIO, X: Any, labels: Sequence[str]) -> None:
    """Write the rows of a CSR matrix as ``label index:value ...``, indices from 1.

    The largest index is the number of columns: the first row states it where no row has the last column.
    """
    ends, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    d = X.shape[1]
    for i, label in enumerate(labels):
        pairs = [f" {columns[k] + 1}:{values[k]!r}" for k in range(ends[i], ends[i + 1])]
        if i == 0 and max(columns, default=-1) < d - 1:
            pairs.append(f" {d}:0.0")
        file.write(label + "".join(pairs) + "\n")
