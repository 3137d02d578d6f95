"""Kernel matrices that users bring: a function, or the matrix itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, DataTypeError
from separatrix.validation import Table


def kernel_matrix(function: Callable[[Any, Any], Any], A: Any, B: Any) -> Floats:
    """k(a, b) for all rows of A and B, and nothing else than finite numbers in that shape."""
    try:
        matrix = np.asarray(function(A, B), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataTypeError(f"the kernel function did not return numbers: {error}.") from error
    if matrix.shape != (A.shape[0], B.shape[0]):
        raise DataError(
            f"the kernel function returned shape {matrix.shape} for {A.shape[0]} and {B.shape[0]} rows: "
            "it must return one number for each pair of rows."
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise DataError(f"the kernel function returned {matrix[i, j]} for rows {i} and {j}: it must be finite.")
    return matrix


def need_square(table: Table) -> None:
    if table.n != table.d:
        raise DataError(
            f"X has shape ({table.n}, {table.d}), but a precomputed kernel matrix must be square: "
            "pass k(x_i, x_j) for all pairs of rows of the fit."
        )


@dataclass(slots=True)
class CallableColumns:
    """Columns that a function computes."""

    function: Callable[[Any, Any], Any]
    X: Any

    def column(self, i: int) -> Floats:
        return np.ascontiguousarray(kernel_matrix(self.function, self.X, self.X[[i]])[:, 0])


@dataclass(slots=True)
class MatrixColumns:
    """Columns of a matrix that is given."""

    X: Any

    def column(self, i: int) -> Floats:
        column = self.X[:, [i]]
        dense = column if isinstance(column, np.ndarray) else column.toarray()
        return np.ascontiguousarray(dense[:, 0], dtype=np.float64)
