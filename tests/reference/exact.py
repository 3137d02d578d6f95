"""Exact signs and equal rows, by rational numbers and a dictionary (native/separatrix/exact.hpp, opposites.hpp)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from reference.rows import Rows


def _entries(X: Rows, i: int) -> list[tuple[int, float]]:
    x = np.zeros(X.d)
    X.axpy(1.0, i, x)
    return [(int(j), float(x[j])) for j in np.flatnonzero(x)]


def exact_signs(
    X: Rows,
    y: NDArray[np.int8],
    intercept: bool,
    w: NDArray[np.float64],
    active: NDArray[np.int64] | None,
    sign: NDArray[np.int8],
) -> int:
    """sign[t] = sign of y_i (w . x_i + b) for the t-th active row; w is the sum of the rows of ``w``."""
    total = [sum((Fraction(v) for v in column), Fraction(0)) for column in w.T.tolist()]
    for t, i in enumerate(range(X.n) if active is None else active.tolist()):
        s = sum((total[j] * Fraction(v) for j, v in _entries(X, i)), total[X.d] if intercept else Fraction(0))
        sign[t] = int(y[i]) * ((s > 0) - (s < 0))
    return len(sign)


def bounded_scores(
    X: Rows, lifted: NDArray[np.float64], score: NDArray[np.float64], bound: NDArray[np.float64]
) -> None:
    """w . x_i + b, and a bound on its distance from the exact value (w and x may be rounded numbers themselves)."""
    for i in range(X.n):
        terms = [float(lifted[j]) * v for j, v in _entries(X, i)] + [float(lifted[X.d])]
        size = sum(map(abs, terms))
        score[i] = sum(terms)
        bound[i] = (X.d + 8) * 2.0**-52 * size + 1e-290 if size < 1e290 else np.inf


def opposites(X: Rows, y: NDArray[np.int8], partner: NDArray[np.int64]) -> int:
    """partner[i] = a row equal to row i with the other label, or -1; returns how many rows have one."""
    first: dict[tuple[tuple[int, float], ...], dict[int, int]] = {}
    keys = [tuple(_entries(X, i)) for i in range(X.n)]
    for i, key in enumerate(keys):
        first.setdefault(key, {}).setdefault(int(y[i]), i)
    for i, key in enumerate(keys):
        partner[i] = first[key].get(-int(y[i]), -1)
    return int(np.count_nonzero(partner >= 0))
