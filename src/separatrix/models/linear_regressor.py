"""Regressors that predict by s(x) = w . x + b."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.protocol import Estimator
from separatrix.validation import check_lengths, check_targets, check_weights


class LinearRegressor(Estimator):
    """Predictions and R^2 from ``coef_`` and ``intercept_``."""

    _estimator_type: ClassVar[str] = "regressor"
    coef_: Floats
    intercept_: float

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.regressor_tags = RegressorTags()
        return tags

    def predict(self, X: Any) -> Floats:
        """w . x + b for each row."""
        rows = kernels.rows(self._check_rows(X).X)
        out = np.empty((rows.n, 1))
        coef = np.ascontiguousarray(self.coef_, dtype=np.float64).reshape(1, -1)
        kernels.class_scores(rows, coef, np.array([float(self.intercept_)]), out)
        return out[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The (weighted) R^2 = 1 - sum (y - s)^2 / sum (y - mean)^2; with a constant y, 1 or -inf."""
        predicted = self.predict(X)
        truth = check_targets(y)
        check_lengths(len(predicted), len(truth), "y")
        weights = check_weights(sample_weight, len(truth))
        c = np.ones(len(truth)) if weights is None else weights
        residual = float(c @ (truth - predicted) ** 2)
        spread = float(c @ (truth - np.average(truth, weights=c)) ** 2)
        if spread == 0:
            return 1.0 if residual == 0 else -np.inf
        return 1.0 - residual / spread
