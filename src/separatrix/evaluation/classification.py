"""Every metric of a classification with its interval, from checked outcomes.

Proportions of rows (accuracy; precision, recall and specificity of one class) get Wilson's interval, the
area under the ROC curve DeLong's on the logit scale, everything else the bootstrap. Where all resamples
agree, as they do at a perfect score, the bootstrap knows nothing: then errors that n rows did not show
are given the greatest rate that n rows allow (intervals.py, Z) and placed where they hurt most.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.evaluation import bootstrap, metrics
from separatrix.evaluation.estimate import Estimate
from separatrix.evaluation.intervals import (
    delong,
    effective_rows,
    independent_pairs,
    logit_interval,
    mean_variance,
    placements,
    quantile,
    wilson,
    zero_errors,
)
from separatrix.validation import Outcomes

ZeroDivision = str | float
MOST_CLASSES = 30  # up to which confusion matrices are resampled: beyond, a stack of them does not fit
AGREE = 1e-12  # resamples closer than this are equal
NEEDS_PROBABILITIES = "it needs probabilities"
NEEDS_SCORES = "it needs scores or probabilities"


class Measurer:
    """The metrics of one set of outcomes; resamples are drawn once and shared by all of them."""

    def __init__(
        self, outcomes: Outcomes, level: float, average: str, zero_division: ZeroDivision, resamples: int, seed: int
    ) -> None:
        self.outcomes, self.level, self.zero_division = outcomes, level, zero_division
        self.average = average
        self.resamples = resamples
        self.k = len(outcomes.classes)
        self.rng = np.random.default_rng(seed)
        self.confusion = metrics.confusion_matrix(outcomes.truth, outcomes.predicted, self.k, outcomes.weights)
        self._cells: Floats | None = None

    def cells(self) -> Floats:
        """Confusion matrices of resampled rows."""
        if self._cells is None:
            o = self.outcomes
            if o.weights is None:
                self._cells = bootstrap.cell_resamples(self.confusion, self.resamples, self.rng)
            else:
                made = bootstrap.affordable(self.resamples, o.n)
                numbers = o.truth * self.k + o.predicted
                self._cells = bootstrap.weighted_cell_resamples(numbers, o.weights, self.k, made, self.rng)
        return self._cells

    def _filled(self, metric: metrics.CellMetric) -> metrics.CellMetric:
        """0/0 as scikit-learn's number, where one was asked for."""
        if isinstance(self.zero_division, str):
            return metric
        number = float(self.zero_division)
        return lambda c: np.where(np.isnan(values := metric(c)), number, values)

    def accuracy(self) -> Estimate:
        return self._proportion(np.asarray(self.outcomes.truth == self.outcomes.predicted), None, "")

    def _proportion(self, success: NDArray[np.bool_], among: NDArray[np.bool_] | None, reason: str) -> Estimate:
        """A share of rows, by Wilson; of weighted rows, by as many equal ones as they are worth."""
        w = self.outcomes.weights
        hits = success if among is None else success[among]
        if not len(hits):
            return self._undefined(reason)
        if w is None:
            k, n, method = float(np.count_nonzero(hits)), float(len(hits)), "Wilson"
            value = k / n
        else:
            own = w if among is None else w[among]
            n = effective_rows(own)
            value = float(np.average(hits, weights=own))
            k, method = value * n, "Wilson, effective rows"
            if value in (0.0, 1.0):
                k = n * value
        low, high = wilson(k, n, self.level)
        return Estimate(value, float(low), float(high), method, self.level)

    def _undefined(self, reason: str) -> Estimate:
        if isinstance(self.zero_division, str):
            return Estimate.undefined(reason, self.level)
        return Estimate(float(self.zero_division), method="by zero_division", level=self.level, reason=reason)

    def class_metrics(self, k: int) -> dict[str, Estimate]:
        """Precision, recall, specificity and F1 of one class against the rest."""
        o = self.outcomes
        name = _name(o.classes[k])
        actual, said = o.truth == k, o.predicted == k
        return {
            "precision": self._proportion(actual, said, f"no row was predicted {name}"),
            "recall": self._proportion(said, actual, f"no row is {name}"),
            "specificity": self._proportion(~said, ~actual, f"every row is {name}"),
            "f1": self.cell_metric(
                metrics.of_class(metrics.f1_scores, k), f"no row is {name} and none was predicted {name}"
            ),
        }

    def averaged_metrics(self) -> dict[str, Estimate]:
        """The same for K > 2 classes at once, by the chosen average."""
        if self.average == "micro":
            share = self.accuracy()
            k = self.k
            micro = self.cell_metric(lambda c: 1 - (1 - metrics.accuracy(c)) / (k - 1), "there is no row")
            return {"precision": share, "recall": share, "specificity": micro, "f1": share}
        unseen = [_name(c) for c, m in zip(self.outcomes.classes, self.confusion.sum(axis=1), strict=True) if m == 0]
        unsaid = [_name(c) for c, m in zip(self.outcomes.classes, self.confusion.sum(axis=0), strict=True) if m == 0]
        reasons = {
            "precision": f"no row was predicted {', '.join(unsaid)}",
            "recall": f"no row is {', '.join(unseen)}",
            "specificity": "every row is of one class",
            "f1": "a class has no row and was never predicted",
        }
        of_each = {
            "precision": metrics.precisions,
            "recall": metrics.recalls,
            "specificity": metrics.specificities,
            "f1": metrics.f1_scores,
        }
        return {
            name: self.cell_metric(metrics.averaged(self._filled(metric), self.average), reasons[name])
            for name, metric in of_each.items()
        }

    def balanced_accuracy(self) -> Estimate:
        absent = [_name(c) for c, m in zip(self.outcomes.classes, self.confusion.sum(axis=1), strict=True) if m == 0]
        if absent and isinstance(self.zero_division, str):
            return Estimate.undefined(f"no row is {', '.join(absent)}, so its recall is 0/0", self.level)
        kept = np.flatnonzero(self.confusion.sum(axis=1) > 0)
        return self.cell_metric(lambda c: metrics.recalls(c)[..., kept].mean(axis=-1), "")

    def mcc(self) -> Estimate:
        return self.cell_metric(metrics.mcc, "the actual or the predicted labels are all of one class")

    def cell_metric(self, metric: metrics.CellMetric, reason: str) -> Estimate:
        """A function of the confusion matrix, by the bootstrap."""
        value = float(metric(self.confusion[None])[0])
        if math.isnan(value):
            return self._undefined(reason)
        if self.outcomes.n < 2:
            return Estimate(value, level=self.level, reason="one row has no spread")
        if self.k > MOST_CLASSES:
            return Estimate(value, level=self.level, reason=f"more than {MOST_CLASSES} classes to resample")
        cells = self.cells()
        replicates = metric(cells)
        kept = replicates[~np.isnan(replicates)]
        if not len(kept) or np.ptp(kept) < AGREE:
            low, high = self._unshown_errors(metric, value)
            return Estimate(value, low, high, "exact rate of unseen errors, worst place", self.level)
        if self.outcomes.weights is None:
            low, high = bootstrap.cell_interval(self.confusion, cells, metric, value, self.level)
            return Estimate(value, low, high, f"bootstrap BCa, {len(kept)} resamples", self.level)
        low, high = bootstrap.percentile(kept, self.level)
        return Estimate(value, min(low, value), max(high, value), f"bootstrap, {len(kept)} resamples", self.level)

    def _unshown_errors(self, metric: metrics.CellMetric, value: float) -> tuple[float, float]:
        """The metric's range when a share of rows that n rows cannot exclude had been said otherwise."""
        w = self.outcomes.weights
        n = float(self.outcomes.n) if w is None else effective_rows(w)
        share = zero_errors(n, self.level) * self.confusion.sum()
        ends = [value]
        for i, j in np.argwhere(self.confusion > 0):
            moved = np.repeat(self.confusion[None], self.k, axis=0)
            amount = min(share, float(self.confusion[i, j]))
            moved[:, i, j] -= amount
            moved[np.arange(self.k), i, np.arange(self.k)] += amount
            found = metric(moved)
            ends += [v for v in found.tolist() if not math.isnan(v)]
        return min(ends), max(ends)

    def mean_loss(self, losses: Floats, bounded: bool) -> Estimate:
        """The mean of a loss a row."""
        o = self.outcomes
        if bounded and np.all(losses == losses[0]) and losses[0] == 0:
            n = float(o.n) if o.weights is None else effective_rows(o.weights)
            top = (1.0 if o.positive is not None else 2.0) * zero_errors(n, self.level)
            return Estimate(0.0, 0.0, top, "exact rate of unseen errors, worst loss", self.level)
        return mean_estimate(losses, o.weights, self.level, self.resamples, self.rng)

    def log_loss(self) -> Estimate:
        o = self.outcomes
        if o.probabilities is None:
            return Estimate.undefined(NEEDS_PROBABILITIES, self.level)
        return self.mean_loss(metrics.log_losses(o.truth, o.probabilities, o.positive), False)

    def brier(self) -> Estimate:
        o = self.outcomes
        if o.probabilities is None:
            return Estimate.undefined(NEEDS_PROBABILITIES, self.level)
        return self.mean_loss(metrics.brier_losses(o.truth, o.probabilities, o.positive), True)

    def _ranking_or_reason(self) -> Floats | str:
        ranking = self.outcomes.ranking()
        if ranking is None:
            return NEEDS_SCORES
        absent = np.flatnonzero(np.bincount(self.outcomes.truth, minlength=self.k) == 0)
        if len(absent):
            return f"no row is {_name(self.outcomes.classes[absent[0]])}"
        return ranking

    def roc_auc(self) -> Estimate:
        """Two classes: DeLong. More: the macro mean of each against the rest, with the variance of its row means."""
        ranking, o = self._ranking_or_reason(), self.outcomes
        if isinstance(ranking, str):
            return Estimate.undefined(ranking, self.level)
        if o.positive is not None:
            auc, low, high, method = delong(o.truth == o.positive, ranking, o.weights, self.level)
            return Estimate(auc, low, high, method, self.level)
        total, values, sizes = np.zeros(o.n), [], []
        w = np.ones(o.n) if o.weights is None else o.weights
        for k in range(self.k):
            own = o.truth == k
            auc, placed = placements(own, ranking[:, k], o.weights)
            values.append(auc)
            total += np.where(own, placed / w[own].sum(), placed / w[~own].sum()) * w / self.k
            sizes.append(float(own.sum()) if o.weights is None else effective_rows(w[own]))
        auc = float(np.mean(values))
        parts = [total[o.truth == k] for k in range(self.k)]
        variance = sum(mean_variance(part, None) * len(part) ** 2 for part in parts)
        if variance > 0 and 0 < auc < 1:
            return Estimate(auc, *logit_interval(auc, variance, self.level), "DeLong, logit, macro", self.level)
        return Estimate(auc, *independent_pairs(auc, min(sizes), self.level), self.level)

    def average_precision(self) -> Estimate:
        ranking, o = self._ranking_or_reason(), self.outcomes
        if isinstance(ranking, str):
            return Estimate.undefined(ranking, self.level)
        if o.positive is not None:
            sides = [(o.truth == o.positive, ranking)]
        else:
            sides = [(o.truth == k, ranking[:, k]) for k in range(self.k)]
        w = np.ones(o.n) if o.weights is None else o.weights
        orders = [metrics.ranked(scores) for _, scores in sides]
        parts = [(own[order], order, ends) for (own, _), (order, ends) in zip(sides, orders, strict=True)]
        value = float(np.mean([metrics.average_precisions(w[order], own, ends) for own, order, ends in parts]))
        if value > 1 - AGREE:
            bound = float(np.mean([self._adverse_top(own) for own, _, _ in parts]))
            return Estimate(1.0, bound, 1.0, "unseen negatives ranked first", self.level)
        if o.n > bootstrap.ROWS:
            influence = np.zeros(o.n)
            for own, order, ends in parts:
                influence[order] += metrics.average_precision_influence(w[order], own, ends) / len(parts)
            variance = float(((influence * w) ** 2).sum())
            return Estimate(value, *logit_interval(value, variance, self.level), "jackknife, logit", self.level)
        replicates = np.zeros(self.resamples)
        for begin, counts in bootstrap.count_blocks(o.n, self.resamples, self.rng):
            found = [metrics.average_precisions((counts * w)[:, order], own, ends) for own, order, ends in parts]
            replicates[begin : begin + len(counts)] = np.mean(found, axis=0)
        kept = replicates[~np.isnan(replicates)]
        if not len(kept) or np.ptp(kept) < AGREE:
            return Estimate(value, level=self.level, reason="every row has the same score")
        low, high = bootstrap.percentile(kept, self.level)
        return Estimate(value, min(low, value), max(high, value), f"bootstrap, {len(kept)} resamples", self.level)

    def _adverse_top(self, positive: NDArray[np.bool_]) -> float:
        """AP = 1 with the negatives that these rows cannot exclude ranked above every positive."""
        hits = np.arange(1, np.count_nonzero(positive) + 1)
        extra = zero_errors(float(np.count_nonzero(~positive)), self.level) * np.count_nonzero(~positive)
        return float(np.mean(hits / (hits + extra)))


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


def _name(label: object) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def row_losses(o: Outcomes) -> dict[str, Floats]:
    """The losses of each row that are means over rows."""
    if o.probabilities is None:
        return {}
    return {
        "log_loss": metrics.log_losses(o.truth, o.probabilities, o.positive),
        "brier": metrics.brier_losses(o.truth, o.probabilities, o.positive),
    }


def point_values(o: Outcomes, losses: dict[str, Floats] | None = None) -> dict[str, float]:
    """Every metric without an interval, NaN where it is undefined; ``losses`` of the rows, where they are known."""
    k = len(o.classes)
    c = metrics.confusion_matrix(o.truth, o.predicted, k, o.weights)[None]
    of_each = {
        "precision": metrics.precisions,
        "recall": metrics.recalls,
        "specificity": metrics.specificities,
        "f1": metrics.f1_scores,
    }
    out = {"accuracy": float(metrics.accuracy(c)[0]), "balanced_accuracy": float(metrics.balanced_accuracy(c)[0])}
    for name, metric in of_each.items():
        values = metric(c)[0]
        out[name] = float(values.mean() if o.positive is None else values[o.positive])
    out["mcc"] = float(metrics.mcc(c)[0])
    for name, values in (row_losses(o) if losses is None else losses).items():
        out[name] = float(np.average(values, weights=o.weights))
    ranking = o.ranking()
    if ranking is not None:
        complete = np.bincount(o.truth, minlength=k).all()
        sides = [(o.truth == j, ranking[:, j]) for j in range(k)] if o.positive is None else []
        sides = sides or [(o.truth == o.positive, ranking)]
        both = [(math.nan, math.nan)]
        if complete:
            both = [metrics.area_and_precision(own, v, o.weights) for own, v in sides]
        out["roc_auc"], out["average_precision"] = (float(v) for v in np.mean(both, axis=0))
    return out
