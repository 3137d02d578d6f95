"""A model as the report draws it: its coefficients, and the table in its two most informative directions.

Coefficients are in the units of the table, with intervals where a fit has them. Two columns are shown as they are.
Otherwise the first direction is the normal of a hyperplane, in standard
deviations from it, and the second the direction of greatest variance along it (two classes), or both are Fisher's
(more classes).
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.candidate_learners import Candidate, FullFits, inner
from separatrix.auditing.facts import CoefficientRow, CoefficientTable, DrawnLine, Projection
from separatrix.auditing.phrasing import count, number
from separatrix.errors import SeparatrixError
from separatrix.features.column_encoders import NumberColumn, TextColumn
from separatrix.features.table_model import EncodedLearner

SHOWN = 30
PROFILED = 12  # coefficients up to which intervals come from the profile likelihood
LARGE = 300_000  # cells up to which a profile likelihood is computed

Interval = tuple[float | None, float | None]
Intervals = tuple[str | None, list[Interval], str | None]  # their kind, their ends, or why there are none
POINTS = 2000
RARE = 200  # rows of a class up to which all are shown


def coefficient_table(
    table: AuditTable, session: Session, fits: FullFits, candidate: Candidate, fates: dict[str, str]
) -> CoefficientTable | None:
    """The coefficients of a learner fitted on all rows, largest effect first; None where there is not one vector."""
    with session.clock.stage("intervals of coefficients"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model, _ = fits.of(candidate)
        except SeparatrixError:
            return None
        learner = inner(model)
        if not hasattr(learner, "coef_") or np.size(learner.intercept_) > 1:
            return None
        kind, bounds, why_not = _intervals(table, session, learner, candidate)
    if not candidate.linear or table.choices.map is not None:
        return _mapped_table(model, candidate, table, (kind, bounds, why_not))
    own, intercept = in_units(model)
    coef = np.array(in_columns(model, own.tolist(), table, 0.0))
    bounds = in_columns(model, bounds[: len(own)], table, (None, None)) if bounds else []  # without the intercept
    flip = -1.0 if table.binary and table.positive == 0 else 1.0
    spread = table.spreads
    rows = []
    for j in np.argsort(-np.abs(coef) * spread, kind="stable")[:SHOWN].tolist():
        low, high = _flipped(bounds[j], flip) if bounds else (None, None)
        name = table.names[j]
        rows.append(CoefficientRow(name, float(flip * coef[j]), low, high, float(spread[j]), fates.get(name)))
    positive = table.labels[table.positive] if table.binary else None
    log_odds, of = "logistic" in candidate.name, min(len(coef), len(own))
    return CoefficientTable(candidate.name, of, float(flip * intercept), positive, log_odds, kind, why_not, rows)


def _mapped_table(model: Any, candidate: Candidate, table: AuditTable, intervals: Intervals) -> CoefficientTable:
    """Coefficients of the columns that a feature map makes; of standardised ones, by a name that says on which map."""
    kind, bounds, why_not = intervals
    learner, encoder = inner(model), model.encoder_
    coef, flip = np.ravel(learner.coef_), -1.0 if table.binary and table.positive == 0 else 1.0
    assert table.frame is not None  # maps are tried on frames only
    spread = np.asarray(encoder.encode(table.frame)[0].std(axis=0))
    names = encoder.feature_names()
    order = np.argsort(-np.abs(coef) * spread, kind="stable")[:SHOWN].tolist()
    rows = []
    for j in order:
        low, high = _flipped(bounds[j], flip) if bounds else (None, None)
        rows.append(CoefficientRow(names[j], float(flip * coef[j]), low, high, float(spread[j]), None))
    positive = table.labels[table.positive] if table.binary else None
    intercept = float(flip * np.ravel(learner.intercept_)[0])
    log_odds = "logistic" in candidate.name
    name = f"{candidate.name} on {table.choices.map}" if candidate.encoding == "standard" else candidate.name
    return CoefficientTable(name, len(coef), intercept, positive, log_odds, kind, why_not, rows)


def _flipped(interval: Interval, flip: float) -> Interval:
    """The interval of a coefficient times ``flip``, which is 1 or -1."""
    low, high = interval if flip > 0 else reversed(interval)
    return None if low is None else flip * low, None if high is None else flip * high


def in_columns(model: Any, values: list[Any], table: AuditTable, absent: Any) -> list[Any]:
    """What belongs to each coefficient, for every used column; ``absent`` where the model's rows lack the column."""
    if len(values) == table.X.shape[1]:
        return [values[j] for j in table.used.tolist()]
    assert table.encoder is not None  # matrices have the same columns in all rows
    known = dict(zip(model.encoder_.feature_names(), values, strict=True))
    names = table.encoder.feature_names()
    return [known.get(names[j], absent) for j in table.used.tolist()]  # a category may be rare in the whole table alone


def in_units(model: Any) -> tuple[Any, float]:
    """w and b for the columns as they are, with standardisation undone."""
    learner = inner(model)
    coef, b = np.ravel(learner.coef_).astype(np.float64), float(np.ravel(learner.intercept_)[0])
    if not isinstance(model, EncodedLearner):
        return coef, b
    shift, scale = [], []
    for column in model.encoder_.columns:
        width = len(column.idf) if isinstance(column, TextColumn) else len(column.names())
        own = np.zeros(width), np.ones(width)
        if isinstance(column, NumberColumn):
            own[0][0], own[1][0] = column.shift, column.scale
        shift.append(own[0])
        scale.append(own[1])
    w = coef / np.concatenate(scale)
    return w, float(b - w @ np.concatenate(shift))


def _intervals(table: AuditTable, session: Session, learner: Any, candidate: Candidate) -> Intervals:
    """The kind of interval and the bounds of every coefficient, or the reason why there are none."""
    if not candidate.has_intervals:
        if candidate.safe or not candidate.linear:
            return None, [], "a penalty shrinks the estimates, so standard errors would not cover the true values"
        return None, [], "they are not defined for this learner"
    try:
        if table.regression:
            found = learner.summary(level=session.level)
            ends = zip(found.low.tolist(), found.high.tolist(), strict=True)
            return "t intervals", [(_finite(low), _finite(high)) for low, high in ends], None
        if table.cells > 10 * LARGE or session.clock.late(0.85):
            cells = count(table.cells)
            why = f"the table has {cells} cells" if table.cells > 10 * LARGE else "cut by the clock"
            session.clock.leave_out("intervals of coefficients", why)
            return None, [], why
        profile = table.d <= PROFILED and table.cells <= LARGE and not session.clock.late(0.6)
        summary = learner.summary(level=session.level, intervals="profile" if profile else "wald")
        bounds = [(_finite(row.low), _finite(row.high)) for row in summary.coefficients]
        return "profile likelihood" if profile else "Wald", bounds, None
    except SeparatrixError as error:
        why = _with_names(table, str(error).removeprefix("there is no summary: ").rstrip("."))
        session.clock.leave_out("intervals of coefficients", why)
        return None, [], why


def _with_names(table: AuditTable, text: str) -> str:
    """A sentence about x0, x1, … with the names of the columns."""
    names = table.names
    return re.sub(r"\bx(\d+)\b", lambda m: names[int(m[1])] if int(m[1]) < len(names) else m[0], text)[:200]


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


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
    X, unit = table.standardised[rows], coef / max(length, 1e-300)
    away = (X @ coef + intercept) / max(length, 1e-300)
    if table.sparse:
        second = _sparse_second(X, unit, seed)
    else:
        rest = X - X.mean(axis=0)
        second = _first_component(rest - np.outer(rest @ unit, unit))
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
    X = table.standardised[rows]
    X = np.asarray(X.todense()) if table.sparse else X
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
    axes = ("first discriminant direction", f"second (both: {shown}% of between-class variance)")
    return _Points(points[:, 0], points[:, 1], axes, "fisher", None)
