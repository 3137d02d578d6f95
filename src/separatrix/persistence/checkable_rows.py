"""Rows in files that the stand-alone checker reads: CSV with a header, or svmlight; numbers to the last bit."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096


def put_csv(file: TextIO, names: Sequence[str], X: NDArray[np.float64], target: str, labels: Sequence[str]) -> None:
    """Write a header, then the columns and the labels, into an open file."""
    quoted = {label: '"' + label.replace('"', '""') + '"' for label in set(labels)}
    csv.writer(file, lineterminator="\n").writerow([*names, target])
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK].tolist()
        lines = [
            ",".join([*map(repr, row), quoted[label]])
            for row, label in zip(block, labels[start : start + BLOCK], strict=True)
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
