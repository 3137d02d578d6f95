"""The plane in which rows of any number of columns are drawn, and its points as rows again.

Two columns are drawn as they are. Two of more columns are drawn with the others at their means. Otherwise the
first direction is the normal of the hyperplane (or the direction in which the class means differ most) and the
second the direction of greatest spread beside it; regions are those of the plane through the mean of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.validation import Table

DENSE = 5_000_000  # numbers that a sparse table may have when it is made dense for a picture


@dataclass(frozen=True)
class Plane:
    """Rows x = origin + u @ directions for points u, the names of its axes, and what regions mean in it."""

    origin: Floats
    directions: Floats
    names: tuple[str, ...]
    note: str | None = None

    def points(self, X: Floats) -> Floats:
        """The rows as points."""
        return np.asarray((X - self.origin) @ self.directions.T)

    def rows(self, points: Floats) -> Floats:
        """The points as rows."""
        return np.asarray(self.origin + points @ self.directions)

    def line(self, w: Floats, b: float) -> tuple[Floats, float]:
        """The hyperplane w.x + b = 0 within the plane."""
        return np.asarray(self.directions @ w), float(w @ self.origin + b)


def dense(table: Table) -> Floats:
    """The rows as an array."""
    if not table.sparse:
        return np.asarray(table.X, dtype=np.float64)
    if table.n * table.d > DENSE:
        raise DataError(
            f"X is sparse with {table.n:,} rows and {table.d:,} columns, too many numbers to draw: "
            "pass fewer rows, or the columns that matter."
        )
    return np.asarray(table.X.toarray(), dtype=np.float64)


def column_names(table: Table) -> tuple[str, ...]:
    """The names of the columns, or x0, x1, ..."""
    return table.names or tuple(f"x{j}" for j in range(table.d))


def chosen_columns(columns: Sequence[Any], names: tuple[str, ...]) -> list[int]:
    """Positions of columns given by number or name."""
    if isinstance(columns, (str, int)) or not 1 <= len(list(columns)) <= 3:
        raise ParameterError(f"columns is {columns!r}: pass one, two or three columns, by number or name.")
    out = []
    for column in columns:
        if isinstance(column, str) and column in names:
            out.append(names.index(column))
        elif isinstance(column, (int, np.integer)) and -len(names) <= column < len(names):
            out.append(int(column) % len(names))
        else:
            raise ParameterError(
                f"columns names {column!r}, and X has the columns {', '.join(names[:8])}{', …' * (len(names) > 8)}."
            )
    if len(set(out)) < len(out):
        raise ParameterError(f"columns is {columns!r}: the same column twice.")
    return out


def plane_of_columns(X: Floats, at: list[int], names: tuple[str, ...]) -> Plane:
    """The chosen columns as they are, the others at their means."""
    origin = X.mean(axis=0)
    origin[at] = 0.0
    directions = np.zeros((len(at), X.shape[1]))
    directions[np.arange(len(at)), at] = 1.0
    note = None if len(at) == X.shape[1] else "regions: other columns at their means"
    return Plane(origin, directions, tuple(names[j] for j in at), note)


def plane_along_normal(X: Floats, w: Floats, b: float) -> Plane:
    """Signed distance from the hyperplane, and the direction of greatest spread along it."""
    length = float(np.linalg.norm(w))
    unit, mean = w / length, X.mean(axis=0)
    origin = mean - (float(mean @ w) + b) / length * unit
    names = ("signed distance from the hyperplane", "direction of greatest spread along it")
    return Plane(origin, np.array([unit, widest(X - mean, [unit])]), names)


def plane_between_classes(X: Floats, codes: NDArray[Any]) -> Plane:
    """The two directions in which class means differ most; the widest of the rows where two classes leave one."""
    mean = X.mean(axis=0)
    groups = [X[codes == k] for k in np.unique(codes)]
    apart = np.array([np.sqrt(len(rows)) * (rows.mean(axis=0) - mean) for rows in groups])
    _, sizes, V = np.linalg.svd(apart, full_matrices=False)
    found = [V[k] for k in range(min(2, len(sizes))) if sizes[k] > 1e-9 * max(float(sizes[0]), 1e-300) and sizes[k] > 0]
    while len(found) < 2:
        found.append(widest(X - mean, found))
    names = ("first direction between the class means", "second direction")
    if len(groups) < 3:
        names = ("direction between the class means", "direction of greatest spread beside it")
    return Plane(mean, np.array(found), names, "regions: the plane through the mean of the rows")


def widest(centred: Floats, beside: list[Floats]) -> Floats:
    """The unit direction of greatest spread that is orthogonal to those given."""
    rest = centred
    for unit in beside:
        rest = rest - np.outer(rest @ unit, unit)
    wide = rest.shape[1] > rest.shape[0]
    sizes, vectors = np.linalg.eigh(rest @ rest.T if wide else rest.T @ rest)
    axis = rest.T @ vectors[:, -1] if wide else vectors[:, -1]
    if not (sizes[-1] > 0 and np.linalg.norm(axis) > 0):
        axis = np.eye(centred.shape[1])[0]
    for unit in beside:  # of rows without spread, any direction beside
        axis = axis - (axis @ unit) * unit
    if np.linalg.norm(axis) < 1e-9:
        axis = np.linalg.svd(np.array(beside))[2][-1]
    axis = axis / np.linalg.norm(axis)
    return np.asarray(axis * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0))
