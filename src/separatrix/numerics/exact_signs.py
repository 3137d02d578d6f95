"""Exact signs of rows: the sign of y_i (w.x_i + b), whatever rounding does, and rows as integers.

Every double is an integer times a power of two. So a row times a power of two is a row of integers, and signs can be
decided in integers; most of them are decided in floating point first, with a bound on every rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels

Row = list[int]


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(u * v for u, v in zip(a, b, strict=True) if u and v)


def integer_row(values: Sequence[float]) -> tuple[Row, int]:
    """The row times m as integers, and m: every double is an integer over a power of two."""
    if all(map(float.is_integer, values)):
        return list(map(int, values)), 1
    ratios = [v.as_integer_ratio() for v in values]
    m = max((q for _, q in ratios), default=1)
    return [a * (m // q) for a, q in ratios], m


def expansion(w: Sequence[int]) -> NDArray[np.float64] | None:
    """w times a power of two as a sum of vectors of doubles, the first within 2**-52 of it.

    None when the numbers spread over more bits than doubles reach.
    """
    top = max((abs(v).bit_length() for v in w), default=0)
    if top > 1900:
        return None
    shift = max(0, top - 900)
    parts: list[list[float]] = []
    rest = list(w)
    while any(rest) or not parts:  # each round takes 53 bits off every number
        part = []
        for j, v in enumerate(rest):
            sign, size = (-1 if v < 0 else 1), abs(v)
            low = max(0, size.bit_length() - 53)
            part.append(sign * math.ldexp(size >> low, low - shift))
            rest[j] = sign * (size & ((1 << low) - 1))
        parts.append(part)
    return np.array(parts, dtype=np.float64)


def exact_signs(
    view: Any, y: NDArray[np.int8], intercept: bool, w: Sequence[int], ids: NDArray[np.int64] | None = None
) -> NDArray[np.int8] | None:
    """The exact sign of y_i (w.x_i + b) for all rows of a view of the kernels, or for those named.

    None where the numbers of w spread over more bits than doubles reach.
    """
    parts = expansion(w)
    if parts is None:
        return None
    out = np.empty(len(y) if ids is None else len(ids), dtype=np.int8)
    kernels.exact_signs(view, y, intercept, parts, ids, out)
    return out
