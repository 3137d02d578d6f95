"""Built-in sets that come without a download; ``example:NAME`` names them on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError


@dataclass(frozen=True, slots=True)
class Example:
    """A small labelled table: rows, names, labels, and what it is there to show."""

    name: str
    shows: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    names: tuple[str, ...]
    target: str = "label"
    separator: tuple[tuple[float, ...], float] | None = None  # a best (w, b) where it is known


def six_points() -> Example:
    X = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=np.float64)
    y = np.array([-1, 1, 1, -1, -1, 1])
    shows = "the worked example: four mistakes with a bias, and a bound of six"
    return Example("six-points", shows, X, y, ("x0", "x1"), separator=((1.0, 0.0), 0.0))


def xor() -> Example:
    X = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=np.float64)
    return Example(
        "xor", "no hyperplane separates it; the product of the features would", X, np.array([0, 1, 1, 0]), ("x0", "x1")
    )


def bias() -> Example:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    shows = "separable with a bias only"
    return Example("bias", shows, X, np.array([0, 0, 1, 1]), ("x",), separator=((1.0,), -2.5))


EXAMPLES: dict[str, Callable[[], Example]] = {"six-points": six_points, "xor": xor, "bias": bias}


def load_example(name: str) -> Example:
    """The built-in set of that name."""
    if name not in EXAMPLES:
        raise DataError(f"there is no example {name!r}: choose one of {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]()
