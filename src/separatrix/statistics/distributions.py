"""Tail probabilities and quantiles of the distributions that tests use, and Wilson's interval of a share.

scipy is imported where the standard library is not enough.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import ParameterError


def need_level(level: Any) -> float:
    """The level of an interval: strictly between 0 and 1, and not so close to 1 that its quantile is infinite."""
    real = isinstance(level, (int, float, np.number)) and not isinstance(level, bool)
    if not real or not 0 < level < (1 + level) / 2 < 1:
        raise ParameterError(f"level is {level!r}: it must lie strictly between 0 and 1, for example 0.95.")
    return float(level)


def chi2_tail(x: float, df: float) -> float:
    """P(chi2_df > x); nan where there is nothing to test."""
    if df == 0 or math.isnan(x):
        return math.nan
    if df == 1:  # without scipy, which summaries of one coefficient then do not load
        return math.erfc(math.sqrt(max(x, 0.0) / 2.0))
    from scipy.special import chdtrc

    return float(chdtrc(df, max(x, 0.0)))


def f_tail(x: float, df: float, left: float) -> float:
    """P(F_df,left > x)"""
    from scipy.special import fdtrc

    return float(fdtrc(df, left, x))


def two_sided(stat: Floats, freedom: float) -> Floats:
    """P(|T| > |stat|) for Student's t on ``freedom`` degrees of freedom, or the normal for infinitely many."""
    if math.isinf(freedom):
        from scipy.special import ndtr

        return np.asarray(2.0 * ndtr(-np.abs(stat)))
    from scipy.special import stdtr

    return np.asarray(2.0 * stdtr(freedom, -np.abs(stat)))


def quantile(level: float, freedom: float = math.inf) -> float:
    """The half-width, in standard errors, of a two-sided interval."""
    if math.isinf(freedom):
        return NormalDist().inv_cdf(0.5 + level / 2)
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2))


def tested(
    name: str, estimate: Floats, errors: Floats, level: float, freedom: float
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Columns of a result table: estimates with errors, tests and intervals; and the heads of these columns."""
    with np.errstate(divide="ignore", invalid="ignore"):
        stat = estimate / errors
    half, share = quantile(level, freedom) * errors, f"{100 * level:g}%"
    columns = {name: estimate, "std_err": errors, "stat": stat, "p": two_sided(stat, freedom)}
    columns |= {"low": estimate - half, "high": estimate + half}
    return columns, {"stat": "z" if math.isinf(freedom) else "t", "low": f"{share} low", "high": f"{share} high"}


def wilson(successes: ArrayLike, n: ArrayLike, level: float = 0.95, z: float | None = None) -> tuple[Floats, Floats]:
    """Wilson (1927), entry by entry: all p with |k/n - p| <= z sqrt(p (1-p)/n), z of the level or as given.

    NaN where n = 0.
    """
    k, n = np.asarray(successes, dtype=np.float64), np.asarray(n, dtype=np.float64)
    z = quantile(level) if z is None else z
    with np.errstate(divide="ignore", invalid="ignore"):
        p = k / n
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low = np.where(k <= 0, np.where(n > 0, 0.0, np.nan), np.maximum(centre - half, 0.0))
    high = np.where(k >= n, np.where(n > 0, 1.0, np.nan), np.minimum(centre + half, 1.0))
    return low, high
