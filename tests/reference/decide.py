"""Is there a w with z_i . w > 0 for every row? Nearest points of a working set, priced on all rows.

The same steps as native/separatrix/decide.hpp, with every row written out and every scan a full one: what is
claimed agrees (a hyperplane or a witness), the path need not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.nnls import nearest_point
from reference.rows import Rows
from separatrix.arrays import Floats, Indices

Answer = tuple[int, int, int, int, float]
SEPARATES, WITNESS, STALLED, LIMIT = range(4)


def decide(
    X: Rows,
    y: NDArray[np.int8],
    intercept: bool,
    active: Indices | None,
    extra: Floats | None,
    basis: Floats | None,
    seed: int,
    w: Floats,
    support: Indices,
    weights: Floats,
    side_by_side: Callable[..., Any] | None = None,
) -> Answer:
    """Writes w and a support with weights; returns status, size of support, rounds, rows scanned, distance.

    ``side_by_side`` runs the parts of a scan on several threads; here every scan is one product.
    """
    own = list(range(X.n)) if active is None else active.tolist()
    Z = np.array([_lifted(X, y, intercept, i) for i in own]).reshape(len(own), X.d + int(intercept))
    if extra is not None:
        own, Z = own + [X.n + k for k in range(len(extra))], np.vstack([Z, extra])
    M = np.diag(_powers_of_two(Z)) if basis is None else basis
    A = Z @ M
    lengths = np.linalg.norm(A, axis=1)
    scanned = 0

    def answer(status: int, rows: list[int], x: Floats, rounds: int, distance: float) -> Answer:
        support[: len(rows)] = [own[t] for t in rows]
        weights[: len(rows)] = x / np.where(lengths[rows] > 0, lengths[rows], 1.0)
        return status, len(rows), rounds, scanned, distance

    if (lengths == 0).any():
        w[:] = 0.0
        return answer(WITNESS, [int(lengths.argmin())], np.ones(1), 0, 0.0)
    A = A / lengths[:, None]
    q = A.shape[1]
    chance = np.random.default_rng(seed)
    working = sorted(chance.choice(len(A), min(len(A), 10 * q), replace=False).tolist())
    c = 1.0
    start: list[int] = []
    for rounds in range(1, 2001):
        where = {t: k for k, t in enumerate(working)}
        kept = [where[t] for t in start]
        chosen, x, origin = nearest_point(A[working], c, kept, 1e-13, 40 * q + 2000)
        rows = [working[k] for k in chosen]
        v = x @ A[rows]
        distance = float(np.linalg.norm(v) / x.sum())
        w[:] = M @ v
        w /= np.abs(w).max() or 1.0
        if origin:
            return answer(WITNESS, rows, x, rounds, distance)
        c = min(1.0, max(1e-7, distance))
        margins = Z @ w
        scanned += len(A)
        wrong = np.flatnonzero(~(margins > 0))
        if not len(wrong):
            return answer(SEPARATES, rows, x, rounds, distance)
        worst = wrong[np.argsort(margins[wrong])][: 4 * q]
        fresh = sorted(set(worst.tolist()) - set(working))
        if not fresh:
            return answer(STALLED, rows, x, rounds, distance)
        start, working = rows, sorted({*working, *fresh})
    return answer(LIMIT, rows, x, rounds, distance)


def _lifted(X: Rows, y: NDArray[np.int8], intercept: bool, i: int) -> Floats:
    z = np.zeros(X.d + int(intercept))
    X.axpy(float(y[i]), i, z)
    if intercept:
        z[X.d] = y[i]
    return z


def _powers_of_two(Z: Floats) -> Floats:
    """Scales that bring columns near root mean square 1, exactly."""
    largest = np.abs(Z).max(axis=0)
    largest[largest == 0] = 1.0
    rms = np.log2(largest) + 0.5 * np.log2(np.maximum(np.mean((Z / largest) ** 2, axis=0), 1e-300))
    return np.asarray(np.exp2(np.clip(-np.round(rms), -1000, 1000)))
