"""Products of features (native/separatrix/monomials.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def monomials(X: NDArray[Any], products: NDArray[np.int64], out: NDArray[Any]) -> None:
    """Each product (j, lower, length, place): feature j times columns made before gives the columns at its place."""
    out[:, : X.shape[1]] = X
    for j, lower, length, place in products.tolist():
        out[:, place : place + length] = out[:, lower : lower + length] * X[:, j : j + 1]
