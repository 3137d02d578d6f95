"""The bootstrap, all resamples at once: of confusion matrices, sums over rows, and rankings.

A statistic of a confusion matrix needs no rows: n rows drawn with replacement fall into the cells as a
multinomial draw, so 2000 resamples are 2000 small matrices whatever n is. Statistics of sums over rows
(losses) draw rows in blocks and multiply; ranks are sorted once. Intervals are BCa (Efron 1987) where
the leave-one-out values are at hand, else percentiles. Every statistic takes an array of resamples
along its first axis, so that none is a Python loop. Beyond ``ROWS`` rows, drawing them is replaced by
the jackknife (Efron 1982), which is the same to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.evaluation import metrics
from separatrix.evaluation.intervals import (
    Estimate,
    delong,
    effective_rows,
    independent_pairs,
    logit_interval,
    mean_variance,
    placements,
    zero_errors,
)
from separatrix.statistics.distributions import quantile
from separatrix.validation import Outcomes, shown_label

Statistic = Callable[[Floats], Floats]

BLOCK = 2**22  # draws held at once
BUDGET = 2 * 10**7  # draws in all: beyond it fewer resamples are made, and the method says how many
LEAST = 400
ROWS = 4000  # up to which rows are resampled
AGREE = 1e-12  # resamples closer than this are equal


def affordable(resamples: int, n: int) -> int:
    """How many resamples of n rows are made."""
    return min(resamples, max(LEAST, BUDGET // max(n, 1)))


def jackknife_variance(leave_one_out: Floats) -> float:
    """(n - 1)/n times the sum of squares around the mean (Tukey 1958)."""
    n = len(leave_one_out)
    return float((n - 1) * leave_one_out.var())


def cell_resamples(confusion: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Confusion matrices of resampled rows (unit weights)."""
    n = int(confusion.sum())
    draws = rng.multinomial(n, confusion.reshape(-1) / n, size=resamples)
    return draws.reshape(resamples, *confusion.shape).astype(np.float64)


def weighted_cell_resamples(
    cells: NDArray[np.intp], weights: Floats, k: int, resamples: int, rng: np.random.Generator
) -> Floats:
    """The same where rows have weights; cells are numbered actual * k + predicted."""
    out = np.empty((resamples, k, k))
    for begin, drawn in row_blocks(len(cells), resamples, rng):
        offset = np.arange(len(drawn))[:, None] * (k * k)
        flat = np.bincount((cells[drawn] + offset).ravel(), weights[drawn].ravel(), minlength=len(drawn) * k * k)
        out[begin : begin + len(drawn)] = flat.reshape(-1, k, k)
    return out


def row_blocks(n: int, resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Blocks of resamples: the number of the first, and the rows drawn for each."""
    step = max(1, BLOCK // n)
    for begin in range(0, resamples, step):
        yield begin, rng.integers(0, n, size=(min(step, resamples - begin), n))


def count_blocks(n: int, resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, Floats]]:
    """Blocks of resamples: how often each row was drawn."""
    for begin, drawn in row_blocks(n, resamples, rng):
        offset = np.arange(len(drawn))[:, None] * n
        counts = np.bincount((drawn + offset).ravel(), minlength=len(drawn) * n)
        yield begin, counts.reshape(len(drawn), n).astype(np.float64)


def sum_resamples(terms: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums of the columns of ``terms`` over resampled rows."""
    out = np.empty((resamples, terms.shape[1]))
    for begin, counts in count_blocks(len(terms), resamples, rng):
        out[begin : begin + len(counts)] = counts @ terms
    return out


def percentile(replicates: Floats, level: float) -> tuple[float, float]:
    """The middle share of the replicates that are defined."""
    defined = replicates[~np.isnan(replicates)]
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bca(
    replicates: Floats, value: float, leave_one_out: Floats, multiplicity: Floats, level: float
) -> tuple[float, float]:
    """Bias-corrected and accelerated percentiles (Efron 1987); replicates equal to the value count one half."""
    defined = replicates[~np.isnan(replicates)]
    known = ~np.isnan(leave_one_out)
    normal = NormalDist()
    below = (np.count_nonzero(defined < value) + np.count_nonzero(defined == value) / 2) / len(defined)
    bias = normal.inv_cdf(float(np.clip(below, 1 / (len(defined) + 1), len(defined) / (len(defined) + 1))))
    times = multiplicity[known]
    centred = np.average(leave_one_out[known], weights=times) - leave_one_out[known]
    spread = float(times @ centred**2)
    acceleration = float(times @ centred**3) / (6 * spread**1.5) if spread > 0 else 0.0
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        ends.append(normal.cdf(bias + z / max(1 - acceleration * z, 1e-3)))
    low, high = np.quantile(defined, ends)
    return float(min(low, value)), float(max(high, value))


def cell_interval(
    confusion: Floats, replicates: Floats, statistic: Statistic, value: float, level: float
) -> tuple[float, float]:
    """BCa for a statistic of cells with unit weights: rows of a cell have the same leave-one-out value."""
    i, j = np.nonzero(confusion)
    without = np.repeat(confusion[None], len(i), axis=0)
    without[np.arange(len(i)), i, j] -= 1
    return bca(statistic(replicates), value, statistic(without), confusion[i, j], level)


def sum_interval(
    terms: Floats, replicates: Floats, statistic: Statistic, value: float, level: float
) -> tuple[float, float]:
    """BCa for a statistic of sums over rows."""
    without = statistic(terms.sum(axis=0) - terms)
    return bca(statistic(replicates), value, without, np.ones(len(terms)), level)


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
    if len(terms) > ROWS:
        variance = jackknife_variance(statistic(terms.sum(axis=0) - terms))
        half = quantile(level) * math.sqrt(variance)
        return Estimate(value, value - half, value + half, "jackknife", level)
    sums = sum_resamples(terms, resamples, rng)
    replicates = statistic(sums)
    defined = replicates[np.isfinite(replicates)]
    if not len(defined) or np.ptp(defined) <= AGREE * max(1.0, abs(value)):
        return Estimate(value, level=level, reason="every row has the same loss, which shows no spread")
    low, high = sum_interval(terms, sums[np.isfinite(replicates)], statistic, value, level)
    return Estimate(value, low, high, f"bootstrap BCa, {len(defined)} resamples", level)


NEEDS_SCORES = "it needs scores or probabilities"


def _ranking_or_reason(o: Outcomes) -> Floats | str:
    """What rows are ranked by, or why there is no ranking."""
    ranking = o.ranking()
    if ranking is None:
        return NEEDS_SCORES
    absent = np.flatnonzero(np.bincount(o.truth, minlength=len(o.classes)) == 0)
    if len(absent):
        return f"no row is {shown_label(o.classes[absent[0]])}"
    return ranking


def roc_auc(o: Outcomes, level: float) -> Estimate:
    """Two classes: DeLong. More: the macro mean of each against the rest, with the variance of its row means."""
    ranking = _ranking_or_reason(o)
    if isinstance(ranking, str):
        return Estimate.undefined(ranking, level)
    if o.positive is not None:
        auc, low, high, method = delong(o.truth == o.positive, ranking, o.weights, level)
        return Estimate(auc, low, high, method, level)
    total, values, sizes = np.zeros(o.n), [], []
    w = np.ones(o.n) if o.weights is None else o.weights
    for k in range(len(o.classes)):
        of_class = o.truth == k
        auc, placed = placements(of_class, ranking[:, k], o.weights)
        values.append(auc)
        total += np.where(of_class, placed / w[of_class].sum(), placed / w[~of_class].sum()) * w / len(o.classes)
        sizes.append(float(of_class.sum()) if o.weights is None else effective_rows(w[of_class]))
    auc = float(np.mean(values))
    parts = [total[o.truth == k] for k in range(len(o.classes))]
    variance = sum(mean_variance(part, None) * len(part) ** 2 for part in parts)
    if variance > 0 and 0 < auc < 1:
        return Estimate(auc, *logit_interval(auc, variance, level), "DeLong, logit, macro", level)
    return Estimate(auc, *independent_pairs(auc, min(sizes), level), level)


def average_precision(o: Outcomes, level: float, resamples: int, rng: np.random.Generator) -> Estimate:
    """Two classes: of the positive one. More: the mean of each against the rest."""
    ranking = _ranking_or_reason(o)
    if isinstance(ranking, str):
        return Estimate.undefined(ranking, level)
    if o.positive is not None:
        sides = [(o.truth == o.positive, ranking)]
    else:
        sides = [(o.truth == k, ranking[:, k]) for k in range(len(o.classes))]
    w = np.ones(o.n) if o.weights is None else o.weights
    orders = [metrics.ranked(scores) for _, scores in sides]
    parts = [(positive[order], order, ends) for (positive, _), (order, ends) in zip(sides, orders, strict=True)]
    value = float(np.mean([metrics.average_precisions(w[order], positive, ends) for positive, order, ends in parts]))
    if value > 1 - AGREE:
        bound = float(np.mean([_adverse_top(positive, level) for positive, _, _ in parts]))
        return Estimate(1.0, bound, 1.0, "unseen negatives ranked first", level)
    if o.n * len(parts) > ROWS:
        influence = np.zeros(o.n)
        for positive, order, ends in parts:
            influence[order] += metrics.average_precision_influence(w[order], positive, ends) / len(parts)
        variance = float(((influence * w) ** 2).sum())
        return Estimate(value, *logit_interval(value, variance, level), "jackknife, logit", level)
    replicates = np.zeros(resamples)
    for begin, counts in count_blocks(o.n, resamples, rng):
        per_class = [
            metrics.average_precisions((counts * w)[:, order], positive, ends) for positive, order, ends in parts
        ]
        replicates[begin : begin + len(counts)] = np.mean(per_class, axis=0)
    defined = replicates[~np.isnan(replicates)]
    if not len(defined) or np.ptp(defined) < AGREE:
        return Estimate(value, level=level, reason="every row has the same score")
    low, high = percentile(defined, level)
    return Estimate(value, min(low, value), max(high, value), f"bootstrap, {len(defined)} resamples", level)


def _adverse_top(positive: NDArray[np.bool_], level: float) -> float:
    """AP = 1 with the negatives that these rows cannot exclude ranked above every positive."""
    hits = np.arange(1, np.count_nonzero(positive) + 1)
    extra = zero_errors(float(np.count_nonzero(~positive)), level) * np.count_nonzero(~positive)
    return float(np.mean(hits / (hits + extra)))
