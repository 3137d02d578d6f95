"""One vector a class, learned as the classes appear: however rows are chunked, the result is the same.

With classes that are not known beforehand every class has a vector of its own (one against the rest),
and beside them runs a phantom that has seen every row as negative. A class that appears late starts as
a copy of the phantom, and so ends where it would have if it had been known from the start. Where the
classes are declared there is no phantom, and two classes share the vector of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError


class HasVector(Protocol):
    lifted: NDArray[np.float64]
    updates: int


State = TypeVar("State", bound=HasVector)
Learn = Callable[[State, NDArray[np.int8], int, int], None]  # a state, labels, and the rows from where to where


class ClassVectors(Generic[State]):
    """The sorted classes, the state of each vector by its class, and the phantom of open classes."""

    def __init__(self, fresh: State, classes: Sequence[Any] | None = None) -> None:
        self.classes: list[Any] = [] if classes is None else list(classes)
        self.phantom: State | None = fresh if classes is None else None
        positive = self.classes[1:] if len(self.classes) == 2 else self.classes
        self.states: dict[Any, State] = {label: deepcopy(fresh) for label in positive}

    def copy(self) -> ClassVectors[State]:
        """The same vectors apart, so that a chunk that fails leaves these as they were."""
        return deepcopy(self)

    def vectors(self) -> list[State]:
        """The states in the order of the classes; one, that of the second, for two classes."""
        kept = self.classes[1:] if len(self.classes) == 2 else self.classes
        return [self.states[label] for label in kept]

    def learn(self, labels: NDArray[Any], counted: NDArray[np.bool_] | None, learn: Learn[State]) -> None:
        """One pass over a chunk of rows with these labels, a new class joining where it first appears."""
        begin = 0
        for at, label in self._newcomers(labels, counted):
            self._segment(labels, counted, begin, at, learn)
            self.classes = sorted([*self.classes, label])
            self.states[label] = deepcopy(self.phantom)  # type: ignore[assignment]  # open: there is a phantom
            begin = at
        self._segment(labels, counted, begin, len(labels), learn)

    def _newcomers(self, labels: NDArray[Any], counted: NDArray[np.bool_] | None) -> list[tuple[int, Any]]:
        """Where each class that is not known yet first counts."""
        rows = np.arange(len(labels)) if counted is None else np.flatnonzero(counted)
        present, first = np.unique(labels[rows], return_index=True)
        new = sorted(
            (int(rows[at]), label)
            for label, at in zip(present.tolist(), first, strict=True)
            if label not in self.classes
        )
        if new and self.phantom is None:
            raise DataError(
                f"y has the class {new[0][1]!r}, which is none of {self.classes}: "
                "name all classes in the first call, or leave classes out to learn them as they appear."
            )
        for _, label in new:
            if self.classes and isinstance(label, str) != isinstance(self.classes[0], str):
                raise DataTypeError(
                    f"y has the class {label!r} of type {type(label).__name__}, "
                    f"but the classes so far are {self.classes}: use one type of label."
                )
        return new

    def _segment(
        self, labels: NDArray[Any], counted: NDArray[np.bool_] | None, begin: int, end: int, learn: Learn[State]
    ) -> None:
        if begin == end:
            return
        for label, state in self.states.items():
            learn(state, _signs(labels == label, counted), begin, end)
        if self.phantom is not None:
            learn(self.phantom, _signs(np.zeros(len(labels), dtype=bool), counted), begin, end)


def _signs(own: NDArray[np.bool_], counted: NDArray[np.bool_] | None) -> NDArray[np.int8]:
    signs = np.where(own, 1, -1).astype(np.int8)
    if counted is not None:
        signs[~counted] = 0
    return signs
