"""Losses as functions of the margin m = y s: value, slope (first derivative) and curve (second).

    (L1) squared     (1 - m)^2
    (L2) perceptron  max(0, -m)        slope at the kink m = 0: -1, the mistake side, as tie="mistake"
    (L3) logistic    log(1 + e^-m)
    (L4) hinge       max(0, 1 - m)     slope at the kink m = 1: 0

Every form is stable: finite, and right, for margins of any size. The zero-one loss is not a function
of the margin at m = 0; it follows the boundary rule and so takes scores and labels.

These are for ``loss_of`` and the pictures. A loss that ``LinearDescent`` minimises is a kernel: ``loss_at`` in
``tests/reference/descent.py`` and ``native/separatrix/descent.hpp``, named in ``models/descent/descent_state.py``.

The gradient of the logistic log-likelihood has two forms in textbooks. With f = w.x + b, p = phi(f) and phi(z) = 1/(1 +
e^-z):

    targets y* = (1 + y)/2 of 0 and 1:    sum (y* - p) (x, 1)
    signs y of -1 and +1:                 sum (1 - phi(y f)) y (x, 1)

They are equal row by row: for y = +1 both factors are 1 - p, for y = -1 both are -p.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.numerics.linear_scores import scores
from separatrix.validation import check_finite_vector, check_labels, check_lengths, check_table


class Loss(Protocol):
    """A loss of the margin."""

    name: str

    def value(self, m: ArrayLike) -> Floats: ...
    def slope(self, m: ArrayLike) -> Floats: ...
    def curve(self, m: ArrayLike) -> Floats: ...


def _floats(m: ArrayLike) -> Floats:
    return np.asarray(m, dtype=np.float64)


def sigmoid(z: Floats) -> Floats:
    """1/(1 + e^-z), from the side on which the exponential does not overflow."""
    e = np.exp(-np.abs(z))
    return np.asarray(np.where(z >= 0, 1.0, e) / (1.0 + e), dtype=np.float64)


class Squared:  # (L1)
    name = "squared"

    def value(self, m: ArrayLike) -> Floats:
        return (1.0 - _floats(m)) ** 2

    def slope(self, m: ArrayLike) -> Floats:
        return -2.0 * (1.0 - _floats(m))

    def curve(self, m: ArrayLike) -> Floats:
        return np.full_like(_floats(m), 2.0)


class PerceptronLoss:  # (L2)
    name = "perceptron"

    def value(self, m: ArrayLike) -> Floats:
        return np.maximum(0.0, -_floats(m))

    def slope(self, m: ArrayLike) -> Floats:
        return np.where(_floats(m) <= 0.0, -1.0, 0.0)

    def curve(self, m: ArrayLike) -> Floats:
        return np.zeros_like(_floats(m))


class LogisticLoss:  # (L3)
    name = "logistic"

    def value(self, m: ArrayLike) -> Floats:
        return np.logaddexp(0.0, -_floats(m))

    def slope(self, m: ArrayLike) -> Floats:
        return -sigmoid(-_floats(m))

    def curve(self, m: ArrayLike) -> Floats:
        m = _floats(m)
        return sigmoid(m) * sigmoid(-m)


class Hinge:  # (L4)
    name = "hinge"

    def value(self, m: ArrayLike) -> Floats:
        return np.maximum(0.0, 1.0 - _floats(m))

    def slope(self, m: ArrayLike) -> Floats:
        return np.where(_floats(m) < 1.0, -1.0, 0.0)

    def curve(self, m: ArrayLike) -> Floats:
        return np.zeros_like(_floats(m))


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Squared(), PerceptronLoss(), LogisticLoss(), Hinge())}


def loss_of(name: str) -> Loss:
    """The loss of that name, a function of the margin m = y s(x).

    Parameters
    ----------
    name : {"squared", "perceptron", "logistic", "hinge"}
        (1 - m)^2, max(0, -m), log(1 + e^-m) or max(0, 1 - m).

    Returns
    -------
    Loss
        ``value(m)``, ``slope(m)`` (its derivative; times y x it is the gradient by w) and ``curve(m)``, the second one.

    Examples
    --------
    >>> from separatrix.numerics import loss_of
    >>> loss_of("hinge").value([-1.0, 0.5, 2.0])
    array([2. , 0.5, 0. ])
    >>> loss_of("logistic").slope(0.0).item()
    -0.5
    """
    if name not in LOSSES:
        raise ParameterError(f"loss is {name!r}: it can be {', '.join(LOSSES)}.")
    return LOSSES[name]


def zero_one(s: ArrayLike, y: ArrayLike, boundary: str = "positive") -> Floats:
    """The 0-1 loss: 1 where the predicted label is not y.

    Parameters
    ----------
    s : scores
        Of any shape.
    y : labels -1 and +1
        Of the same shape.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts: +1, -1, or neither, which is always wrong.

    Returns
    -------
    array of zeros and ones

    Examples
    --------
    >>> from separatrix.numerics import zero_one
    >>> zero_one([-2.0, 0.0, 3.0], [-1, -1, 1])
    array([0., 1., 0.])
    """
    s, y = _floats(s), _floats(y)
    if boundary not in ("positive", "negative", "undefined"):
        raise ParameterError(f"boundary is {boundary!r}: it can be 'positive', 'negative' or 'undefined'.")
    at_zero = {"positive": 1.0, "negative": -1.0, "undefined": 0.0}[boundary]
    predicted = np.where(s == 0, at_zero, np.sign(s))
    return np.where(predicted == y, 0.0, 1.0)


def logistic_gradient(X: Any, y: Any, coef: ArrayLike, intercept: float = 0.0, *, form: str = "targets") -> Floats:
    """Gradient of the logistic log-likelihood with respect to (w, b), by either textbook formula.

    Parameters
    ----------
    X : array, sparse matrix or frame of n rows and d columns
        The rows.
    y : n labels of two classes
        The second of the sorted classes is the positive one.
    coef : d numbers
        The weights w.
    intercept : float, default=0.0
        The bias b.
    form : {"targets", "signs"}, default="targets"
        The sum of (y* - p) x with y* of 0 and 1, or of (1 - phi(y f)) y x with y of -1 and +1; they are equal.

    Returns
    -------
    array of d + 1 numbers
        The derivatives by the weights, then by the bias. The mean logistic loss has this gradient over -n.

    Examples
    --------
    >>> from separatrix.numerics import logistic_gradient
    >>> X, y = [[-1.0], [1.0], [2.0]], [0, 0, 1]
    >>> logistic_gradient(X, y, [0.0])
    array([ 1. , -0.5])
    >>> logistic_gradient(X, y, [0.0], form="signs")
    array([ 1. , -0.5])
    """
    if form not in ("targets", "signs"):
        raise ParameterError(f"form is {form!r}: it can be 'targets' or 'signs'.")
    table, labels = check_table(X), check_labels(y, rows=X)
    check_lengths(table.n, len(labels.codes), "y")
    if len(labels.classes) != 2:
        raise DataError(f"y has {len(labels.classes)} classes: the gradient is for two.")
    b = float(check_finite_vector([intercept], what="intercept")[0])
    f = scores(table.X, coef, b)
    if form == "targets":
        pull = labels.codes - sigmoid(f)
    else:
        signs = 2.0 * labels.codes - 1.0
        pull = sigmoid(-signs * f) * signs  # 1 - phi(z) = phi(-z), without the loss of digits
    return np.append(np.asarray(table.X.T @ pull, dtype=np.float64), pull.sum())
