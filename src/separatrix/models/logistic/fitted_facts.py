"""What is said about a logistic fit without its rows: estimates, covariance, likelihoods; small enough for a file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.grouped import GroupedOutcomes
from separatrix.models.logistic.likelihood import FittedLikelihood

ARRAYS = {"estimate": 1, "covariance": 2, "profile": 2}
PROFILE = ("stat", "p", "low", "high")  # the lines of a stored profile
MOST_WORK = 2**31  # operations up to which a covariance is made for the sake of a copy


@dataclass(frozen=True)
class FittedFacts:
    """``estimate`` and ``covariance`` are of the coefficients that are not aliased, in the order of ``names``.

    ``maximum`` and ``null_maximum`` are what the likelihood ratio compares: penalised ones after Firth's fit.
    ``constant`` is the part of the log-likelihoods that no parameter changes: log binomial coefficients of counts.
    ``profile`` has the lines stat, p, low, high of profile intervals at ``profile_level``, where they are known, and
    ``higher`` is by how much a profile exceeded the maximum: the fit is then at a local one.
    """

    names: tuple[str, ...]
    aliased: NDArray[np.bool_]
    estimate: Floats
    covariance: Floats
    outcome: str
    n: float
    df_null: int
    loglik: float
    null_loglik: float
    maximum: float
    null_maximum: float
    penalised: bool
    own_constant: bool
    constant: float = 0.0
    profile: Floats | None = None
    profile_level: float | None = None
    higher: float = 0.0

    @staticmethod
    def of(
        fitted: FittedLikelihood,
        rows: FittedLikelihood,
        names: tuple[str, ...],
        aliased: NDArray[np.bool_],
        outcome: str,
        grouped: GroupedOutcomes | None,
    ) -> FittedFacts:
        """From the likelihood that was maximised, and that of the rows alone, which has no pseudo-rows."""
        problem, shown = fitted.problem, fitted.shown
        lifted = bool(problem.lift or fitted.own_constant)
        constant = 0.0 if grouped is None else grouped.constant
        total = float(rows.counts.sum())
        total = float(round(total)) if abs(total - round(total)) < 1e-9 * total else total  # of scaled weights
        return FittedFacts(
            names,
            aliased,
            fitted.estimate.reshape(-1)[shown],
            fitted.covariance[np.ix_(shown, shown)],
            outcome,
            total if grouped is None else float(grouped.n),
            (problem.classes - 1) * int(lifted),
            rows.loglik + constant,
            rows.null_loglik + constant,
            fitted.maximum,
            fitted.null_maximum,
            fitted.penalised,
            fitted.own_constant,
            constant,
        )

    def whole(self, values: Floats) -> Floats:
        """Numbers of the estimated coefficients among all, NaN for aliased ones."""
        out = np.full(len(self.names), np.nan)
        out[~self.aliased] = values
        return out

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a model file."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        plain["aliased"] = np.flatnonzero(self.aliased).tolist()
        return {name: value for name, value in plain.items() if value is not None}

    @staticmethod
    def from_dict(kept: dict[str, Any]) -> FittedFacts:
        """Back from plain values; ValueError for what does not fit."""
        names, places = kept["names"], kept["aliased"]
        if not (isinstance(names, tuple) and all(isinstance(name, str) for name in names)):
            raise ValueError("the names of coefficients are not text")
        if not (isinstance(places, list) and all(type(j) is int and 0 <= j < len(names) for j in places)):
            raise ValueError("aliased coefficients are not positions")
        aliased = np.isin(np.arange(len(names)), places)
        facts = FittedFacts(**{**kept, "aliased": aliased})
        m = int((~aliased).sum())
        shapes = {"estimate": (m,), "covariance": (m, m), "profile": (len(PROFILE), m)}
        for name, shape in shapes.items():
            array = getattr(facts, name)
            if array is None and name == "profile":
                continue
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} has another type or shape")
        numbers = ("constant", "n", "loglik", "null_loglik", "maximum", "null_maximum", "higher")
        if not all(isinstance(getattr(facts, name), (int, float)) for name in numbers):
            raise ValueError("a likelihood is not a number")
        if not (isinstance(facts.df_null, int) and isinstance(facts.outcome, str)):
            raise ValueError("its outcome is not text")
        if not (isinstance(facts.penalised, bool) and isinstance(facts.own_constant, bool)):
            raise ValueError("a flag is not True or False")
        if (facts.profile is None) != (facts.profile_level is None) or not isinstance(
            facts.profile_level, (float, type(None))
        ):
            raise ValueError("a profile has no level")
        return facts
