"""Passes of rules that look at one row at a time (native/separatrix/online.hpp).

Vectors are lifted (d weights, then the bias), one a row of ``lifted``. A row with margin m moves one
vector along y x (binary: m = y s), or two along +x and -x (Kesler: m = s_true - s_best wrong).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reference.rows import Rows
from separatrix.arrays import Floats, Indices

Counts = tuple[int, int, int]
END = object()


class Pull(NamedTuple):
    """One vector that a row moves: which, along +x or -x, and the row's score before it."""

    vector: int
    sign: float
    score: float


def _named(x: dict[str, Any]) -> list[tuple[str, bool]]:
    """The features of a dict, and whether each is a level of a category."""
    return [(f"{name}={value}", True) if isinstance(value, str) else (name, False) for name, value in x.items()]


@dataclass(eq=False)
class RowRule:
    """The passes; a rule adds ``moves`` and ``push``."""

    lifted: Floats
    updates: Indices
    visits: Indices
    seen: Any
    bias: bool

    def __post_init__(self) -> None:
        self.count, self.d = self.lifted.shape[0], self.lifted.shape[1] - 1

    def loses_ties(self) -> bool:
        """Whether a score of zero is a mistake for the second of two classes too."""
        return True

    def moves(self, pulls: list[Pull], m: float, tie_lost: bool) -> bool:
        raise NotImplementedError("a rule says whether a margin moves it")

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        raise NotImplementedError("a rule says how far a row moves it")

    def tick(self, k: int) -> None:
        """Count a look of vector k."""

    def dot(self, X: Rows, i: int, k: int) -> float:
        return X.dot(i, self.lifted[k]) + float(self.lifted[k, self.d])

    def add(self, X: Rows, i: int, k: int, a: float) -> None:
        X.axpy(a, i, self.lifted[k])
        if self.bias:
            self.lifted[k, self.d] += a

    def model_score(self, X: Rows, i: int, k: int) -> float:
        return self.dot(X, i, k)

    def binary(
        self,
        k: int,
        X: Rows,
        y: Any,
        step: Any,
        order: Any,
        begin: int,
        end: int,
        limit: int,
        habit: Any = None,
        ahead: Any = None,
    ) -> Counts:
        """One pass of vector k over positions begin .. end, at most ``limit`` updates.

        ``habit`` is 1 where the last look at a row moved the vector; here it is only kept, and ``ahead`` is of no use.
        """
        updates, last, t = 0, -1, begin
        while t < end and updates < limit:
            i = t if order is None else int(order[t])
            sign = float(y[i])
            if sign != 0:
                pull = Pull(k, sign, self.dot(X, i, k))
                m = sign * pull.score
                moves = self.moves([pull], m, self.loses_ties() or sign < 0)
                if moves:
                    self.push(X, i, 1.0 if step is None else float(step[i]), m, [pull])
                    updates, last = updates + 1, t
                if habit is not None:
                    habit[i] = moves
                self.tick(k)
            t += 1
        self.updates[k] += updates
        self.visits[k] += t - begin
        return updates, t - begin, last

    def kesler(self, X: Rows, y: Any, step: Any, order: Any, begin: int, end: int, limit: int) -> Counts:
        """One pass of all vectors: the true class gains the row, the best wrong one seen so far loses it."""
        updates, last, t = 0, -1, begin
        while t < end and updates < limit:
            i = t if order is None else int(order[t])
            own = int(y[i])
            if own >= 0:
                self.seen[own] = 1
                rivals = [Pull(k, -1.0, self.dot(X, i, k)) for k in range(self.count) if self.seen[k] and k != own]
                if rivals:
                    rival = rivals[0]
                    for other in rivals[1:]:
                        rival = other if other.score > rival.score else rival
                    pulls = [Pull(own, 1.0, self.dot(X, i, own)), rival]
                    m = pulls[0].score - rival.score
                    if self.moves(pulls, m, self.loses_ties() or rival.vector < own):
                        self.push(X, i, 1.0 if step is None else float(step[i]), m, pulls)
                        updates, last = updates + 1, t
                for k in range(self.count):
                    self.tick(k)
            t += 1
        self.updates[0] += updates
        self.visits[0] += t - begin
        return updates, t - begin, last

    def binary_scored(self, k: int, X: Rows, y: Any, step: Any, begin: int, end: int, out: Floats) -> Counts:
        """One pass of vector k in the order of the rows; ``out`` gets the model's score of each before it is learned.

        Rows with y = 0 are scored and not learned from.
        """
        updates, last = 0, -1
        for i in range(begin, end):
            out[i] = self.model_score(X, i, k)
            if self.binary(k, X, y, step, None, i, i + 1, 1)[0]:
                updates, last = updates + 1, i
        return updates, end - begin, last

    def kesler_scored(self, X: Rows, y: Any, step: Any, begin: int, end: int, out: Floats) -> Counts:
        """The same by Kesler's rule: ``out`` gets the score of each row by every vector."""
        updates, last = 0, -1
        for i in range(begin, end):
            out[i] = [self.model_score(X, i, k) for k in range(self.count)]
            if self.kesler(X, y, step, None, i, i + 1, 1)[0]:
                updates, last = updates + 1, i
        return updates, end - begin, last

    def learn(self, x: Floats, code: int, weight: float) -> None:
        """One row: against the rest, or by Kesler's rule where there is ``seen``."""
        if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.ndim != 1:
            raise TypeError("x must be one dimension of float64")
        if len(x) != self.d:
            raise ValueError("x must hold a number for every feature")
        self._learn(Rows.dense(x[None]), code, weight)

    def learn_pairs(self, value: Floats, column: Indices, code: int, weight: float) -> None:
        """One sparse row of stored values."""
        self._learn(self._pairs(value, column), code, weight)

    def learn_dict(self, x: dict[str, Any], index: dict[str, int], code: int, weight: float) -> None:
        """One dict of features; ``index`` gives a column, or ~column where the value changes its sign."""
        self._learn(self._features(x, index, skip_unknown=False), code, weight)

    def scores_dict(self, x: dict[str, Any], index: dict[str, int], skip_unknown: bool, out: Floats) -> None:
        """The model's scores of one dict of features, unknown ones left out or refused."""
        row = self._features(x, index, skip_unknown)
        out[:] = [self.model_score(row, 0, k) for k in range(self.count)]

    def stream_dicts(
        self,
        rows: Iterator[Any],
        index: dict[str, int],
        codes: dict[Any, int],
        grows: bool,
        column_of: Any,
        owner: dict[str, Any],
        scores: Floats,
        own: Indices,
        levels: list[str],
    ) -> tuple[int, bool, Any]:
        """Pairs (dict, label): each is scored, and then learned before the next is asked for.

        Returns how many, whether the rows have ended, and the item that is left as it is: one of a new class, with a
        feature for which there is no room, malformed, or the first after ``owner`` has another kernel. ``own`` is -2
        without a label. An open vocabulary gives new names columns when the row is learned, ``column_of`` at once.
        """
        if scores.shape[1] != self.count:
            raise ValueError("scores must have a column for every vector")
        if len(own) != len(scores):
            raise ValueError("own must have room for every row")
        for i in range(len(own)):
            item = next(rows, END)
            if item is END:
                return i, True, None
            if owner.get("_learner") is not self or not isinstance(item, tuple) or len(item) != 2:
                return i, False, item
            x, y = item
            absent = y is None or (isinstance(y, float) and math.isnan(y))
            try:
                own[i] = -2 if absent else codes[y]
                row = self._features(x, index, skip_unknown=True)
                new = {name: text for name, text in _named(x) if name not in index}
                if new and not grows:
                    index.update((name, column_of(name)) for name in new)
                    levels += [name for name, text in new.items() if text]
                    row, new = self._features(x, index, skip_unknown=False), {}
                scores[i] = [self.model_score(row, 0, k) for k in range(self.count)]
                if not np.isfinite(scores[i]).all():
                    return i, False, item
                if new and not absent:
                    if len(index) + len(new) > self.d:
                        return i, False, item
                    for name in new:
                        index[name] = len(index)
                    levels += [name for name, text in new.items() if text]
                    row = self._features(x, index, skip_unknown=False)
                if not absent:
                    self._learn(row, int(own[i]), 1.0)
                if new and not absent:
                    owner["n_features_in_"] = len(index)
            except (AttributeError, KeyError, TypeError, ValueError):
                return i, False, item
        return len(own), False, None

    def _features(self, x: dict[str, Any], index: dict[str, int], skip_unknown: bool) -> Rows:
        merged: dict[int, float] = {}
        for name, number in x.items():
            if isinstance(name, str) and isinstance(number, str):
                name, number = f"{name}={number}", 1.0
            if not isinstance(name, str) or not isinstance(number, (int, float)):
                raise TypeError("a feature is not text with a number or text")
            if not math.isfinite(number):
                raise ValueError("a feature is not finite")
            if name not in index:
                if skip_unknown:
                    continue
                raise KeyError("x has a feature without a column")
            c, v = index[name], float(number)
            if c < 0:
                c, v = ~c, -v
            merged[c] = merged[c] + v if c in merged else v
        columns = sorted(merged)
        values = np.array([merged[c] for c in columns], dtype=np.float64)
        return self._pairs(values, np.array(columns, dtype=np.int64))

    def scores(self, x: Floats, out: Floats) -> None:
        """The model's scores of one row."""
        if not isinstance(x, np.ndarray) or x.dtype != np.float64 or x.ndim != 1:
            raise TypeError("x must be one dimension of float64")
        if len(x) != self.d:
            raise ValueError("x must hold a number for every feature")
        row = Rows.dense(x[None])
        out[:] = [self.model_score(row, 0, k) for k in range(self.count)]

    def scores_pairs(self, value: Floats, column: Indices, out: Floats) -> None:
        """The model's scores of one sparse row."""
        row = self._pairs(value, column)
        out[:] = [self.model_score(row, 0, k) for k in range(self.count)]

    def score(self, x: Floats, at: int) -> float:
        """The model's score of one row by one vector, if it is finite."""
        if not 0 <= at < self.count:
            raise ValueError("at names a vector that does not exist")
        return float(self._finite(x)[at])

    def best(self, x: Floats, count: int) -> int:
        """Which of the first vectors gives one row the greatest score; the first of equals."""
        if not 1 <= count <= self.count:
            raise ValueError("there are not so many vectors")
        return int(self._finite(x)[:count].argmax())

    def _finite(self, x: Floats) -> Floats:
        out = np.empty(self.count)
        self.scores(x, out)
        if not np.isfinite(out).all():
            raise ValueError("a score is not finite")
        return out

    def _pairs(self, value: Floats, column: Indices) -> Rows:
        if len(value) != len(column):
            raise ValueError("columns and values must have the same length")
        if len(column) and (column.min() < 0 or column.max() >= self.d):
            raise ValueError("a column leaves the features")
        return Rows.csr(value, column, np.array([0, len(value)]), self.d)

    def _learn(self, row: Rows, code: int, weight: float) -> None:
        if self.count == 0 or code >= self.count or (self.seen is not None and code < 0):
            raise ValueError("code names a vector that does not exist")
        if not (weight > 0 and math.isfinite(weight)):
            raise ValueError("the weight must be positive and finite")
        if not math.isfinite(self.dot(row, 0, 0)):
            raise ValueError("the score is not finite")
        step = np.array([weight])
        if self.seen is not None:
            self.kesler(row, np.array([code]), step, None, 0, 1, 1)
            return
        for k in range(self.count):
            self.binary(k, row, np.array([1 if k == code else -1]), step, None, 0, 1, 1)
