"""The nearest neighbour: a lazy method beside which linear models are measured."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.protocol import Estimator

BLOCK = 4_000_000  # distances that are held at once


class NearestNeighbour(Estimator):
    """The label, or the number, of the nearest row by Euclidean distance; of equally near rows the first."""

    def __init__(self, regression: bool = False) -> None:
        self.regression = regression

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # as it was asked
        return "regressor" if self.regression else "classifier"

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows."""
        self._rows, self._answers = X, np.asarray(y)
        self._squares = squared_lengths(X)
        self.n_features_in_ = int(X.shape[1])
        if not self.regression:
            self.classes_ = np.unique(self._answers)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer of the nearest row kept."""
        kept, nearest = self._rows.shape[0], np.empty(X.shape[0], dtype=np.intp)
        step = max(1, BLOCK // kept)
        for start in range(0, X.shape[0], step):
            product = X[start : start + step] @ self._rows.T
            inner = product if isinstance(product, np.ndarray) else product.toarray()
            nearest[start : start + step] = np.argmin(self._squares - 2 * inner, axis=1)
        return np.asarray(self._answers[nearest])


def squared_lengths(X: Any) -> Floats:
    """|x|² of each row, dense or sparse."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
