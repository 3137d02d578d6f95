"""The point of a hull nearest to the origin (Wolfe 1976), as Lawson and Hanson's (1974) problem

    min  c^2 (1 - sum x)^2 + |sum x_i a_i|^2,   x >= 0

The native code updates a factorisation; here every least-squares problem is solved afresh.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats


def nearest_point(A: Floats, c: float, start: list[int], zero: float, max_steps: int) -> tuple[list[int], Floats, bool]:
    """Support, weights, and whether the origin is in the hull of the rows of A (each of length 1)."""
    B = np.column_stack([np.full(len(A), c), A])
    target = np.zeros(B.shape[1])
    target[0] = c
    support: list[int] = []
    x = np.zeros(0)
    banned: set[int] = set()
    waiting = list(start)
    for _ in range(max_steps):
        v = x @ A[support]
        if not waiting:
            if support and np.linalg.norm(v) <= zero * x.sum():
                return support, x, True
            threshold = c * c * (1.0 - x.sum())
            bar = threshold * (1 - 1e-9) - 1e-300 if threshold > 0 else -1e-16
            s = A @ v
            s[support + sorted(banned)] = np.inf
            if s.min() >= bar:  # the optimality conditions hold
                return support, x, False
        entering = waiting.pop(0) if waiting else int(s.argmin())
        if entering in support:
            continue
        support, x, entered = _enter(B, target, [*support, entering], np.append(x, 0.0))
        banned = set() if entered else banned | {entering}
    return support, x, False


def _enter(B: Floats, target: Floats, support: list[int], x: Floats) -> tuple[list[int], Floats, bool]:
    """Move to the least-squares solution on the support; rows whose weight would turn negative leave."""
    first = True
    while support:
        columns = B[support].T
        a, _, rank, _ = np.linalg.lstsq(columns, target, rcond=1e-13)
        if first and (rank < len(support) or a[-1] <= 0):  # dependent, or it would leave at once
            return support[:-1], x[:-1], False
        first = False
        if (a > 0).all():
            return support, np.asarray(a, dtype=np.float64), True
        down = a <= 0
        step = min(xi / (xi - ai) if xi > ai else 0.0 for xi, ai in zip(x[down], a[down], strict=True))
        x = x + step * (a - x)
        x[np.flatnonzero(down)[np.argmin(x[down])]] = 0.0
        support, x = [i for i, t in zip(support, x, strict=True) if t > 0], x[x > 0]
    return support, x, True
