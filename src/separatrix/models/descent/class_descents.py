"""One descent per class, as the classes appear: a new class starts from a descent that saw only negative rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.class_labels import need_joining, with_class
from separatrix.models.descent.descent_state import DescentRule, DescentState


class DescentClasses:
    """The sorted classes, a state for each (for the second of two that were declared), and the phantom."""

    def __init__(self, fresh: DescentState, classes: Sequence[Any] | None) -> None:
        self.classes: list[Any] = [] if classes is None else list(classes)
        self.phantom = fresh if classes is None else None
        own = self.classes[1:] if len(self.classes) == 2 else self.classes
        self.states = {label: deepcopy(fresh) for label in own}

    @classmethod
    def of(cls, lifted: list[Floats], classes: list[Any], rule: DescentRule) -> DescentClasses:
        """From the weights of a fit; the set of classes is closed."""
        book = cls(rule.start(np.zeros_like(lifted[0])), classes)
        book.states = {label: rule.start(w) for label, w in zip(book.states, lifted, strict=True)}
        return book

    def vectors(self) -> list[DescentState]:
        """The states in the order of the classes; one, that of the second, for two classes."""
        kept = self.classes[1:] if len(self.classes) == 2 else self.classes
        return [self.states[label] for label in kept]

    def learn(self, labels: NDArray[Any], rule: DescentRule, rows: kernels.Rows, weights: Floats | None) -> None:
        """One pass over a chunk, a new class joining where it first appears."""
        present, first = np.unique(labels, return_index=True)
        new = sorted(
            (int(at), label) for label, at in zip(present.tolist(), first, strict=True) if label not in self.classes
        )
        for _, label in new:
            need_joining(label, self.classes, self.phantom is not None)
        begin = 0
        for at, label in new:
            self._segment(labels, rule, rows, weights, begin, at)
            self.classes = with_class(self.classes, label)
            assert self.phantom is not None
            self.states[label] = deepcopy(self.phantom)
            begin = at
        self._segment(labels, rule, rows, weights, begin, len(labels))

    def _segment(
        self, labels: NDArray[Any], rule: DescentRule, rows: kernels.Rows, weights: Floats | None, begin: int, end: int
    ) -> None:
        if begin == end:
            return
        for label, state in self.states.items():
            rule.scan(state, rows, np.where(labels == label, 1.0, -1.0), weights, None, begin, end)
        if self.phantom is not None:
            rule.scan(self.phantom, rows, np.full(len(labels), -1.0), weights, None, begin, end)
