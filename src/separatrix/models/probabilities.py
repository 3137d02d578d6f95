"""Probabilities of classes from scores, in agreement with the predictions."""

from __future__ import annotations

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats


def log_softmax(scores: Floats) -> Floats:
    """ln(e^s_k / sum e^s_j), row by row; the greatest score is taken away first, so that sums of any scores are 1."""
    away = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(away - np.log(np.exp(away).sum(axis=1, keepdims=True)))


def two_probabilities(scores: Floats, boundary: str) -> Floats:
    """1/(1 + e^s) and 1/(1 + e^-s), one column each; the greater is that of the predicted class."""
    out = np.empty((len(scores), 2))
    kernels.two_probabilities(scores, boundary != "negative", out)
    return out


def agreeing(probabilities: Floats, scores: Floats) -> Floats:
    """The same probabilities, with the class of the greatest score as the first of the greatest in every row.

    Probabilities of different scores can round to equal numbers. That class then has the next double above the others.
    """
    positions = scores.argmax(axis=1)
    behind = np.flatnonzero(probabilities.argmax(axis=1) != positions)
    if len(behind):
        greatest = probabilities[behind].max(axis=1)
        probabilities[behind, positions[behind]] = np.nextafter(greatest, 2.0)
    return probabilities
