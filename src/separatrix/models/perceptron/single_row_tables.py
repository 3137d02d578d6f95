"""One row at a time by way of a table of one row, for learners whose model is not one vector per class."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.class_labels import predictions
from separatrix.models.perceptron.online_rule import first_guess
from separatrix.validation import Row, check_row


class RowAsTable:
    """``learn_one``, ``decision_one`` and ``predict_one`` on top of tables; single rows are arrays, lists or pairs."""

    boundary: str
    classes_: NDArray[Any]
    n_features_in_: int

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool: ...

    @abstractmethod
    def _check_fitted(self) -> None: ...

    @abstractmethod
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self: ...

    @abstractmethod
    def _scores_as_given(self, X: Any) -> Floats:
        """Scores of checked rows, whatever their columns are called."""

    def learn_one(self, x: Any, y: Any, sample_weight: float = 1.0, classes: Any = None) -> Self:
        """Learn from one row: an array or list, or a pair (columns, values).

        Parameters
        ----------
        x : array, list or pair (columns, values)
            The row.
        y : label
            The class of the row.
        sample_weight : float
            Multiplies the update.
        classes : labels, optional
            All classes, with the first row; without them they are learned as they appear.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import VotedPerceptron
        >>> model = VotedPerceptron().learn_one([1.0, 2.0], "spam").learn_one([2.0, -1.0], "ham")
        >>> model.predict_one([0.0, 5.0])
        'spam'
        """
        return self.partial_fit(self._one(x).table(), [y], classes, sample_weight=[sample_weight])

    def decision_one(self, x: Any) -> float | Floats:
        """The score of one row; with more than two classes an array of one score per class.

        Parameters
        ----------
        x : array, list or pair (columns, values)
            The row.

        Returns
        -------
        float, or an array for K > 2 classes

        Examples
        --------
        >>> from separatrix import VotedPerceptron
        >>> model = VotedPerceptron().learn_one([1.0, 2.0], "spam").learn_one([2.0, -1.0], "ham")
        >>> model.decision_one([1.0, 1.0])
        1.0
        """
        self._check_fitted()
        scores = self._scores_as_given(self._one(x).table())[0]
        return scores if isinstance(scores, np.ndarray) else float(scores)

    def predict_one(self, x: Any, classes: Any = None) -> Any:
        """The class of one row; before the first one, that of the start.

        Parameters
        ----------
        x : array, list or pair (columns, values)
            The row.
        classes : labels, optional
            The classes, where nothing has been learned yet; they do not matter afterwards.

        Returns
        -------
        label
            Before the first row the class of the start's score, with sign(0) = +1, the second of two ``classes``; None
            without them.

        Examples
        --------
        >>> from separatrix import VotedPerceptron
        >>> model = VotedPerceptron().learn_one([1.0, 2.0], "spam").learn_one([2.0, -1.0], "ham")
        >>> model.predict_one([1.0, 3.0])
        'spam'
        """
        if not self.__sklearn_is_fitted__():
            return first_guess(self, self._one(x), classes)
        scores = np.asarray([self.decision_one(x)])
        if len(self.classes_) == 1:
            return self.classes_.tolist()[0]
        return predictions(scores, self.classes_, self.boundary).tolist()[0]

    def _one(self, x: Any) -> Row:
        name = type(self).__name__
        if isinstance(x, dict):
            raise DataError(f"{name} takes no dicts of features: turn them into rows with HashingMap.")
        return check_row(x, self.n_features_in_ if self.__sklearn_is_fitted__() else None, name)
