"""The nearest points of two hulls, or of one hull and the origin (Wolfe 1976)

    min |v|,   v = sum x_i a_i,   x >= 0,   sum of x over each group = 1

The native code updates a factorisation; here every affine problem is solved afresh.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices

NEAREST, ORIGIN, LIMIT = range(3)


def nearest_hulls(
    A: Floats,
    group: NDArray[np.int8],
    start: Indices,
    start_weights: Floats,
    c: float,
    zero: float,
    max_steps: int,
    support: Indices,
    weights: Floats,
    v: Floats,
) -> tuple[int, int, int]:
    """Writes the support with its weights, and v; returns the status, the size of the support and the steps."""
    E = np.eye(int(group.max()) + 1)[group]  # one column a group
    longest = float(np.linalg.norm(A, axis=1).max())
    chosen, x = start.tolist(), start_weights / (E[start] @ (start_weights @ E[start]))
    for g in range(E.shape[1]):
        if not any(group[i] == g for i in chosen):
            own = np.flatnonzero(group == g)
            chosen, x = [*chosen, int(own[(A[own] ** 2).sum(axis=1).argmin()])], np.append(x, 1.0)
    chosen, x, _ = _descend(A, E, c, chosen, x)
    banned: set[int] = set()
    status, steps, least, idle = LIMIT, 0, np.inf, 0
    while steps < max_steps:
        v[:] = x @ A[chosen]
        length = float(np.linalg.norm(v))
        if not length > zero * longest:
            status = ORIGIN
            break
        idle = 0 if length**2 < least * (1 - 1e-15) else idle + 1
        least = min(least, length**2)
        s = A @ v
        level = (x * s[chosen]) @ E[chosen]
        below = E @ level - s - (1e-13 * length**2 + 1e-16 * length * longest)
        below[chosen + sorted(banned)] = 0.0
        entering = int(below.argmax())
        if below[entering] <= 0 or idle > 30:
            status = NEAREST
            break
        chosen, x, entered = _descend(A, E, c, [*chosen, entering], np.append(x, 0.0))
        banned = set() if entered else banned | {entering}
        steps += 1
    v[:] = x @ A[chosen]
    support[: len(chosen)], weights[: len(x)] = chosen, x
    return status, len(chosen), steps


def nearest_products(
    K: Floats,
    group: NDArray[np.int8],
    start: Indices,
    start_weights: Floats,
    c: float,
    zero: float,
    max_steps: int,
    support: Indices,
    weights: Floats,
) -> tuple[int, int, int]:
    """The same from the inner products of the rows: any rows with those products serve."""
    values, U = np.linalg.eigh(K)
    kept = values > values[-1] * 1e-14
    A = U[:, kept] * np.sqrt(values[kept])
    room = A.shape[1] + 2
    found, x, v = np.empty(room, dtype=np.int64), np.empty(room), np.empty(A.shape[1])
    status, k, steps = nearest_hulls(A, group, start, start_weights, c, zero, max_steps, found, x, v)
    support[:k], weights[:k] = found[:k], x[:k]
    return status, k, steps


def _descend(A: Floats, E: Floats, c: float, chosen: list[int], x: Floats) -> tuple[list[int], Floats, bool]:
    """x moves to the least |v| over the affine hulls of its rows; rows whose weight would turn negative leave."""
    first = True
    while True:
        B = np.column_stack([c * E[chosen], A[chosen]]).T
        targets = np.eye(len(B), E.shape[1]) * c
        u, _, rank, _ = np.linalg.lstsq(B, targets, rcond=1e-14)
        a = u @ np.linalg.lstsq(E[chosen].T @ u, np.ones(E.shape[1]), rcond=None)[0]
        if first and x[-1] == 0 and (rank < len(chosen) or a[-1] <= 0):
            return chosen[:-1], x[:-1], False
        first = False
        if (a > 0).all():
            return chosen, np.asarray(a, dtype=np.float64), True
        down = a <= 0
        step = min(xi / (xi - ai) if xi > ai else 0.0 for xi, ai in zip(x[down], a[down], strict=True))
        x = x + step * (a - x)
        x[np.flatnonzero(down)[np.argmin(x[down])]] = 0.0
        chosen, x = [i for i, t in zip(chosen, x, strict=True) if t > 0], x[x > 0]
