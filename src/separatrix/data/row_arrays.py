"""Rows in one array: CSR from what the readers of text give, and parts one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats


def csr_rows(values: Floats, columns: NDArray[np.int32], ends: NDArray[Any], width: int) -> Any:
    """CSR rows by where the entries of each end; the columns of a row ascend."""
    from scipy.sparse import csr_array

    X = csr_array((values, columns, np.insert(ends, 0, 0)), shape=(len(ends), width))
    X.has_canonical_format = True
    return X


def stacked(parts: Sequence[Any]) -> Any:
    """The rows of several arrays or CSR arrays, one after the other."""
    if isinstance(parts[0], np.ndarray):
        return np.ascontiguousarray(np.concatenate(parts))
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr"))


def columns_of(X: Any, kept: Any) -> Any:
    """Some columns of rows, as an array or CSR array of their own."""
    part = X[:, kept]
    return np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part.tocsr()
