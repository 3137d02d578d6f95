"""The table in its two most telling directions: what the first picture shows.

Two columns are shown as they are. Otherwise the first direction is the normal of a hyperplane, in standard
deviations from it, and the second the direction of greatest variance along it (two classes), or both are
Fisher's (more classes).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.phrasing import number
from separatrix.auditing.study import Study

POINTS = 2000


@dataclass(frozen=True)
class Cut:
    """A hyperplane to be drawn, with half the width of its gap; ``name`` says which it is."""

    coef: Floats
    intercept: float
    gap: float | None
    name: str


def project(study: Study, cut: Cut | None, marked: dict[str, Any]) -> dict[str, Any]:
    """Points for the picture: at most 2000, those that are marked (witnesses, support) always among them."""
    drawn = _points(study, cut, marked)
    x, y = np.array(drawn["x"]), np.array(drawn["y"])
    window = [_window(x), _window(y)]
    if drawn["kind"] == "normal":  # the hyperplane is at 0
        window[0] = [min(window[0][0], 0.0), max(window[0][1], 0.0)]
    inside = (window[0][0] <= x) & (x <= window[0][1]) & (window[1][0] <= y) & (y <= window[1][1])
    return drawn | {"window": window, "outside": int(np.count_nonzero(~inside))}


def _window(values: Floats) -> list[float]:
    """What is shown of an axis: everything, unless a few far rows would press the others together."""
    low, high = float(values.min()), float(values.max())
    if len(values) >= 100:
        near = np.quantile(values, [0.05, 0.95])
        reach = float(near[1] - near[0])
        if reach > 0:
            low, high = max(low, float(near[0]) - reach), min(high, float(near[1]) + reach)
    pad = 0.06 * (high - low) or 1.0
    return [low - pad, high + pad]


def _points(study: Study, cut: Cut | None, marked: dict[str, Any]) -> dict[str, Any]:
    rows = _chosen(study, [i for own in marked.values() for i in own])
    drawn: dict[str, Any] = {"rows": rows.tolist(), "of": study.n, "sampled": len(rows) < study.n}
    drawn["of_what"] = None if cut is None else cut.name
    drawn["units"] = "the units of the columns" if study.sparse else "standard deviations of the columns"
    drawn["classes"] = study.codes[rows].tolist() if not study.regression else None
    drawn["marked"] = {kind: [i for i in own if i in set(rows.tolist())] for kind, own in marked.items()}
    d = study.rows.shape[1]
    if not study.sparse and d == 2:
        X = study.rows[rows]
        line = None
        if cut is not None:
            line = {"coef": cut.coef.tolist(), "intercept": float(cut.intercept), "gap": cut.gap}
        return drawn | {
            "x": X[:, 0].tolist(),
            "y": X[:, 1].tolist(),
            "axes": [study.names[0], study.names[1]],
            "kind": "columns",
            "line": line,
        }
    if cut is not None:
        return drawn | _along_normal(study, rows, cut)
    return drawn | _fisher(study, rows)


def _chosen(study: Study, needed: list[int]) -> NDArray[np.intp]:
    if study.n <= POINTS:
        return np.arange(study.n)
    always = np.array(sorted(set(needed))[: POINTS // 4], dtype=np.intp)
    rng = np.random.default_rng(study.seed)
    others = np.setdiff1d(rng.choice(study.n, min(study.n, 2 * POINTS), replace=False), always)
    return np.sort(np.concatenate([always, rng.permutation(others)[: POINTS - len(always)]]))


def _along_normal(study: Study, rows: NDArray[np.intp], cut: Cut) -> dict[str, Any]:
    """The cut is one of standardised rows (of the rows themselves where they are sparse)."""
    coef, intercept = cut.coef, cut.intercept
    length = float(np.linalg.norm(coef))
    if study.sparse:
        X = study.rows[rows]
        away = (X @ coef + intercept) / max(length, 1e-300)
        second = _sparse_second(X, coef / max(length, 1e-300), study.seed)
    else:
        X = study.standardised[rows]
        away = (X @ coef + intercept) / max(length, 1e-300)
        unit = coef / max(length, 1e-300)
        rest = X - X.mean(axis=0)
        rest = rest - np.outer(rest @ unit, unit)
        second = _first_component(rest)
    return {
        "x": away.tolist(),
        "y": second.tolist(),
        "axes": ["signed distance from the hyperplane", "direction of greatest spread along it"],
        "kind": "normal",
        "line": {"coef": [1.0, 0.0], "intercept": 0.0, "gap": cut.gap},
    }


def _first_component(X: Floats) -> Floats:
    if X.shape[1] < 2:
        return np.zeros(len(X))
    _, vectors = np.linalg.eigh(X.T @ X)
    axis = vectors[:, -1]
    return np.asarray(X @ (axis * (1.0 if axis[np.abs(axis).argmax()] > 0 else -1.0)))


def _sparse_second(X: Any, unit: Floats, seed: int) -> Floats:
    """A few power steps towards the widest direction beside the normal."""
    v = np.random.default_rng(seed).normal(size=X.shape[1])
    mean = np.asarray(X.mean(axis=0)).ravel()
    for _ in range(20):
        v -= (v @ unit) * unit
        v /= max(float(np.linalg.norm(v)), 1e-300)
        along = X @ v - mean @ v
        v = X.T @ along - mean * along.sum()
    v -= (v @ unit) * unit
    v /= max(float(np.linalg.norm(v)), 1e-300)
    return np.asarray(X @ v - mean @ v)


def _fisher(study: Study, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Directions in which class means differ most, for unit spread within classes."""
    X = study.standardised[rows] if not study.sparse else np.asarray(study.rows[rows].todense())
    codes = study.codes[rows]
    means = np.array(
        [X[codes == k].mean(axis=0) if (codes == k).any() else X.mean(axis=0) for k in range(len(study.classes))]
    )
    within = X - means[codes]
    covariance = within.T @ within / len(X) + 1e-3 * np.eye(X.shape[1])
    values, vectors = np.linalg.eigh(covariance)
    white = vectors / np.sqrt(values)
    share = np.bincount(codes, minlength=len(study.classes)) / len(codes)
    spread = np.sqrt(share)[:, None] * ((means - X.mean(axis=0)) @ white)
    _, size, V = np.linalg.svd(spread, full_matrices=False)
    axes = white @ V[:2].T
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    points = (X - X.mean(axis=0)) @ axes
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    told = number(float((size[:2] ** 2).sum() / max(float((size**2).sum()), 1e-300)) * 100, 2)
    return {
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "axes": ["first direction that tells classes apart", f"second (both: {told} % of the difference)"],
        "kind": "fisher",
        "line": None,
    }
