"""``evaluate``: predictions against true labels, every metric with its interval."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import AccuracyWarning, DataError, ParameterError
from separatrix.evaluation.bootstrap import average_precision, roc_auc, sums_estimate
from separatrix.evaluation.classification import Measurer
from separatrix.evaluation.intervals import Estimate, scaled
from separatrix.evaluation.metrics import AVERAGES
from separatrix.evaluation.results import ClassificationEvaluation, RegressionEvaluation
from separatrix.evaluation.splits import seed_of
from separatrix.statistics.distributions import need_level
from separatrix.validation import Outcomes, check_outcomes, check_targets, check_weights, containers, plain_value

RESAMPLES = 2000
WHOLE = 2.0**53  # from which every floating-point number is whole, so that being whole says nothing
MANY = 30  # distinct numbers from which it is worth saying that they were taken for classes
IMBALANCED = 0.7  # share of the most common class from which accuracy is compared with always predicting it


def evaluate(
    y_true: Any,
    y_pred: Any = None,
    *,
    scores: Any = None,
    probabilities: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
    labels: Any = None,
    average: str = "auto",
    zero_division: str | float = "undefined",
    level: float = 0.95,
    task: str | None = None,
    resamples: int = RESAMPLES,
    random_state: int = 0,
) -> Any:
    """Compare predictions with true labels; every metric has an interval.

    Parameters
    ----------
    y_true, y_pred : labels (classification) or numbers (regression) of the same rows
        Without ``y_pred`` labels follow from scores (s >= 0) or probabilities (p >= 1/2).
    scores, probabilities : of the positive class, one a row; or a column a class, in the order of ``labels``
        More than two classes are ranked by their probabilities, else each by its own column of scores.
    positive : label, default: the second of two sorted classes
    sample_weight : weights of the rows; intervals then count effective rows (Kish 1965)
    labels : the classes in the order of the columns, default: the sorted labels that occur
        With labels of two classes the second one is the positive one by default.
    average : {"auto", "macro", "weighted", "micro"}
        How precision, recall, specificity and F1 of more than two classes become one number.
    zero_division : "undefined", 0 or 1
        What a ratio 0/0 is: undefined with its reason, or scikit-learn's number.
    level : confidence level of every interval
    task : {"classification", "regression"}, default: regression where the numbers are not whole
    resamples, random_state : of the bootstrap

    Returns
    -------
    ClassificationEvaluation or RegressionEvaluation

    Examples
    --------
    >>> from separatrix import evaluate
    >>> found = evaluate([1, 1, 0, 0, 1], [1, 0, 0, 0, 1])
    >>> found.precision.value, round(found.recall.value, 3), round(found.f1.value, 3)
    (1.0, 0.667, 0.8)
    >>> found.confusion
    array([[2., 0.],
           [1., 2.]])
    """
    level, random_state = need_level(level), seed_of(random_state)
    _check_options(average, zero_division, resamples)
    if _is_regression(y_true, y_pred, scores, probabilities, task):
        given = {"scores": scores, "probabilities": probabilities, "positive": positive, "labels": labels}
        for name, value in given.items():
            if value is not None:
                raise ParameterError(f"{name} applies to classification only, and these are numbers: leave it out.")
        return _regression(y_true, y_pred, sample_weight, level, resamples, random_state)
    outcomes = check_outcomes(
        y_true,
        y_pred,
        scores=scores,
        probabilities=probabilities,
        positive=positive,
        sample_weight=sample_weight,
        labels=labels,
    )
    evaluation = evaluate_outcomes(outcomes, level, average, zero_division, resamples, random_state)
    if IMBALANCED <= evaluation.majority < 1 and evaluation.accuracy.low <= evaluation.majority:
        warnings.warn(
            f"accuracy {evaluation.accuracy} says little here: always predicting the most common class gives "
            f"{evaluation.majority:.3f}; see balanced_accuracy, precision and recall.",
            AccuracyWarning,
            stacklevel=2,
        )
    return evaluation


def evaluate_outcomes(
    outcomes: Outcomes,
    level: float = 0.95,
    average: str = "auto",
    zero_division: str | float = "undefined",
    resamples: int = RESAMPLES,
    random_state: int = 0,
    notes: tuple[str, ...] = (),
) -> ClassificationEvaluation:
    """The same from checked outcomes, without a warning."""
    chosen = "macro" if average == "auto" else average
    scale = _unit(outcomes.weights)
    if outcomes.weights is not None and scale != 1:
        outcomes = replace(outcomes, weights=outcomes.weights / scale)
    m = Measurer(outcomes, level, chosen, zero_division, resamples, random_state)
    per_class = {plain_value(label): m.class_metrics(k) for k, label in enumerate(outcomes.classes)}
    binary = outcomes.positive is not None
    positive = outcomes.classes[outcomes.positive] if binary else None
    overall = per_class[plain_value(positive)] if binary and average == "auto" else m.averaged_metrics()
    support, losses = m.confusion.sum(axis=1), m.losses()
    return ClassificationEvaluation(
        n=outcomes.n,
        level=level,
        notes=(*notes, *_notes(outcomes)),
        classes=outcomes.classes,
        positive=plain_value(positive),
        average="binary" if binary and average == "auto" else chosen,
        confusion=m.confusion * scale,
        majority=float(support.max() / support.sum()),
        accuracy=m.accuracy(),
        balanced_accuracy=m.balanced_accuracy(),
        mcc=m.mcc(),
        log_loss=losses["log_loss"],
        brier=losses["brier"],
        roc_auc=roc_auc(outcomes, level),
        average_precision=average_precision(outcomes, level, resamples, m.rng),
        per_class=per_class,
        outcomes=outcomes,
        precision=overall["precision"],
        recall=overall["recall"],
        specificity=overall["specificity"],
        f1=overall["f1"],
    )


def _unit(weights: Floats | None) -> float:
    """1, or a power of two by which weights are divided whose squares would overflow or vanish."""
    if weights is None or 1e-100 < weights.max() < 1e100:
        return 1.0
    return 2.0 ** math.floor(math.log2(weights.max()))


def _notes(o: Outcomes) -> tuple[str, ...]:
    if len(o.classes) > MANY and o.classes.dtype.kind in "iuf" and o.n < 3 * len(o.classes):
        return (f"{len(o.classes)} whole numbers were taken as classes: pass task='regression' for quantities",)
    if o.probabilities is None:
        return ()
    p = o.probabilities
    if o.positive is not None:
        never = np.where(o.truth == o.positive, p == 0, p == 1)
    else:
        never = p[np.arange(o.n), o.truth] == 0
    count = int(np.count_nonzero(never))
    if not count:
        return ()
    return (f"{count} rows had probability 0 for what happened: their log loss is infinite, and clipped at 36",)


def _check_options(average: str, zero_division: str | float, resamples: int) -> None:
    if average not in ("auto", *AVERAGES):
        raise ParameterError(f"average is {average!r}: it can be 'auto', {', '.join(map(repr, AVERAGES))}.")
    if not isinstance(zero_division, (str, int, float)) or zero_division not in ("undefined", 0, 1):
        raise ParameterError(f"zero_division is {zero_division!r}: it can be 'undefined', 0 or 1.")
    if isinstance(resamples, bool) or not isinstance(resamples, (int, np.integer)) or resamples < 100:
        raise ParameterError(f"resamples is {resamples!r}: it must be a whole number of at least 100.")


def _is_regression(y_true: Any, y_pred: Any, scores: Any, probabilities: Any, task: str | None) -> bool:
    if task not in (None, "classification", "regression"):
        raise ParameterError(f"task is {task!r}: it can be 'classification' or 'regression'.")
    if task is not None:
        return task == "regression"
    if scores is not None or probabilities is not None or y_pred is None:
        return False
    return any(_continuous(v) for v in (y_true, y_pred))


def _continuous(v: Any) -> bool:
    array = containers.vector_of(v) if containers.is_frame(v) else np.asarray(v)
    if array.dtype.kind != "f":
        return False
    finite = array[np.isfinite(array)]
    return bool(np.any((finite != np.floor(finite)) | (np.abs(finite) >= WHOLE)))


def _regression(
    y_true: Any, y_pred: Any, sample_weight: Any, level: float, resamples: int, seed: int
) -> RegressionEvaluation:
    if y_pred is None:
        raise DataError("there is nothing to evaluate: pass y_pred.")
    truth, predicted = check_targets(y_true, what="y_true"), check_targets(y_pred, what="y_pred")
    if len(truth) != len(predicted):
        raise DataError(f"y_true has {len(truth)} rows and y_pred has {len(predicted)}: pass one for every row.")
    return evaluate_numbers(truth, predicted, check_weights(sample_weight, len(truth)), level, resamples, seed)


def evaluate_numbers(
    truth: Floats,
    predicted: Floats,
    weights: Floats | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> RegressionEvaluation:
    """Mean squared and absolute error, and R^2 = 1 - sum (y - f)^2 / sum (y - mean y)^2."""
    if weights is not None and not weights.all():
        truth, predicted, weights = truth[weights > 0], predicted[weights > 0], weights[weights > 0]
    w = np.ones(len(truth)) if weights is None else weights
    centre = float(np.average(truth, weights=w))
    error, y = truth - predicted, truth - centre  # centred once, so that sums of squares keep their digits
    unit, spread = (float(np.abs(v).max()) or 1.0 for v in (error, y))  # so that no square overflows or vanishes
    error, y, w = error / unit, y / spread, w / _unit(w)
    terms = np.column_stack([w, w * error**2, w * np.abs(error), w * y, w * y * y])
    rng = np.random.default_rng(seed)

    def estimate(statistic: Any, scale: float = 1.0) -> Estimate:
        return scaled(sums_estimate(terms, statistic, level, resamples, rng), scale)

    def r2(s: Floats) -> Floats:
        total = s[..., 4] - s[..., 3] ** 2 / s[..., 0]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.asarray(np.where(total > 0, 1 - (unit / spread) ** 2 * s[..., 1] / total, np.nan))

    varied = float(np.ptp(truth)) > 0
    return RegressionEvaluation(
        n=len(truth),
        level=level,
        mse=estimate(lambda s: s[..., 1] / s[..., 0], unit * unit),
        rmse=estimate(lambda s: np.sqrt(s[..., 1] / s[..., 0]), unit),
        mae=estimate(lambda s: s[..., 2] / s[..., 0], unit),
        r2=estimate(r2) if varied else Estimate.undefined("every true value is the same", level),
        truth=truth,
        predicted=predicted,
    )
