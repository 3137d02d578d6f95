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
    shows = "the perceptron's worked example: four mistakes with an intercept, at most six by the bound"
    return Example("six-points", shows, X, y, ("x0", "x1"), separator=((1.0, 0.0), 0.0))


def xor() -> Example:
    X = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=np.float64)
    return Example(
        "xor", "no hyperplane separates it; the product of the features would", X, np.array([0, 1, 1, 0]), ("x0", "x1")
    )


def bias() -> Example:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    shows = "separable only with an intercept"
    return Example("bias", shows, X, np.array([0, 0, 1, 1]), ("x",), separator=((1.0,), -2.5))


def _generated(name: str) -> Callable[[], Example]:
    def make() -> Example:
        from separatrix.data import generated

        made: Example = getattr(generated, name.replace("-", "_"))()
        return made

    return make


SHOWN = {
    "iris": "three species by four lengths (Fisher 1936)",
    "wine": "three growers, each separable from the others",
    "breast-cancer": "separable, but by a tiny margin",
    "digits": "ten digits of 64 pixels, three of them constant",
}


def _scikit_learn(name: str, target: str) -> Callable[[], Example]:
    def make() -> Example:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name.replace('-', '_')}")()
        names = tuple(str(n).replace(" (cm)", "").replace(" ", "_") for n in bunch.feature_names)
        labels = (
            bunch.target if name in ("digits", "wine") else np.array(bunch.target_names, dtype=object)[bunch.target]
        )
        return Example(name, SHOWN[name], np.ascontiguousarray(bunch.data, dtype=np.float64), labels, names, target)

    return make


EXAMPLES: dict[str, Callable[[], Example]] = {
    "six-points": six_points,
    "xor": xor,
    "bias": bias,
    "spam": _generated("spam"),
    "separable": _generated("separable"),
    "tiny-margin": _generated("tiny-margin"),
    "overlap": _generated("overlap"),
    "quasi": _generated("quasi"),
    "noise": _generated("noise"),
    "random-labels": _generated("random-labels"),
    "gaussians": _generated("gaussians"),
    "curve": _generated("curve"),
    "iris": _scikit_learn("iris", "species"),
    "wine": _scikit_learn("wine", "class"),
    "breast-cancer": _scikit_learn("breast-cancer", "diagnosis"),
    "digits": _scikit_learn("digits", "digit"),
}


SHAPES = {"iris": (150, 4), "wine": (178, 13), "breast-cancer": (569, 30), "digits": (1797, 64)}


def listing() -> list[dict[str, Any]]:
    """Name, rows, features and purpose of every set, without loading scikit-learn for those that it has."""
    out = []
    for name, make in EXAMPLES.items():
        if name in SHAPES:
            (rows, features), shows = SHAPES[name], SHOWN[name]
        else:
            example = make()
            (rows, features), shows = example.X.shape, example.shows
        out.append({"name": name, "rows": rows, "features": features, "shows": shows})
    return out


def load_example(name: str) -> Example:
    """The built-in set of that name."""
    if name not in EXAMPLES:
        raise DataError(f"there is no example {name!r}: choose one of {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]()
