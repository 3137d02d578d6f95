"""Gradient descent on the mean loss over two weights: the surface, the path on it, and the step that is too long."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.lab.scene import Scene
from separatrix.models.descent.gradient_descent import gradient_descent
from separatrix.numerics.losses import loss_of

SIDE = 41  # of the grid of the surface
REACH = 1e6  # weights beyond which a path is not shown
CURVATURE = {"squared": 2.0, "logistic": 0.25}  # the greatest second derivative of the loss


@dataclass(frozen=True, slots=True)
class LossSurface:
    """J on a square grid: rows from the lowest second weight up, each from the lowest first weight."""

    left: float
    bottom: float
    side: float
    count: int
    values: list[list[float]]


@dataclass(frozen=True, slots=True)
class SceneDescentPath:
    """The path of (w1, w2) from zero, J at each of its points, and how it ended.

    ``cut`` where the run goes on after the path that is given, because its weights pass 10^6. The score is
    w·(x - centre). Below ``safe_step``, 2/L for the greatest curvature L, every step lowers J; null where the loss has
    kinks.
    """

    centre: list[float]
    path: list[list[float]]
    values: list[float]
    surface: LossSurface
    safe_step: float | None
    diverged: bool
    cut: bool
    ended: str


def descent_of(scene: Scene) -> SceneDescentPath:
    """Descend by the library's gradient descent; the points are centred, and the score has no bias."""
    scene.need_classes()
    asked = scene.descent
    loss, y = loss_of(asked.loss), scene.labels.astype(np.float64)
    centre = scene.rows.mean(axis=0)
    X = scene.rows - centre

    def objective(w: Floats) -> float:
        return float(np.mean(loss.value(y * (X @ w))))

    def gradient(w: Floats) -> Floats:
        return np.asarray((loss.slope(y * (X @ w)) * y) @ X / len(y))

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # an overflow is what the page shows
        found = gradient_descent(
            objective, [0.0, 0.0], gradient=gradient, step=asked.step, momentum=asked.momentum, max_steps=asked.steps
        )
    path = found.path
    near = np.abs(path).max(axis=1) <= REACH
    kept = path[: int(np.argmin(near))] if not near.all() else path
    values = [objective(w) for w in kept]
    curvature = float(np.linalg.eigvalsh(X.T @ X / len(y))[-1])
    limit = 2 / (CURVATURE[asked.loss] * curvature) if asked.loss in CURVATURE and curvature > 0 else None
    cut = len(kept) < len(path)
    diverged = bool(cut or values[-1] > values[0])
    lowest = np.linalg.lstsq(X, y, rcond=None)[0] if asked.loss == "squared" else None
    surface = _surface(objective, kept, lowest)
    return SceneDescentPath(centre.tolist(), kept.tolist(), values, surface, limit, diverged, cut, str(found))


def _surface(objective: Callable[[Floats], float], path: Floats, lowest: Floats | None) -> LossSurface:
    """A square around the path and the minimum; far points of a diverging path are left out."""
    size = np.abs(path).max(axis=1)
    shown = path[size <= max(4 * float(np.median(size)), 1e-9)] if len(path) > 2 else path
    shown = shown if lowest is None else np.vstack([shown, lowest])
    low, high = shown.min(axis=0), shown.max(axis=0)
    side = max(float((high - low).max()) * 1.6, 0.01)
    left, bottom = ((low + high) / 2 - side / 2).tolist()
    axis = np.linspace(0.0, side, SIDE)
    values = [[objective(np.array([left + a, bottom + b])) for a in axis.tolist()] for b in axis.tolist()]
    return LossSurface(left, bottom, side, SIDE, values)
