"""Least squares with dependent columns: the model without the aliased ones, which has the same fitted values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.row_files import columns_of
from separatrix.errors import InferenceError
from separatrix.models.least_squares.orthogonal_factors import dense
from separatrix.numerics.gram_matrix import first_pivots
from separatrix.numerics.moments import Moments
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.statistics.after_fit import need_determined
from separatrix.validation import Table, check_targets, check_weights

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares

Rows = tuple[Table, Any, Any]


def has_aliased(model: LeastSquares) -> bool:
    """Whether an unpenalised fit of one target has dependent columns, so that their coefficients are not unique."""
    plain = model.coef_.ndim == 1 and model.alpha == 0 and not model.positive
    return plain and model.rank_ < len(model.coef_) + bool(model.fit_intercept) and bool(model.dependent_columns_)


def without_aliased(model: LeastSquares, X: Any, y: Any, sample_weight: Any) -> tuple[LeastSquares, NDArray[np.bool_]]:
    """The fit without columns that are linear combinations of the intercept and columns before them; and which."""
    from separatrix.models.least_squares.least_squares import LeastSquares

    if X is not None:
        table = model._check_rows(X)
        targets, weights = check_targets(y), check_weights(sample_weight, table.n)
    elif model._rows is not None:
        table, targets, weights = model._rows
    else:
        raise InferenceError("columns are linearly dependent, and the rows of the fit are not known: pass X and y.")
    lift = bool(model.fit_intercept)
    totals = Moments(table.d).add(table.X, None, None, weights).totals()
    normal = NormalEquations(totals, table.d, 0.0, lift, lift)
    flat = np.sqrt(np.diagonal(normal.A)) <= 1e-14 * np.sqrt(normal.weight) * np.abs(normal.x_mean)
    scaled = np.where(flat[:, None] | flat, 0.0, normal.scaled) if lift else normal.scaled
    kept = first_pivots(scaled, model.rank_ - int(lift))
    if not len(kept):
        raise InferenceError(
            "no column varies, so that nothing but the intercept is left, the mean of y: add a column that varies."
            if lift
            else "every column is zero: there is no coefficient to test."
        )
    aliased = np.ones(table.d, dtype=bool)
    aliased[kept] = False
    reduced = LeastSquares(fit_intercept=lift, solver=model.solver)
    return reduced.fit(columns_of(table.X, kept), targets, weights), aliased


def determined(model: Any, X: Any) -> tuple[Any, Any]:
    """A model and rows with the same predictions and unique coefficients; rows that these do not determine are refused.

    With dependent columns it is the model without the aliased ones.
    """
    if not has_aliased(model):
        return model, X
    rows = model._check_rows(X).X
    reduced, aliased = without_aliased(model, None, None, None)
    table, _, weights = model._rows
    fit = dense(table.X if weights is None else table.X[weights > 0])
    need_determined(fit, dense(rows), aliased, bool(model.fit_intercept))
    return reduced, columns_of(rows, np.flatnonzero(~aliased))
