"""What a page may ask: points with a class each, and the choices of the perceptron. Everything else is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from separatrix.arrays import Floats

MOST_POINTS = 500
LARGEST = 1e6  # of a coordinate
MOST_PASSES = 1000


class SceneError(ValueError):
    """A request that the lab does not answer; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ScenePoint:
    """A point of the plane and its class, 1 or -1."""

    x: float
    y: float
    label: Literal[1, -1]


@dataclass(frozen=True, slots=True)
class SceneChoices:
    """What the perceptron does, in the words of ``separatrix.Perceptron``."""

    start: Literal["zeros", "ones", "random"] = "zeros"
    order: Literal["cyclic", "restart", "shuffle", "any", "worst"] = "cyclic"
    tie: Literal["mistake", "positive"] = "mistake"
    stop: Literal["pass", "streak"] = "pass"
    normalize_rows: bool = False
    fit_intercept: bool = True
    max_epochs: int = 100
    random_state: int = 0


@dataclass(frozen=True, slots=True)
class Scene:
    """Points, and the perceptron that learns from them."""

    points: list[ScenePoint]
    choices: SceneChoices

    @property
    def rows(self) -> Floats:
        """The points, one a row."""
        return np.array([[point.x, point.y] for point in self.points], dtype=np.float64).reshape(-1, 2)

    @property
    def labels(self) -> Any:
        """Their classes."""
        return np.array([point.label for point in self.points], dtype=np.int64)

    @property
    def both_classes(self) -> bool:
        """Whether there is a point of each class."""
        return len({point.label for point in self.points}) == 2


def word_choices() -> dict[str, tuple[str, ...]]:
    """The values that each choice of words may have."""
    hints = get_type_hints(SceneChoices)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}


def read_scene(given: Any) -> Scene:
    """A scene from JSON."""
    found = _fields(given, {"points", "choices"}, "the scene")
    points = found.get("points")
    if not isinstance(points, list):
        raise SceneError("points is not a list.")
    if len(points) > MOST_POINTS:
        raise SceneError(f"there are {len(points)} points; the lab takes at most {MOST_POINTS}.")
    return Scene([_point(k, own) for k, own in enumerate(points)], _choices(found.get("choices", {})))


def _fields(given: Any, known: set[str], what: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise SceneError(f"{what} is not an object.")
    strange = sorted(set(given) - known)
    if strange:
        raise SceneError(f"{what} has the unknown field {strange[0][:40]!r}.")
    return given


def _point(k: int, given: Any) -> ScenePoint:
    found = _fields(given, {"x", "y", "label"}, f"point {k}")
    for name in ("x", "y"):
        value = found.get(name)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        # mypy does not see that `number` narrows the type of `value`.
        if not number or not math.isfinite(value) or abs(value) > LARGEST:  # type: ignore[arg-type]
            raise SceneError(f"{name} of point {k} is not a number between -{LARGEST:g} and {LARGEST:g}.")
    label = found.get("label")
    if type(label) is not int or label not in (1, -1):
        raise SceneError(f"the label of point {k} is neither 1 nor -1.")
    return ScenePoint(float(found["x"]), float(found["y"]), 1 if label == 1 else -1)


def _choices(given: Any) -> SceneChoices:
    options = word_choices()
    found = _fields(given, {field.name for field in fields(SceneChoices)}, "choices")
    for name, value in found.items():
        if name in options:
            if value not in options[name]:
                raise SceneError(f"{name} is {str(value)[:40]!r}: it can be {', '.join(options[name])}.")
        elif name in ("normalize_rows", "fit_intercept"):
            if type(value) is not bool:
                raise SceneError(f"{name} is neither true nor false.")
        elif type(value) is not int or not 0 <= value <= MOST_PASSES:
            raise SceneError(f"{name} is not a whole number between 0 and {MOST_PASSES}.")
    if found.get("max_epochs") == 0:
        raise SceneError("max_epochs is 0: it must be at least 1.")
    return SceneChoices(**found)
