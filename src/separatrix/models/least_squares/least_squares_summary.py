"""The summary of a least-squares fit: coefficients, their uncertainty, tests of R (w, b) = r, and how well it fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.arrays import Floats
from separatrix.errors import InferenceError, ParameterError
from separatrix.models.least_squares.aliased import has_aliased, without_aliased
from separatrix.models.least_squares.covariance import Covariance, coefficient_covariance, need_inference
from separatrix.statistics.after_fit import quadratic_form
from separatrix.statistics.distributions import f_tail, need_level, quantile, two_sided
from separatrix.statistics.sandwich import clustered_note
from separatrix.statistics.summary import Summary, listed
from separatrix.validation import distinct_names

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares

OFFSET = "with an offset: R² and F are of y minus the offset"


@dataclass(frozen=True, kw_only=True, repr=False)
class LeastSquaresSummary(Summary):
    """A summary with R², the F test of all slopes and the residual variance ``sigma2``.

    ``loglik`` is that of normal noise; AIC and BIC count its variance as a parameter, as R does.
    """

    rank: int
    df_test: float
    sigma2: float
    r_squared: float
    adjusted_r_squared: float
    f_test: HypothesisTest | None
    condition: float
    solver: str

    @property
    def freedom(self) -> float:
        """Degrees of freedom of its t tests: rows less rank, or clusters less one."""
        return self.df_test

    def _facts(self) -> list[str]:
        lines = [
            f"{self.n:g} rows, rank {self.rank}, {self.covariance_kind} covariance on {self.freedom:g} degrees of "
            "freedom",
            f"residual standard deviation {np.sqrt(self.sigma2):.6g}, R² {self.r_squared:.6g}, "
            f"adjusted R² {self.adjusted_r_squared:.6g}",
            f"log-likelihood {self.loglik:.6g}, AIC {self.aic:.6g}, BIC {self.bic:.6g}",
            f"solved by {self.solver}, condition {self.condition:.3g}",
        ]
        if self.f_test is not None:
            lines.insert(2, f"all slopes zero: {self.f_test}")
        return lines


def summarise(
    model: LeastSquares,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    level: float = 0.95,
    covariance: str = "model",
    groups: Any = None,
    lags: int | None = None,
) -> LeastSquaresSummary:
    """Coefficients with standard errors, t, p and intervals; σ̂², R², adjusted R², F, log-likelihood, AIC and BIC.

    Parameters
    ----------
    model : a fitted, unpenalised LeastSquares
    X, y, sample_weight : the rows of the fit again; a fitted model keeps them by reference, and only one from a
        file, a pickle or ``partial_fit`` needs them, for every covariance but the model's
    level : of the intervals, which are b -/+ t s on n - rank degrees of freedom (clusters: their number - 1)
    covariance : {"model", "HC0", "HC1", "HC2", "HC3", "cluster", "HAC"}
        See :mod:`separatrix.models.least_squares.covariance`.
    groups : labels, one per row, for covariance="cluster"
    lags : for covariance="HAC"; by default 4 (n/100)^(2/9)

    A column that is a linear combination of the intercept and columns before it is marked "aliased", and the others are
    those of the model without it, as in R. With ``fit_intercept=False`` and a constant among the columns, R² and F
    compare with the mean, and a note says so.
    """
    need_level(level)
    model._check_fitted()
    names = [*getattr(model, "feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])]
    lift = bool(model.fit_intercept)
    names = distinct_names([*names, "intercept"] if lift else names)
    aliased = np.zeros(len(names), dtype=bool)
    dropped = int(getattr(model, "n_dropped_", 0))
    said: tuple[str, ...] = ((OFFSET,) if getattr(model, "with_offset_", False) else ()) + model._reference_note()
    if has_aliased(model):
        model, gone = without_aliased(model, X, y, sample_weight)
        aliased[: len(gone)] = gone
        X = y = sample_weight = None
    options = {"kind": covariance, "groups": groups, "lags": lags}
    found = coefficient_covariance(model, X, y, sample_weight=sample_weight, **options)
    if covariance == "cluster":
        said = (clustered_note(int(found.freedom) + 1), *said)
    beta = np.append(model.coef_, model.intercept_) if lift else model.coef_
    errors = np.sqrt(np.diagonal(found.matrix))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = beta / errors
    half = quantile(level, found.freedom) * errors
    factor = need_inference(model)
    constant = lift or factor.centred is not None
    spread = factor.spread if factor.centred is None else factor.centred
    slopes, left = model.rank_ - int(constant), model.n_rows_ - model.rank_
    explained = 1 - model.rss_ / spread if spread > 0 else math.nan
    n, rss = model.n_rows_, model.rss_
    loglik = 0.5 * (factor.log_weight - n * (math.log(2 * math.pi * rss / n) + 1)) if rss > 0 else math.inf
    if factor.centred is None or covariance == "model":
        test = _all_slopes(model, covariance, found, beta, spread, slopes) if slopes else None
    else:
        test = None  # the robust test of slopes needs to know which columns are the constant
    return LeastSquaresSummary(
        title="Least squares",
        outcome="",
        names=tuple(names),
        has_intercept=lift,
        coef=_whole(beta, aliased),
        std_err=_whole(errors, aliased),
        stat=_whole(t, aliased),
        stat_name="t",
        p=_whole(two_sided(t, found.freedom), aliased),
        low=_whole(beta - half, aliased),
        high=_whole(beta + half, aliased),
        marks={name: "aliased" for name, own in zip(names, aliased, strict=True) if own},
        level=float(level),
        intervals="wald",
        covariance=_whole_matrix(found.matrix, aliased),
        covariance_kind=covariance,
        n=n,
        df_model=slopes,
        df_resid=left,
        loglik=loglik,
        aic=2.0 * (model.rank_ + 1) - 2.0 * loglik,
        bic=math.log(n) * (model.rank_ + 1) - 2.0 * loglik,
        n_dropped=dropped,
        notes=(*_notes(found.note, factor.centred is not None, names, aliased), *said),
        rank=model.rank_,
        df_test=float(found.freedom),
        sigma2=model.sigma2_,
        r_squared=explained,
        adjusted_r_squared=1 - (1 - explained) * (n - int(constant)) / left,
        f_test=test,
        condition=model.condition_,
        solver=model.solver_,
    )


def _notes(digits: str | None, own_constant: bool, names: list[str], aliased: NDArray[np.bool_]) -> tuple[str, ...]:
    notes = [digits] if digits else []
    if own_constant:
        notes.append("the columns contain a constant: R² and F compare with the mean of y")
    if aliased.any():
        gone = [name for name, own in zip(names, aliased, strict=True) if own]
        notes.append(f"aliased: linear combinations of the other columns, left out ({listed(gone)})")
    return tuple(notes)


def _whole(values: Floats, aliased: NDArray[np.bool_]) -> Floats:
    out = np.full(len(aliased), np.nan)
    out[~aliased] = values
    return out


def _whole_matrix(matrix: Floats, aliased: NDArray[np.bool_]) -> Floats:
    out = np.full((len(aliased), len(aliased)), np.nan)
    out[np.ix_(~aliased, ~aliased)] = matrix
    return out


def _all_slopes(
    model: LeastSquares, kind: str, found: Any, beta: Floats, spread: float, slopes: int
) -> HypothesisTest | None:
    """The F test that all slopes are zero: by sums of squares, or by the robust covariance."""
    if kind != "model":
        try:
            return wald(beta, np.eye(len(beta))[: len(model.coef_)], np.zeros(len(model.coef_)), found)
        except InferenceError:  # a singular covariance: fewer groups than slopes, or a column that one row holds alone
            return None
    if model.sigma2_ == 0:
        return None
    statistic = (spread - model.rss_) / slopes / model.sigma2_
    return HypothesisTest(
        statistic, (float(slopes), float(found.freedom)), f_tail(statistic, slopes, float(found.freedom))
    )


# -- linear hypotheses --


@dataclass(frozen=True, slots=True)
class HypothesisTest:
    """An F test: the statistic, its degrees of freedom, and the probability of a larger one."""

    statistic: float
    freedom: tuple[float, float]
    p_value: float

    def __str__(self) -> str:
        return f"F({self.freedom[0]:g}, {self.freedom[1]:g}) = {self.statistic:.6g}, p = {self.p_value:.4g}"

    def to_dict(self) -> dict[str, Any]:
        return {"statistic": self.statistic, "freedom": list(self.freedom), "p_value": self.p_value}


def wald(beta: Floats, R: Floats, value: Floats, covariance: Covariance) -> HypothesisTest:
    """F = (R b - r)' (R V R')^-1 (R b - r)/q on q and the covariance's degrees of freedom (Wald 1943)."""
    from scipy.special import fdtrc

    away = R @ beta - value
    spread = R @ covariance.matrix @ R.T
    scale = np.sqrt(np.diagonal(spread))
    if np.linalg.matrix_rank(R) < len(R) or not scale.all():
        raise InferenceError("the rows of R are linearly dependent, or zero: give each restriction once.")
    inner = quadratic_form(away / scale, spread / scale / scale[:, None])
    statistic = inner / len(R)
    return HypothesisTest(
        statistic, (float(len(R)), covariance.freedom), float(fdtrc(len(R), covariance.freedom, statistic))
    )


def linear_hypothesis(
    model: LeastSquares,
    R: ArrayLike | Sequence[str],
    value: ArrayLike = 0.0,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    covariance: str = "model",
    groups: Any = None,
    lags: int | None = None,
) -> HypothesisTest:
    """Test R (w, b) = value.

    Parameters
    ----------
    R : rows of d numbers (for w) or d + 1 (for w and b); or names of columns, whose weights are tested together
    value : the right side, one number, or one per row
    X, y, sample_weight, covariance, groups, lags : as in :func:`summarise`
    """
    found = coefficient_covariance(model, X, y, sample_weight=sample_weight, kind=covariance, groups=groups, lags=lags)
    beta = np.append(model.coef_, model.intercept_) if model.fit_intercept else model.coef_
    rows = _restrictions(model, R)
    if rows.shape[1] == len(model.coef_) < len(beta):
        rows = np.column_stack([rows, np.zeros(len(rows))])
    if rows.shape[1] != len(beta) or not len(rows):
        raise ParameterError(f"R has {rows.shape[1]} columns and needs {len(model.coef_)}, or {len(beta)} with b.")
    right = np.broadcast_to(np.asarray(value, dtype=np.float64), (len(rows),))
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        raise ParameterError("R and value must be finite.")
    return wald(beta, rows, right, found)


def _restrictions(model: LeastSquares, R: Any) -> Floats:
    if isinstance(R, str):
        R = [R]
    if isinstance(R, (list, tuple)) and R and all(isinstance(name, str) for name in R):
        names = list(getattr(model, "feature_names_in_", []))
        for name in R:
            if name not in names:
                raise ParameterError(
                    f"R names {name!r}, which is not a column of the fit ({names or 'without names'})."
                )
        return np.eye(len(names))[[names.index(name) for name in R]]
    return np.atleast_2d(np.asarray(R, dtype=np.float64))
