"""Functions for users of other engines: what one partition computes, and how two results are merged.

A map over partitions (Dask's ``map_partitions``, Spark's ``mapInArrow``) calls :func:`partial_moments`,
:func:`partial_gradient` or :func:`price`, the driver merges. All of it can be pickled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.losses.logistic import GRAM, Logistic
from separatrix.losses.objective import Objective
from separatrix.numerics import moments
from separatrix.numerics.exact_signs import integer_row
from separatrix.numerics.moments import Moments
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.rows.places import TableRows
from separatrix.validation import check_finite_vector, check_lengths, check_table
from separatrix.validation.labels import label_vector


@dataclass(frozen=True, slots=True)
class PartialGradient:
    """The logistic loss of some rows at a point (w, b): its value, its gradient, and the moments of its Hessian.

    Attributes
    ----------
    rows : int
    value : float
        Sum of log(1 + exp(-y (w.x + b))).
    gradient : array of d + 1 numbers
        By w, then by b.
    curvature : Moments
        Of the rows, weighed by p (1 - p).
    """

    rows: int
    value: float
    gradient: Floats
    curvature: Moments

    def step(self, ridge: float = 0.0, coef: ArrayLike | None = None) -> Floats:
        """Newton's step: what to subtract from (w, b).

        Parameters
        ----------
        ridge : float
            Adds ridge/2 |w|^2 to the loss.
        coef : array or None
            w, which the gradient of the ridge needs.

        Returns
        -------
        array of d + 1 numbers
        """
        d, gradient = self.curvature.features, self.gradient.copy()
        if ridge and coef is not None:
            gradient[:-1] += ridge * np.asarray(coef, dtype=np.float64)
        return NormalEquations(self.curvature.totals(), d, ridge, True, True).correction(gradient)


def partial_gradient(X: Any, y: Any, coef: ArrayLike, intercept: float, *, positive: Any) -> PartialGradient:
    """The logistic loss of some rows, to be merged with that of others.

    Parameters
    ----------
    X : array, sparse matrix or frame
        The rows.
    y : array
        One label a row.
    coef, intercept : array of d numbers and float
        The point.
    positive : label
        The class whose log-odds are modelled; all other labels are the other class.

    Returns
    -------
    PartialGradient

    Examples
    --------
    >>> from separatrix.cluster import merge, partial_gradient
    >>> at = [0.0], 0.0
    >>> parts = [([[0.0], [1.0], [2.0]], [0, 0, 1]), ([[3.0], [4.0], [5.0]], [0, 1, 1])]
    >>> whole = merge(*(partial_gradient(X, y, *at, positive=1) for X, y in parts))
    >>> whole.gradient, whole.step().round(3)
    (array([-3.5,  0. ]), array([-0.8,  2. ]))
    """
    table, signs = _signed(X, y, positive)
    w = check_finite_vector(coef, what="coef")
    check_lengths(table.d, len(w), "coef")
    loss = Objective(TableRows(table.X, (signs > 0).astype(np.int64), 2), Logistic(2))
    point = loss.point(np.append(w, float(intercept)))
    curvature = loss.rows.reduce(GRAM, loss.loss, point.place).flushed()
    return PartialGradient(table.n, point.value, point.gradient, curvature)


def price(X: Any, y: Any, coef: ArrayLike, intercept: float, *, positive: Any) -> NDArray[np.int64]:
    """Rows that are not strictly on their side of a hyperplane, by exact signs.

    Where no partition has one, the hyperplane separates all rows: a proof for the numbers as given.

    Parameters
    ----------
    X : array, sparse matrix or frame
        The rows.
    y : array
        One label a row.
    coef, intercept : array of d numbers and float
        The hyperplane.
    positive : label
        The class that is to have positive scores.

    Returns
    -------
    array of int
        Positions of the rows.

    Examples
    --------
    >>> from separatrix.cluster import price
    >>> price([[0.1], [0.25], [0.5]], ["a", "a", "b"], [4.0], -1.0, positive="b")
    array([1])
    """
    table, signs = _signed(X, y, positive)
    w = check_finite_vector(coef, what="coef")
    check_lengths(table.d, len(w), "coef")
    whole, _ = integer_row([*w.tolist(), float(intercept)])
    return np.flatnonzero(LiftedRows(table.X, signs, True).signs(whole) <= 0)


def _signed(X: Any, y: Any, positive: Any) -> tuple[Any, NDArray[np.int8]]:
    table, labels = check_table(X), label_vector(y)
    check_lengths(table.n, len(labels), "y")
    return table, np.where(labels == positive, 1, -1).astype(np.int8)


def merge(*states: Any) -> Any:
    """One state for the rows of several: moments, or gradients at the same point; the states are not changed.

    Parameters
    ----------
    *states : Moments or PartialGradient
        All of one kind. Merged pairwise in a fixed order they give the same bits wherever they were computed.

    Returns
    -------
    Moments or PartialGradient

    Examples
    --------
    >>> from separatrix.cluster import merge, partial_moments
    >>> parts = [partial_moments([[0.0], [1.0]]), partial_moments([[2.0], [5.0]])]
    >>> merge(*parts).totals().mean
    array([[2.]])
    """
    if states and all(isinstance(state, PartialGradient) for state in states):
        first, *rest = states
        value, gradient, rows = first.value, first.gradient, first.rows
        for other in rest:
            value, gradient, rows = value + other.value, gradient + other.gradient, rows + other.rows
        return PartialGradient(rows, value, gradient, moments.merge(*(state.curvature for state in states)))
    if not all(isinstance(state, Moments) for state in states):
        raise DataError("merge takes moments, or gradients, not both: merge each kind by itself.")
    return moments.merge(*states)
