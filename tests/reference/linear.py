"""Scores, norms and errors, row by row (native/separatrix/linear.hpp)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.rows import Rows


def scores(X: Rows, lifted: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    for i in range(X.n):
        out[i] = X.dot(i, lifted) + lifted[X.d]


def class_scores(
    X: Rows,
    coef: NDArray[np.float64],
    intercept: NDArray[np.float64],
    out: NDArray[np.float64],
    model: NDArray[np.int64] | None = None,
) -> None:
    """Row i by all vectors, or by those of its model alone."""
    count = out.shape[1]
    for i in range(X.n):
        first = 0 if model is None else int(model[i]) * count
        for k in range(count):
            out[i, k] = X.dot(i, coef[first + k]) + intercept[first + k]


def first_nonfinite(x: NDArray[Any]) -> int:
    return next((k for k, v in enumerate(x.reshape(-1).tolist()) if not math.isfinite(v)), -1)


def norms2(X: Rows, out: NDArray[np.float64]) -> None:
    for i in range(X.n):
        out[i] = X.norm2(i)


def errors(X: Rows, y: NDArray[np.int8], lifted: NDArray[np.float64], zero_is_mistake: bool) -> int:
    def wrong(i: int) -> bool:
        return is_wrong(int(y[i]), X.dot(i, lifted) + float(lifted[X.d]), zero_is_mistake)

    return sum(wrong(i) for i in range(X.n) if y[i] != 0)


def is_wrong(y: int, s: float, zero_is_mistake: bool) -> bool:
    """Whether label y is wrong for the score s; zero by the tie rule, a score that is not a number always."""
    m = y * s
    return not (m > 0 or (m == 0 and not zero_is_mistake and y > 0))


def class_errors(X: Rows, code: NDArray[np.int64], lifted: NDArray[np.float64], tie_is_mistake: bool) -> int:
    """Rows of class code >= 0 that have not the greatest of all scores; a tie is lost, or goes to the first."""

    def right(i: int, own: int) -> bool:
        s = [X.dot(i, w[:-1]) + float(w[-1]) for w in lifted]
        first = all(s[own] > v for v in s[:own])
        return first and all(s[own] > v or (s[own] == v and not tie_is_mistake) for v in s[own + 1 :])

    return sum(own >= 0 and not right(i, own) for i, own in enumerate(code.tolist()))
