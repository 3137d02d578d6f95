"""One row at a time, with next to no overhead: a bound kernel moves the vectors in place.

``learn_one`` first tries the kernel with the row as it is; whatever that refuses (a list, a new class, a
malformed row) takes the careful way, where every check is made before anything moves. Weights and
counts are read from the vectors when they are asked for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.features.dict_features import HashingMap, Vocabulary
from separatrix.models.class_labels import need_joining, weights_in_chunk
from separatrix.models.perceptron.class_vectors import ArrivingRows, ClassVectors
from separatrix.models.perceptron.online_rule import OnlineKernel, first_guess
from separatrix.models.perceptron.streaming import Streaming
from separatrix.validation import Row, check_features, check_labels, check_row, check_weights

Names = Vocabulary | HashingMap
READ_LATE = ("coef_", "intercept_", "mistakes_", "visits_", "epoch_mistakes_")
BOUND = ("_learner", "_reader", "_codes", "_at", "_labels")


class SingleRowLearner(Streaming):
    """Single rows: arrays, lists, pairs (columns, values) or dicts of features."""

    hashing: int | None = None
    _learner: OnlineKernel  # bound to the vectors, where nothing but the row decides how far it moves them
    _reader: OnlineKernel
    _codes: dict[Any, int]
    _at: int | None  # the vector that alone decides between two classes
    _labels: list[Any]
    _names: Names

    def learn_one(self, x: Any, y: Any, sample_weight: float = 1.0, classes: Any = None) -> Self:
        """Learn from one row: an array or list, a pair (columns, values), or a dict of features.

        Dicts are hashed where ``hashing`` names a number of columns; otherwise every new feature gets a
        weight of its own, which starts from zero. Text in a dict is a level of a category: {"colour": "red"} is
        {"colour=red": 1}. The same as ``partial_fit`` with one row, at a fraction
        of its cost.

        Parameters
        ----------
        x : array, list, pair (columns, values) or dict
            The row.
        y : label
            The class of the row.
        sample_weight : float
            Multiplies the update.
        classes : labels, optional
            All classes, with the first row: the set is then closed, and the rows are learned by the online protocol
            from the first one on. Without them classes are learned as they appear.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> model = Perceptron().learn_one({"links": 2, "misspelled": 3}, "spam")
        >>> model = model.learn_one({"links": 1, "friend": 1}, "ham")
        >>> model.predict_one({"misspelled": 2})
        'spam'
        """
        if classes is not None:
            self._learn_with_care(x, y, sample_weight, classes)
            return self
        try:
            if x.__class__ is dict:
                self._learner.learn_dict(x, self._names.index, self._codes[y], sample_weight)
            else:
                self._learner.learn(x, self._codes[y], sample_weight)
        except (AttributeError, KeyError, TypeError, ValueError):
            self._learn_with_care(x, y, sample_weight)
        return self

    def decision_one(self, x: Any) -> float | Floats:
        """The score of one row; with more than two classes an array of one score per class.

        Parameters
        ----------
        x : array, list, pair (columns, values) or dict
            The row.

        Returns
        -------
        float, or an array for K > 2 classes

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> model = Perceptron().learn_one([1.0, 2.0], "spam").learn_one([2.0, -1.0], "ham")
        >>> model.decision_one([1.0, 1.0])
        2.0
        """
        try:
            if self._at is not None and x.__class__ is not dict:
                return self._reader.score(x, self._at)
            scores = np.empty(len(self._vectors.vectors))
            if x.__class__ is dict:
                self._reader.scores_dict(x, self._names.index, self._names.skips, scores)
            else:
                self._reader.scores(x, scores)
        except (AttributeError, KeyError, TypeError, ValueError):
            scores = self._read_with_care(x)
        shown = self._vectors.decide(scores)
        if not math.isfinite(shown.sum()):
            shown = self._vectors.decide(self._read_with_care(x))
        return float(shown[0]) if len(shown) == 1 else shown

    def predict_one(self, x: Any, classes: Any = None) -> Any:
        """The class of one row; before the first one, that of the start.

        Parameters
        ----------
        x : array, list, pair (columns, values) or dict
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
        >>> from separatrix import Perceptron
        >>> model = Perceptron().learn_one([1.0, 2.0], "spam").learn_one([2.0, -1.0], "ham")
        >>> model.predict_one([1.0, 3.0])
        'spam'
        >>> Perceptron().predict_one([1.0, 3.0], classes=["ham", "spam"])
        'spam'
        """
        try:
            if x.__class__ is not dict:
                labels = self._labels
                if self._at is None and len(labels) > 2:
                    return labels[self._reader.best(x, len(labels))]
                if self._at is not None and (score := self._reader.score(x, self._at)) != 0:
                    return labels[score > 0]
            elif self._at is not None:
                every = np.empty(self._vectors.vectors.lifted.shape[0])
                self._reader.scores_dict(x, self._names.index, self._names.skips, every)
                score = every.item(self._at)
                if score != 0 and math.isfinite(score):
                    return self._labels[score > 0]
        except (AttributeError, KeyError, TypeError, ValueError):
            pass
        if not self.__sklearn_is_fitted__():
            self._check_parameters()
            return first_guess(self, self._row(x, grow=True)[0], classes)
        scores = self.decision_one(x)
        names = self._vectors.classes
        if isinstance(scores, np.ndarray):
            return names[int(scores.argmax())]
        if len(names) == 1:
            return names[0]
        if scores == 0 and self.boundary == "undefined":
            return None
        return names[scores > 0 or (scores == 0 and self.boundary != "negative")]

    def _learn_with_care(self, x: Any, y: Any, sample_weight: float, classes: Any = None) -> None:
        """One row with every check; whatever is wrong is found before anything moves."""
        self._check_parameters()
        self._need_state()
        if np.ndim(y) != 0:
            raise DataError(f"y is {y!r}: learn_one takes one label.")
        labels = check_labels([y])
        label = labels.classes.tolist()[0]
        step_weights = weights_in_chunk(labels, check_weights([sample_weight], 1), self.class_weight)
        known: ClassVectors | None = self.__dict__.get("_vectors")
        if known is not None and label not in known.classes:
            need_joining(label, known.classes, known.open)
        row, names = self._row(x, grow=True)
        view = kernels.one_row(row.values, row.columns, row.d)
        step, _ = self._steps(view, step_weights)
        book = self._book(row.d, classes)
        book.widen(row.d)
        book.learn(ArrivingRows(np.array([label]), None, view, step))
        self.n_features_in_ = row.d if names is None else names.width
        self._follow(book, names)

    def _follow(self, book: ClassVectors, names: Names | None) -> None:
        """Let the attributes follow vectors that single rows move."""
        self._show(book)
        for name in READ_LATE:
            self.__dict__.pop(name, None)
        if names is not None:
            self._names = names
        self._codes = book.codes()
        self._bind_reader(book)
        if self.class_weight is None and not self.normalize_rows:
            self._learner = self._reader

    def _bind_reader(self, book: ClassVectors) -> None:
        self._reader = book.rule.kernel(book.vectors)
        self._at, self._labels = book.decisive(), book.classes

    def _read_with_care(self, x: Any) -> Floats:
        self._check_fitted()
        row, names = self._row(x, grow=False)
        if "_vectors" not in self.__dict__:
            self._vectors = self._book(self.n_features_in_)
        if names is not None:
            self._names = names
        self._bind_reader(self._vectors)
        out = np.empty(len(self._vectors.vectors))
        if row.columns is None:
            self._reader.scores(row.values, out)
        else:
            self._reader.scores_pairs(row.values, row.columns, out)
        return out

    def _row(self, x: Any, grow: bool) -> tuple[Row, Names | None]:
        """A checked row, and the naming of its columns where it is a dict."""
        if isinstance(x, dict) and self.__dict__.get("references_"):  # levels of categories, by the columns of the fit
            row = self._check_rows({name: [value] for name, value in x.items()}).X[0]
            return Row(np.asarray(row, dtype=np.float64), None, len(row)), None
        if not isinstance(x, dict):
            self._need_no_open_names()
            d = self.n_features_in_ if self.__sklearn_is_fitted__() else None
            return check_row(x, d, type(self).__name__), None
        features = check_features(x)
        names = self._naming()
        columns, values = names.pairs(features, grow)
        return Row(values, columns, names.room), names

    def _naming(self) -> Names:
        """Which column each feature of a dict has."""
        if "_names" in self.__dict__:
            return self._names
        fitted = self.__sklearn_is_fitted__()
        if self.hashing is not None:
            if fitted and self.n_features_in_ != self.hashing:
                raise DataError(
                    f"the model has {self.n_features_in_} features and hashing={self.hashing}: they must agree."
                )
            return HashingMap(int(self.hashing))
        if hasattr(self, "feature_names_in_"):
            return Vocabulary(self.feature_names_in_.tolist())
        if fitted:
            raise DataError("x is a dict, but the model was fitted on columns without names: pass an array or a list.")
        if not (isinstance(self.start, str) and self.start == "zeros") or not self._rule().widens:
            raise ParameterError(
                "dicts with an open vocabulary need start='zeros' and no full covariance: "
                "set hashing to a number of columns, or change those."
            )
        return Vocabulary()

    def _need_no_open_names(self) -> None:
        names = self.__dict__.get("_names")
        if isinstance(names, Vocabulary) and names.open:
            raise DataError("the model was learned from dicts of features: go on with dicts, or fit it anew.")

    def _forget_stream(self) -> None:
        super()._forget_stream()
        for name in (*BOUND, "_names"):
            self.__dict__.pop(name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("coef_", "intercept_"):  # what is bound does not know them
            for bound in (*BOUND, "_stopped"):
                self.__dict__.pop(bound, None)

    def _copied(self) -> dict[str, Any]:
        """Bound kernels are made anew where they are needed."""
        return {name: value for name, value in self.__dict__.items() if name not in BOUND}

    def _kept(self) -> dict[str, Any]:
        if "_streamed" in self.__dict__:  # what single rows have moved, as attributes
            for name in READ_LATE:
                self.__dict__.setdefault(name, getattr(self, name))
        return super()._kept()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            book = self.__dict__.get("_vectors") if name in READ_LATE else None
            if book is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if name == "coef_":
                return np.ascontiguousarray(book.final()[:, : self.n_features_in_])
            if name == "intercept_":
                return book.final()[:, -1].copy()
            if name == "visits_":
                return book.visits()
            return book.mistakes() if name == "mistakes_" else np.array([book.mistakes()])
