"""Products of features (native/separatrix/monomials.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.rows import Rows, _Csr


def monomials(X: NDArray[Any], products: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Each product (j, lower, length, place): feature j times columns made before gives the columns at its place."""
    out[:, : X.shape[1]] = X
    for j, lower, length, place in products.tolist():
        out[:, place : place + length] = out[:, lower : lower + length] * X[:, j : j + 1]


def pair_products(
    X: Rows, offset: NDArray[np.int64], squares: bool, column: NDArray[np.int32], value: NDArray[Any]
) -> None:
    """The stored numbers of each sparse row, then their products of two; that of j <= k in column offset[j] + k."""
    if not isinstance(X, _Csr):
        raise ValueError("pair_products takes sparse rows, and values of their type")
    at = 0
    for begin, end in zip(X.start[:-1], X.start[1:], strict=True):
        stored, numbers = X.column[begin:end], X.value[begin:end]
        columns, values = [stored], [numbers]
        for a, j in enumerate(stored.tolist()):
            others = slice(a if squares else a + 1, None)
            columns.append(offset[j] + stored[others])
            values.append(numbers[a] * numbers[others])
        made = np.concatenate(columns)
        column[at : at + len(made)], value[at : at + len(made)] = made, np.concatenate(values)
        at += len(made)
