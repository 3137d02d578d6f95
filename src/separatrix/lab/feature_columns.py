"""The columns that learners and proofs see: x and y, their powers and products, and bumps around points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.lab.reading import SceneError
from separatrix.lab.scene import Scene

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
