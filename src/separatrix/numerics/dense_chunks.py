"""Rows as dense chunks, for products of dense matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 2**20  # numbers of a chunk


def dense_chunks(X: Any) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Dense float64 chunks of checked rows, each with the number of its first row."""
    n, d = X.shape
    step = max(1, SIZE // d)
    for begin in range(0, n, step):
        rows = X[begin : begin + step]
        yield begin, np.asarray(rows if isinstance(X, np.ndarray) else rows.toarray(), dtype=np.float64)
