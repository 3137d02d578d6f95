"""A proof in floating point that rows are a circuit (native/separatrix/circuit.hpp, for rows that are not of a tree).

Rows that are zero outside one column fewer than there are rows are a square system with one right-hand side. An
approximate inverse R of its matrix M with |I - RM| < 1 proves that M is regular and bounds how far the computed
weights are from the true ones (Rump 2010, section 10); every rounding error on the way is bounded too (Higham 2002,
section 3.1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def leading_circuit(Z: Floats) -> int:
    """How many of the first rows are proved to be a circuit, the most of them; 0 when that cannot be seen here.

    The rows are exact. Those with the greatest weights come first: the weights of the last ones may be rounding errors.
    """
    filled = np.logical_or.accumulate(Z != 0, axis=0)
    with np.errstate(all="ignore"):
        for size in np.flatnonzero(filled.sum(axis=1) == np.arange(len(Z)))[::-1] + 1:
            if size > 1 and is_circuit(Z[:size, filled[size - 1]]):
                return int(size)
    return 0


def is_circuit(Z: Floats) -> bool:
    """Whether k + 1 rows of k numbers are surely a circuit."""
    scaled = np.ldexp(Z, -np.frexp(np.abs(Z).max(axis=0))[1])  # columns alike: powers of two round nothing
    if not (np.abs(scaled[Z != 0]) > 1e-60).all():  # unless numbers become too small
        return False
    M, right, count = scaled[:-1].T, -scaled[-1], len(Z)
    try:
        first = np.linalg.solve(M, right)
        if not ((first > 1e-60) & (first < 1e60)).all():
            return False
        M = np.ldexp(M, np.frexp(first)[1])  # weights near 1
        R = np.linalg.inv(M)
    except np.linalg.LinAlgError:
        return False
    x, u = R @ right, (count + 8) * 2.0**-52
    residual = np.abs(M @ x - right) + u * (np.abs(M) @ np.abs(x) + np.abs(right)) + 1e-250
    far = float((np.abs(R) @ residual).max())
    off = np.abs(np.eye(count - 1) - R @ M) + u * (np.abs(R) @ np.abs(M)) + 1e-250
    return bool(off.sum(axis=1).max() < 0.5 and far < 1e100 and x.min() > 2.1 * far)  # |x - true x| <= far / (1 - off)
