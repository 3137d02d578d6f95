"""The table in its two most telling directions: what the first picture shows.

Two columns are shown as they are. Otherwise the first direction is the normal of a hyperplane, in standard
deviations from it, and the second the direction of greatest variance along it (two classes), or both are
Fisher's (more classes).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.study import Study
from separatrix.auditing.words import number

Floats = NDArray[np.float64]
POINTS = 2000


def project(study: Study, coef: Floats | None, intercept: float, gap: float | None, marked: dict[str, Any]) -> Any:
    """Points for the picture: at most 2000, those that are marked (witnesses, support) always among them."""
    rows = _chosen(study, [i for own in marked.values() for i in own])
    drawn: dict[str, Any] = {"rows": rows.tolist(), "of": study.n, "sampled": len(rows) < study.n}
    drawn["classes"] = study.codes[rows].tolist() if not study.regression else None
    drawn["marked"] = {kind: [i for i in own if i in set(rows.tolist())] for kind, own in marked.items()}
    d = study.rows.shape[1]
    if not study.sparse and d == 2:
        X = study.rows[rows]
        line = None
        if coef is not None:
            gap_raw = gap
            line = {"coef": coef.tolist(), "intercept": float(intercept), "gap": gap_raw}
        return drawn | {
            "x": X[:, 0].tolist(),
            "y": X[:, 1].tolist(),
            "axes": [study.names[0], study.names[1]],
            "kind": "columns",
            "line": line,
        }
    if coef is not None:
        return drawn | _along_normal(study, rows, coef, intercept, gap)
    return drawn | _fisher(study, rows)


def _chosen(study: Study, needed: list[int]) -> NDArray[np.intp]:
    if study.n <= POINTS:
        return np.arange(study.n)
    always = np.array(sorted(set(needed))[: POINTS // 4], dtype=np.intp)
    rng = np.random.default_rng(study.seed)
    others = np.setdiff1d(rng.choice(study.n, min(study.n, 2 * POINTS), replace=False), always)
    return np.sort(np.concatenate([always, rng.permutation(others)[: POINTS - len(always)]]))


def _along_normal(study: Study, rows: NDArray[np.intp], coef: Floats, intercept: float, gap: float | None) -> Any:
    """``coef`` and ``intercept`` are of standardised rows (of the rows themselves where they are sparse)."""
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
        "line": {"coef": [1.0, 0.0], "intercept": 0.0, "gap": gap},
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


def _fisher(study: Study, rows: NDArray[np.intp]) -> Any:
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
