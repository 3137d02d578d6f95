"""One vector per class, learned as the classes appear: the result does not depend on how rows are chunked.

One against the rest, with classes that are not known beforehand, every class has a vector of its own,
and beside them runs a phantom that has seen every row as negative. A class that appears late starts as
a copy of the phantom, and so ends where it would have if it had been known from the start. Where the
classes are declared there is no phantom, and two classes share the vector of the second.

By Kesler's rule the true class gains the row and the best wrong class loses it. A class competes once
a row of its own has been seen, declared or not; until then its vector stays where it starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.class_labels import newcomers, with_class
from separatrix.models.perceptron.online_rule import OnlineRule, Vectors
from separatrix.models.perceptron.passes import NO_LIMIT


class ArrivingRows(NamedTuple):
    """A chunk of a stream: labels, which rows count (None: all), the rows, and the size of their updates."""

    labels: NDArray[Any]
    counted: NDArray[np.bool_] | None
    rows: kernels.Rows
    step: Floats | None


class ClassVectors:
    """The sorted classes and the vectors of a rule; abstract: a scheme says how a row moves them."""

    open: bool  # whether classes may still appear

    def __init__(self, rule: OnlineRule, start: Floats, classes: Sequence[Any] | None, vectors: Vectors) -> None:
        self.rule = rule
        self.start = start
        self.open = classes is None
        self.classes = [] if classes is None else list(classes)
        self.vectors = vectors

    def copy(self) -> Self:
        """A copy, so that a chunk that fails leaves these vectors as they were."""
        twin = copy(self)
        twin.vectors = self.vectors.copy()
        return twin

    def shown(self) -> slice:
        """Which vectors predict."""
        return slice(None)

    def final(self) -> Floats:
        """The lifted weights of the model: one vector for two classes, one per class for more."""
        return self.decide(self.rule.final(self.vectors))

    def codes(self) -> dict[Any, int]:
        """For each class, the number of its vector; -1 for a class that has none."""
        return {label: k for k, label in enumerate(self.classes)}

    def decide(self, scores: Floats) -> Floats:
        """The scores, or weights, that the model shows, from those of all its vectors."""
        raise NotImplementedError("a scheme says which vectors predict")

    def decisive(self) -> int | None:
        """The vector whose score alone decides between two classes, if there is one."""
        return None

    def widen(self, d: int) -> None:
        """Room for d features."""
        self.vectors.widen(d, self.rule.fill)
        self.start = np.zeros(max(d + 1, len(self.start)))

    def mistakes(self) -> int:
        return int(self.vectors.updates[self.shown()].sum())

    def visits(self) -> int:
        return int(self.vectors.visits[self.shown()].sum())

    def learn(self, chunk: ArrivingRows) -> None:
        """One pass over a chunk of rows, a new class joining where it first appears."""
        begin = 0
        for at, label in newcomers(chunk.labels, self.classes, self.open, chunk.counted):
            self._segment(chunk, begin, at)
            self._join(label)
            begin = at
        self._segment(chunk, begin, len(chunk.labels))

    def _join(self, label: Any) -> None:
        raise NotImplementedError("a scheme says how a class joins")

    def _segment(self, chunk: ArrivingRows, begin: int, end: int, scored: bool = False) -> Floats:
        """Learn rows between which no class joins; where asked for, the scores shown before each was learned."""
        raise NotImplementedError("a scheme says how rows move its vectors")


class OneAgainstRest(ClassVectors):
    """One vector per class, and the phantom of open classes behind them."""

    @classmethod
    def begin(cls, rule: OnlineRule, start: Floats, classes: Sequence[Any] | None = None) -> Self:
        """Vectors that have seen no row: those of the declared classes, or the phantom alone."""
        count = 1 if classes is None or len(classes) == 2 else len(classes)
        return cls(rule, start, classes, rule.fresh(np.tile(start, (count, 1)), kesler=False))

    def shown(self) -> slice:
        """Which vectors predict: all but the phantom, or that of the second of two classes."""
        if len(self.classes) == 2:
            return slice(1, 2) if self.open else slice(0, 1)
        return slice(len(self.classes))

    def decide(self, scores: Floats) -> Floats:
        return scores[self.shown()]

    def decisive(self) -> int | None:
        return self.shown().start if len(self.classes) == 2 else None

    def codes(self) -> dict[Any, int]:
        if len(self.classes) == 2 and not self.open:
            return {self.classes[0]: -1, self.classes[1]: 0}
        return super().codes()

    def _join(self, label: Any) -> None:
        self.classes = with_class(self.classes, label)
        at, phantom = self.classes.index(label), len(self.vectors) - 1
        self.vectors = self.vectors.take([*range(at), phantom, *range(at, phantom + 1)])

    def _segment(self, chunk: ArrivingRows, begin: int, end: int, scored: bool = False) -> Floats:
        shown = range(len(self.vectors))[self.shown()] if scored else range(0)
        table = np.empty((len(shown), len(chunk.labels)))
        if begin == end:
            return table[:, :0].T
        kernel = self.rule.kernel(self.vectors)
        own = {k: label for label, k in self.codes().items()}
        for k in range(len(self.vectors)):
            signs = np.full(len(chunk.labels), -1, dtype=np.int8)
            if k in own:
                signs[chunk.labels == own[k]] = 1
            if chunk.counted is not None:
                signs[~chunk.counted] = 0
            if k in shown:
                kernel.binary_scored(k, chunk.rows, signs, chunk.step, begin, end, table[k - shown.start])
            else:
                kernel.binary(k, chunk.rows, signs, chunk.step, None, begin, end, NO_LIMIT)
        return table[:, begin:end].T


class Kesler(ClassVectors):
    """All classes at once: a row pulls its own class up and the best wrong one down."""

    @classmethod
    def begin(cls, rule: OnlineRule, start: Floats, classes: Sequence[Any] | None = None) -> Self:
        """Vectors that have seen no row."""
        count = 0 if classes is None else len(classes)
        return cls(rule, start, classes, rule.fresh(np.tile(start, (count, 1)), kesler=True))

    def decide(self, scores: Floats) -> Floats:
        return one_of_two(scores)

    def _join(self, label: Any) -> None:
        self.classes = with_class(self.classes, label)
        at, known = self.classes.index(label), len(self.vectors)
        late = self.rule.late(self.vectors, self.start)
        self.vectors = self.vectors.join(late).take([*range(at), known, *range(at, known)])

    def _segment(self, chunk: ArrivingRows, begin: int, end: int, scored: bool = False) -> Floats:
        table = np.empty((len(chunk.labels) if scored else 0, len(self.vectors)))
        if begin == end or not self.classes:
            return table[:0]
        own, order = np.array(self.classes), np.argsort(self.classes)
        at = np.searchsorted(own[order], chunk.labels)
        codes = order[np.minimum(at, len(own) - 1)].astype(np.int32)  # some classes join behind ``end``
        if chunk.counted is not None:
            codes[~chunk.counted] = -1
        kernel = self.rule.kernel(self.vectors)
        if scored:
            kernel.kesler_scored(chunk.rows, codes, chunk.step, begin, end, table)
        else:
            kernel.kesler(chunk.rows, codes, chunk.step, None, begin, end, NO_LIMIT)
        return self.decide(table[begin:end].T).T


def label_array(classes: Sequence[Any]) -> NDArray[Any]:
    """Classes as an array that keeps whole numbers whole, however large."""
    whole = all(isinstance(label, int) and not isinstance(label, bool) for label in classes)
    if whole and classes and max(classes) >= 2**63:
        return np.array(classes, dtype=np.uint64 if min(classes) >= 0 and max(classes) < 2**64 else object)
    return np.array(classes)


def one_of_two(lifted: Floats) -> Floats:
    """Two competing vectors as the one of the second class: their difference; more as they are."""
    return lifted[1:] - lifted[:1] if len(lifted) == 2 else lifted


def two_of_one(lifted: Floats) -> Floats:
    """The other way round: one vector as two that compete with the same difference."""
    return np.concatenate([-0.5 * lifted, 0.5 * lifted]) if len(lifted) == 1 else lifted


SCHEMES: dict[str, type[OneAgainstRest] | type[Kesler]] = {"ovr": OneAgainstRest, "kesler": Kesler}
