"""A lower bound of the minimum from the minimum of a quadratic model, for fits with an L1 part.

    p' = p + (diag h - h h')(u + t),    u what a step to the minimum of the model adds to the scores of a row,

with the probabilities h of the place where the model was made. The slopes of p' are those of the model: at its minimum
none exceeds alpha, and p' need not be drawn towards the labels. What the bound lacks is of the fourth order in u, where
that by the probabilities of the next place lacks the second. It holds for any h and u, since slopes are computed
from p' itself. The intercepts t let the residuals of each class add up to zero.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.information import inverse_between_classes
from separatrix.losses.logistic import TINY
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.centred_loss import CentredLoss, WeightsPoint, lower_bound

BALANCED = 1e-12  # of the sizes of all residuals: what those of a class add up to by rounding


def model_bound(loss: CentredLoss, place: WeightsPoint, net: ElasticNet, curvature: Floats, step: Floats) -> float:
    """The bound by a step (k, d) to the minimum of a model with these curvatures of the rows; -inf where it is none."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scores = loss.scores(step)
        if loss.classes == 2:
            others, R = _two(loss, place, curvature, scores[:, 0])
        else:
            others, R = _many(loss, place, curvature, scores)
        wrong = others if others.ndim == 1 else others.sum(axis=1)
        if not ((others >= 0).all() and (wrong <= 1).all()):
            return -np.inf
        if loss.lift and not (np.abs(R.sum(axis=0)) <= BALANCED * loss.sum(wrong)).all():
            return -np.inf
        shift = 0.0 if loss.offset is None else float((R * loss.offset.reshape(R.shape)).sum())
        found = replace(place, slopes=loss.slopes(R), others=others, shift=shift)
        return lower_bound(loss, found, net)[0]


def _two(loss: CentredLoss, place: WeightsPoint, h: Floats, u: Floats) -> tuple[Floats, Floats]:
    """Probabilities of the other class, and residuals (n, 1)."""
    c: float | Floats = 1.0 if loss.weights is None else loss.weights
    others, total = place.others, max(float(h.sum()), TINY)
    moved = h * u
    for _ in range(2 if loss.lift else 1):  # the second time for the rounding of the first
        if loss.lift:
            moved -= h * ((float(moved.sum()) - float((loss.signs * others * c).sum())) / total)
        R = moved - loss.signs * others * c
    return -loss.signs * R / c, R[:, None]


def _many(loss: CentredLoss, place: WeightsPoint, P: Floats, u: Floats) -> tuple[Floats, Floats]:
    """The same of several classes, (n, K); ``u`` is overwritten, since arrays as long as this are a fit's memory."""
    own, c = (np.arange(loss.n), loss.codes), loss.weights
    weighted = P if c is None else c[:, None] * P
    u -= np.einsum("ij,ij->i", P, u)[:, None]
    u *= P
    others, between = u, None
    first = class_sums(loss, place.others) - np.bincount(loss.codes, loss.each(place.others.sum(axis=1)), loss.classes)
    for _ in range(2 if loss.lift else 0):
        if between is None:
            between = inverse_between_classes(np.diag(weighted.sum(axis=0)) - weighted.T @ P)
        t = -between @ (first + class_sums(loss, u))
        added = t - (P @ t)[:, None]
        added *= P
        u += added
    others += place.others
    others[own] = 0.0
    R = others.copy(order="K")
    R[own] = -others.sum(axis=1)
    if c is not None:
        R *= c[:, None]
    return others, R


def class_sums(loss: CentredLoss, values: Floats) -> Floats:
    """Weighted sums over the rows."""
    return np.asarray(values.sum(axis=0) if loss.weights is None else loss.weights @ values)
