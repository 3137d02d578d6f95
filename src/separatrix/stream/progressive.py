"""Progressive evaluation (Dawid 1984): predict a row, score the prediction, then learn from the row."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, ParameterError
from separatrix.models.perceptron.arrivals import row_rules
from separatrix.models.perceptron.dict_stream import take_dicts
from separatrix.statistics.distributions import need_level
from separatrix.stream.block_learning import BlockArrivals, arrivals_of
from separatrix.stream.late_labels import DelayedRows, KeyedRows, SingleRows, is_missing, need_item
from separatrix.stream.progressive_result import Progressive, result_of
from separatrix.stream.scorecard import Scorecard, losses_of
from separatrix.stream.stopping import interruption_held
from separatrix.validation import check_table

CHUNK = 4096  # rows of an array at a time
GATHERED = 256  # single rows that are gathered
PENDING = 100_000
END = object()


def progressive(
    model: Any,
    stream: Any,
    y: Any = None,
    *,
    classes: Any = None,
    window: int = 1000,
    alarm: float = 0.01,
    level: float = 0.95,
    bound: Any = None,
    delay: int = 0,
    pending: int = PENDING,
    block: int | None = None,
) -> Progressive:
    """Predict each row, score the prediction, then learn from the row; the learner is fitted in place.

    The result is the same however the rows are cut into chunks. Learners of the perceptron family are predicted and
    learned row by row in one native pass; others learn blocks of rows, counted from row 0.

    Parameters
    ----------
    model : estimator
        A learner with ``partial_fit`` or ``learn_one``; one that is fitted continues.
    stream : array, sparse matrix, or iterable
        All rows, with ``y``; or an iterable of (X, y) chunks, of (x, y) rows, or of (key, x, y) where labels come
        later: (key, x, None) is a row and (key, None, y) its label. Rows are arrays, lists, or dicts of features.
    y : array or None
        The labels, where ``stream`` is all rows. A label that is None or NaN is absent: the row is predicted only.
    classes : array or None
        All classes, where they are known; None: they join as they appear.
    window : int
        Rows of the recent accuracy, and of a block of the drift test.
    alarm : float
        Probability of a false drift warning on the whole stream.
    level : float
        Confidence level of the intervals.
    bound : MistakeBound, int or None
        The most updates that a perceptron can make on these rows, where it is known.
    delay : int
        Rows after which the label of a row comes.
    pending : int
        Rows that may wait for a label by key; the oldest is given up.
    block : int or None
        Rows learned at once; None: one where the learner has a rule for single rows, else 256.

    Returns
    -------
    Progressive

    Examples
    --------
    >>> from separatrix import Perceptron, progressive
    >>> rows = [({"links": 2, "misspelled": 3}, "spam"), ({"friend": 1}, "ham"), ({"misspelled": 1}, "spam")]
    >>> progressive(Perceptron(), rows).mistakes
    1
    """
    need_level(level)
    _check_counts(window=window, delay=delay, pending=pending, block=block)
    if not 0 < alarm < 1:
        raise ParameterError(f"alarm is {alarm!r}: it must lie strictly between 0 and 1.")
    if not hasattr(model, "partial_fit") and not hasattr(model, "learn_one"):
        raise ParameterError(f"{type(model).__name__} has neither partial_fit nor learn_one: it cannot be streamed.")
    card = Scorecard(window, alarm, model._estimator_type == "regressor")
    items: Iterator[Any] = _chunks_of(stream, y) if y is not None else _iterator(stream)
    first = list(itertools.islice(items, 1))
    if not first:
        return result_of(card, level, _most(bound), None, 0, 1, ())
    wanted = need_item(0, first[0])
    items = itertools.chain(first, items)
    used, never, rows = 1, 0, SingleRows(model, classes)
    named = wanted == 2 and not _is_chunk(first[0][0]) and _needs_names(first[0][0])
    if wanted == 3 or delay or (named and not row_rules(model)):
        never = _row_by_row(rows, _checked(items, wanted), card, delay, pending, keyed=wanted == 3)
    elif named:
        never = _by_names(rows, items, card)
    else:
        used = _by_chunks(model, _checked(items, wanted), classes, card, block)
    updates = int(model.mistakes_) if bound is not None and hasattr(model, "mistakes_") else None
    return result_of(card, level, _most(bound), updates, never, used, rows.levels)


def _check_counts(**counts: int | None) -> None:
    for name, value in counts.items():
        least = {"window": 2, "delay": 0}.get(name, 1)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise ParameterError(f"{name} is {value!r}: it must be a whole number, {least} or more.")


def _most(bound: Any) -> int | None:
    most = getattr(bound, "most", bound)
    return None if most is None else int(most)


def _is_chunk(x: Any) -> bool:
    return getattr(x, "ndim", 1) == 2


def _needs_names(x: Any) -> bool:
    """Rows that are not arrays of numbers go one by one."""
    return isinstance(x, (dict, tuple))


def _iterator(stream: Any) -> Iterator[Any]:
    if not hasattr(stream, "__iter__"):
        raise ParameterError(f"stream is a {type(stream).__name__}: pass something that gives (row, label) pairs.")
    return iter(stream)


def _checked(items: Iterable[Any], length: int) -> Iterator[Any]:
    for at, item in enumerate(items):
        need_item(at, item, length)
        yield item


def _chunks_of(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    rows, labels = check_table(X).X, np.asarray(y)
    if labels.ndim != 1 or len(labels) != rows.shape[0]:
        raise DataError(f"stream has {rows.shape[0]} rows and y has shape {labels.shape}: pass one label a row.")
    for begin in range(0, len(labels), CHUNK):
        yield rows[begin : begin + CHUNK], labels[begin : begin + CHUNK]


def _rows(xs: list[Any]) -> NDArray[np.float64]:
    try:
        return np.array(xs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"rows near {xs[0]!r:.60} are not numbers, or not all as long: pass rows of one length."
        ) from error


def _gathered(items: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Chunks as they come, and single rows a few together; those before an error of the source come before it."""
    xs: list[Any] = []
    ys: list[Any] = []
    items, broken = iter(items), None
    while True:
        try:
            x, y = next(items, (END, None))
        except BaseException as error:
            x, y, broken = END, None, error
        if xs and (x is END or _is_chunk(x) or len(xs) == GATHERED):
            yield _rows(xs), _labels(ys)
            xs, ys = [], []
        if broken is not None:
            raise broken
        if x is END:
            return
        if _is_chunk(x):
            yield x, np.asarray(y)
        else:
            xs.append(x)
            ys.append(y)


def _labels(ys: list[Any]) -> NDArray[Any]:
    return np.array(ys) if all(type(label) is type(ys[0]) for label in ys) else np.array(ys, dtype=object)


def _by_chunks(model: Any, items: Iterable[Any], classes: Any, card: Scorecard, block: int | None) -> int:
    """Learn chunks; the model has all of them at the end, and when the source breaks off. Returns the block used."""
    arrivals = arrivals_of(model, classes, block)
    learned = False
    try:
        for X, y in _gathered(items):
            rows = check_table(X).X
            if len(y) != rows.shape[0]:
                raise DataError(f"a chunk has {rows.shape[0]} rows and {len(y)} labels.")
            labels, labelled = _split(y)
            with interruption_held():
                judged = arrivals.take(rows, labels, labelled)
                learned = learned or labelled is None or bool(labelled.any())
            loss, unknown = losses_of(judged, labels, labelled)
            card.add(len(labels), loss, unknown)
    finally:
        if isinstance(arrivals, BlockArrivals):
            arrivals.learn()
        elif arrivals.classes and learned:
            vars(model).update(vars(arrivals.model()))
    return getattr(arrivals, "block", 1)


def _split(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Labels, and which of them are there; absent ones are written over by one that is."""
    if y.dtype.kind == "f":
        absent = np.isnan(y)
    elif y.dtype.kind == "O":
        absent = np.array([is_missing(label) for label in y.tolist()], dtype=np.bool_)
    else:
        return y, None
    if not absent.any():
        return (y if y.dtype.kind == "f" else np.array(y.tolist())), None
    present = y[~absent].tolist()
    fill = present[0] if present else 0.0
    return np.array([fill if gone else own for own, gone in zip(y.tolist(), absent, strict=True)]), ~absent


def _row_by_row(rows: SingleRows, items: Iterable[Any], card: Scorecard, delay: int, pending: int, keyed: bool) -> int:
    """Labels that come late, or rows with names for a learner that may not take them; how many labels never came."""
    waiting: Any = KeyedRows(rows, pending) if keyed else DelayedRows(rows, delay)
    tally = GatheredLosses(card, rows)
    for item in items if keyed else _one_by_one(items):
        tally.add(waiting.take(item), int(not keyed or item[1] is not None))
    tally.add(waiting.end(), 0)
    tally.flush()
    return int(waiting.given_up) if keyed else card.rows - card.labelled


def _by_names(rows: SingleRows, items: Iterator[Any], card: Scorecard) -> int:
    """Dicts, each predicted and learned before the next is asked for; how many had no label."""
    waiting, tally, at, ended = DelayedRows(rows, 0), GatheredLosses(card, rows), 0, False
    while not ended:
        said, own, ended, left, levels = take_dicts(rows.learner, items)
        rows.levels.update(dict.fromkeys(levels))
        if len(own):
            known = (own >= 0) & (said >= 0)
            tally.flush()
            card.add(len(own), (said != own)[known], int(np.count_nonzero((own >= 0) & (said < 0))))
        at += len(own)
        for item in left:
            need_item(at, item, 2)
            for row in _one_by_one([item]):
                tally.add(waiting.take(row), 1)
            at += 1
    tally.flush()
    return card.rows - card.labelled


class GatheredLosses:
    """Losses of single rows on their way to the scorecard, some together."""

    def __init__(self, card: Scorecard, rows: SingleRows) -> None:
        self.card, self.rows = card, rows
        self.losses: list[float] = []
        self.unknown = self.new = 0

    def add(self, due: Iterator[tuple[Any, Any]], new: int) -> None:
        self.new += new
        for said, label in due:
            if said is None:
                self.unknown += 1
            else:
                self.losses.append(self.rows.loss(said, label))
        if len(self.losses) >= GATHERED:
            self.flush()

    def flush(self) -> None:
        if self.new or self.losses or self.unknown:
            self.card.add(self.new, np.array(self.losses), self.unknown)
        self.losses, self.unknown, self.new = [], 0, 0


def _one_by_one(items: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    for x, y in items:
        if _is_chunk(x):
            dense = x if isinstance(x, np.ndarray) else x.toarray()
            yield from zip(np.ascontiguousarray(dense, dtype=np.float64), np.asarray(y).tolist(), strict=True)
        else:
            yield x, y
