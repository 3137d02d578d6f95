"""Probabilities of the classes from scores, and their entropies."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats


def softmax(s: Floats, own: tuple[Any, Any]) -> tuple[Floats, Floats]:
    """Probabilities (n, K) of the classes and the loss of each row, from scores of any size."""
    P, loss = np.array(s.T, order="C"), np.empty(len(s))
    codes = np.ascontiguousarray(own[1], dtype=np.int64)
    kernels.class_probabilities(P, np.zeros(len(P)), codes, None, P, None, None, loss)
    return P.T, loss


def entropy(others: Floats) -> Floats:
    """The entropy of each row's probabilities, given those of its other classes: (n,) of one, or (n, K)."""
    wrong = others if others.ndim == 1 else others.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = -np.where(others > 0, others * np.log(others), 0.0)
        own = np.where(wrong < 1, (1.0 - wrong) * np.log1p(-wrong), 0.0)
    return np.asarray((parts if others.ndim == 1 else parts.sum(axis=1)) - own)
