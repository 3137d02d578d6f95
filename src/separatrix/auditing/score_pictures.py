"""Curves of the chosen learner on rows it was not fitted on: ROC, precision and recall, calibration, thresholds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.comparison import estimate_facts
from separatrix.auditing.picture_facts import (
    Band,
    CalibrationPicture,
    CostChoice,
    ScatterPicture,
    ScorePictures,
    ThresholdPicture,
)
from separatrix.auditing.prediction import Prediction
from separatrix.auditing.prediction_facts import EstimateFacts
from separatrix.auditing.table import AuditTable
from separatrix.evaluation.results import ClassificationEvaluation

POINTS = 160
SCATTERED = 1000
HELD_OUT, IN_FOLDS = "the held-out test rows", "rows predicted in cross-validation"
COSTS = ((1.0, 1.0), (1.0, 5.0), (5.0, 1.0))  # of a false alarm, of a missed row


def score_pictures(table: AuditTable, found: Prediction, level: float) -> ScorePictures | None:
    """On the held-out rows, or without any on rows predicted in folds."""
    result, where = _result(found)
    if not isinstance(result, ClassificationEvaluation):
        return None
    by_number = found.test is not None
    labels = [
        table.labels[int(c) if by_number else int(np.flatnonzero(table.classes == c)[0])]
        for c in result.classes.tolist()
    ]
    made = ScorePictures(where, labels, result.confusion.tolist(), None, None, None, None)
    if not table.binary or not result.roc_auc.defined:
        return made
    roc, pr = result.roc_curve(), result.precision_recall_curve()
    calibration = None
    if result.outcomes.probabilities is not None:
        c = result.calibration_curve()
        counts = [int(n) for n in c.counts]
        calibration = CalibrationPicture(c.said.tolist(), c.happened.tolist(), c.low.tolist(), c.high.tolist(), counts)
    return replace(
        made,
        roc=_band(roc.fpr, roc.tpr, roc.low, roc.high, estimate_facts(result.roc_auc), 0.5),
        precision_recall=_band(
            pr.recall, pr.precision, pr.low, pr.high, estimate_facts(result.average_precision), pr.prevalence
        ),
        calibration=calibration,
        threshold=_thresholds(found, level),
    )


def _result(found: Prediction) -> tuple[Any, str]:
    if found.test is not None:
        return found.test, HELD_OUT
    if found.comparison is None:
        return None, IN_FOLDS
    return found.comparison.runs[found.comparison.chosen.name].pooled, IN_FOLDS


def _band(x: Any, y: Any, low: Any, high: Any, estimate: EstimateFacts, baseline: float) -> Band:
    at = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
    return Band(x[at].tolist(), y[at].tolist(), low[at].tolist(), high[at].tolist(), estimate, float(baseline))


def _thresholds(found: Prediction, level: float) -> ThresholdPicture | None:
    """The cheapest threshold for equal and for unequal costs, chosen in folds and not on the held-out rows."""
    from separatrix.evaluation.thresholds import threshold_by_cost

    assert found.comparison is not None  # there are scores, so learners were compared
    pooled = found.comparison.runs[found.comparison.chosen.name].pooled
    if not isinstance(pooled, ClassificationEvaluation) or not pooled.roc_auc.defined:
        return None
    outcomes = pooled.outcomes
    kind = "score" if outcomes.probabilities is None else "probability"
    if outcomes.probabilities is not None:
        outcomes = replace(outcomes, scores=None)  # a threshold on the probability, which people can read
    choices = []
    for false_positive, false_negative in COSTS:
        best = threshold_by_cost(outcomes, level, false_positive, false_negative)
        figures = estimate_facts(best.precision), estimate_facts(best.recall)
        choices.append(CostChoice(false_positive, false_negative, best.threshold, *figures))
    return ThresholdPicture(kind, choices)


def predicted_scatter(found: Prediction, seed: int) -> ScatterPicture | None:
    """Predicted against true values of a quantity."""
    result, where = _result(found)
    return None if result is None else scatter(where, result.truth, result.predicted, SCATTERED, seed)


def scatter(where: str, truth: NDArray[Any], predicted: NDArray[Any], most: int, seed: int) -> ScatterPicture:
    """At most ``most`` of the rows."""
    at = np.arange(len(truth))
    if len(at) > most:
        at = np.sort(np.random.default_rng(seed).choice(at, most, replace=False))
    return ScatterPicture(where, truth[at].tolist(), predicted[at].tolist(), len(truth))
