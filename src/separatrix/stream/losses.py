"""What each row of a chunk cost: a mistake or a squared error, for rows that had a label and a prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.models.perceptron.arrivals import Judged


def losses_of(judged: Judged, labels: NDArray[Any], labelled: NDArray[np.bool_] | None) -> tuple[NDArray[Any], int]:
    """The losses in order, and how many labelled rows came before there was a model."""
    has = np.ones(len(labels), dtype=np.bool_) if labelled is None else labelled
    if judged.codes is None:
        known = has & ~np.isnan(judged.scores)
        errors = judged.scores[known] - labels[known].astype(np.float64)
        return errors * errors, int(np.count_nonzero(has & ~known))
    known = has & (judged.codes >= 0)
    right = np.zeros(len(labels), dtype=np.bool_)
    for code, label in enumerate(judged.classes):
        right |= (judged.codes == code) & (labels == label)
    return ~right[known], int(np.count_nonzero(has & ~known))
