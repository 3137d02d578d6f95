"""Tests of linear hypotheses R (w, b) = r about least-squares coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import InferenceError, ParameterError
from separatrix.models.least_squares.covariance import Covariance, coefficient_covariance
from separatrix.statistics.after_fit import quadratic_form

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares


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
    clusters: Any = None,
) -> HypothesisTest:
    """Test R (w, b) = value.

    Parameters
    ----------
    R : rows of d numbers (for w) or d + 1 (for w and b); or names of columns, whose weights are tested together
    value : the right side, one number, or one per row
    X, y, sample_weight, covariance, groups, lags : as in :func:`summarize`
    """
    found = coefficient_covariance(
        model, X, y, sample_weight=sample_weight, kind=covariance, groups=groups, lags=lags, clusters=clusters
    )
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
