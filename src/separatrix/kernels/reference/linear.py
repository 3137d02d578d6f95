"""Scores, norms and errors, row by row (native/separatrix/linear.hpp)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.kernels.reference.rows import Rows


def scores(X: Rows, lifted: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(X.n):
        out[i] = X.dot(i, lifted) + lifted[X.d]


def norms2(X: Rows, out: NDArray[np.float64]) -> None:
    for i in range(X.n):
        out[i] = X.norm2(i)


def errors(X: Rows, y: NDArray[np.int8], lifted: NDArray[np.float64], zero_is_mistake: bool) -> int:
    wrong = 0
    for i in range(X.n):
        if y[i] != 0:
            m = float(y[i]) * (X.dot(i, lifted) + float(lifted[X.d]))
            wrong += m < 0 or (m == 0 and (zero_is_mistake or bool(y[i] < 0)))
    return wrong
