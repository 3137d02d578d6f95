"""Every metric of a classification without an interval."""

from __future__ import annotations

import math

import numpy as np

from separatrix.arrays import Floats
from separatrix.evaluation import metrics
from separatrix.validation import Outcomes


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
