"""Scenes to begin with: the built-in examples of two columns, a few made for the lab, and the user's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.data.examples import load_example
from separatrix.errors import DataError, SeparatrixError
from separatrix.lab.scene import LARGEST, MOST_POINTS, ScenePoint
from separatrix.models.discriminant.linear_discriminant import LinearDiscriminant

EXACT = ("tiny-margin",)  # scenes whose numbers are not rounded


@dataclass(frozen=True, slots=True)
class Preset:
    """Points with a title, a sentence about them, and the names of the two columns."""

    name: str
    title: str
    about: str
    axes: tuple[str, str]
    points: list[ScenePoint]


@dataclass(frozen=True, slots=True)
class TableColumns:
    """Columns of the user's table, of which the page shows two; the last two may be discriminant directions."""

    source: str
    about: str
    names: list[str]
    columns: list[list[float]]
    labels: list[int]


def presets() -> list[Preset]:
    """All built-in scenes, with their points."""
    return [*drawn_presets(), *(made() for made in LATER.values())]


def drawn_presets() -> list[Preset]:
    """The scenes that need no library beside numpy."""
    rng = np.random.default_rng(0)
    outlier = rng.normal([[1.6, 0.8]] * 15 + [[-1.6, -0.8]] * 15, 0.5)
    outlier[0] = (-4.0, -3.5)
    rare = np.vstack([rng.normal([-0.8, 0.0], 0.9, (60, 2)), rng.normal([1.3, 0.9], 0.7, (10, 2))])
    two = np.repeat([1, -1], 15)
    clouds = rng.normal([[1.0, 0.6]] * 60 + [[-1.0, -0.6]] * 60, 0.9)
    far = rng.uniform([1.0, 1.0], [3.0, 3.0], (16, 2))
    noisy = rng.uniform(-2.0, 2.0, (40, 2))
    flipped = np.where(noisy @ [1.0, 0.7] > 0, 1, -1) * np.where(rng.random(40) < 0.1, -1, 1)
    ring = rng.uniform(-2.0, 2.0, (60, 2))
    inside = np.where(np.hypot(*ring.T) < 1.35, 1, -1) * np.where(rng.random(60) < 0.12, -1, 1)
    return [
        _example("six-points", "Six points"),
        _example("separable", "Separable"),
        _example("tiny-margin", "Tiny margin"),
        _made("bias", "A bias is needed", "no line through the origin separates them", far, np.sign(far @ [1, 1] - 4)),
        _example("xor", "XOR"),
        _made("noise", "Label noise", "one label in ten is flipped", noisy, flipped),
        _made("gaussians", "Two Gaussians", "equal covariances, overlapping", clouds, np.repeat([1, -1], 60)),
        _made("outlier", "An outlier", "one point lies far on the wrong side", outlier, two),
        _made("imbalanced", "Imbalanced", "10 points against 60", rare, np.repeat([-1, 1], [60, 10])),
        _made("ring", "A ring", "plus inside a circle; one label in eight is flipped", ring, inside),
    ]


def _example(name: str, title: str) -> Preset:
    found = load_example(name)
    X, y = np.asarray(found.X), np.asarray(found.y)
    return _made(name, title, found.shows, X, np.where(y == np.unique(y)[-1], 1, -1))


def _iris() -> Preset:
    found = load_example("iris")
    names = list(found.names)
    keep = np.asarray(found.y) != "setosa"
    X = np.asarray(found.X)[keep][:, [names.index("petal_length"), names.index("petal_width")]]
    y = np.where(np.asarray(found.y)[keep] == "virginica", 1, -1)
    return _made("iris", "Iris", "versicolor (-) and virginica (+), petals", X, y, ("petal length", "petal width"))


LATER = {"iris": _iris}  # scikit-learn, which has the table, takes seconds to import: made when it is asked for


def _made(name: str, title: str, about: str, X: Any, y: Any, axes: tuple[str, str] = ("x", "y")) -> Preset:
    if len(X) > MOST_POINTS:
        chosen = np.unique(np.linspace(0, len(X) - 1, MOST_POINTS).astype(int))
        X, y = X[chosen], y[chosen]
    if name not in EXACT:
        X = np.round(X, 3)
    points = [
        ScenePoint(float(a), float(b), 1 if t > 0 else -1) for (a, b), t in zip(X.tolist(), y.tolist(), strict=True)
    ]
    return Preset(name, title, about, axes, points)


MOST_COLUMNS = 40
DIRECTIONS = ("discriminant direction", "widest direction across it")


def table_columns(X: Any, names: list[str], labels: Any, source: str) -> TableColumns:
    """As many rows, evenly chosen, and columns as the lab takes, and two directions where there are more columns."""
    classes = np.unique(labels)
    if len(classes) != 2:
        raise DataError(f"{source} has {len(classes)} classes; the lab shows two.")
    if len(names) < 2:
        raise DataError(f"{source} has {len(names)} column of numbers; the lab needs two.")
    rows = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)
    more = f"; {MOST_POINTS} of {len(rows)} rows" if len(rows) > MOST_POINTS else ""
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(MOST_POINTS, len(rows))).astype(int))
    plus = np.asarray(labels)[chosen] == classes[1]
    rows = rows[chosen]
    if np.abs(rows).max() > LARGEST:
        name = names[int(np.abs(rows).max(axis=0).argmax())]
        raise DataError(f"{name!r} of {source} has values beyond {LARGEST:g}; the lab takes smaller ones: scale it.")
    kept, shown = [*names[:MOST_COLUMNS]], rows[:, :MOST_COLUMNS]
    if rows.shape[1] > 2 and (found := directions(rows, plus)) is not None:
        kept, shown = [*kept, *DIRECTIONS], np.column_stack([shown, found])
    about = f"{classes[0]} (-) and {classes[1]} (+) of {source}{more}"
    return TableColumns(source, about, kept, shown.T.tolist(), np.where(plus, 1, -1).tolist())


def directions(X: Floats, plus: Any) -> Floats | None:
    """The score of the linear discriminant, and the direction of greatest variance across it, in standard deviations.

    None where there is no discriminant.
    """
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    try:
        w = np.asarray(LinearDiscriminant(shrinkage="ledoit-wolf").fit(Z, plus).coef_).ravel()
    except SeparatrixError:
        return None
    unit = w / max(float(np.linalg.norm(w)), 1e-300)
    rest = Z - np.outer(Z @ unit, unit)
    _, vectors = np.linalg.eigh(rest.T @ rest)
    return np.round(np.column_stack([Z @ unit, Z @ vectors[:, -1]]), 6)


def preset_of_table(table: TableColumns, columns: tuple[str, str] | None) -> Preset:
    """The two columns that are shown first: those named, or the first two."""
    chosen = columns or (table.names[0], table.names[1])
    for name in chosen:
        if name not in table.names:
            shown = ", ".join(table.names[:8])
            raise DataError(f"{table.source} has no column {name!r} of numbers; it has {shown}.")
    a, b = (table.columns[table.names.index(name)] for name in chosen)
    points = [ScenePoint(x, y, 1 if t > 0 else -1) for x, y, t in zip(a, b, table.labels, strict=True)]
    return Preset("table", "Your table", table.about, chosen, points)
