"""User classes above, -1 and +1 below: predictions from scores, weights of classes, and their moments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.numerics.moments import Moments
from separatrix.parameters import BOUNDARIES
from separatrix.validation import Labels, check_labels


def need_joining(label: Any, classes: list[Any], open_: bool) -> None:
    """Refuse a new label that cannot join the classes so far: they are closed, or of another type."""
    if not open_:
        raise DataError(
            f"y has the class {label!r}, which is not one of {classes}: "
            "name all classes in the first call, or leave classes out to learn them as they appear."
        )
    if classes and _kind(label) != _kind(classes[0]):
        raise DataTypeError(
            f"y has the class {label!r} of type {type(label).__name__}, "
            f"but the classes so far are {classes}: use one type of label."
        )


def with_class(classes: list[Any], label: Any) -> list[Any]:
    """The classes with one more: in its place among sorted ones, behind those in the order of their categories."""
    return sorted([*classes, label]) if classes == sorted(classes) else [*classes, label]


def _kind(label: Any) -> type:
    return type(label) if isinstance(label, (str, bytes)) else float


def newcomers(
    labels: NDArray[Any], classes: list[Any], open_: bool, counted: NDArray[np.bool_] | None = None
) -> list[tuple[int, Any]]:
    """Where each class that is not known yet first occurs among the rows that count; refused where it cannot join."""
    if all(label in classes for label in np.unique(labels if counted is None else labels[counted]).tolist()):
        return []
    rows = np.arange(len(labels)) if counted is None else np.flatnonzero(counted)
    present, first = np.unique(labels[rows], return_index=True)
    found = zip(rows[first].tolist(), present.tolist(), strict=True)
    new = sorted((at, label) for at, label in found if label not in classes)
    for _, label in new:
        need_joining(label, classes, open_)
    return new


def need_two_classes(labels: Labels, owner: str) -> None:
    if len(labels.classes) < 2:
        raise DataError(
            f"y has one class only ({labels.classes.tolist()[0]!r}); {owner} needs at least two classes: "
            "add rows of another class."
        )


def with_reference(labels: Labels, reference: Any, positive: Any) -> Labels:
    """The classes with the reference first; of two classes the positive one second."""
    known = labels.classes.tolist()
    for name, label in (("reference", reference), ("positive", positive)):
        if label is not None and label not in known:
            raise ParameterError(f"{name} is {label!r}, which is not a class of y ({known}).")
    if positive is not None:
        if len(known) != 2:
            raise ParameterError(f"positive is for two classes, and y has {len(known)}: choose the reference instead.")
        if reference is not None and reference == positive:
            raise ParameterError(f"reference and positive are both {reference!r}: one follows from the other.")
        reference = known[1 - known.index(positive)]
    if reference is None or known.index(reference) == 0:
        return labels
    first = known.index(reference)
    order = np.array([first, *(k for k in range(len(known)) if k != first)], dtype=np.intp)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Labels(labels.classes[order], rank[labels.codes])


def need_two_weighted_classes(labels: Labels, weights: Floats | None) -> None:
    """Rows of weight zero do not count; what is left must hold two classes."""
    if weights is None or weights.all():
        return
    left = labels.classes[np.unique(labels.codes[weights > 0])].tolist()
    if len(left) < 2:
        raise DataError(
            f"only {f'class {left[0]!r} has' if left else 'no row has'} weight above zero (sample_weight times "
            "class_weight), one class only at most: give weight to rows of two classes."
        )


def weights_of_rows(labels: Labels, sample_weight: Floats | None, class_weight: Any) -> Floats | None:
    """One weight per row: its own times that of its class; None where all are 1."""
    by_class = weights_of_classes(labels, sample_weight, class_weight)
    if by_class is None:
        return sample_weight
    expanded: Floats = by_class[labels.codes]
    return expanded if sample_weight is None else expanded * sample_weight


def weights_in_chunk(labels: Labels, sample_weight: Floats | None, class_weight: Any) -> Floats | None:
    """The same for a chunk, which need not hold every class that ``class_weight`` names."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        raise ParameterError("class_weight='balanced' needs all rows at once: pass a dict, or sample_weight.")
    if isinstance(class_weight, Mapping):
        known = labels.classes.tolist()
        class_weight = {label: weight for label, weight in class_weight.items() if label in known}
    return weights_of_rows(labels, sample_weight, class_weight)


def weights_of_classes(labels: Labels, sample_weight: Floats | None, class_weight: Any) -> Floats | None:
    """One weight per class: as given, 1 where nothing is given, or balanced: n/(K n_k)."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(f"class_weight is {class_weight!r}: it can be None, 'balanced' or a dict.")
        counts = np.bincount(labels.codes, weights=sample_weight, minlength=len(labels.classes))
        if not counts.all():
            empty = labels.classes[int(counts.argmin())]
            raise DataError(f"class {empty!r} has no weight in any row: class_weight='balanced' cannot balance it.")
        return np.asarray(counts.sum() / (len(counts) * counts))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(f"class_weight is {class_weight!r}: it can be None, 'balanced' or a dict.")
    known = labels.classes.tolist()
    out = np.ones(len(known))
    for label, weight in class_weight.items():
        if label not in known:
            raise ParameterError(f"class_weight names {label!r}, which is not a class of y ({known}).")
        if not (isinstance(weight, (int, float, np.number)) and np.isfinite(weight) and weight >= 0):
            raise ParameterError(f"class_weight[{label!r}] is {weight!r}: it must be a finite number, not negative.")
        out[known.index(label)] = weight
    return out


def predictions(scores: Floats, classes: NDArray[Any], boundary: str) -> NDArray[Any]:
    """The class of each row: by the sign of its score, or by the greatest of its scores (the first of equals)."""
    if boundary not in BOUNDARIES:
        raise ParameterError(f"boundary is {boundary!r}: it can be {', '.join(map(repr, BOUNDARIES))}.")
    if scores.ndim == 2:
        return np.asarray(classes[predicted_positions(scores, boundary)])
    predicted = np.where(_is_second(scores, boundary), classes[1:], classes[:1])
    if boundary == "undefined":
        predicted = predicted.astype(object)
        predicted[scores == 0] = None
    return predicted


def predicted_positions(scores: Floats, boundary: str) -> NDArray[np.intp]:
    """The position of the predicted class among the classes."""
    if scores.ndim == 2:
        return np.asarray(scores.argmax(axis=1))
    return _is_second(scores, boundary).astype(np.intp)


def _is_second(scores: Floats, boundary: str) -> NDArray[np.bool_]:
    """Whether the second of two classes is predicted."""
    return np.asarray(scores > 0.0 if boundary == "negative" else scores >= 0.0)


def declared_classes(classes: Any) -> list[Any] | None:
    """The classes that a caller names, or None."""
    return None if classes is None else check_labels(classes, what="classes").classes.tolist()


def known_classes(owner: Any, classes: Any) -> list[Any] | None:
    """The classes that were declared, now or in the first call; None where they stay open."""
    last = getattr(owner, "_moments", None)
    declared = declared_classes(classes)
    if last is None:
        return declared
    known = last.labels
    if declared is not None and declared != known:
        raise DataError(f"classes={classes!r} is not the same as on the last call, which had {known}.")
    return known if owner.__dict__.get("_closed", False) else None


def moments_of_classes(owner: Any, d: int, known: list[Any] | None, labels: Labels, pooled: bool) -> Moments:
    """A state to add rows with these labels to: a copy of the last one, or a new one."""
    present = labels.classes.tolist()
    last: Moments | None = getattr(owner, "_moments", None)
    moments = Moments(d, labels=known or [], pooled=pooled) if last is None else last.copy()
    new = [label for label in present if label not in (moments.labels or [])]
    for label in new:
        need_joining(label, known or moments.labels or [], known is None)
    return moments.know(new)


def codes_among(moments: Moments, labels: Labels) -> NDArray[np.int64]:
    """The number of each row's class among the classes of the moments."""
    among = [(moments.labels or []).index(label) for label in labels.classes.tolist()]
    return np.asarray(np.array(among, dtype=np.int64)[labels.codes])
