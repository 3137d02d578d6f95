"""The outcome of each threshold of the score, and the threshold of least cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.evaluation.curves import two_class_ranking
from separatrix.evaluation.evaluation_text import plain, table
from separatrix.evaluation.intervals import Estimate
from separatrix.evaluation.metrics import ratio
from separatrix.statistics.distributions import wilson
from separatrix.validation import Outcomes, check_finite_vector

SHOWN = 25


@dataclass(frozen=True)
class ThresholdTable:
    """One entry a threshold, in descending order; a row is called positive where its score is at least that."""

    threshold: Floats
    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats
    precision: Floats
    precision_low: Floats
    precision_high: Floats
    recall: Floats
    recall_low: Floats
    recall_high: Floats
    specificity: Floats
    f1: Floats

    def __len__(self) -> int:
        return len(self.threshold)

    def to_dict(self) -> dict[str, Floats]:
        """Columns by name."""
        return dict(self.__dict__)

    def to_frame(self) -> Any:
        """The same as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def __str__(self) -> str:
        at = np.unique(np.linspace(0, len(self) - 1, min(SHOWN, len(self))).astype(int))
        head = ["threshold", "TP", "FP", "FN", "TN", "precision", "", "recall", "", "specificity", "F1"]
        rows = [head]
        for i in at:
            counts = (plain(v[i]) for v in (self.tp, self.fp, self.fn, self.tn))
            rows.append(
                [
                    f"{self.threshold[i]:.4g}",
                    *counts,
                    _share(self.precision[i]),
                    f"[{_share(self.precision_low[i])}, {_share(self.precision_high[i])}]",
                    _share(self.recall[i]),
                    f"[{_share(self.recall_low[i])}, {_share(self.recall_high[i])}]",
                    _share(self.specificity[i]),
                    _share(self.f1[i]),
                ]
            )
        left_out = f"\n  {len(at)} of {len(self)} thresholds shown" if len(at) < len(self) else ""
        return "\n".join(table(rows, left=0)) + left_out


@dataclass(frozen=True)
class ThresholdChoice:
    """The threshold of least mean cost on these rows, its cost, and that of the default decision.

    ``calibrated`` is what the costs alone say: with calibrated probabilities call a row positive where
    p >= c_fp/(c_fp + c_fn) (Elkan 2001).
    """

    threshold: float
    cost: float
    default_cost: float
    calibrated: float
    precision: Estimate
    recall: Estimate

    def __str__(self) -> str:
        return (
            f"threshold {self.threshold:.4g}: mean cost {self.cost:.4g} (as predicted: {self.default_cost:.4g}), "
            f"precision {self.precision}, recall {self.recall}; chosen on these rows, so expect a little more; "
            f"calibrated probabilities would be cut at {self.calibrated:.3g}"
        )


def _share(x: float) -> str:
    return "–" if np.isnan(x) else f"{x:.3f}"


def _estimate(value: float, low: float, high: float, level: float) -> Estimate:
    return Estimate(float(value), float(low), float(high), "Wilson", level)


def threshold_table(o: Outcomes, level: float, at: Any = None) -> ThresholdTable:
    """Counts at thresholds, by one sort."""
    positive, ranking = two_class_ranking(o, "a threshold table")
    cuts = np.unique(ranking)[::-1] if at is None else np.sort(check_finite_vector(at, what="at"))[::-1]
    if not len(cuts):
        raise ParameterError("at is empty: pass thresholds of the score, or None for all of them.")
    w = np.ones(o.n) if o.weights is None else o.weights
    order = np.argsort(ranking)
    first = np.searchsorted(ranking[order], cuts, side="left")

    def above(values: Floats) -> Floats:
        return np.asarray(np.append(np.cumsum(values[order][::-1])[::-1], 0.0)[first])

    tp, fp = above(w * positive), above(w * ~positive)
    fn, tn = float(w[positive].sum()) - tp, float(w[~positive].sum()) - fp
    fn, tn = np.maximum(fn, 0.0), np.maximum(tn, 0.0)
    scale = 1.0 if o.weights is None else w.sum() / (w @ w)  # a sum of weights as effective rows
    p_low, p_high = wilson(tp * scale, (tp + fp) * scale, level)
    r_low, r_high = wilson(tp * scale, (tp + fn) * scale, level)
    return ThresholdTable(
        threshold=cuts,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        precision=ratio(tp, tp + fp),
        precision_low=p_low,
        precision_high=p_high,
        recall=ratio(tp, tp + fn),
        recall_low=r_low,
        recall_high=r_high,
        specificity=ratio(tn, tn + fp),
        f1=ratio(2 * tp, 2 * tp + fp + fn),
    )


def threshold_by_cost(o: Outcomes, level: float, false_positive: float, false_negative: float) -> ThresholdChoice:
    """The cheapest cut between two neighbouring scores (or beyond all of them), the middle one of equals."""
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        if isinstance(cost, bool) or not isinstance(cost, (int, float, np.number)) or not 0 <= cost < np.inf:
            raise ParameterError(f"{name} is {cost!r}: a cost is a finite number, not negative.")
    if false_positive + false_negative == 0:
        raise ParameterError("both costs are zero: every threshold costs the same.")
    positive, ranking = two_class_ranking(o, "a threshold")
    distinct = np.unique(ranking)
    cuts = np.concatenate([[distinct[0]], (distinct[1:] + distinct[:-1]) / 2, [np.nextafter(distinct[-1], np.inf)]])
    t = threshold_table(o, level, cuts)
    total = float(t.tp[0] + t.fp[0] + t.fn[0] + t.tn[0])
    costs = (false_positive * t.fp + false_negative * t.fn) / total
    best = np.flatnonzero(np.isclose(costs, costs.min(), rtol=1e-12, atol=0))
    i = int(best[len(best) // 2])
    wrong_positive = (o.predicted == o.positive) & ~positive
    wrong_negative = (o.predicted != o.positive) & positive
    w = np.ones(o.n) if o.weights is None else o.weights
    default = (false_positive * w[wrong_positive].sum() + false_negative * w[wrong_negative].sum()) / w.sum()
    if np.isnan(t.precision[i]):
        precision = Estimate.undefined("no row would be called positive", level)
    else:
        precision = _estimate(t.precision[i], t.precision_low[i], t.precision_high[i], level)
    recall = _estimate(t.recall[i], t.recall_low[i], t.recall_high[i], level)
    cut = false_positive / (false_positive + false_negative)
    return ThresholdChoice(float(t.threshold[i]), float(costs[i]), float(default), cut, precision, recall)
