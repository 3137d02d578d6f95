"""What a request describes: points with a class each, and options; and the columns that learners are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np

from separatrix.arrays import Floats
from separatrix.lab.request_reading import SceneError, Within, read

MOST_POINTS = 500
LARGEST = 1e6  # of a coordinate
MOST_PASSES = 1000
MOST_DEGREE = 6
MOST_LEARNERS = 3

Coordinate = Annotated[float, Within(-LARGEST, LARGEST)]
Seed = Annotated[int, Within(0, 1000)]
LearnerName = Literal[
    "perceptron",
    "averaged",
    "pocket",
    "margin-perceptron",
    "passive-aggressive",
    "arow",
    "lda",
    "least-squares",
    "logistic",
    "ridge-logistic",
    "max-margin",
    "soft-margin",
    "fewest-mistakes",
]


@dataclass(frozen=True, slots=True)
class ScenePoint:
    """A point of the plane and its class, 1 or -1."""

    x: Coordinate
    y: Coordinate
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
    max_iter: Annotated[int, Within(1, MOST_PASSES)] = 100
    random_state: Seed = 0


@dataclass(frozen=True, slots=True)
class SceneFeatures:
    """Columns beside x and y: single squares and the product, all monomials of a degree, bumps around points."""

    x2: bool = False
    y2: bool = False
    xy: bool = False
    degree: Annotated[int, Within(1, MOST_DEGREE)] = 1
    bumps: Annotated[int, Within(0, 16)] = 0
    gamma: Annotated[float, Within(0.01, 100)] = 1.0


@dataclass(frozen=True, slots=True)
class SceneStudy:
    """How points are held out, and the first of the learners that is studied."""

    share: Annotated[float, Within(0, 0.8)] = 0.0
    seed: Seed = 0


@dataclass(frozen=True, slots=True)
class SceneDescent:
    """Gradient descent on the mean loss of the centred points, over two weights."""

    loss: Literal["squared", "logistic", "hinge", "perceptron"] = "squared"
    step: Annotated[float, Within(1e-6, 1e6)] = 0.1
    momentum: Annotated[float, Within(0, 0.99)] = 0.0
    steps: Annotated[int, Within(1, 500)] = 60


@dataclass(frozen=True, slots=True)
class Scene:
    """Points, the perceptron that runs on them, and what else is shown."""

    points: Annotated[list[ScenePoint], Within(0, MOST_POINTS)]
    choices: SceneChoices = field(default_factory=SceneChoices)
    features: SceneFeatures = field(default_factory=SceneFeatures)
    learners: Annotated[list[LearnerName], Within(0, MOST_LEARNERS)] = field(default_factory=list)
    study: SceneStudy = field(default_factory=SceneStudy)
    descent: SceneDescent = field(default_factory=SceneDescent)

    @property
    def rows(self) -> Floats:
        """The points, one a row."""
        return np.array([[point.x, point.y] for point in self.points], dtype=np.float64).reshape(-1, 2)

    @property
    def labels(self) -> Any:
        """Their classes."""
        return np.array([point.label for point in self.points], dtype=np.int64)

    def need_classes(self) -> None:
        """Refuse a scene without a point of each class."""
        if len({point.label for point in self.points}) < 2:
            raise SceneError("there must be points of both classes.")


def read_scene(given: Any) -> Scene:
    """A scene from JSON."""
    return read(Scene, given, "the scene")


LARGEST_VALUE = 1e12  # of a column: beyond it exact proofs grow long


@dataclass(frozen=True, slots=True)
class FeatureColumn:
    """x^a y^b; or exp(-gamma ((x - u)^2 + (y - v)^2)) where gamma is above 0."""

    name: str
    a: int
    b: int
    u: float
    v: float
    gamma: float

    def of(self, X: Floats) -> Floats:
        """The column of these points."""
        x, y = X[:, 0], X[:, 1]
        if self.gamma > 0:
            return np.asarray(np.exp(-self.gamma * ((x - self.u) ** 2 + (y - self.v) ** 2)))
        return np.asarray(x**self.a * y**self.b)


def columns_of(scene: Scene) -> list[FeatureColumn]:
    """x and y first, then what the scene asks for."""
    chosen, top = scene.features, scene.features.degree
    powers = [(total - b, b) for total in range(1, max(top, 2) + 1) for b in range(total + 1)]
    singles = {(2, 0): chosen.x2, (1, 1): chosen.xy, (0, 2): chosen.y2}
    wanted = [(a, b) for a, b in powers if a + b <= top or singles.get((a, b), False)]
    found = [FeatureColumn(_name(a, b), a, b, 0.0, 0.0, 0.0) for a, b in wanted]
    if chosen.bumps == 0 or not scene.points:
        return found
    X = scene.rows
    centres = np.unique(np.linspace(0, len(X) - 1, min(chosen.bumps, len(X))).round().astype(int))
    spread = float(X.var(axis=0).sum()) or 1.0
    gamma = chosen.gamma / spread
    at = [(k, *X[k].tolist()) for k in centres.tolist()]
    return found + [FeatureColumn(f"bump at point {k}", 0, 0, u, v, gamma) for k, u, v in at]


def mapped_rows(scene: Scene, columns: list[FeatureColumn]) -> Floats:
    """One row a point, one column a feature."""
    X = scene.rows
    out = np.column_stack([column.of(X) for column in columns])
    largest = np.abs(out).max(axis=0, initial=0.0)
    if largest.max() > LARGEST_VALUE:
        name = columns[int(largest.argmax())].name
        raise SceneError(f"{name} reaches {largest.max():.1e}: lower the degree, or scale the columns of the table.")
    return out


def _name(a: int, b: int) -> str:
    def power(letter: str, k: int) -> str:
        return "" if k == 0 else letter if k == 1 else f"{letter}^{k}"

    return " ".join(filter(None, (power("x", a), power("y", b))))
