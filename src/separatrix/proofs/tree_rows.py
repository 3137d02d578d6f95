"""Rows as the tree of cases takes them, and witnesses that need no tree: zero rows, contradictory pairs, in turn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.lifted_rows import LiftedRows

FEW_COLUMNS = 6  # up to which the witnesses of a case share no row (native/separatrix/mistakes.hpp)


def zero_rows(rows: LiftedRows) -> list[list[int]]:
    """Rows of zeros, each a witness by itself; for rows without an intercept."""
    X = rows.X
    empty = ~(X != 0).any(axis=1) if isinstance(X, np.ndarray) else np.ravel((X != 0).sum(axis=1)) == 0
    return [[int(i)] for i in np.flatnonzero(empty)]


def opposite_pairs(rows: LiftedRows, taken: set[int]) -> list[list[int]]:
    """Pairs of equal rows with different labels, each row at most once, none of those taken."""
    partner = rows.opposites()
    groups: dict[bytes, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for i in np.flatnonzero(partner >= 0).tolist():
        if i not in taken:
            row = rows.X[[i]]
            key = (row + 0.0).tobytes() if isinstance(row, np.ndarray) else _sparse_key(row)
            groups[key][int(rows.y[i] > 0)].append(i)
    return [[i, j] for minus, plus in groups.values() for i, j in zip(minus, plus, strict=False)]


def _sparse_key(row: Any) -> bytes:
    row = row.copy()
    row.sort_indices()
    row.eliminate_zeros()
    return bytes(row.indices.astype(np.int64).tobytes() + row.data.astype(np.float64).tobytes())


def witnesses_in_turn(
    rows: LiftedRows, ids: NDArray[np.int64], prove: Callable[[list[int]], list[int]], late: Callable[[], bool]
) -> Iterator[list[int]]:
    """Witnesses among these rows that share none of them, until the rest is separable."""
    alive = np.zeros(rows.n, dtype=bool)
    alive[ids] = True
    for seed in range(rows.n):  # each round takes rows out of those that are left
        if late() or not alive.any():
            return
        found = rows.search(np.flatnonzero(alive), seed=seed)
        if found.status == "separates" or not found.support:
            return
        heaviest = np.argsort(-found.weights, kind="stable")
        codes = prove([found.support[k] for k in heaviest])
        alive[codes or found.support] = False
        if codes:
            yield codes


def prepared(rows: LiftedRows) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """The rows z with columns and rows times powers of two, the columns' factors, and whether that is exact."""
    Z = rows.dense(np.arange(rows.n))
    with np.errstate(all="ignore"):
        top = np.abs(Z).max(axis=0)
        shift = np.where(top > 0, -np.frexp(top)[1], 0)
        rms = np.sqrt(np.mean(np.ldexp(Z, shift) ** 2, axis=0))
        shift = shift - np.where(rms > 0, np.frexp(rms)[1], 0)
        scaled = np.ldexp(Z, shift)
        across = -np.frexp(np.abs(scaled).max(axis=1))[1]
        scaled = np.ldexp(scaled, across[:, None])
        back = np.ldexp(np.ldexp(scaled, -across[:, None]), -shift)
        columns = np.ldexp(1.0, shift)
    exact = type(rows) is LiftedRows and bool((back == Z).all()) and bool(np.isfinite(columns).all())
    if not np.isfinite(scaled).all():
        scaled = np.nan_to_num(scaled, nan=0.0, posinf=1.0, neginf=-1.0)
    return np.ascontiguousarray(scaled), columns, exact


def node_work(n: int, p: int) -> float:
    """What a node takes, in steps: some questions of all rows, each of some 2 p steps, and far more with weights."""
    return 5.0 * n * p * p + 8000.0 * p if p <= FEW_COLUMNS else 60.0 * n * p * p + 100_000.0 * p


def default_nodes(n: int, p: int) -> int:
    """Of the order of a minute."""
    return max(1, min(100_000, int(3e10 / node_work(n, p))))
