"""Every metric of a classification with its interval, from checked outcomes.

Proportions of rows (accuracy; precision, recall and specificity of one class) get Wilson's interval, the
area under the ROC curve DeLong's on the logit scale, everything else the bootstrap. Where all resamples
agree, as they do at a perfect score, the bootstrap knows nothing: then errors that n rows did not show
are given the greatest rate that n rows allow (intervals.py, Z) and placed where they hurt most.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.evaluation import bootstrap, metrics
from separatrix.evaluation.bootstrap import AGREE, mean_estimate
from separatrix.evaluation.intervals import Estimate, effective_rows, zero_errors
from separatrix.statistics.distributions import wilson
from separatrix.validation import Outcomes, shown_label

ZeroDivision = str | float
MOST_CLASSES = 30  # up to which confusion matrices are resampled: beyond, a stack of them does not fit
NEEDS_PROBABILITIES = "it needs probabilities"
NEXT = 1e-9  # share of a cell that stays where a metric is not defined without it
FEW = 5  # classes that a sentence lists


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
                affordable = bootstrap.affordable(self.resamples, o.n)
                numbers = o.truth * self.k + o.predicted
                self._cells = bootstrap.weighted_cell_resamples(numbers, o.weights, self.k, affordable, self.rng)
        return self._cells

    def _empty(self, axis: int) -> str:
        """Classes that no row has (axis 1), or that were never predicted (axis 0), in a sentence."""
        empty = np.flatnonzero(self.confusion.sum(axis=axis) == 0).tolist()
        more = f" and {len(empty) - FEW} more" if len(empty) > FEW else ""
        return ", ".join(shown_label(self.outcomes.classes[k]) for k in empty[:FEW]) + more

    def _filled(self, metric: metrics.CellMetric) -> metrics.CellMetric:
        """0/0 as scikit-learn's number, where one was asked for."""
        if isinstance(self.zero_division, str):
            return metric
        return metrics.filled(metric, float(self.zero_division))

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
            weights = w if among is None else w[among]
            n = effective_rows(weights)
            value = float(np.average(hits, weights=weights))
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
        name = shown_label(o.classes[k])
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
            micro = self.cell_metric(metrics.micro_specificity, "there is no row")
            return {"precision": share, "recall": share, "specificity": micro, "f1": share}
        reasons = {
            "precision": f"no row was predicted {self._empty(axis=0)}",
            "recall": f"no row is {self._empty(axis=1)}",
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
        absent = self._empty(axis=1)
        if absent and isinstance(self.zero_division, str):
            return Estimate.undefined(f"no row is {absent}, so its recall is 0/0", self.level)
        return self.cell_metric(metrics.mean_recall(np.flatnonzero(self.confusion.sum(axis=1) > 0)), "")

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
        defined = replicates[~np.isnan(replicates)]
        if not len(defined) or np.ptp(defined) < AGREE:
            low, high = self._unshown_errors(metric, value)
            return Estimate(value, low, high, "exact rate of unseen errors, worst place", self.level)
        if self.outcomes.weights is None:
            low, high = bootstrap.cell_interval(self.confusion, cells, metric, value, self.level)
            return Estimate(value, low, high, f"bootstrap BCa, {len(defined)} resamples", self.level)
        low, high = bootstrap.percentile(defined, self.level)
        return Estimate(value, min(low, value), max(high, value), f"bootstrap, {len(defined)} resamples", self.level)

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
            values = metric(moved)
            if np.isnan(values).any():  # a class without rows: the value next to it
                moved[:, i, j] += NEXT * amount
                moved[np.arange(self.k), i, np.arange(self.k)] -= NEXT * amount
                values = np.round(metric(moved), 4)
            ends += [v for v in values.tolist() if not math.isnan(v)]
        return min(ends), max(ends)

    def mean_loss(self, losses: Floats, bounded: bool) -> Estimate:
        """The mean of a loss a row."""
        o = self.outcomes
        if bounded and np.all(losses == losses[0]) and losses[0] == 0:
            n = float(o.n) if o.weights is None else effective_rows(o.weights)
            top = (1.0 if o.positive is not None else 2.0) * zero_errors(n, self.level)
            return Estimate(0.0, 0.0, top, "exact rate of unseen errors, worst loss", self.level)
        return mean_estimate(losses, o.weights, self.level, self.resamples, self.rng)

    def losses(self) -> dict[str, Estimate]:
        """Log loss and Brier score, which need probabilities."""
        row_losses = metrics.row_losses(self.outcomes)
        if not row_losses:
            return dict.fromkeys(("log_loss", "brier"), Estimate.undefined(NEEDS_PROBABILITIES, self.level))
        return {name: self.mean_loss(losses, name == "brier") for name, losses in row_losses.items()}
