"""Coefficients in the units of the table, with intervals where a fit has them."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.candidate_learners import Candidate, FullFits, inner
from separatrix.auditing.figure_facts import CoefficientRow, CoefficientTable
from separatrix.auditing.separation import column_spreads
from separatrix.errors import SeparatrixError
from separatrix.features.column_encoders import NumberColumn, TextColumn
from separatrix.features.encoded_learner import EncodedLearner

SHOWN = 30
PROFILED = 12  # coefficients up to which intervals come from the profile likelihood
LARGE = 300_000  # cells up to which a profile likelihood is computed

Interval = tuple[float | None, float | None]


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
        return _mapped_table(model, candidate, table, why_not)
    own, intercept = in_units(model)
    coef = _in_columns(model, own, table)[table.used]
    flip = -1.0 if table.binary and table.positive == 0 else 1.0
    spread = column_spreads(table)
    rows = []
    for j in np.argsort(-np.abs(coef) * spread, kind="stable")[:SHOWN].tolist():
        low, high = bounds[j] if bounds else (None, None)
        if flip < 0:
            low, high = (None if end is None else -end for end in (high, low))
        name = table.names[j]
        rows.append(CoefficientRow(name, float(flip * coef[j]), low, high, float(spread[j]), fates.get(name)))
    return CoefficientTable(
        candidate.name,
        min(len(coef), len(own)),
        float(flip * intercept),
        table.labels[table.positive] if table.binary else None,
        "logistic" in candidate.name,
        kind,
        why_not,
        rows,
    )


def _mapped_table(model: Any, candidate: Candidate, table: AuditTable, why_not: str | None) -> CoefficientTable:
    """Coefficients of the columns that a feature map makes of standardised columns."""
    learner, encoder = inner(model), model.encoder_
    coef, flip = np.ravel(learner.coef_), -1.0 if table.binary and table.positive == 0 else 1.0
    assert table.frame is not None  # maps are tried on frames only
    spread = np.asarray(encoder.encode(table.frame)[0].std(axis=0))
    names = encoder.feature_names()
    order = np.argsort(-np.abs(coef) * spread, kind="stable")[:SHOWN].tolist()
    rows = [CoefficientRow(names[j], float(flip * coef[j]), None, None, float(spread[j]), None) for j in order]
    positive = table.labels[table.positive] if table.binary else None
    intercept = float(flip * np.ravel(learner.intercept_)[0])
    log_odds = "logistic" in candidate.name
    return CoefficientTable(candidate.name, len(coef), intercept, positive, log_odds, None, why_not, rows)


def _in_columns(model: Any, coef: Any, table: AuditTable) -> Any:
    """A coefficient for every column of the table; 0 for one that does not occur in the rows the model is from."""
    if len(coef) == table.X.shape[1]:
        return coef
    assert table.encoder is not None  # matrices have the same columns in all rows
    place = {name: j for j, name in enumerate(table.encoder.feature_names())}
    made = np.zeros(table.X.shape[1])
    for name, value in zip(model.encoder_.feature_names(), coef, strict=True):
        if name in place:  # a category may be among the rare ones of the whole table
            made[place[name]] = value
    return made


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


def _intervals(
    table: AuditTable, session: Session, learner: Any, candidate: Candidate
) -> tuple[str | None, list[Interval], str | None]:
    """The kind of interval and the bounds of every coefficient, or the reason why there are none."""
    if not candidate.has_intervals:
        if candidate.safe or not candidate.linear:
            return None, [], "a penalty shrinks the estimates, so standard errors would not cover the true values"
        return None, [], "they are not defined for this learner"
    try:
        if table.regression:
            found = learner.summary(level=session.level)
            return "t intervals", list(zip(found.low.tolist(), found.high.tolist(), strict=True)), None
        if table.cells > 10 * LARGE or session.clock.late(0.85):
            why = "too many rows for this budget"
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
