"""A learner and its encoder as one estimator, so that folds fit both: no fold sees levels or medians of another."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Frame
from separatrix.features.encode import Choices, Encoder
from separatrix.learners.base import Estimator


class SharedTable:
    """A table that copies of an estimator share instead of copying."""

    def __init__(self, frame: Frame, choices: Choices) -> None:
        self.frame = frame
        self.choices = choices

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedTable:
        return self

    def rows(self) -> NDArray[np.intp]:
        """The numbers of all rows, as one column."""
        return np.arange(self.frame.n).reshape(-1, 1)


class EncodedLearner(Estimator):
    """Encode some rows of a table, then learn from them; X holds the numbers of the rows, in one column."""

    def __init__(self, table: SharedTable, learner: Any) -> None:
        self.table = table
        self.learner = learner

    @classmethod
    def fitted(cls, table: SharedTable, encoder: Any, learner: Any) -> Self:
        """One that has learned already."""
        made = cls(table, learner)
        made.encoder_, made.learner_ = encoder, learner
        made._take_over()
        return made

    def __sklearn_tags__(self) -> Any:
        return self.learner.__sklearn_tags__()

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.learner)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the encoder on these rows, and the learner on what it makes of them."""
        from sklearn.base import clone

        frame = self.table.frame.take(np.asarray(X)[:, 0])
        self.encoder_ = Encoder.fitted(frame, self.table.choices)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.learner_ = clone(self.learner).fit(self.encoder_.encode(frame)[0], y, **weights)
        self._take_over()
        return self

    def _take_over(self) -> None:
        for name in ("classes_", "status_", "n_iter_"):
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        self.n_features_in_ = 1

    def _encoded(self, X: Any) -> Any:
        self._check_fitted()
        return self.encoder_.encode(self.table.frame.take(np.asarray(X)[:, 0]))[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """What the learner predicts for these rows."""
        return np.asarray(self.learner_.predict(self._encoded(X)))

    @property
    def decision_function(self) -> Any:
        """The learner's scores, if it has any."""
        score = self.learner_.decision_function
        return lambda X: score(self._encoded(X))

    @property
    def predict_proba(self) -> Any:
        """The learner's probabilities, if it has any."""
        chances = self.learner_.predict_proba
        return lambda X: chances(self._encoded(X))
