"""Regressors that predict by s(x) = w . x + b."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.from_formula import FormulaFit
from separatrix.validation import (
    check_lengths,
    check_row_offset,
    check_target_columns,
    check_targets,
    check_weights,
    finite_scores,
)


class LinearRegressor(FormulaFit):
    """Predictions and R^2 from ``coef_`` and ``intercept_``."""

    _estimator_type: ClassVar[str] = "regressor"
    coef_: Floats
    intercept_: Any

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.regressor_tags = RegressorTags()
        return tags

    def predict(self, X: Any, *, offset: Any = None) -> Floats:
        """w . x + b for each row; for several targets one column each.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        offset : array or None
            Added to the predictions, one number a row.

        Returns
        -------
        array of shape (n,), or (n, k) for k targets

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
        >>> LeastSquares().fit(X, y).predict([[10.0]])
        array([21.])
        """
        checked = self._check_rows(X, finite=False).X
        rows = kernels.rows(checked)
        coef = np.ascontiguousarray(np.atleast_2d(self.coef_), dtype=np.float64)
        out = np.empty((rows.n, len(coef)))
        kernels.class_scores(rows, coef, np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64)), out)
        finite_scores(out if np.ndim(self.coef_) == 2 else out[:, 0], checked)
        if offset is not None:
            out += check_row_offset(offset, rows.n, X)[:, None]
        return out if np.ndim(self.coef_) == 2 else out[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The (weighted) R^2 = 1 - sum (y - s)^2 / sum (y - mean)^2; with a constant y, 1 or -inf.

        For several targets the mean of theirs.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One number a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        float

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
        >>> LeastSquares().fit(X, y).score(X, y)
        1.0
        """
        predicted = self.predict(X)
        truth = check_targets(y, rows=X) if predicted.ndim == 1 else check_target_columns(y, rows=X)[0]
        check_lengths(len(predicted), len(truth), "y")
        if truth.shape != predicted.shape:
            raise DataError(
                f"y has {truth.shape[1]} columns and the model {predicted.shape[1]} targets: pass the same."
            )
        weights = check_weights(sample_weight, len(truth), rows=X)
        c = np.ones(len(truth)) if weights is None else weights
        pairs = zip(truth.reshape(len(c), -1).T, predicted.reshape(len(c), -1).T, strict=True)
        return float(np.mean([_r_squared(t, s, c) for t, s in pairs]))


def _r_squared(truth: Floats, predicted: Floats, c: Floats) -> float:
    residual = float(c @ (truth - predicted) ** 2)
    spread = float(c @ (truth - np.average(truth, weights=c)) ** 2)
    if spread == 0:
        return 1.0 if residual == 0 else -np.inf
    return 1.0 - residual / spread
