"""Rows that pass by once, in chunks: the vectors of all classes are kept from one call to the next."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.models.class_labels import declared_classes, weights_in_chunk
from separatrix.models.perceptron.class_vectors import SCHEMES, ArrivingRows, ClassVectors, label_array, two_of_one
from separatrix.models.perceptron.mistake_driven import MistakeDriven
from separatrix.models.perceptron.online_rule import first_vector
from separatrix.numerics.seeds import seed_state
from separatrix.numerics.status import Status
from separatrix.protocol import ChunkLearner
from separatrix.validation import check_weights


class Streaming(MistakeDriven, ChunkLearner):
    """Partial fit: any chunking, and classes as they appear."""

    _stream_state: ClassVar[tuple[str, ...]] = ("_vectors", "_names")
    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        **MistakeDriven._routed,
        "partial_fit": ("sample_weight", "classes"),
    }

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each row once, in arrival order; the result does not depend on how rows are chunked.

        Without ``classes`` new ones are learned as they appear; with them, in the first call, the set is
        closed and learning is faster. ``class_weight="balanced"`` needs all rows and is refused here.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        classes : array or None
            All classes, in the first call; None: they join as they appear.
        sample_weight : array or None
            Weights of the rows; may all be zero, which changes nothing. None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> model = Perceptron().partial_fit([[0.0], [4.0]], ["no", "yes"]).partial_fit([[1.0]], ["no"])
        >>> model.classes_.tolist()
        ['no', 'yes']
        """
        self._check_parameters()
        self._need_state()
        self._need_no_open_names()
        fitted = self.__sklearn_is_fitted__()
        table, labels = self._chunk(X, y)
        weights = check_weights(sample_weight, table.n, may_be_zero=True, rows=X)
        weights = weights_in_chunk(labels, weights, self.class_weight)
        if weights is not None and not weights.any():
            return self
        step, _ = self._steps(kernels.rows(table.X), weights)
        book = self._book(table.d, classes).copy()
        counted = None if weights is None else weights > 0
        book.learn(ArrivingRows(labels.classes[labels.codes], counted, kernels.rows(table.X), step))
        if not fitted:
            self._remember_features(table)
        self._forget_stream()
        self._show(book)
        return self

    def _state_agrees(self) -> bool:
        return self._vectors.rule == self._rule() and not self._weights_assigned(self._vectors)

    def _goes_on_by_weights(self) -> bool:
        return self.multiclass == "ovr" and hasattr(self, "coef_") and not self._rule().beside(np.zeros((1, 2)))

    def _need_no_open_names(self) -> None:
        """Refuse rows without names after rows with names of their own."""

    def _book(self, d: int, classes: Any = None) -> ClassVectors:
        """The vectors to go on with: those of the last call or fit, or new ones."""
        book: ClassVectors | None = self.__dict__.get("_vectors")
        scheme, rule = SCHEMES[self.multiclass], self._rule()
        if book is not None and (type(book) is not scheme or book.rule != rule):
            raise ParameterError("parameters were changed between calls of partial_fit: fit a new estimator.")
        if book is not None and self._weights_assigned(book):
            book = None
        if book is None and self.__sklearn_is_fitted__():
            lifted = self._shown_weights()
            kesler = self.multiclass == "kesler"
            book = scheme(rule, lifted[0], self.classes_.tolist(), rule.fresh(lifted.copy(), kesler))
            if book.vectors.seen is not None:
                book.vectors = rule.fresh(two_of_one(lifted), kesler)
                book.vectors.seen = np.ones(len(book.vectors), dtype=np.int8)
        if book is None:
            declared = declared_classes(classes)
            self._need_room(2 if declared is None else len(declared), d)
            start = first_vector(self.start, d, self.fit_intercept, seed_state(self.random_state))
            return scheme.begin(rule, start, declared)
        if classes is not None and declared_classes(classes) != book.classes:
            raise DataError(f"classes={classes!r} is not the same as on the last call, which had {book.classes}.")
        return book

    def _weights_assigned(self, book: ClassVectors) -> bool:
        """Whether ``coef_`` or ``intercept_`` are no longer what was learned."""
        final = book.final()
        learned = {"coef_": final[:, : self.n_features_in_], "intercept_": final[:, -1]}
        shown = self.__dict__
        return any(not _same_bits(shown[name], value) for name, value in learned.items() if name in shown)

    def _shown_weights(self) -> Floats:
        """``coef_`` and ``intercept_`` as lifted vectors to go on from."""
        count = len(self.classes_) if len(self.classes_) > 2 else 1
        for name, shape in (("coef_", (count, self.n_features_in_)), ("intercept_", (count,))):
            value = np.asarray(getattr(self, name))
            if value.shape != shape or value.dtype.kind not in "iuf" or not np.isfinite(value).all():
                raise DataError(f"{name} was assigned and must be an array of shape {shape} of finite numbers.")
        return np.column_stack([self.coef_, self.intercept_]).astype(np.float64)

    def _show(self, book: ClassVectors) -> None:
        """What a stream has learned so far, as attributes."""
        self._vectors, self._streamed = book, True
        self.classes_ = label_array(book.classes)
        self._show_model(book)
        self.n_iter_ = 1
        self.mistakes_ = book.mistakes()
        self.visits_ = book.visits()
        self.epoch_mistakes_ = np.array([self.mistakes_])
        finite = kernels.first_nonfinite(book.vectors.lifted) < 0
        self.status_ = Status.STREAMED if finite else Status.NONFINITE
        self.trace_ = None
        self.__dict__.pop("errors_", None)


def _same_bits(given: Any, learned: Floats) -> bool:
    array = np.asarray(given)
    return array.dtype == learned.dtype and array.shape == learned.shape and array.tobytes() == learned.tobytes()
