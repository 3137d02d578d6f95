"""Scenes to begin with, and the user's table in two of its columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from separatrix import LinearDiscriminant
from separatrix.arrays import Floats
from separatrix.errors import DataError, SeparatrixError
from separatrix.lab.scene import LARGEST, MOST_POINTS, ScenePoint

SCENES = Path(__file__).parent / "static" / "scenes.json"


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
    """The scenes of the page, from the file that it reads."""
    scenes = json.loads(SCENES.read_text(encoding="utf-8"))
    return [
        Preset(
            scene["name"],
            scene["title"],
            scene["about"],
            tuple(scene["axes"]),
            [ScenePoint(x, y, label) for x, y, label in scene["points"]],
        )
        for scene in scenes
    ]


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
