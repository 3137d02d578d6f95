"""How many rows a learning curve learns from, and in which order they join."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, ParameterError


def rows_of_all_classes(order: NDArray[np.intp], codes: NDArray[np.intp]) -> int:
    """How many rows, from the first on, hold every class."""
    _, first = np.unique(codes[order], return_index=True)
    return int(first.max()) + 1


def chosen_sizes(sizes: Any, first: int, least: int) -> list[int]:
    if isinstance(sizes, (int, np.integer)) and not isinstance(sizes, bool):
        if sizes < 1:
            raise ParameterError(f"sizes is {sizes}: take at least one step.")
        given = np.geomspace(max(2, first, least / 10), least, int(sizes)).round()
    else:
        try:
            array = np.asarray(sizes)
        except ValueError:  # a ragged list
            array = np.empty(0)
        counts = array.dtype.kind in "iu"
        given = array.astype(np.float64) if array.dtype.kind in "iuf" else np.empty(0)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or given.min() <= 0:
            raise ParameterError("sizes must be numbers of rows, shares of them, or a number of steps.")
        if not counts and given.max() <= 1:
            given = np.maximum((given * least).round(), 1)
        if (given != np.floor(given)).any():
            raise ParameterError("sizes mixes shares with numbers of rows: use one of them.")
    if given.max() > least:
        raise DataError(f"sizes asks for {given.max():.0f} rows, and a fold learns from {least}: use at most that.")
    return sorted({int(v) for v in given})


def spread_classes(train: NDArray[np.intp], codes: Any, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows shuffled so that any first m of them hold the classes in their shares."""
    order = rng.permutation(train)
    if codes is None:
        return order
    rank = np.empty(len(order))
    for k in np.unique(codes[order]):
        own = np.flatnonzero(codes[order] == k)
        rank[own] = (np.arange(len(own)) + 0.5) / len(own)
    return np.asarray(order[np.argsort(rank, kind="stable")])


def need_all_classes(rows: NDArray[np.intp], codes: NDArray[np.intp], count: int) -> None:
    if len(np.unique(codes[rows])) < len(np.unique(codes)):
        raise DataError(f"{count} training rows do not hold every class: begin with more rows.")
