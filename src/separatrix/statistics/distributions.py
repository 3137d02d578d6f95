"""Tails and quantiles of the distributions that tests use; scipy is imported where the standard library does not do."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError


def need_level(level: Any) -> None:
    """The level of an interval lies between 0 and 1."""
    real = isinstance(level, (int, float, np.number)) and not isinstance(level, bool)
    if not real or not 0 < level < 1:
        raise ParameterError(f"level is {level!r}: it must lie between 0 and 1, as 0.95.")


def chi2_tail(x: float, df: float) -> float:
    """P(chi2_df > x)"""
    if df == 0:
        return 1.0
    if math.isnan(x):
        return math.nan
    if df == 1:
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
