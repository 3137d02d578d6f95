"""Learners without a pass that scores rows: predict each row, learn a block of rows at a time.

Blocks are counted from row 0, so that any chunking gives the same model; the rows of a block that is not full wait
and are part of the state. With a block of one row this is predict, then learn, row by row.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.row_files import stacked
from separatrix.errors import DataError, ParameterError
from separatrix.models.perceptron.arrivals import Arrivals, Judged, row_rules

BLOCK = 256


class BlockArrivals:
    """A learner with ``partial_fit``, and the rows that wait for their block to be full."""

    def __init__(self, learner: Any, classes: Sequence[Any] | None = None, block: int = BLOCK) -> None:
        if not hasattr(learner, "partial_fit"):
            raise ParameterError(f"{type(learner).__name__} has no partial_fit: it cannot learn from a stream.")
        self.learner = learner
        self.declared = None if classes is None else list(classes)
        self.block = block
        self.features = 0
        self.waiting: list[tuple[Any, NDArray[Any]]] = []
        self.rows = 0  # of the block that is not full
        self.regression = learner._estimator_type == "regressor"

    @property
    def room(self) -> int:
        return self.features

    @property
    def classes(self) -> list[Any]:
        return self.learner.classes_.tolist() if hasattr(self.learner, "classes_") else self.declared or []

    def make_room(self, features: int) -> int:
        """Rows of one width only: these learners do not grow."""
        if self.features and features > self.features:
            raise DataError(
                f"a row has {features:,} features, but {type(self.learner).__name__} was begun with "
                f"{self.features:,}: say the number of features beforehand, or hash them."
            )
        self.features = max(features, self.features)
        return self.features

    def take(
        self, X: Any, labels: NDArray[Any], labelled: NDArray[np.bool_] | None = None, weights: Floats | None = None
    ) -> Judged:
        """Predict each row by the model of the blocks before its own."""
        if weights is not None and (weights != 1).any():
            raise ParameterError(f"{type(self.learner).__name__} learns a stream without row weights.")
        n, begin = X.shape[0], 0
        self.make_room(X.shape[1])
        said = np.full(n, None, dtype=object) if not self.regression else np.full(n, np.nan)
        scores = np.full(n, np.nan)
        while begin < n:
            end = min(n, begin + self.block - self.rows)
            part = X[begin:end]
            if self.learner.__sklearn_is_fitted__():
                with contextlib.suppress(DataError):  # a discriminant may need more rows before it predicts
                    said[begin:end] = self.learner.predict(part)
            keep = np.ones(end - begin, dtype=np.bool_) if labelled is None else labelled[begin:end]
            if keep.any():
                self.waiting.append((part[keep].copy(), labels[begin:end][keep].copy()))
            self.rows += end - begin
            if self.rows == self.block:
                self.learn()
            begin = end
        if self.regression:
            return Judged(None, (), said.astype(np.float64))
        classes = self.classes
        place = {label: k for k, label in enumerate(classes)}
        codes = np.array([-1 if label is None else place[label] for label in said.tolist()], dtype=np.int64)
        return Judged(codes, classes, scores)

    def learn(self) -> None:
        """Learn from the rows that wait."""
        waiting, self.waiting, self.rows = self.waiting, [], 0
        if not waiting:
            return
        X, y = stacked([X for X, _ in waiting]), np.concatenate([y for _, y in waiting])
        if self.declared is None or self.regression or self.learner.__sklearn_is_fitted__():
            self.learner.partial_fit(X, y)
        else:
            self.learner.partial_fit(X, y, classes=self.declared)

    def model(self) -> Any:
        """The learner with all rows learned, those that wait as well."""
        twin = copy(self)
        twin.learner, twin.waiting = copy(self.learner), list(self.waiting)
        twin.learn()
        if not twin.learner.__sklearn_is_fitted__():
            raise DataError("no row with a label has been learned from: there is no model yet.")
        return twin.learner

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        waiting = [(_plain(X), y) for X, y in self.waiting]
        fitted = dict(vars(self.learner)) if self.learner.__sklearn_is_fitted__() else None
        return {"learner": fitted, "features": self.features, "rows": self.rows, "waiting": waiting}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        if state["learner"] is not None:
            vars(self.learner).update(state["learner"])
        self.features, self.rows = state["features"], state["rows"]
        self.waiting = [(_rows(X), y) for X, y in state["waiting"]]


def _plain(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr, X.shape[1])


def _rows(kept: Any) -> Any:
    if isinstance(kept, np.ndarray):
        return kept
    from scipy.sparse import csr_array

    data, indices, indptr, width = kept
    return csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))


def arrivals_of(
    learner: Any, classes: Sequence[Any] | None = None, block: int | None = None, grows: bool = False
) -> Arrivals | BlockArrivals:
    """Row by row where the learner can, else in blocks."""
    if row_rules(learner) and block in (None, 1):
        return Arrivals(learner, classes, grows)
    return BlockArrivals(learner, classes, BLOCK if block is None else block)
