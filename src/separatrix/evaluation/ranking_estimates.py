"""Metrics of a ranking of rows: the area under the ROC curve and the average precision, with intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.evaluation import bootstrap, metrics
from separatrix.evaluation.bootstrap import AGREE
from separatrix.evaluation.estimate import Estimate
from separatrix.evaluation.intervals import (
    delong,
    effective_rows,
    independent_pairs,
    logit_interval,
    mean_variance,
    placements,
    zero_errors,
)
from separatrix.validation import Outcomes, shown_label

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
        own = o.truth == k
        auc, placed = placements(own, ranking[:, k], o.weights)
        values.append(auc)
        total += np.where(own, placed / w[own].sum(), placed / w[~own].sum()) * w / len(o.classes)
        sizes.append(float(own.sum()) if o.weights is None else effective_rows(w[own]))
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
    parts = [(own[order], order, ends) for (own, _), (order, ends) in zip(sides, orders, strict=True)]
    value = float(np.mean([metrics.average_precisions(w[order], own, ends) for own, order, ends in parts]))
    if value > 1 - AGREE:
        bound = float(np.mean([_adverse_top(own, level) for own, _, _ in parts]))
        return Estimate(1.0, bound, 1.0, "unseen negatives ranked first", level)
    if o.n * len(parts) > bootstrap.ROWS:
        influence = np.zeros(o.n)
        for own, order, ends in parts:
            influence[order] += metrics.average_precision_influence(w[order], own, ends) / len(parts)
        variance = float(((influence * w) ** 2).sum())
        return Estimate(value, *logit_interval(value, variance, level), "jackknife, logit", level)
    replicates = np.zeros(resamples)
    for begin, counts in bootstrap.count_blocks(o.n, resamples, rng):
        found = [metrics.average_precisions((counts * w)[:, order], own, ends) for own, order, ends in parts]
        replicates[begin : begin + len(counts)] = np.mean(found, axis=0)
    kept = replicates[~np.isnan(replicates)]
    if not len(kept) or np.ptp(kept) < AGREE:
        return Estimate(value, level=level, reason="every row has the same score")
    low, high = bootstrap.percentile(kept, level)
    return Estimate(value, min(low, value), max(high, value), f"bootstrap, {len(kept)} resamples", level)


def _adverse_top(positive: NDArray[np.bool_], level: float) -> float:
    """AP = 1 with the negatives that these rows cannot exclude ranked above every positive."""
    hits = np.arange(1, np.count_nonzero(positive) + 1)
    extra = zero_errors(float(np.count_nonzero(~positive)), level) * np.count_nonzero(~positive)
    return float(np.mean(hits / (hits + extra)))
