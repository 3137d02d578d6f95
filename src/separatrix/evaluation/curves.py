"""Curves over the threshold, with bands: ROC, precision against recall, calibration.

Each curve follows scikit-learn's displays: ``plot(ax=None)`` draws and returns the curve itself, with the
axes in ``ax_`` and the figure in ``figure_``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.evaluation.intervals import Estimate, effective_rows
from separatrix.plotting.style import axes_for
from separatrix.statistics.distributions import wilson
from separatrix.validation import Outcomes, shown_label


class Drawn:
    """The axes, and their figure, that a curve was drawn into."""

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw, and return the curve itself."""
        raise NotImplementedError("a curve draws itself")

    def _axes(self, ax: Any) -> Any:
        ax = axes_for(ax, (4.8, 4.4))
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def two_class_ranking(o: Outcomes, what: str) -> tuple[NDArray[np.bool_], Floats]:
    """Which rows are positive, and what they are ranked by."""
    ranking = o.ranking()
    if ranking is None:
        raise DataError(f"{what} needs scores or probabilities: pass them to evaluate.")
    if o.positive is None:
        raise DataError(f"{what} is drawn for two classes, and there are {len(o.classes)}: make two of them first.")
    positive = np.asarray(o.truth == o.positive)
    for side, name in ((positive, o.classes[o.positive]), (~positive, o.classes[1 - o.positive])):
        if not side.any():
            raise DataError(f"{what} is undefined: no row is {shown_label(name)}.")
    return positive, ranking


def rows_worth(o: Outcomes, side: NDArray[np.bool_]) -> float:
    """How many equal rows the rows of one side are worth."""
    return float(np.count_nonzero(side)) if o.weights is None else effective_rows(o.weights[side])


def counts_above(positive: NDArray[np.bool_], ranking: Floats, weights: Floats | None) -> tuple[Floats, Floats, Floats]:
    """Every threshold from the strictest to the loosest, and the weight of positive and other rows at or above it."""
    counted = np.arange(len(ranking)) if weights is None else np.flatnonzero(weights > 0)
    order = counted[np.argsort(-ranking[counted], kind="stable")]
    weight = np.ones(len(order)) if weights is None else np.asarray(weights, dtype=np.float64)[order]
    last = np.append(np.flatnonzero(np.diff(ranking[order])), len(order) - 1)  # of equal scores
    hits = np.cumsum(weight * positive[order])[last]
    alarms = np.cumsum(weight * ~positive[order])[last]
    return np.asarray(ranking[order][last], dtype=np.float64), hits, alarms


@dataclass
class RocCurve(Drawn):
    """True against false positive rate, from the strictest threshold to the loosest.

    The band is pointwise: at each threshold both rates lie in Wilson intervals of level sqrt(level), hence
    the point in their rectangle with at least ``level``; the band is what those rectangles allow.
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats
    low: Floats
    high: Floats
    auc: Estimate
    positive: Any = field(default=None, kw_only=True)
    band: tuple[Floats, Floats, Floats] = field(repr=False, kw_only=True)  # every step: x, low, high

    @classmethod
    def of(cls, o: Outcomes, level: float, auc: Estimate) -> Self:
        positive, ranking = two_class_ranking(o, "an ROC curve")
        thresholds, hits, alarms = counts_above(positive, ranking, o.weights)
        thresholds = np.concatenate([[np.inf], thresholds])
        fpr, tpr = (np.concatenate([[0.0], counts]) / counts[-1] for counts in (alarms, hits))
        n_pos, n_neg = rows_worth(o, positive), rows_worth(o, ~positive)
        each = float(np.sqrt(level))
        tpr_low, tpr_high = wilson(tpr * n_pos, n_pos, each)
        fpr_low, fpr_high = wilson(fpr * n_neg, n_neg, each)
        # The greatest lower corner to the left of x, the least upper corner to the right of it.
        lows = np.concatenate([[0.0], np.maximum.accumulate(tpr_low)])
        highs = np.append(np.minimum.accumulate(tpr_high[::-1])[::-1], 1.0)

        def ends(x: Floats) -> tuple[Floats, Floats]:
            return lows[np.searchsorted(fpr_high, x, side="right")], highs[np.searchsorted(fpr_low, x, side="left")]

        steps = np.unique(np.clip(np.concatenate([fpr, fpr_low, fpr_high]), 0.0, 1.0))
        low, high = ends(fpr)
        name = o.classes[o.positive] if o.positive is not None else None
        low, high = np.minimum(low, tpr), np.maximum(high, tpr)
        below, above = ends(steps)
        band = (steps, below, np.append(above[1:], above[-1]))  # from each step to the next
        return cls(fpr, tpr, thresholds, low, high, auc, positive=name, band=band)

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw the curve, its band and the diagonal of guessing."""
        ax = self._axes(ax)
        label = f"{name + ': ' if name else ''}AUC {self.auc}"
        (drawn,) = ax.plot(self.fpr, self.tpr, drawstyle="steps-post", label=label, **line)
        x, low, high = self.band
        ax.fill_between(x, low, high, step="post", color=drawn.get_color(), alpha=0.18, linewidth=0)
        ax.plot([0, 1], [0, 1], ":", color="0.5", linewidth=1)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_aspect("equal")
        ax.legend(loc="lower right", frameon=False)
        return self


@dataclass
class PrecisionRecallCurve(Drawn):
    """Precision against recall, from the strictest threshold to the loosest; band: Wilson at each threshold."""

    recall: Floats
    precision: Floats
    thresholds: Floats
    low: Floats
    high: Floats
    average_precision: Estimate
    prevalence: float

    @classmethod
    def of(cls, o: Outcomes, level: float, average_precision: Estimate) -> Self:
        positive, ranking = two_class_ranking(o, "a precision-recall curve")
        thresholds, hits, alarms = counts_above(positive, ranking, o.weights)
        p, r = hits / (hits + alarms), hits / hits[-1]
        w = np.ones(o.n) if o.weights is None else o.weights
        order = np.argsort(ranking)
        above = np.searchsorted(ranking[order], thresholds, side="left")
        first = np.cumsum(w[order][::-1])[::-1][above]
        second = np.cumsum(w[order][::-1] ** 2)[::-1][above]
        predicted = first**2 / second
        low, high = wilson(p * predicted, predicted, level)
        prevalence = float(np.average(positive, weights=w))
        return cls(r, p, thresholds, low, high, average_precision, prevalence)

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw the curve, its band and the level of guessing; the area under the steps is the average precision."""
        ax = self._axes(ax)
        x, precision, low, high = (
            np.concatenate([first, values])
            for first, values in (
                ([0.0], self.recall),
                (self.precision[:1], self.precision),
                (self.low[:1], self.low),
                (self.high[:1], self.high),
            )
        )
        label = f"{name + ': ' if name else ''}AP {self.average_precision}"
        (drawn,) = ax.plot(x, precision, drawstyle="steps-pre", label=label, **line)
        ax.fill_between(x, low, high, step="pre", color=drawn.get_color(), alpha=0.18, linewidth=0)
        ax.axhline(self.prevalence, linestyle=":", color="0.5", linewidth=1)
        ax.set(xlabel="recall", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.set_aspect("equal")
        ax.legend(loc="lower left", frameon=False)
        return self


@dataclass
class CalibrationCurve(Drawn):
    """In bins of the probability: what was said on average, how often it happened (Wilson), how many rows."""

    said: Floats
    happened: Floats
    low: Floats
    high: Floats
    counts: Floats

    @classmethod
    def of(cls, o: Outcomes, level: float, bins: int, strategy: str) -> Self:
        if o.probabilities is None:
            raise DataError("a calibration curve needs probabilities: pass them to evaluate.")
        if o.positive is None:
            raise DataError(f"a calibration curve is drawn for two classes, and there are {len(o.classes)}.")
        if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
            raise ParameterError(f"bins is {bins!r}: it must be a whole number of at least 1.")
        if strategy not in ("uniform", "quantile"):
            raise ParameterError(f"strategy is {strategy!r}: it can be 'uniform' or 'quantile'.")
        p = o.probabilities
        grid = np.linspace(0, 1, bins + 1)
        edges = grid if strategy == "uniform" else np.quantile(p, grid)
        at = np.searchsorted(edges[1:-1], p)
        w = np.ones(o.n) if o.weights is None else o.weights
        size, squares = np.bincount(at, w, minlength=bins), np.bincount(at, w * w, minlength=bins)
        filled = size > 0
        predicted = np.bincount(at, w * p, minlength=bins)[filled] / size[filled]
        happened = np.bincount(at, w * (o.truth == o.positive), minlength=bins)[filled] / size[filled]
        worth = size[filled] ** 2 / squares[filled]
        low, high = wilson(happened * worth, worth, level)
        return cls(predicted, happened, low, high, size[filled].astype(np.float64))

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw the points with their intervals against the diagonal of a calibrated model."""
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], ":", color="0.5", linewidth=1)
        below, above = np.maximum(self.happened - self.low, 0), np.maximum(self.high - self.happened, 0)
        ax.errorbar(self.said, self.happened, [below, above], fmt="o-", markersize=4, capsize=2, label=name, **line)
        ax.set(xlabel="probability said", ylabel="share that happened", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.set_aspect("equal")
        if name:
            ax.legend(frameon=False)
        return self
