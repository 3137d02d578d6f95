"""Coefficients in the units of the table, with intervals where a fit has them."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np

from separatrix.auditing.existence import spreads
from separatrix.auditing.learners import Entrant, fitted_on, inner
from separatrix.auditing.study import Study
from separatrix.errors import SeparatrixError
from separatrix.features.columns import NumberColumn, TextColumn
from separatrix.features.in_folds import EncodedLearner

SHOWN = 30
PROFILED = 12  # coefficients up to which intervals come from the profile likelihood
LARGE = 300_000  # cells up to which a likelihood is looked at row by row


def table_of(study: Study, entrant: Entrant, fates: dict[str, str]) -> dict[str, Any] | None:
    """The coefficients of a learner fitted on all rows; those with the largest effect first."""
    with study.clock.stage("intervals"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model, _ = fitted_on(study, entrant, np.arange(study.n))
        except SeparatrixError:
            return None
        learner = inner(model)
        if not hasattr(learner, "coef_") or (
            np.ndim(learner.intercept_) and len(np.atleast_1d(learner.intercept_)) > 1
        ):
            return None
        errors, reason = _intervals(study, learner)
    coef, intercept = in_units(model)
    coef = coef[study.used]
    flip = -1.0 if study.binary and study.positive == 0 else 1.0
    spread = spreads(study)
    effect = np.abs(coef) * spread
    order = np.argsort(-effect, kind="stable")
    rows = []
    for j in order[:SHOWN].tolist():
        low, high = errors["bounds"][j] if errors is not None else (None, None)
        ends = (low, high) if flip > 0 else tuple(None if end is None else -end for end in (high, low))
        rows.append(
            {
                "name": study.names[j],
                "estimate": float(flip * coef[j]),
                "low": ends[0],
                "high": ends[1],
                "effect": float(effect[j]),
                "spread": float(spread[j]),
                "sign": int(np.sign(flip * coef[j])),
                "fate": fates.get(study.names[j]),
            }
        )
    return {
        "learner": entrant.name,
        "of": len(coef),
        "intercept": float(flip * intercept),
        "speaks_for": study.labels[study.positive] if study.binary else None,
        "intervals": None if errors is None else errors["kind"],
        "no_intervals": (reason or _no_intervals(entrant)) if errors is None else None,
        "level": study.level,
        "features": rows,
    }


def in_units(model: Any) -> tuple[Any, float]:
    """w and b for the columns as they are, standardisation undone."""
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


def _no_intervals(entrant: Entrant) -> str:
    if "ridge" in entrant.name:
        return "a penalty shrinks the estimates, so that standard errors would not cover the truth"
    if "perceptron" in entrant.name:
        return "a perceptron has no likelihood"
    return "none are defined for this fit"


def _intervals(study: Study, learner: Any) -> tuple[dict[str, Any] | None, str | None]:
    """Bounds of every coefficient of a likelihood or of least squares; else None, and why if that is known."""
    name = type(learner).__name__
    if name not in ("LogisticRegression", "LeastSquares"):
        return None, None
    try:
        if name == "LeastSquares":
            if learner.alpha:
                return None, None
            from separatrix.inference import summarize

            found = summarize(learner, level=study.level)
            ends = zip(found.lower.tolist(), found.upper.tolist(), strict=True)
            return {"bounds": list(ends), "kind": "t intervals"}, None
        if study.plan.cells > 10 * LARGE:
            why = "too many rows to look at each for its likelihood"
            study.clock.leave_out("intervals of coefficients", why)
            return None, why
        profile = study.plan.d <= PROFILED and study.plan.cells <= LARGE
        told = learner.summary(level=study.level, intervals="profile" if profile else "wald")
        bounds = [(_finite(row.lower), _finite(row.upper)) for row in told.coefficients]
        return {"bounds": bounds, "kind": "profile likelihood" if profile else "Wald"}, None
    except SeparatrixError as error:
        why = _in_names(study, str(error).removeprefix("there is no summary: ").rstrip("."))
        study.clock.leave_out("intervals of coefficients", why)
        return None, why


def _in_names(study: Study, text: str) -> str:
    """A sentence about columns by number, by their names."""
    names = study.names
    return re.sub(r"\bx(\d+)\b", lambda m: names[int(m[1])] if int(m[1]) < len(names) else m[0], text)[:200]


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
