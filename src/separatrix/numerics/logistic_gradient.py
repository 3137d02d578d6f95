"""The gradient of the logistic log-likelihood, in the two forms that textbooks give.

With f = w.x + b, p = phi(f) and phi(z) = 1/(1 + e^-z):

    targets y* = (1 + y)/2 of 0 and 1:    sum (y* - p) (x, 1)
    signs y of -1 and +1:                 sum (1 - phi(y f)) y (x, 1)

They are equal row by row: for y = +1 both factors are 1 - p, for y = -1 both are -p.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.numerics.linear_scores import scores
from separatrix.numerics.losses import sigmoid
from separatrix.validation import check_finite_vector, check_labels, check_lengths, check_table


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
    >>> from separatrix import logistic_gradient
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
