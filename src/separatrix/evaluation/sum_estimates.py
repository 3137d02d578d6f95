"""Means and other functions of sums over rows, with intervals by the bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from separatrix.arrays import Floats
from separatrix.evaluation import bootstrap
from separatrix.evaluation.bootstrap import AGREE
from separatrix.evaluation.estimate import Estimate
from separatrix.evaluation.intervals import (
    quantile,
)


def mean_estimate(
    losses: Floats, weights: Floats | None, level: float, resamples: int, rng: np.random.Generator
) -> Estimate:
    """A (weighted) mean over rows, by the bootstrap."""
    w = np.ones(len(losses)) if weights is None else weights
    return sums_estimate(np.column_stack([w, w * losses]), lambda s: s[..., 1] / s[..., 0], level, resamples, rng)


def sums_estimate(
    terms: Floats, statistic: Callable[[Floats], Floats], level: float, resamples: int, rng: np.random.Generator
) -> Estimate:
    """A function of sums over rows, by the bootstrap; no interval where the rows show no spread."""
    value = float(statistic(terms.sum(axis=0)))
    if len(terms) < 2:
        return Estimate(value, level=level, reason="one row has no spread")
    if len(terms) > bootstrap.ROWS:
        variance = bootstrap.jackknife_variance(statistic(terms.sum(axis=0) - terms))
        half = quantile(level) * math.sqrt(variance)
        return Estimate(value, value - half, value + half, "jackknife", level)
    sums = bootstrap.sum_resamples(terms, resamples, rng)
    replicates = statistic(sums)
    kept = replicates[np.isfinite(replicates)]
    if not len(kept) or np.ptp(kept) <= AGREE * max(1.0, abs(value)):
        return Estimate(value, level=level, reason="every row has the same loss, which shows no spread")
    low, high = bootstrap.sum_interval(terms, sums[np.isfinite(replicates)], statistic, value, level)
    return Estimate(value, low, high, f"bootstrap BCa, {len(kept)} resamples", level)
