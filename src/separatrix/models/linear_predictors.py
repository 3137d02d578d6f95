"""Classifiers and regressions that predict by s(x) = w . x + b: one score, or one a class; probabilities."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.class_labels import need_two_classes, predictions
from separatrix.models.from_formula import FormulaFit
from separatrix.validation import (
    Labels,
    Table,
    check_labels,
    check_lengths,
    check_row_offset,
    check_target_columns,
    check_targets,
    check_weights,
    count_rows,
    finite_scores,
)
from separatrix.validation.labels import label_vector


def log_softmax(scores: Floats) -> Floats:
    """ln(e^s_k / sum e^s_j), row by row; the greatest score is taken away first, so that sums of any scores are 1."""
    away = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(away - np.log(np.exp(away).sum(axis=1, keepdims=True)))


def two_probabilities(scores: Floats, boundary: str) -> Floats:
    """1/(1 + e^s) and 1/(1 + e^-s), one column each; the greater is that of the predicted class."""
    out = np.empty((len(scores), 2))
    kernels.two_probabilities(scores, boundary != "negative", out)
    return out


def agreeing(probabilities: Floats, scores: Floats) -> Floats:
    """The same probabilities, with the class of the greatest score as the first of the greatest in every row.

    Probabilities of different scores can round to equal numbers. That class then has the next double above the others.
    """
    positions = scores.argmax(axis=1)
    behind = np.flatnonzero(probabilities.argmax(axis=1) != positions)
    if len(behind):
        greatest = probabilities[behind].max(axis=1)
        probabilities[behind, positions[behind]] = np.nextafter(greatest, 2.0)
    return probabilities


class Classifier(FormulaFit):
    """Predictions and accuracy from scores; a subclass says what the scores are."""

    _estimator_type: ClassVar[str] = "classifier"
    boundary: str = "positive"
    classes_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags()
        return tags

    def _labelled_rows(self, X: Any, y: Any, finite: bool = True) -> tuple[Table, Labels]:
        """Checked rows of a fit and their labels, of two classes or more."""
        table = self._fit_table(X, finite=finite)
        labels = check_labels(y, rows=X, n=table.n)
        need_two_classes(labels, type(self).__name__)
        return table, labels

    def _chunk(self, X: Any, y: Any) -> tuple[Table, Labels]:
        """Checked rows of a ``partial_fit``, with the columns of those before them, and their labels."""
        table = self._check_rows(X) if self.__sklearn_is_fitted__() else self._fit_table(X, stream=True)
        return table, check_labels(y, rows=X, n=table.n)

    def decision_function(self, X: Any) -> Floats:
        """One score for each row; with more than two classes one column per class.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> Perceptron().fit(X, y).decision_function([[0.0], [4.0]])
        array([-2.,  2.])
        """
        raise NotImplementedError("a classifier says what its scores are")

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row; what a score of exactly zero means is ``boundary``'s choice.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,)
            Labels as they were given to ``fit``.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> Perceptron().fit(X, y).predict([[0.0], [4.0]]).tolist()
        ['no', 'yes']
        """
        return kernels.in_blocks(self._classes_of, self.decision_function(X))

    def _classes_of(self, scores: Floats) -> NDArray[Any]:
        if len(self.classes_) == 1:
            return np.full(len(scores), self.classes_[0])
        return predictions(scores, self.classes_, self.boundary)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The (weighted) share of rows whose class is predicted right.

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
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> Perceptron().fit(X, y).score([[0.0], [4.0]], ["no", "no"])
        0.5
        """
        predicted = self.predict(X)
        truth = label_vector(y, rows=X)
        check_lengths(len(predicted), len(truth), "y")
        return float(np.average(predicted == truth, weights=check_weights(sample_weight, len(truth), rows=X)))


class LinearClassifier(Classifier):
    """Scores s(x) = w . x + b from ``coef_`` and ``intercept_``."""

    coef_: Floats
    intercept_: Floats

    def decision_function(self, X: Any) -> Floats:
        """s(x) = w . x + b for each row; with more than two classes one column per class.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> Perceptron().fit(X, y).decision_function([[0.0], [4.0]])
        array([-2.,  2.])
        """
        checked = self._check_rows(X, finite=False).X
        return finite_scores(self._scores_of(checked), checked)

    def _scores_of(self, X: Any) -> Floats:
        """Scores of checked rows."""
        rows = kernels.rows(X)
        out = np.empty((rows.n, len(self.coef_)))
        coef, intercept = np.ascontiguousarray(self.coef_), np.ascontiguousarray(self.intercept_)
        kernels.class_scores(rows, coef, intercept, out)
        return out[:, 0] if out.shape[1] == 1 else out


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
            Added to the predictions, one number a row; None: the offset of the formula, if it has one.

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
        self._check_fitted()
        shift = self._named_offset(X) if offset is None else check_row_offset(offset, count_rows(X), X)
        checked = self._check_rows(X, finite=False).X
        rows = kernels.rows(checked)
        coef = np.ascontiguousarray(np.atleast_2d(self.coef_), dtype=np.float64)
        out = np.empty((rows.n, len(coef)))
        kernels.class_scores(rows, coef, np.atleast_1d(np.asarray(self.intercept_, dtype=np.float64)), out)
        finite_scores(out if np.ndim(self.coef_) == 2 else out[:, 0], checked)
        if shift is not None:
            out += shift[:, None]
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
