"""A linear predictor that is a regressor or a classifier by its loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.linear_predictors import LinearClassifier, LinearRegressor, agreeing, two_probabilities


class PredictorByLoss(LinearClassifier):
    """Predictions, scores and tags; ``loss="squared_error"`` makes a regressor, "logistic" gives probabilities."""

    loss: str

    @property
    def _regression(self) -> bool:
        return bool(self.loss == "squared_error")

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # because it follows the loss
        return "regressor" if self._regression else "classifier"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._regression:
            from sklearn.utils import RegressorTags

            tags.classifier_tags, tags.regressor_tags = None, RegressorTags()
        return tags

    def _set_weights(self, lifted: list[Floats]) -> None:
        if self._regression:
            self.coef_, self.intercept_ = lifted[0][:-1].copy(), float(lifted[0][-1])  # type: ignore[assignment]
            return
        stacked = np.array(lifted)
        self.coef_, self.intercept_ = np.ascontiguousarray(stacked[:, :-1]), stacked[:, -1].copy()

    @property
    def decision_function(self) -> Any:
        """s(x) = w . x + b for each row, with more than two classes one column per class; a regressor has none."""
        if self._regression:
            raise AttributeError("loss='squared_error' makes a regressor, which has predict and no decision_function.")
        return super().decision_function

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, or w . x + b for a regressor.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> from separatrix import LinearDescent
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> LinearDescent().fit(X, y).predict([[5.0]]).tolist()
        ['yes']
        """
        if self._regression:
            return LinearRegressor.predict(self, X)  # type: ignore[arg-type]
        return super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy; R^2 for a regressor.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        float

        Examples
        --------
        >>> from separatrix import LinearDescent
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> LinearDescent().fit(X, y).score(X, y)
        1.0
        """
        if self._regression:
            return LinearRegressor.score(self, X, y, sample_weight)  # type: ignore[arg-type]
        return super().score(X, y, sample_weight)

    @property
    def predict_proba(self) -> Any:
        """P(class | x) = 1/(1 + e^-s), for the logistic loss; with more than two classes scaled to sum to one."""
        if self.loss != "logistic":
            raise AttributeError(f"loss={self.loss!r} gives no probabilities: use loss='logistic', or calibrate.")

        def predict_proba(X: Any) -> Floats:  # the name is what StackingClassifier asks for again
            s = self.decision_function(X)
            if s.ndim == 1:
                return two_probabilities(s, self.boundary)
            e = np.exp(-np.abs(s))
            p = np.where(s >= 0, 1.0, e) / (1.0 + e)
            return agreeing(np.asarray(p / p.sum(axis=1, keepdims=True)), s)

        return predict_proba
