"""The summary of a logistic fit: estimates with their errors, tests and intervals, and the fit as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.errors import InferenceError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.logistic.fitted_facts import FittedFacts
from separatrix.models.logistic.grouped import GroupedOutcomes
from separatrix.models.logistic.likelihood import FittedLikelihood
from separatrix.models.logistic.profile import FirthProfiles, profile_interval, profile_of
from separatrix.statistics.distributions import chi2_tail, need_level, quantile, two_sided
from separatrix.statistics.sandwich import cluster_codes, clustered_note
from separatrix.statistics.summary import ResultTable, Summary, listed

FIRTH = "tests and likelihood ratios are of Firth's penalised likelihood"
FLIC = "; the interval and test of the intercept, which FLIC moved, are Wald's"
FLAC = "tests and likelihood ratios are of the rows with the pseudo-rows of FLAC"
LIMIT = "no finite maximum exists: estimates, likelihoods and intervals are their limits"
STORED = "Wald intervals: profile intervals need the rows of the fit, which a stored model does not have"
MARKS = {"+inf": "infinite", "-inf": "infinite", "undetermined": "undetermined"}
KINDS = ("model", "HC0", "HC1", "HC2", "HC3", "cluster", "HAC")


@dataclass(frozen=True, kw_only=True, repr=False)
class LogisticSummary(Summary):
    """A summary with likelihoods; ``lr_statistic``, ``lr_df`` and ``lr_p`` test all slopes together."""

    method: str
    intercepts: tuple[str, ...]
    null_loglik: float
    lr_statistic: float
    lr_df: int
    lr_p: float
    mcfadden: float

    def _facts(self) -> list[str]:
        p = "< 0.0001" if self.lr_p < 1e-4 else f"= {self.lr_p:.4f}"
        return [
            f"{self.n:g} rows, log-likelihood {self.loglik:.6g} (null {self.null_loglik:.6g}), McFadden R² "
            f"{self.mcfadden:.4f}",
            f"AIC {self.aic:.6g}, BIC {self.bic:.6g}"
            + (f", likelihood ratio {self.lr_statistic:.6g} on {self.lr_df} df, p {p}" if self.lr_df else ""),
            f"{'Wald' if self.intervals == 'wald' else self.intervals} intervals, {self.covariance_kind} covariance",
        ]

    def odds_ratios(self) -> ResultTable:
        """exp(coef) with its interval; intercepts are left out, since their odds are no ratio."""
        rows = [row for row in self.coefficients if row.name not in self.intercepts]
        columns = {
            "odds_ratio": np.array([row.odds_ratio for row in rows]),
            "low": np.array([row.odds_low for row in rows]),
            "high": np.array([row.odds_high for row in rows]),
            "p": np.array([row.p for row in rows]),
        }
        share = f"{100 * self.level:g}%"
        labels = {"odds_ratio": "odds ratio", "low": f"{share} low", "high": f"{share} high"}
        names = tuple(row.name for row in rows)
        return ResultTable("Odds ratios", names, columns, (self.outcome,), self._foot()[2:], labels, self.marks)


def summarise(
    facts: FittedFacts,
    fitted: FittedLikelihood | None,
    method: str,
    *,
    level: float,
    intervals: str,
    covariance: str,
    groups: Any,
    lags: int | None,
    frequencies: bool,
    n_dropped: int = 0,
    grouped: GroupedOutcomes | None = None,
    notes: tuple[str, ...] = (),
) -> tuple[LogisticSummary, FittedFacts]:
    """See :meth:`separatrix.LogisticRegression.summary`; with the facts, to which a profile may have been added."""
    chosen = _check_options(facts, fitted, method, level, intervals, covariance, groups)
    V = facts.covariance
    if covariance != "model":
        assert fitted is not None  # as the options were checked
        shown = fitted.shown
        V = fitted.sandwich(covariance, groups, lags, frequencies, grouped)[np.ix_(shown, shown)]
    if covariance == "cluster":
        notes = (clustered_note(int(cluster_codes(groups, len(groups), None).max()) + 1), *notes)
    fates = ("finite",) * len(facts.estimate) if fitted is None or fitted.fates is None else fitted.fates
    apart = np.array([fate != "finite" for fate in fates])
    errors = np.where(apart, np.nan, np.sqrt(np.diagonal(V)))
    limits = {"+inf": math.inf, "-inf": -math.inf, "undetermined": math.nan}
    coef = np.array([limits.get(fate, b) for fate, b in zip(fates, facts.estimate, strict=True)])
    if chosen == "profile":
        facts = _with_profile(facts, fitted, float(level), "FLIC" in method)
        assert facts.profile is not None
        stat, p, low, high = facts.profile
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            stat = coef / errors
        p, half = two_sided(stat, math.inf), quantile(level, math.inf) * errors
        low, high = coef - half, coef + half
    marks = {name: "aliased" for name, gone in zip(facts.names, facts.aliased, strict=True) if gone}
    kept = [name for name, gone in zip(facts.names, facts.aliased, strict=True) if not gone]
    marks |= {name: MARKS[fate] for name, fate in zip(kept, fates, strict=True) if fate in MARKS}
    k = len(facts.estimate)
    slopes = k - facts.df_null
    ratio = 2.0 * (facts.maximum - facts.null_maximum) if slopes else 0.0
    whole, lifted = facts.whole, facts.df_null > 0 and not facts.own_constant
    intercepts = (
        facts.names[len(facts.names) // facts.df_null - 1 :: len(facts.names) // facts.df_null] if lifted else ()
    )
    matrix = np.full((len(facts.names),) * 2, np.nan)
    matrix[np.ix_(~facts.aliased, ~facts.aliased)] = V
    summary = LogisticSummary(
        title=f"Logistic regression by {method}",
        outcome=facts.outcome,
        names=facts.names,
        has_intercept=bool(intercepts),
        coef=whole(coef),
        std_err=whole(errors),
        stat=whole(stat),
        stat_name="chi²" if chosen == "profile" else "z",
        p=whole(p),
        low=whole(low),
        high=whole(high),
        marks=marks,
        level=float(level),
        intervals=chosen,
        covariance=matrix if marks and facts.aliased.any() else V,
        covariance_kind=covariance,
        n=facts.n,
        df_model=slopes,
        df_resid=facts.n - k,
        loglik=facts.loglik,
        aic=2.0 * k - 2.0 * facts.loglik,
        bic=k * math.log(facts.n) - 2.0 * facts.loglik,
        n_dropped=n_dropped,
        notes=(*_notes(facts, fitted, method, intervals, chosen), *notes),
        method=method,
        intercepts=intercepts,
        null_loglik=facts.null_loglik,
        lr_statistic=ratio,
        lr_df=slopes,
        lr_p=chi2_tail(ratio, slopes),
        mcfadden=_mcfadden(facts),
    )
    return summary, facts


def _mcfadden(facts: FittedFacts) -> float:
    null = facts.null_loglik - facts.constant
    return 1.0 - (facts.loglik - facts.constant) / null if null else math.nan


def _notes(
    facts: FittedFacts, fitted: FittedLikelihood | None, method: str, asked: str, chosen: str
) -> tuple[str, ...]:
    notes = list[str]()
    if "FLAC" in method:
        notes.append(FLAC)
    elif facts.penalised and chosen == "profile":
        notes.append(FIRTH + (FLIC if "FLIC" in method else ""))
    elif facts.penalised:
        notes.append("Wald tests after Firth's fit; the likelihood ratio is of the penalised likelihood")
    if fitted is not None and fitted.fates is not None:
        notes.append(LIMIT)
    if _profiled(facts, method) and asked == "auto" and chosen == "wald" and fitted is None:
        notes.append(STORED)
    if facts.higher:
        notes.append(
            f"a profile reached a penalised likelihood {facts.higher:.3g} above the fit's: the fit is at a local "
            "maximum, and tests and intervals are about it"
        )
    if facts.own_constant:
        notes.append("the columns contain a constant: the null model has an intercept alone")
    if facts.aliased.any():
        gone = [name for name, own in zip(facts.names, facts.aliased, strict=True) if own]
        notes.append(f"aliased: linear combinations of the other columns, left out ({listed(gone)})")
    return tuple(notes)


def _profiled(facts: FittedFacts, method: str) -> bool:
    """Whether intervals are profiles unless others are asked for."""
    return facts.penalised or "FLAC" in method


def _with_profile(
    facts: FittedFacts, fitted: FittedLikelihood | None, level: float, corrected: bool = False
) -> FittedFacts:
    """The facts with the profile of every coefficient at this level."""
    if facts.profile is not None and facts.profile_level == level:
        return facts
    assert fitted is not None  # as the options were checked
    z = quantile(level, math.inf)
    with one_blas_thread():
        lines = _firth_profiles(fitted, z) if FirthProfiles.suit(fitted) else _profiles(fitted, z)
    if corrected:  # the intercept is no part of Firth's maximum any more
        k, free = len(lines), len(fitted.estimate)
        for j in range(k // free - 1, k, k // free):
            b, error = float(facts.estimate[j]), math.sqrt(float(facts.covariance[j, j]))
            lines[j] = ((b / error) ** 2, b - z * error, b + z * error)
    higher = max([0.0, *(-0.5 * line[0] for line in lines if not math.isnan(line[0]))])
    whole = [(max(0.0, stat), chi2_tail(stat, 1), low, high) for stat, low, high in lines]
    facts = replace(facts, higher=higher if higher > 1e-6 else 0.0)
    return replace(facts, profile=np.array(whole, dtype=np.float64).reshape(-1, 4).T.copy(), profile_level=level)


def _profiles(fitted: FittedLikelihood, z: float) -> list[tuple[float, float, float]]:
    """Twice the fall of the likelihood at zero, and the ends of the interval, of each coefficient."""
    lines = list[tuple[float, float, float]]()
    errors = np.sqrt(np.diagonal(fitted.covariance))
    for j in fitted.shown.tolist():
        low, high = profile_interval(fitted, j, z, float(errors[j]))
        known = fitted.fates is None or fitted.fates[j] != "undetermined"
        stat = 2.0 * (fitted.maximum - profile_of(fitted, j)(0.0)) if known else math.nan
        lines.append((stat, low, high))
    return lines


def _firth_profiles(fitted: FittedLikelihood, z: float) -> list[tuple[float, float, float]]:
    """The same by exact second derivatives; where these do not lead to the end, by the slower search."""
    profiles, lines = FirthProfiles(fitted), list[tuple[float, float, float]]()
    errors = np.sqrt(np.diagonal(fitted.covariance))
    for j, error in enumerate(errors):
        low, high = (profiles.end(j, side, z) for side in (-1.0, 1.0))
        if low is None or high is None:
            low, high = profile_interval(fitted, j, z, float(error))
        value = profiles.value(j, 0.0)
        if value is None:
            value = profile_of(fitted, j)(0.0)
        lines.append((2.0 * (profiles.maximum - value), low, high))
    return lines


def _check_options(
    facts: FittedFacts,
    fitted: FittedLikelihood | None,
    method: str,
    level: Any,
    intervals: Any,
    covariance: Any,
    groups: Any,
) -> str:
    """The kind of interval, once all options fit together."""
    need_level(level)
    if intervals not in ("auto", "wald", "profile"):
        raise ParameterError(f"intervals is {intervals!r}: it can be 'auto', 'wald' or 'profile'.")
    if covariance not in KINDS:
        raise ParameterError(f"covariance is {covariance!r}: it can be {', '.join(map(repr, KINDS))}.")
    if (covariance == "cluster") != (groups is not None):
        raise ParameterError("covariance='cluster' and groups go together: pass one group a row.")
    if intervals == "profile" and covariance != "model":
        raise ParameterError("profile intervals have no covariance of their own: leave it at 'model', or use 'wald'.")
    apart = fitted is not None and fitted.fates is not None
    if apart and (intervals == "wald" or covariance != "model"):
        raise InferenceError("estimates that are infinite have no standard errors: ask for intervals='profile'.")
    if covariance != "model":
        if fitted is None:
            raise InferenceError(f"covariance={covariance!r} needs the rows of the fit: fit again.")
        return "wald"
    stored = facts.profile is not None and facts.profile_level == level
    if intervals == "profile" and fitted is None and not stored:
        raise InferenceError("profile intervals need the rows of the fit: ask for intervals='wald', or fit again.")
    if intervals != "auto":
        return str(intervals)
    return "profile" if apart or (_profiled(facts, method) and (fitted is not None or stored)) else "wald"
