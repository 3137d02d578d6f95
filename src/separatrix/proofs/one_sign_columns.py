"""Columns in which no row is negative, or none positive: rows that are not zero there bear no weight.

Weights > 0 that cancel the rows cancel each column, so they are zero on the rows that are not zero in a column of one
sign. Without those rows other columns may be of one sign: the rows are peeled, layer by layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices


def layers(Z: Any, free: NDArray[np.bool_] | None = None) -> Iterator[tuple[Floats, Indices]]:
    """The signs of the columns of one sign, 0 for the others, and the rows that are not zero there; then the next.

    Z may be sparse. ``free``: the columns that count.
    """
    sign = np.sign(Z) if isinstance(Z, np.ndarray) else Z.sign()
    left = np.arange(Z.shape[0])
    while len(left):  # each round but the last takes rows away
        total, size = (np.asarray(v.sum(axis=0)).ravel() for v in (sign, abs(sign)))
        pure = np.where((size > 0) & (abs(total) == size), np.sign(total), 0.0)
        if free is not None:
            pure[~free] = 0.0
        gone = sign @ pure > 0
        if not gone.any():
            break
        yield pure, left[gone]
        sign, left = sign[~gone], left[~gone]
