"""Rows of a stream that are predicted and then learned, chunk after chunk, without a copy of the vectors.

``partial_fit`` checks everything at every call and shows what it has learned; here rows were checked by a reader,
the vectors stay bound, and room is made for features as they appear. The vectors are those that ``partial_fit``
ends with, for any chunking.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.models.class_labels import declared_classes, newcomers, predicted_positions
from separatrix.models.perceptron.class_vectors import ArrivingRows, ClassVectors
from separatrix.models.perceptron.single_rows import SingleRowLearner

MOST_CLASSES = 1000
ROOM = 16  # features that there is room for at first, where they appear as they like


@dataclass(frozen=True, slots=True)
class Judged:
    """What was predicted for each row before it was learned.

    ``codes`` are positions in ``classes``, the classes at the end of the chunk; -1 where nothing was known. ``scores``
    are those of the second of two classes, NaN elsewhere. A regression has ``scores`` alone.
    """

    codes: NDArray[np.int64] | None
    classes: Sequence[Any]
    scores: Floats


def row_rules(learner: Any) -> bool:
    """Whether a learner predicts and learns row by row in one pass."""
    return isinstance(learner, SingleRowLearner)


class Arrivals:
    """The vectors of a learner of the perceptron family, and the rows that it takes."""

    def __init__(self, learner: SingleRowLearner, classes: Sequence[Any] | None = None, grows: bool = False) -> None:
        learner._check_parameters()
        if isinstance(learner.class_weight, str):
            raise ParameterError("class_weight='balanced' needs all rows at once: pass a dict, or sample_weight.")
        self.learner = learner
        self.declared = declared_classes(classes)
        self.grows = grows
        self.features = 0
        self.book: ClassVectors | None = None

    @property
    def room(self) -> int:
        """The width that rows must have."""
        return self.features if self.book is None else self.book.vectors.lifted.shape[1] - 1

    @property
    def classes(self) -> list[Any]:
        return (self.declared or []) if self.book is None else self.book.classes

    def make_room(self, features: int) -> int:
        """Take note of this many features; the width that rows must have from now on."""
        if self.book is not None and features > self.features and not self.grows:
            raise DataError(f"a row has {features:,} features, but the rows before it had {self.features:,}.")
        self.features = max(features, self.features, 1)
        if self.book is None:
            room = max(ROOM, 1 << (self.features - 1).bit_length()) if self.grows else self.features
            if self.grows and not (isinstance(self.learner.start, str) and self.learner.start == "zeros"):
                raise ParameterError("features that appear while rows are learned need start='zeros'.")
            if self.grows and not self.learner._rule().widens:
                raise ParameterError("features that appear while rows are learned need a diagonal covariance.")
            if self.learner.__sklearn_is_fitted__() and room != self.learner.n_features_in_:
                raise DataError(
                    f"the rows have {self.features:,} features, but {type(self.learner).__name__} was fitted on "
                    f"{self.learner.n_features_in_:,}."
                )
            self.book = self.learner._book(room, self.declared).copy()
        if self.features > self.room:
            self.book.widen(1 << (self.features - 1).bit_length())
        return self.room

    def take(
        self, X: Any, labels: NDArray[Any], labelled: NDArray[np.bool_] | None = None, weights: Floats | None = None
    ) -> Judged:
        """Predict each row and learn from those that have a label; rows are an array or CSR of width ``room``."""
        if self.book is None:
            self.make_room(X.shape[1])
        book, rows, n = self.book, kernels.rows(X), X.shape[0]
        assert book is not None
        step, _ = self.learner._steps(rows, self._weights(labels, labelled, weights))
        chunk = ArrivingRows(labels, labelled, rows, step)
        codes, scores = np.full(n, -1, dtype=np.int64), np.full(n, np.nan)
        begin, guess = 0, None
        for at, label in [*self._newcomers(labels, labelled), (n, None)]:
            self._segment(chunk, begin, at, codes, scores)
            if guess is not None:
                codes[begin], scores[begin] = guess
            if at == n:
                break
            guess = self._guess(chunk, at)
            book._join(label)
            place = book.classes.index(label)
            codes[:at] += codes[:at] >= place
            guess = (guess[0] + (guess[0] >= place), guess[1])
            begin = at
        return Judged(codes, book.classes, scores)

    def _guess(self, chunk: ArrivingRows, at: int) -> tuple[int, float]:
        """What the first row of a class is taken for, while that class is not known; nothing is learned."""
        assert self.book is not None
        codes, scores = np.full(len(chunk.labels), -1, dtype=np.int64), np.full(len(chunk.labels), np.nan)
        visits = self.book.vectors.visits.copy()
        unlabelled = chunk._replace(counted=np.zeros(len(codes), dtype=np.bool_))
        self._segment(unlabelled, at, at + 1, codes, scores)
        self.book.vectors.visits[:] = visits
        return int(codes[at]), float(scores[at])

    def _weights(self, labels: NDArray[Any], labelled: Any, weights: Floats | None) -> Floats | None:
        if self.learner.class_weight is None:
            return weights
        own = np.ones(len(labels)) if weights is None else weights.copy()
        for label, weight in self.learner.class_weight.items():
            own[labels == label] *= weight
        return own

    def _newcomers(self, labels: NDArray[Any], labelled: NDArray[np.bool_] | None) -> list[tuple[int, Any]]:
        """Where each new class first occurs; known labels are seen by comparing, which costs less than sorting."""
        assert self.book is not None
        if len(self.book.classes) <= 8:
            known = np.zeros(len(labels), dtype=np.bool_)
            for label in self.book.classes:
                known |= labels == label
            if labelled is not None:
                known |= ~labelled
            if known.all():
                return []
        new = newcomers(labels, self.book.classes, self.book.open, labelled)
        if len(self.book.classes) + len(new) > MOST_CLASSES:
            raise DataError(
                f"the labels have more than {MOST_CLASSES:,} different values: numbers are predicted by a regression."
            )
        return new

    def _segment(self, chunk: ArrivingRows, begin: int, end: int, codes: NDArray[np.int64], scores: Floats) -> None:
        """Rows between which no class joins."""
        assert self.book is not None
        table = self.book._segment(chunk, begin, end, scored=True)
        if len(self.book.classes) == 1:
            codes[begin:end] = 0
        elif table.shape[1] == 1:
            scores[begin:end] = table[:, 0]
            codes[begin:end] = predicted_positions(table[:, 0], self.learner.boundary)
        elif self.book.classes:
            codes[begin:end] = table.argmax(axis=1)

    def model(self, columns: Sequence[int] | None = None) -> SingleRowLearner:
        """The learner as it is now, fitted, on these features (None: all); what comes later does not change it."""
        if self.book is None or not self.book.classes:
            raise DataError("no row with a label has been learned from: there is no model yet.")
        model, book = copy(self.learner), self.book.copy()
        keep = [*(range(self.features) if columns is None else columns), -1]
        vectors = book.vectors
        vectors.lifted = np.ascontiguousarray(vectors.lifted[:, keep])
        for name in book.rule.fill:
            vectors.beside[name] = np.ascontiguousarray(vectors.beside[name][:, keep])
        book.start = book.start[keep]
        model._forget_stream()
        model.n_features_in_ = len(keep) - 1
        model._show(book)
        return model

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"book": None if self.book is None else self.book.copy(), "features": self.features}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.book, self.features = state["book"], state["features"]
        if self.book is not None and self.book.rule != self.learner._rule():
            raise ParameterError("the checkpoint is of a learner with other parameters.")
