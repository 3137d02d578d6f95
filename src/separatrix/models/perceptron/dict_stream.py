"""Dicts of features that are predicted and then learned, many in one native call, each before the next is asked for.

The call does what ``predict_one`` and ``learn_one`` do, with the same vectors and the same sums. What it cannot do (the
first row, a new class, more features than there is room for, something malformed) it leaves to them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.features.dict_features import REMEMBERED, HashingMap
from separatrix.models.perceptron.class_vectors import ClassVectors
from separatrix.models.perceptron.online_rule import OnlineKernel
from separatrix.models.perceptron.single_rows import SingleRowLearner

ROWS, SCORES = 4096, 2**20  # of a call: scores are kept until it ends
NO_LABEL = -2
NOTHING: Indices = np.zeros(0, dtype=np.int64)


class Taken(NamedTuple):
    """Positions of predicted and true classes (-1: none), whether the rows ended, an item left, new levels."""

    said: Indices
    own: Indices
    ended: bool
    left: list[Any]
    levels: list[str]


def take_dicts(learner: SingleRowLearner, rows: Iterator[Any]) -> Taken:
    """Predict and learn (dict, label) pairs as far as one call goes; an item that it cannot take is left."""
    bound = vars(learner)
    if not {"_learner", "_names", "_codes", "_vectors"} <= bound.keys():
        left = list(islice(rows, 1))
        return Taken(NOTHING, NOTHING, not left, left, [])
    kernel: OnlineKernel = bound["_learner"]
    book: ClassVectors = bound["_vectors"]
    names, codes = bound["_names"], bound["_codes"]
    room = max(1, min(ROWS, SCORES // len(book.vectors)))
    scores, own = np.empty((room, len(book.vectors))), np.empty(room, dtype=np.int64)
    index, column_of, levels = names.index, None, list[str]()
    if isinstance(names, HashingMap) and len(index) <= REMEMBERED:
        column_of = names.column
    done, ended, item = kernel.stream_dicts(rows, index, codes, names.skips, column_of, bound, scores, own, levels)
    own = np.where(own[:done] == NO_LABEL, -1, own[:done] - min(codes.values()))  # codes begin with -1 or 0
    left = [] if ended or done == room else [item]
    return Taken(_said(book, scores[:done], learner.boundary), own, ended, left, [] if column_of else levels)


def _said(book: ClassVectors, scores: Floats, boundary: str) -> Indices:
    """What ``predict_one`` says to these scores of all vectors, as positions among the classes; -1 is None."""
    shown = book.decide(scores.T)
    if len(book.classes) == 1:
        return np.zeros(len(scores), dtype=np.int64)
    if len(shown) > 1:
        return np.asarray(shown.argmax(axis=0), dtype=np.int64)
    score = shown[0]
    second = ((score > 0) | ((score == 0) & (boundary != "negative"))).astype(np.int64)
    return np.where((score == 0) & (boundary == "undefined"), -1, second)
