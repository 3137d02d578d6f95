"""Predictions of a fitted model: labels, scores, probabilities or numbers, whichever it has."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.validation import Outcomes, check_targets, containers, count_rows
from separatrix.validation.labels import label_vector


def is_regressor(model: Any) -> bool:
    """Whether a learner predicts numbers rather than classes; one that does not say is taken for a classifier."""
    if hasattr(model, "classes_"):
        return False
    if getattr(model, "_estimator_type", None) is not None:
        return bool(model._estimator_type == "regressor")
    from sklearn.base import is_regressor as theirs

    try:
        return bool(theirs(model))
    except (AttributeError, TypeError):  # no estimator of scikit-learn's kind
        return False


@dataclass(frozen=True, slots=True)
class Said:
    """Predictions of some rows: labels with what else a classifier says, or ``numbers`` of a regression."""

    labels: NDArray[Any]
    scores: Floats | None = None
    probabilities: Floats | None = None
    classes: NDArray[Any] | None = None
    numbers: bool = False

    def digest(self, order: NDArray[np.intp], *context: Any) -> str:
        """A hash of every bit of the predictions, taken in ``order``, and of whatever else an evaluation depends on."""
        classes = None if self.classes is None else self.classes.tolist()
        out = blake2b(repr(_values_alone((context, classes))).encode("utf-8", "surrogatepass"), digest_size=16)
        for part in (self.labels, self.scores, self.probabilities):
            if part is None:
                out.update(b"None")
            elif part.dtype.kind in "OUS":
                out.update(repr(_values_alone(part[order].tolist())).encode("utf-8", "surrogatepass"))
            else:
                out.update(f"{part.dtype.str} {part.shape}\n".encode() + part[order].tobytes())
        return out.hexdigest()


def _values_alone(value: Any) -> Any:
    """A value whose text is that of its content: a class of the user's may write any of its values alike."""
    if value is None or type(value) in (bytes, bool):
        return value
    if isinstance(value, (list, tuple)):
        return (
            [_values_alone(entry) for entry in value] if isinstance(value, list) else tuple(map(_values_alone, value))
        )
    if isinstance(value, np.generic):
        return _values_alone(value.item())
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__pos__(value)
    if isinstance(value, float):
        return float.__pos__(value)
    return secrets.token_hex(16)  # like no other: evaluated again, it counts again


def scores_by_model(models: Sequence[Any], checked: Any, which: NDArray[np.int64]) -> Floats | None:
    """Scores of checked rows, each by the model of its number, in one pass; None of models that are not linear."""
    from separatrix.models.linear_predictors import LinearClassifier, LinearRegressor

    if not all(
        isinstance(m, LinearRegressor)
        or (isinstance(m, LinearClassifier) and type(m).decision_function is LinearClassifier.decision_function)
        for m in models
    ):
        return None
    coefs = [np.asarray(m.coef_, dtype=np.float64).reshape(-1, checked.shape[1]) for m in models]
    if len({len(c) for c in coefs}) > 1:
        return None
    out = np.empty((len(which), len(coefs[0])))
    intercepts = np.concatenate([np.ravel(m.intercept_).astype(np.float64) for m in models])
    kernels.class_scores(kernels.rows(checked), np.concatenate(coefs), intercepts, out, which)
    return out[:, 0] if out.shape[1] == 1 else out


def predictions_of(model: Any, X: Any, regression: bool | None = None, scores: Floats | None = None) -> Said:
    """Everything that a fitted model says about rows; ``scores`` of one of our own models, if they are known."""
    from separatrix.models.linear_predictors import Classifier

    if isinstance(model, type) or not hasattr(model, "predict"):
        raise ParameterError(f"model is {model!r}: pass a fitted model with predict.")
    regression = is_regressor(model) if regression is None else regression
    if isinstance(model, Classifier) and not regression:
        scores = model.decision_function(X) if scores is None else scores
        predicted = model._classes_of(scores)
    else:
        predicted = model.predict(X) if scores is None else scores
    predicted = containers.vector_of(predicted) if containers.is_frame(predicted) else np.asarray(predicted)
    if predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted[:, 0]
    if predicted.ndim != 1:
        raise DataError(f"predict gave an array of shape {predicted.shape}: one prediction a row is needed.")
    if X is not None and len(predicted) != count_rows(X):
        raise DataError(f"predict gave {len(predicted)} predictions for {count_rows(X)} rows: one a row is needed.")
    if regression:
        return Said(check_targets(predicted, what="predict(X)"), numbers=True)
    classes = getattr(model, "classes_", None)
    if classes is None:
        return Said(label_vector(predicted, what="predict(X)"))
    if scores is not None and hasattr(model, "_posteriors"):
        probabilities = model._posteriors(scores)
    else:
        probabilities = _values(model, "predict_proba", X)
    ranks = _finite(_values(model, "decision_function", X) if scores is None else scores)
    if ranks is not None and ranks.ndim == 2 and learns_leads(model):
        ranks = leads(ranks)
    return Said(
        label_vector(predicted, what="predict(X)"),
        ranks,
        _finite(probabilities),
        np.asarray(classes),
    )


def learns_leads(model: Any) -> bool:
    """Whether only differences of a row's scores were learned: by Kesler's rule for more than two classes."""
    steps = getattr(model, "steps", None)
    return learns_leads(steps[-1][1]) if steps else getattr(model, "multiclass", None) == "kesler"


def leads(scores: Floats) -> Floats:
    """By how much each class leads the best other one: s_k - max over j != k of s_j, a column a class.

    Kesler's rule asks for s_true > s_j alone. The same vector added to those of all classes changes neither its
    mistakes nor its predictions, but would change how rows are ranked by one class's score; leads stay.
    """
    two = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(scores - np.where(scores == two[:, 1:], two[:, :1], two[:, 1:]))


def _values(model: Any, method: str, X: Any) -> Floats | None:
    try:
        call = getattr(model, method)
    except AttributeError:  # also what scikit-learn's available_if raises
        return None
    return np.asarray(call(X), dtype=np.float64)


def _finite(values: Floats | None) -> Floats | None:
    return values if values is not None and np.isfinite(values).all() else None


def outcomes_of(truth: Any, said: Said, positive: Any = None, weights: Any = None) -> tuple[Outcomes, tuple[str, ...]]:
    """Predictions beside the truth; classes that were not seen in training stay visible and are noted."""
    from separatrix.validation import check_outcomes

    actual = label_vector(truth)
    scores, probabilities, labels = said.scores, said.probabilities, said.classes
    notes: tuple[str, ...] = ()
    if labels is not None:
        labels = label_vector(labels, what="classes_")
        unseen = sorted(set(actual.tolist()) - set(labels.tolist()), key=str)
        if unseen:
            count = int(np.count_nonzero(np.isin(actual, np.array(unseen, dtype=actual.dtype))))
            names = ", ".join(map(repr, unseen[:5]))
            notes = (
                f"{count} rows are of classes unseen in training ({names}): misclassified, and without probabilities",
            )
            scores = probabilities = labels = None
        elif len(labels) == 2 and scores is not None and scores.ndim == 1 and positive in labels.tolist()[:1]:
            scores = -scores  # a model's scores are for its second class
    if scores is not None and scores.ndim == 2 and labels is not None and scores.shape[1] != len(labels):
        scores = None  # one column a pair of classes: no ranking of rows for a class
    checked = check_outcomes(
        actual,
        said.labels,
        scores=scores,
        probabilities=probabilities,
        positive=positive,
        sample_weight=weights,
        labels=labels,
    )
    return checked, notes
