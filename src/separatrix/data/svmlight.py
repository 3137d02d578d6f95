"""svmlight text: ``label index:value ...`` a line, indices from 1 in increasing order, # begins a comment."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError

SUFFIXES = (".svm", ".svmlight", ".libsvm")


def read_svmlight(path: str | Path, columns: int | None = None) -> tuple[Any, NDArray[np.str_]]:
    """X as a CSR matrix, and the labels as text; as many columns as the largest index unless told."""
    from scipy import sparse

    name = Path(path).name
    values: list[float] = []
    where: list[int] = []
    starts, labels = [0], []
    with open(path, encoding="utf-8") as file:
        for count, line in enumerate(file, 1):
            label, *fields = line.split("#", 1)[0].split() or [""]
            if not label:
                continue
            last = 0
            for field in fields:
                index, value = entry(field, name, count)
                if index <= last:
                    raise DataError(f"{name} line {count} has index {index} after {last}: they ascend from 1.")
                last = index
                where.append(index - 1)
                values.append(value)
            labels.append(label)
            starts.append(len(values))
    if not labels:
        raise DataError(f"{name} has no rows.")
    width = max(where, default=0) + 1
    if columns is not None and columns < width:
        raise DataError(f"{name} has an index {width}, beyond the {columns} columns expected.")
    X = sparse.csr_array(
        (np.array(values), np.array(where, dtype=np.int32), np.array(starts, dtype=np.int32)),
        shape=(len(labels), columns or width),
    )
    return X, np.array(labels)


def entry(field: str, name: str, line: int) -> tuple[int, float]:
    index, _, text = field.partition(":")
    try:
        at, value = int(index), math.nan if "_" in field else float(text)
    except ValueError:
        at, value = 0, math.nan
    if not math.isfinite(value):
        raise DataError(f'{name} line {line} has "{field}": expected index:value with a finite number.')
    return at, value
