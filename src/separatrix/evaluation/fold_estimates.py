"""Estimates with intervals from evaluated folds.

Means over rows of a loss (accuracy, log loss, Brier, squared and absolute error) get the interval of
Bayle, Bayle, Janson & Mackey (2020): the mean over all n judged rows, with the variance of the rows'
losses, plus or minus z sigma/sqrt(n); proportions in Wilson's form of it. Where rows come in groups, the
variance is the jackknife's over groups, with t of one degree of freedom less than groups in place of z
(Bell & McCaffrey 2002), so that few or very unequal groups show as a wide interval. Other metrics are
averaged over the folds, with the variance of Nadeau & Bengio (2003): (1/J + n_test/n_train) times that of
the J fold values. Both are approximate: no unbiased estimate of the variance of cross-validation exists
(Bengio & Grandvalet 2004). The first refers to new rows for the models of these folds; a learner that
changes much with its rows, which the range of the folds shows, may do better or worse when trained anew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.evaluation.fold_runs import FoldResult
from separatrix.evaluation.intervals import Estimate
from separatrix.evaluation.metrics import NUMBERS, numbers_value, point_values, row_losses
from separatrix.evaluation.predictions import outcomes_of
from separatrix.statistics.distributions import quantile, wilson
from separatrix.validation import check_targets, take_rows

UNIT = (0.0, 1.0)
RANGES = {
    **dict.fromkeys(("accuracy", "balanced_accuracy", "precision", "recall", "specificity", "f1"), UNIT),
    **dict.fromkeys(("roc_auc", "average_precision"), UNIT),
    **dict.fromkeys(("log_loss", "brier", "mse", "rmse", "mae"), (0.0, math.inf)),
    "mcc": (-1.0, 1.0),
    "r2": (-math.inf, 1.0),
}
BAYLE = "Bayle et al. 2020"
CORRECTED = "corrected t over folds (Nadeau & Bengio 2003)"
Judged = tuple[dict[str, Estimate], dict[str, Floats]]


def judge_classes(
    results: list[FoldResult],
    y: Any,
    weights: Floats | None,
    positive: Any,
    level: float,
    partition: bool,
    clusters: NDArray[np.intp] | None,
) -> Judged:
    names: dict[str, list[float]] = {}
    rows, losses = [], []
    for r in results:
        if r.said is None:
            values: dict[str, float] = {}
        else:
            truth = take_rows(y, r.rows)
            o, _ = outcomes_of(truth, r.said, positive)
            weighted = o if weights is None else outcomes_of(truth, r.said, positive, weights[r.rows])[0]
            of_rows = row_losses(o)
            values = point_values(weighted, of_rows if weights is None else None)
            of_rows["accuracy"] = (o.truth == o.predicted).astype(np.float64)
            rows.append(r.rows)
            losses.append(of_rows)
        for name in values:
            names.setdefault(name, [])
        for name, of_name in names.items():
            of_name += [np.nan] * (r.number - len(of_name)) + [values.get(name, np.nan)]
    fold_values = {name: np.array(listed) for name, listed in names.items()}
    estimates, judged = {}, Judgements(rows, weights, clusters) if partition and rows else None
    for name, of_folds in fold_values.items():
        if judged is not None and all(name in of_rows for of_rows in losses):
            estimates[name] = judged.bayle([of_rows[name] for of_rows in losses], level, name == "accuracy")
        else:
            estimates[name] = corrected_t(of_folds, results, level, name, partition)
    return estimates, fold_values


def judge_numbers(
    results: list[FoldResult],
    y: Any,
    weights: Floats | None,
    positive: Any,
    level: float,
    partition: bool,
    clusters: NDArray[np.intp] | None,
) -> Judged:
    truth = check_targets(y)
    values: dict[str, list[float]] = {name: [] for name in NUMBERS}
    rows, squared, absolute = [], [], []
    for r in results:
        if r.said is None:
            for of_name in values.values():
                of_name.append(np.nan)
            continue
        error = truth[r.rows] - r.said.labels
        w = None if weights is None else weights[r.rows]
        for name, of_name in values.items():
            of_name.append(numbers_value(name, truth[r.rows], r.said.labels, w))
        rows.append(r.rows)
        squared.append(error**2)
        absolute.append(np.abs(error))
    fold_values = {name: np.array(of_folds) for name, of_folds in values.items()}
    estimates = {name: corrected_t(of_folds, results, level, name, partition) for name, of_folds in fold_values.items()}
    if partition:
        judged = Judgements(rows, weights, clusters)
        estimates["mse"] = judged.bayle(squared, level)
        estimates["mae"] = judged.bayle(absolute, level)
        root = estimates["mse"]
        ends = (math.sqrt(max(root.low, 0.0)), math.sqrt(root.high)) if root.has_interval else (math.nan, math.nan)
        estimates["rmse"] = Estimate(math.sqrt(root.value), *ends, root.method, level, root.reason)
    return estimates, fold_values


class Judgements:
    """Rows that folds judged, with their weights and groups: what the mean of any loss over them needs."""

    def __init__(self, rows: list[NDArray[np.intp]], weights: Floats | None, clusters: NDArray[np.intp] | None) -> None:
        self.at = np.concatenate(rows)
        seen = np.zeros(int(self.at.max()) + 1, dtype=bool)
        seen[self.at] = True
        self.once = len(seen) == len(self.at) and bool(seen.all())
        judged = self.judged = self.at if self.once else np.flatnonzero(seen)
        self.times = None if self.once else np.bincount(self.at)[judged]
        self.share = None if weights is None else weights[judged] / weights[judged].sum()
        self.units, self.groups = len(judged), None
        if clusters is not None:
            names, self.groups = np.unique(clusters[judged], return_inverse=True)
            self.units = len(names)
            weight = np.ones(len(judged)) if self.share is None else self.share
            self.rest = 1 - np.bincount(self.groups, weight) / weight.sum()  # share of all other groups

    def bayle(self, losses: list[Floats], level: float, proportion: bool = False) -> Estimate:
        """The mean loss of the judged rows; a row judged several times counts once, with its mean loss."""
        loss = np.concatenate(losses)
        if self.times is not None:
            loss = np.bincount(self.at, loss)[self.judged] / self.times
        share = np.float64(1 / len(loss)) if self.share is None else self.share
        mean = loss.sum() / len(loss) if self.share is None else share @ loss
        value = float(mean) if np.ptp(loss) else float(loss[0])  # to the last bit
        pulls = np.subtract(loss, value, out=loss)  # a sum of its own, here or above
        pulls *= share
        method, z = (BAYLE if self.groups is None else f"{BAYLE}, by groups"), quantile(level)
        if self.groups is None:
            variance = float(np.square(pulls, out=pulls).sum()) * self.units / max(self.units - 1, 1)
        else:
            if self.units < 2:
                return Estimate(value, level=level, reason="one group has no spread")
            moved = np.bincount(self.groups, pulls) / np.maximum(self.rest, 1e-12)  # by leaving a group out
            variance = float(moved @ moved) * (self.units - 1) / self.units
            z = quantile(level, self.units - 1)
        if proportion:
            worth = value * (1 - value) / variance if variance > 0 else float(self.units)
            low, high = wilson(value * worth, worth, level, z)
            return Estimate(value, float(low), float(high), f"{method}, score form", level)
        if not variance > 0:
            return Estimate(value, level=level, reason="every row has the same loss, which shows no spread")
        half = z * math.sqrt(variance)
        return Estimate(value, max(value - half, 0.0), value + half, method, level)


def training_ratio(results: Sequence[FoldResult], partition: bool) -> float:
    """Test rows for each training row, as in the variance of Nadeau & Bengio.

    Folds of a partition that learn from a sample share as large a part of it as others share of all rows: their ratio
    is that of the partition.
    """
    done = [r for r in results if r.error is None]
    total = 1 + max(int(r.rows.max()) for r in results) if partition else 0  # every row is judged
    return float(np.mean([len(r.rows) / max(r.learned_from, total - len(r.rows)) for r in done]))


def corrected_t(
    values: Floats, results: list[FoldResult], level: float, name: str = "", partition: bool = False
) -> Estimate:
    """The mean over the folds with the variance of Nadeau & Bengio (2003), kept within the metric's range."""
    done = np.array([r.error is None for r in results])
    kept = values[done]
    if np.isnan(kept).any():
        fold = [r.number for r in results if r.error is None][int(np.flatnonzero(np.isnan(kept))[0])]
        return Estimate.undefined(f"undefined in fold {fold}", level)
    value, count = float(kept.mean()), len(kept)
    if count < 2 or np.ptp(kept) == 0:
        reason = "every fold has the same value" if count > 1 else "there is one fold only"
        return Estimate(value, level=level, reason=reason)
    ratio = training_ratio(results, partition)
    half = quantile(level, count - 1) * math.sqrt((1 / count + ratio) * float(kept.var(ddof=1)))
    least, most = RANGES.get(name, (-math.inf, math.inf))
    return Estimate(value, max(value - half, least), min(value + half, most), CORRECTED, level)
