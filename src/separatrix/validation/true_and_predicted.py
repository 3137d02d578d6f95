"""True labels beside predictions, scores and probabilities of the same rows, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.validation import containers
from separatrix.validation.labels import (
    check_finite_vector,
    check_labels,
    check_weights,
    label_vector,
    need_classes,
    shown_label,
)

Codes = NDArray[np.intp]
PAIRS = ((0, 1), (-1, 1), (False, True))  # what a lone label tells of the other
SUM_TOLERANCE = 1e-6
ROUNDING = 1e-6  # how far beyond 0 or 1 a probability may lie that was computed in single precision


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Rows of a classification: the sorted classes, and each row's true and predicted one by number.

    With two classes ``positive`` is the number of the positive one, and ``scores`` and ``probabilities``
    are one-dimensional and speak for it; with more they have a column a class.
    """

    classes: NDArray[Any]
    truth: Codes
    predicted: Codes
    positive: int | None
    scores: Floats | None = None
    probabilities: Floats | None = None
    weights: Floats | None = None

    @property
    def n(self) -> int:
        return len(self.truth)

    def ranking(self) -> Floats | None:
        """What rows are ranked by: scores, or probabilities where there are no scores.

        With more than two classes probabilities come first: the scores of a row often mean something only
        beside each other (softmax is the same for all of them plus one number), so that they rank no rows.
        """
        if self.scores is None or (self.scores.ndim == 2 and self.probabilities is not None):
            return self.probabilities
        return self.scores


def check_outcomes(
    y_true: Any,
    y_pred: Any = None,
    *,
    scores: Any = None,
    probabilities: Any = None,
    positive: Any = None,
    sample_weight: Any = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
) -> Outcomes:
    """Labels of one kind, finite scores, probabilities in [0, 1]; rows of weight zero are left out."""
    if y_pred is None and scores is None and probabilities is None:
        raise DataError("there is nothing to evaluate: pass y_pred, scores or probabilities.")
    truth = label_vector(y_true, what="y_true")
    said = None if y_pred is None else label_vector(y_pred, what="y_pred")
    for labels_of, what in ((truth, "y_true"), (said, "y_pred")):
        if labels_of is not None and labels_of.dtype.kind == "f":
            need_classes(labels_of, what)
    if said is not None and len(said) != len(truth):
        raise DataError(f"y_true has {len(truth)} rows and y_pred has {len(said)}: pass one for every row.")
    classes = _classes(truth, said, labels, positive)
    s = _per_class(scores, classes, len(truth), "scores")
    p = _per_class(probabilities, classes, len(truth), "probabilities")
    p = None if p is None else _probabilities(p)
    if len(classes) == 1 and (s is not None or p is not None):
        raise DataError(
            f"y_true has one class only ({shown_label(classes[0])}), so the other one of a score is unknown: "
            "pass labels=[negative, positive]."
        )
    which = _positive(classes, positive)
    if which is not None:
        s, p = _of_positive(s, which, "scores"), _of_positive(p, which, "probabilities")
    codes = _codes(truth, classes, "y_true")
    predicted = _codes(said, classes, "y_pred") if said is not None else _decide(s, p, which)
    weights = check_weights(sample_weight, len(truth))
    if weights is not None and not weights.all():
        kept = weights > 0
        codes, predicted, weights = codes[kept], predicted[kept], weights[kept]
        s, p = (None if v is None else v[kept] for v in (s, p))
    return Outcomes(classes, codes, predicted, which, s, p, weights)


def _classes(truth: NDArray[Any], said: NDArray[Any] | None, labels: Any, positive: Any) -> NDArray[Any]:
    given = None if labels is None else label_vector(labels, what="labels")
    parts = [v for v in (truth, said, given) if v is not None]
    if any(_is_text(v) != _is_text(parts[0]) for v in parts):
        raise DataTypeError("labels mix text and numbers: y_true, y_pred and labels must use the same classes.")
    if given is not None:
        if len(np.unique(given)) != len(given):
            raise ParameterError("labels names a class twice.")
        return given
    classes = check_labels(np.concatenate([v if v.dtype.kind != "b" else v.astype(np.int64) for v in parts])).classes
    if all(v.dtype.kind == "b" for v in parts):
        return np.array([False, True])
    if len(classes) == 1:
        lone = classes[0]
        if positive is not None and positive != lone and _is_text(classes) == isinstance(positive, str):
            return np.array([lone, positive])
        for pair in PAIRS:
            if not _is_text(classes) and lone in pair:
                return np.array(pair)
    return classes


def _is_text(labels: NDArray[Any]) -> bool:
    if labels.dtype.kind in "US":
        return True
    return labels.dtype.kind == "O" and any(isinstance(v, str) for v in labels[:1])


def _codes(labels: NDArray[Any], classes: NDArray[Any], what: str) -> Codes:
    if len(classes) == 2 and labels.dtype.kind in "biu" and classes.dtype.kind in "biu":
        second = labels == classes[1]
        if bool((second | (labels == classes[0])).all()):
            return np.asarray(second, dtype=np.intp)
    order = np.argsort(classes)
    at = np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)
    codes = order[at]
    unknown = classes[codes] != labels
    if np.any(unknown):
        row = int(np.flatnonzero(unknown)[0])
        raise DataError(f"{what} has {shown_label(labels[row])} at row {row}, which is none of the classes in labels.")
    return np.asarray(codes, dtype=np.intp)


def _positive(classes: NDArray[Any], positive: Any) -> int | None:
    """The number of the positive class: as named, else the second of two; none where there are more."""
    if positive is None:
        return 1 if len(classes) == 2 else None
    known = classes.tolist()
    if positive not in known:
        raise ParameterError(f"positive is {positive!r}, which is none of the classes {known}.")
    if len(classes) > 2:
        raise ParameterError(
            f"positive is {positive!r}, but there are {len(classes)} classes: see per_class, or make two of them first."
        )
    return int(known.index(positive))


def _per_class(values: Any, classes: NDArray[Any], n: int, what: str) -> Floats | None:
    """A column a class, or one dimension where there are two."""
    if values is None:
        return None
    if containers.is_frame(values):
        _, columns = (
            containers.columns_of(values) if hasattr(values, "columns") else ([], [containers.vector_of(values)])
        )
        values = columns[0] if len(columns) == 1 else np.column_stack(columns)
    if hasattr(values, "tocsr"):
        raise DataTypeError(f"{what} is a sparse matrix and needs to be an array: use {what}.toarray().")
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1:
        out = check_finite_vector(array, what=what)
        if len(classes) > 2:
            raise DataError(f"{what} has one column and there are {len(classes)} classes: pass a column a class.")
    elif array.ndim == 2:
        out = array
        if array.dtype != np.float64 or not np.isfinite(array).all():
            out = check_finite_vector(array.reshape(-1), what=f"{what} (row by row)").reshape(array.shape)
        if array.shape[1] != len(classes):
            raise DataError(
                f"{what} has {array.shape[1]} columns and there are {len(classes)} classes "
                f"({', '.join(map(shown_label, classes[:6]))}): name the columns with labels=."
            )
    else:
        raise DataError(f"{what} has {array.ndim} dimensions: pass one number a row, or a column a class.")
    if len(out) != n:
        raise DataError(f"y_true has {n} rows and {what} has {len(out)}: pass one for every row.")
    return out


def _of_positive(values: Floats | None, which: int, what: str) -> Floats | None:
    if values is None or values.ndim == 1:
        return values
    if what == "scores":
        return np.asarray(values[:, which] - values[:, 1 - which])
    return np.ascontiguousarray(values[:, which])


def _probabilities(p: Floats) -> Floats:
    """Numbers in [0, 1] whose rows sum to 1; what rounding left beyond the ends is put back on them."""
    least, most = p.min(), p.max()
    if least < -ROUNDING or most > 1 + ROUNDING:
        outside = (p < -ROUNDING) | (p > 1 + ROUNDING)
        row = int(np.argwhere(outside)[0][0])
        raise DataError(
            f"probabilities has {p[row] if p.ndim == 1 else p[row][outside[row]][0]:g} at row {row}, outside [0, 1]: "
            "pass scores= if these are not probabilities."
        )
    if p.ndim == 2:
        total = p[:, 0] + p[:, 1] if p.shape[1] == 2 else p.sum(axis=1)
        off = np.abs(total - 1) > SUM_TOLERANCE
        if np.any(off):
            row = int(np.flatnonzero(off)[0])
            raise DataError(f"probabilities of row {row} sum to {p[row].sum():g}, not to 1: normalise them.")
    return p if least >= 0 and most <= 1 else np.clip(p, 0.0, 1.0)


def _decide(s: Floats | None, p: Floats | None, which: int | None) -> Codes:
    """The class said by scores (s >= 0) or probabilities (p >= 1/2), the first of the greatest for more."""
    values, cut = (s, 0.0) if s is not None else (p, 0.5)
    assert values is not None  # y_pred, scores or probabilities: one was given
    if which is None:
        return np.asarray(values.argmax(axis=1), dtype=np.intp)
    return np.where(values >= cut, which, 1 - which).astype(np.intp)
