"""The metrics themselves, as functions of stacks of confusion matrices, or of losses a row.

A confusion matrix has the actual classes as its rows and the predicted ones as its columns. A stack of
B of them has shape (B, K, K), which is how the bootstrap evaluates all its resamples at once; a ratio
0/0 is NaN. On one matrix the values are scikit-learn's wherever those are defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.validation import Outcomes

CellMetric = Callable[[Floats], Floats]
AVERAGES = ("macro", "weighted", "micro")
NUMBERS = ("mse", "rmse", "mae", "r2")  # metrics of a regression


def confusion_matrix(
    truth: NDArray[np.intp], predicted: NDArray[np.intp], k: int, weights: Floats | None = None
) -> Floats:
    """Counts (or sums of weights) by actual and predicted class."""
    flat = np.bincount(truth * k + predicted, weights=weights, minlength=k * k)
    return flat.reshape(k, k).astype(np.float64)


def ratio(a: Floats, b: Floats) -> Floats:
    """a/b, NaN for 0/0."""
    out = np.full(np.broadcast_shapes(a.shape, b.shape), np.nan)
    return np.asarray(np.divide(a, b, out=out, where=b != 0))


def accuracy(c: Floats) -> Floats:
    return ratio(np.trace(c, axis1=-2, axis2=-1), c.sum(axis=(-2, -1)))


def recalls(c: Floats) -> Floats:
    """TP/(TP + FN) of each class."""
    return ratio(np.diagonal(c, axis1=-2, axis2=-1), c.sum(axis=-1))


def precisions(c: Floats) -> Floats:
    """TP/(TP + FP) of each class."""
    return ratio(np.diagonal(c, axis1=-2, axis2=-1), c.sum(axis=-2))


def specificities(c: Floats) -> Floats:
    """TN/(TN + FP) of each class."""
    right = np.diagonal(c, axis1=-2, axis2=-1)
    false_positive = c.sum(axis=-2) - right
    negative = c.sum(axis=(-2, -1))[..., None] - c.sum(axis=-1)
    return ratio(negative - false_positive, negative)


def f1_scores(c: Floats) -> Floats:
    """2TP/(2TP + FP + FN) of each class: 0 where only TP is, undefined where all three are."""
    right = np.diagonal(c, axis1=-2, axis2=-1)
    return ratio(2 * right, c.sum(axis=-1) + c.sum(axis=-2))


def balanced_accuracy(c: Floats) -> Floats:
    """The mean recall over the classes."""
    return np.asarray(recalls(c).mean(axis=-1))


def mcc(c: Floats) -> Floats:
    """Matthews' correlation for K classes (Gorodkin 2004); undefined where one side has a single class."""
    actual, predicted, n = c.sum(axis=-1), c.sum(axis=-2), c.sum(axis=(-2, -1))
    cov = np.trace(c, axis1=-2, axis2=-1) * n - (actual * predicted).sum(axis=-1)
    var_actual, var_predicted = n**2 - (actual**2).sum(axis=-1), n**2 - (predicted**2).sum(axis=-1)
    return np.clip(ratio(cov, np.sqrt(np.maximum(var_actual, 0)) * np.sqrt(np.maximum(var_predicted, 0))), -1, 1)


def averaged(per_class: CellMetric, average: str) -> CellMetric:
    """The macro or support-weighted mean of a metric of each class."""

    def macro(c: Floats) -> Floats:
        return np.asarray(per_class(c).mean(axis=-1))

    def weighted(c: Floats) -> Floats:
        values, support = per_class(c), c.sum(axis=-1)
        terms = np.where(support > 0, values * support, 0.0)
        return ratio(terms.sum(axis=-1), support.sum(axis=-1))

    return macro if average == "macro" else weighted


def of_class(per_class: CellMetric, k: int) -> CellMetric:
    """A metric of one class."""
    return lambda c: per_class(c)[..., k]


def mean_recall(classes: NDArray[np.intp]) -> CellMetric:
    """The mean recall over some of the classes."""
    return lambda c: np.asarray(recalls(c)[..., classes].mean(axis=-1))


def micro_specificity(c: Floats) -> Floats:
    """The specificity of all classes counted together."""
    return np.asarray(1 - (1 - accuracy(c)) / (c.shape[-1] - 1))


def filled(metric: CellMetric, number: float) -> CellMetric:
    """A metric with a number in place of what is undefined."""
    return lambda c: np.where(np.isnan(values := metric(c)), number, values)


def log_losses(truth: NDArray[np.intp], probabilities: Floats, positive: int | None) -> Floats:
    """-log P(what happened), a row; probabilities are kept one epsilon away from 0 and 1 (as scikit-learn does)."""
    eps = np.finfo(np.float64).eps
    if positive is not None:
        said = np.where(truth == positive, probabilities, 1 - probabilities)
    else:
        said = probabilities[np.arange(len(truth)), truth]
    return np.asarray(-np.log(np.clip(said, eps, 1 - eps if positive is not None else 1.0)))


def brier_losses(truth: NDArray[np.intp], probabilities: Floats, positive: int | None) -> Floats:
    """(p - y)^2 a row (Brier 1950); summed over the classes where there are more than two."""
    if positive is not None:
        return np.asarray((probabilities - (truth == positive)) ** 2)
    return np.asarray((probabilities**2).sum(axis=1) + 1 - 2 * probabilities[np.arange(len(truth)), truth])


def average_precisions(counts: Floats, positive: NDArray[np.bool_], ends: NDArray[np.intp]) -> Floats:
    """Sum over thresholds of (R_k - R_{k-1}) P_k, for each row of counts.

    Columns are rows of the data by descending score, ``ends`` the last column of each distinct score.
    """
    hits = np.cumsum(counts * positive, axis=-1)[..., ends]
    said = np.cumsum(counts, axis=-1)[..., ends]
    recall = ratio(hits, hits[..., -1:])
    steps = np.diff(recall, axis=-1, prepend=0.0)
    return np.asarray((steps * np.nan_to_num(ratio(hits, said))).sum(axis=-1))


def area_and_precision(positive: NDArray[np.bool_], scores: Floats, weights: Floats | None) -> tuple[float, float]:
    """The area under the ROC curve (ties count one half) and the average precision, by one sort."""
    if weights is None:
        return _by_counting(np.sort(scores[positive]), np.sort(scores[~positive]))
    order, ends = ranked(scores)
    w = weights[order]
    hits = np.cumsum(w * positive[order])[ends]
    said = np.cumsum(w)[ends]
    missed = said - hits  # weight of negative rows at or above each distinct score
    at_score = np.diff(hits, prepend=0.0)
    middle = missed - np.diff(missed, prepend=0.0) / 2
    area = float(at_score @ (missed[-1] - middle)) / float(hits[-1] * missed[-1])
    return min(max(area, 0.0), 1.0), float(at_score @ (hits / said)) / float(hits[-1])


def _by_counting(hits: Floats, misses: Floats) -> tuple[float, float]:
    """The same from the sorted scores of the positive and of the negative rows, without weights."""
    m, n = len(hits), len(misses)
    both = np.concatenate([misses, hits])
    order = np.argsort(both, kind="stable")  # two sorted runs: a single merge
    upto = np.flatnonzero(order >= n)
    upto -= np.arange(m)
    merged = both[order]
    if np.any(merged[1:] == merged[:-1]):
        below, better = np.searchsorted(misses, hits), m - np.searchsorted(hits, hits)
        return float((below + upto).sum()) / (2.0 * m * n), float((better / (better + (n - below))).mean())
    above = np.arange(m, 0, -1, dtype=np.float64)
    said = above + n
    said -= upto
    return float(upto.sum()) / (float(m) * n), float(np.divide(above, said, out=said).mean())


def average_precision_influence(weights: Floats, positive: NDArray[np.bool_], ends: NDArray[np.intp]) -> Floats:
    """How fast average precision moves with the weight of each row (rows by descending score).

    With S and H the weight of all and of positive rows at or above a score, AP = sum_i w_i y_i H_i/S_i / W.
    """
    group = np.searchsorted(ends, np.arange(len(weights)))
    hits = np.cumsum(weights * positive)[ends]
    said = np.cumsum(weights)[ends]
    at_score = np.diff(hits, prepend=0.0)  # positive weight at each distinct score
    value = (at_score * hits / said).sum()
    below = np.cumsum((at_score / said)[::-1])[::-1]  # a positive row adds to H of all scores at or below its own
    loss = np.cumsum((at_score * hits / said**2)[::-1])[::-1]  # every row adds to S of them
    moved = np.where(positive, (hits / said)[group] + below[group] - value / hits[-1], 0.0) - loss[group]
    return np.asarray(moved / hits[-1])


def ranked(scores: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows by descending score, and where each distinct score ends; equal scores in their order."""
    order = np.argsort(-scores, kind="stable")
    s = scores[order]
    return order, np.append(np.flatnonzero(np.diff(s)), len(s) - 1)


def row_losses(o: Outcomes) -> dict[str, Floats]:
    """The losses of each row that are means over rows."""
    if o.probabilities is None:
        return {}
    return {
        "log_loss": log_losses(o.truth, o.probabilities, o.positive),
        "brier": brier_losses(o.truth, o.probabilities, o.positive),
    }


def point_values(o: Outcomes, losses: dict[str, Floats] | None = None, wanted: str | None = None) -> dict[str, float]:
    """Every metric without an interval, NaN where it is undefined; ``losses`` of the rows, where they are known.

    Where only one is ``wanted``, losses and rankings that it does not need are left out.
    """
    k = len(o.classes)
    c = confusion_matrix(o.truth, o.predicted, k, o.weights)[None]
    of_each = {"precision": precisions, "recall": recalls, "specificity": specificities, "f1": f1_scores}
    cells: dict[str, CellMetric] = {"accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
    for name, metric in of_each.items():
        cells[name] = averaged(metric, "macro") if o.positive is None else of_class(metric, o.positive)
    cells["mcc"] = mcc
    out = {name: float(metric(c)[0]) for name, metric in cells.items() if wanted in (None, name) or wanted not in cells}
    if wanted in out:
        return out
    for name, values in (row_losses(o) if losses is None else losses).items():
        out[name] = float(np.average(values, weights=o.weights))
    ranking = o.ranking()
    if ranking is not None and wanted not in out:
        complete = np.bincount(o.truth, minlength=k).all()
        sides = [(o.truth == j, ranking[:, j]) for j in range(k)] if o.positive is None else []
        sides = sides or [(o.truth == o.positive, ranking)]
        both = [(math.nan, math.nan)]
        if complete:
            both = [area_and_precision(in_class, v, o.weights) for in_class, v in sides]
        out["roc_auc"], out["average_precision"] = (float(v) for v in np.mean(both, axis=0))
    return out


def numbers_value(metric: str, truth: Floats, predicted: Floats, weights: Floats | None) -> float:
    """One metric of a regression."""
    if metric not in NUMBERS:
        raise ParameterError(f"metric is {metric!r}: of a regression there are {', '.join(NUMBERS)}.")
    error = truth - predicted
    if metric == "mae":
        return float(np.average(np.abs(error), weights=weights))
    mse = float(np.average(error**2, weights=weights))
    if metric == "r2":
        spread = float(np.average((truth - np.average(truth, weights=weights)) ** 2, weights=weights))
        return 1 - mse / spread if spread > 0 else float("nan")
    return mse if metric == "mse" else float(np.sqrt(mse))
