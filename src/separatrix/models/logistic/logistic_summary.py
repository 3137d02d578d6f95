"""The summary of a logistic fit: estimates with their errors, tests and intervals, and the fit as a whole."""

from __future__ import annotations

import html
import math
from dataclasses import asdict, dataclass, fields
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, InferenceError, ParameterError
from separatrix.models.logistic.likelihood import FittedLikelihood
from separatrix.models.logistic.profile import profile_interval, profile_of
from separatrix.validation import check_labels, check_lengths

FIRTH = "likelihood ratios are of Firth's penalised likelihood"
LIMIT = "no finite maximum exists: estimates, likelihoods and intervals are their limits"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One estimate: error, z and p by Wald; the interval by Wald or profile; p_lr by the likelihood ratio."""

    name: str
    estimate: float
    error: float
    z: float
    p: float
    lower: float
    upper: float
    odds_ratio: float
    odds_lower: float
    odds_upper: float
    p_lr: float | None = None


@dataclass(frozen=True)
class LogisticSummary:
    """Coefficients and the quality of the fit; ``str`` is a table, ``to_dict`` and ``to_frame`` are for programs."""

    method: str
    outcome: str
    coefficients: tuple[Coefficient, ...]
    covariance: Floats
    covariance_kind: str
    interval_kind: str
    level: float
    n: float
    loglik: float
    null_loglik: float
    lr_statistic: float
    lr_df: int
    lr_p: float
    aic: float
    bic: float
    mcfadden: float
    note: str = ""

    def __getitem__(self, name: str) -> Coefficient:
        for row in self.coefficients:
            if row.name == name:
                return row
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text."""
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        out["coefficients"] = [asdict(row) for row in self.coefficients]
        return {**out, "covariance": self.covariance.tolist()}

    def to_frame(self) -> Any:
        """The coefficients as a pandas frame."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.coefficients]).set_index("name")

    def __str__(self) -> str:
        width = max([11, *(len(row.name) for row in self.coefficients)])
        share = f"{100 * self.level:g} % interval"
        test = "p" if self.interval_kind == "wald" else "p (LR)"
        head = f"{'coefficient':<{width}} {'estimate':>10} {'error':>9} {'z':>8} {test:>8}   "
        head += f"{share:^21} {'odds ratio':>10}"
        lines = [f"Logistic regression by {self.method}", f"{self.outcome}", head, "─" * len(head)]
        for row in self.coefficients:
            p = row.p if row.p_lr is None else row.p_lr
            interval = f"({_number(row.lower)}, {_number(row.upper)})"
            lines.append(
                f"{row.name:<{width}} {_number(row.estimate):>10} {_number(row.error):>9} {_three(row.z):>8} "
                f"{_p(p):>8}   {interval:^21} {_number(row.odds_ratio):>10}"
            )
        lines += [
            "─" * len(head),
            f"{self.n:g} rows · log-likelihood {self.loglik:.6g} (null {self.null_loglik:.6g}) · McFadden R² "
            f"{self.mcfadden:.4f} · AIC {self.aic:.6g} · BIC {self.bic:.6g}",
            f"likelihood ratio {self.lr_statistic:.6g} on {self.lr_df} df, p {_compared(self.lr_p)} · "
            f"{self.interval_kind} intervals · {self.covariance_kind} covariance",
        ]
        return "\n".join([*lines, self.note] if self.note else lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _number(v: float) -> str:
    if math.isnan(v):
        return "–"
    return ("∞" if v > 0 else "−∞") if math.isinf(v) else f"{v:.5g}"


def _three(v: float) -> str:
    return "–" if math.isnan(v) else f"{v:.3f}"


def _compared(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.4f}"


def _p(p: float) -> str:
    return "–" if math.isnan(p) else "<1e-4" if p < 1e-4 else f"{p:.4f}"


def normal_tails(z: float) -> float:
    """P(|Z| > |z|)"""
    return math.erfc(abs(z) / math.sqrt(2.0))


def chi2_tail(x: float, df: int) -> float:
    """P(chi2_df > x)"""
    if df == 0:
        return 1.0
    if df == 1:
        return math.erfc(math.sqrt(max(x, 0.0) / 2.0))
    from scipy.special import chdtrc

    return float(chdtrc(df, max(x, 0.0)))


def summarise(
    fitted: FittedLikelihood,
    names: list[str],
    method: str,
    outcome: str,
    *,
    level: float,
    intervals: str,
    covariance: str,
    groups: Any,
    frequencies: bool,
) -> LogisticSummary:
    """See :meth:`separatrix.LogisticRegression.summary`."""
    by = _check_options(fitted, level, intervals, covariance, groups)
    V = fitted.covariance if covariance == "model" else fitted.robust(by, frequencies)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    fates = fitted.fates or ("finite",) * len(names)
    rows = []
    for j, (name, b, e) in enumerate(zip(names, fitted.estimate.reshape(-1), np.sqrt(np.diagonal(V)), strict=True)):
        low, high, p_lr = b - z * e, b + z * e, None
        if intervals == "profile":
            low, high = profile_interval(fitted, j, z, float(e))
            known = fates[j] != "undetermined"
            p_lr = chi2_tail(2.0 * (fitted.maximum - profile_of(fitted, j)(0.0)), 1) if known else math.nan
        at, error = float(b), float(e)
        if fates[j] != "finite":
            at, error = {"+inf": math.inf, "-inf": -math.inf}.get(fates[j], math.nan), math.nan
        rows.append(_coefficient(name, at, error, float(low), float(high), p_lr))
    k, n = fitted.estimate.size, float(fitted.counts.sum())
    slopes = k - (fitted.problem.classes - 1) * int(fitted.problem.lift)
    whole = fitted.maximum if fitted.penalised else fitted.loglik
    ratio = 2.0 * (whole - (fitted.null_penalised if fitted.penalised else fitted.null_loglik))
    return LogisticSummary(
        method,
        outcome,
        tuple(rows),
        V,
        covariance,
        intervals,
        float(level),
        n,
        fitted.loglik,
        fitted.null_loglik,
        ratio,
        slopes,
        chi2_tail(ratio, slopes),
        2.0 * k - 2.0 * fitted.loglik,
        k * math.log(n) - 2.0 * fitted.loglik,
        1.0 - fitted.loglik / fitted.null_loglik,
        FIRTH if fitted.penalised else "" if fitted.fates is None else LIMIT,
    )


def _check_options(
    fitted: FittedLikelihood, level: Any, intervals: Any, covariance: Any, groups: Any
) -> NDArray[np.intp] | None:
    """The groups by number, once all options fit together."""
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise ParameterError(f"level is {level!r}: it must lie between 0 and 1.")
    if intervals not in ("wald", "profile"):
        raise ParameterError(f"intervals is {intervals!r}: it can be 'wald' or 'profile'.")
    if covariance not in ("model", "robust", "cluster"):
        raise ParameterError(f"covariance is {covariance!r}: it can be 'model', 'robust' or 'cluster'.")
    if (covariance == "cluster") != (groups is not None):
        raise ParameterError("covariance='cluster' and groups go together: pass one group a row.")
    if intervals == "profile" and covariance != "model":
        raise ParameterError("profile intervals have no covariance of their own: leave it at 'model', or use 'wald'.")
    if fitted.fates is not None and intervals != "profile":
        raise InferenceError("estimates that are infinite have no standard errors: ask for intervals='profile'.")
    if groups is None:
        return None
    by = np.asarray(check_labels(groups, what="groups", ids=True).codes, dtype=np.intp)
    check_lengths(fitted.problem.n, len(by), "groups")
    if by.max() < 1:
        raise DataError("groups has one group only: a clustered covariance needs at least two.")
    return by


def _coefficient(name: str, b: float, e: float, low: float, high: float, p_lr: float | None) -> Coefficient:
    def odds(v: float) -> float:
        return math.inf if v >= 709 else math.exp(v)

    z = b / e if math.isfinite(b) else math.nan
    return Coefficient(name, b, e, z, normal_tails(z), low, high, odds(b), odds(low), odds(high), p_lr)
