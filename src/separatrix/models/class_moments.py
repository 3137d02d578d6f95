"""Moments of classes that are declared, or learned as they appear."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.models.class_labels import need_joining
from separatrix.numerics.moments import Moments
from separatrix.validation import Labels, check_labels


def known_classes(owner: Any, classes: Any) -> list[Any] | None:
    """The classes that were declared, now or in the first call; None where they stay open."""
    state = owner.__dict__
    declared = None if classes is None else check_labels(classes, what="classes").classes.tolist()
    if "_moments" not in state:
        return declared
    known = state["_moments"].labels
    if declared is not None and declared != known:
        raise DataError(f"classes={classes!r} is not the same as on the last call, which had {known}.")
    return known if state.get("_closed", False) else None


def moments_of_classes(owner: Any, d: int, known: list[Any] | None, labels: Labels, pooled: bool) -> Moments:
    """A state to add rows with these labels to: a copy of the last one, or a new one."""
    present = labels.classes.tolist()
    last: Moments | None = owner.__dict__.get("_moments")
    moments = Moments(d, labels=known or [], pooled=pooled) if last is None else last.copy()
    new = [label for label in present if label not in (moments.labels or [])]
    for label in new:
        need_joining(label, known or moments.labels or [], known is None)
    return moments.know(new)


def codes_among(moments: Moments, labels: Labels) -> NDArray[np.int64]:
    """The number of each row's class among the classes of the moments."""
    among = [(moments.labels or []).index(label) for label in labels.classes.tolist()]
    return np.asarray(np.array(among, dtype=np.int64)[labels.codes])
