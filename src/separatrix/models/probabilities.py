"""Probabilities of classes from scores, in agreement with the predictions."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.class_labels import predicted_positions


def log_softmax(scores: Floats) -> Floats:
    """ln(e^s_k / sum e^s_j), row by row; the greatest score is taken away first, so that sums of any scores are 1."""
    away = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(away - np.log(np.exp(away).sum(axis=1, keepdims=True)))


def two_probabilities(scores: Floats) -> Floats:
    """1/(1 + e^s) and 1/(1 + e^-s), one column each, without overflow or cancellation."""
    small = np.exp(-np.abs(scores))
    great = 1.0 / (1.0 + small)
    small *= great
    positive = scores > 0
    return np.stack([np.where(positive, small, great), np.where(positive, great, small)]).T


def agreeing(probabilities: Floats, scores: Floats, boundary: str) -> Floats:
    """The same probabilities, with the predicted class as the first of the greatest in every row.

    Probabilities of different scores can round to equal numbers, and at a score of zero ``boundary`` chooses. The
    predicted class then has the next double above the others.
    """
    positions = predicted_positions(scores, boundary)
    first = probabilities[:, 1] > probabilities[:, 0] if scores.ndim == 1 else probabilities.argmax(axis=1)
    behind = np.flatnonzero(first != positions)
    if len(behind):
        greatest = probabilities[behind].max(axis=1)
        probabilities[behind, positions[behind]] = np.nextafter(greatest, 2.0)
    return probabilities
