"""The table in its two most informative directions: the first picture of the report.

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
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.figure_facts import DrawnLine, Projection
from separatrix.auditing.phrasing import number

POINTS = 2000
RARE = 200  # rows of a class up to which all are shown


@dataclass(frozen=True)
class DrawnHyperplane:
    """A hyperplane of standardised rows (of the rows as they are where they are sparse or have two columns)."""

    coef: Floats
    intercept: float
    gap: float | None  # half its width
    name: str


@dataclass(frozen=True)
class _Points:
    x: Floats
    y: Floats
    axes: tuple[str, str]
    kind: str
    line: DrawnLine | None


def project(
    table: AuditTable, seed: int, hyperplane: DrawnHyperplane | None, witness: list[int], support: list[int]
) -> Projection:
    """At most about 2000 rows; witnesses, support and rows of rare classes are always among them."""
    rows = _chosen(table, seed, [*witness, *support])
    points = _points(table, seed, rows, hyperplane)
    x_window, y_window = _window(points.x), _window(points.y)
    if points.kind == "normal":  # the hyperplane is at 0
        x_window = min(x_window[0], 0.0), max(x_window[1], 0.0)
    inside = (x_window[0] <= points.x) & (points.x <= x_window[1])
    inside &= (y_window[0] <= points.y) & (points.y <= y_window[1])
    drawn = set(rows.tolist())
    return Projection(
        points.x.tolist(),
        points.y.tolist(),
        rows.tolist(),
        table.codes[rows].tolist(),
        table.n,
        points.kind,
        points.axes,
        "the units of the columns" if table.sparse else "standard deviations of the columns",
        None if hyperplane is None else hyperplane.name,
        points.line,
        [i for i in witness if i in drawn],
        [i for i in support if i in drawn],
        x_window,
        y_window,
        int(np.count_nonzero(~inside)),
    )


def _window(values: Floats) -> tuple[float, float]:
    """The range of an axis: everything, unless a few far rows would press the others together."""
    low, high = float(values.min()), float(values.max())
    if len(values) >= 100:
        near = np.quantile(values, [0.05, 0.95])
        reach = float(near[1] - near[0])
        if reach > 0:
            low, high = max(low, float(near[0]) - reach), min(high, float(near[1]) + reach)
    pad = 0.06 * (high - low) or 1.0
    return low - pad, high + pad


def _points(table: AuditTable, seed: int, rows: NDArray[np.intp], hyperplane: DrawnHyperplane | None) -> _Points:
    if not table.sparse and table.rows.shape[1] == 2:
        X, line = table.rows[rows], None
        if hyperplane is not None:
            a, b = hyperplane.coef.tolist()
            line = DrawnLine((a, b), float(hyperplane.intercept), hyperplane.gap)
        return _Points(X[:, 0], X[:, 1], (table.names[0], table.names[1]), "columns", line)
    if hyperplane is not None:
        return _along_normal(table, seed, rows, hyperplane)
    return _fisher(table, rows)


def _chosen(table: AuditTable, seed: int, needed: list[int]) -> NDArray[np.intp]:
    if table.n <= POINTS:
        return np.arange(table.n)
    rare = np.flatnonzero(np.isin(table.codes, np.flatnonzero(table.counts <= RARE)))
    marked = np.array(sorted(set(needed))[: POINTS // 4], dtype=np.intp)
    always = np.union1d(marked, rare[: 5 * RARE])
    rng = np.random.default_rng(seed)
    others = np.setdiff1d(rng.choice(table.n, min(table.n, 2 * POINTS), replace=False), always)
    return np.sort(np.concatenate([always, rng.permutation(others)[: POINTS - min(len(always), POINTS // 2)]]))


def _along_normal(table: AuditTable, seed: int, rows: NDArray[np.intp], hyperplane: DrawnHyperplane) -> _Points:
    """Signed distance from the hyperplane, and the widest direction along it."""
    coef, intercept = hyperplane.coef, hyperplane.intercept
    length = float(np.linalg.norm(coef))
    if table.sparse:
        X = table.rows[rows]
        away = (X @ coef + intercept) / max(length, 1e-300)
        second = _sparse_second(X, coef / max(length, 1e-300), seed)
    else:
        X = table.standardised[rows]
        away = (X @ coef + intercept) / max(length, 1e-300)
        unit = coef / max(length, 1e-300)
        rest = X - X.mean(axis=0)
        rest = rest - np.outer(rest @ unit, unit)
        second = _first_component(rest)
    axes = ("signed distance from the hyperplane", "direction of greatest spread along it")
    return _Points(np.asarray(away), second, axes, "normal", DrawnLine((1.0, 0.0), 0.0, hyperplane.gap))


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


def _fisher(table: AuditTable, rows: NDArray[np.intp]) -> _Points:
    """Directions in which class means differ most, for unit spread within classes."""
    X = table.standardised[rows] if not table.sparse else np.asarray(table.rows[rows].todense())
    codes = table.codes[rows]
    means = np.array(
        [X[codes == k].mean(axis=0) if (codes == k).any() else X.mean(axis=0) for k in range(len(table.classes))]
    )
    within = X - means[codes]
    covariance = within.T @ within / len(X) + 1e-3 * np.eye(X.shape[1])
    values, vectors = np.linalg.eigh(covariance)
    white = vectors / np.sqrt(values)
    share = np.bincount(codes, minlength=len(table.classes)) / len(codes)
    spread = np.sqrt(share)[:, None] * ((means - X.mean(axis=0)) @ white)
    _, size, V = np.linalg.svd(spread, full_matrices=False)
    W = white @ V[:2].T
    W = W * np.where(W[np.abs(W).argmax(axis=0), np.arange(W.shape[1])] < 0, -1.0, 1.0)
    points = (X - X.mean(axis=0)) @ W
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    shown = number(float((size[:2] ** 2).sum() / max(float((size**2).sum()), 1e-300)) * 100, 2)
    axes = ("first direction that tells classes apart", f"second (both: {shown}% of the difference)")
    return _Points(points[:, 0], points[:, 1], axes, "fisher", None)
