"""Rows that are predicted now and learned when their label comes: after so many rows, by a key, or never.

Each row is predicted by the model of that moment, and its loss is counted when the label is there. What waits is
bounded: the oldest row that still waits is given up, and counted.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.stream.stopping import interruption_held


class SingleRows:
    """One row at a time by any learner."""

    def __init__(self, learner: Any, classes: Any) -> None:
        self.learner, self.classes = learner, classes
        self.regression = learner._estimator_type == "regressor"
        self.one = hasattr(learner, "learn_one")
        self.levels: dict[str, None] = {}  # new levels of categories, in order

    def predict(self, x: Any) -> Any:
        """The prediction; None where there is no model yet."""
        if self.one:
            return self.learner.predict_one(x) if self.classes is None else self.learner.predict_one(x, self.classes)
        table = _as_table(x)
        if self.learner.__sklearn_is_fitted__():
            with contextlib.suppress(DataError):  # a discriminant may need more rows before it predicts
                return self.learner.predict(table)[0]
        return None

    def learn(self, x: Any, y: Any) -> None:
        levels = self._new_levels(x) if isinstance(x, dict) else []
        with interruption_held():
            self._learn(x, y)
        self.levels.update(dict.fromkeys(levels))

    def _new_levels(self, x: dict[Any, Any]) -> list[str]:
        """Texts of a dict that have no weight yet, as the names of their features."""
        texts = [f"{name}={value}" for name, value in x.items() if isinstance(value, str)]
        if not texts or getattr(self.learner, "hashing", None) is not None:
            return []
        names = vars(self.learner).get("_names")
        return [level for level in texts if names is None or level not in names.index]

    def _learn(self, x: Any, y: Any) -> None:
        if self.one:
            fresh = self.classes is not None and not self.learner.__sklearn_is_fitted__()
            self.learner.learn_one(x, y, **({"classes": self.classes} if fresh else {}))
        elif self.classes is not None and not self.regression and not self.learner.__sklearn_is_fitted__():
            self.learner.partial_fit(_as_table(x), [y], classes=self.classes)
        else:
            self.learner.partial_fit(_as_table(x), [y])

    def loss(self, said: Any, y: Any) -> float:
        """A mistake, or a squared error."""
        return float((said - y) ** 2) if self.regression else float(said != y)


def _as_table(x: Any) -> Any:
    if isinstance(x, dict):
        raise DataError("a row is a dict, and this learner has no learn_one: pass arrays.")
    if isinstance(x, tuple) and len(x) == 2 and not np.isscalar(x[0]):
        raise DataError("a row is a pair (columns, values), and this learner has no learn_one: pass arrays.")
    return np.asarray(x, dtype=np.float64)[None]


def is_missing(y: Any) -> bool:
    """Whether a label is absent: None or not a number."""
    return y is None or (isinstance(y, (float, np.floating)) and bool(np.isnan(y)))


def need_item(at: int, item: Any, length: int = 0) -> int:
    """The length of an item of the stream: 2 or 3, and that of the others."""
    own = len(item) if isinstance(item, (tuple, list)) else 0
    if own not in (2, 3) or own != (length or own):
        wanted = {2: "(row, label)", 3: "(key, row, label)"}.get(length, "(row, label) or (key, row, label)")
        raise DataError(f"item {at} of the stream is {item!r:.60}: it must be {wanted}.")
    return own


class DelayedRows:
    """Labels that come ``delay`` rows after their rows."""

    def __init__(self, rows: SingleRows, delay: int) -> None:
        self.rows, self.delay = rows, delay
        self.waiting: deque[tuple[Any, Any, Any]] = deque()
        self.given_up = 0

    def take(self, row: tuple[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """Predict a row; the predictions whose labels have come, with those."""
        x, y = row
        said = self.rows.predict(x)
        self.waiting.append((x, y, said))
        if len(self.waiting) > self.delay:
            yield from self._due()

    def _due(self) -> Iterator[tuple[Any, Any]]:
        x, y, said = self.waiting.popleft()
        if not is_missing(y):
            yield said, y
            self.rows.learn(x, y)

    def end(self) -> Iterator[tuple[Any, Any]]:
        """The labels of the last rows."""
        while self.waiting:
            yield from self._due()


class KeyedRows:
    """Labels that come by the key of their row: (key, x, None) is a row, (key, None, y) its label."""

    def __init__(self, rows: SingleRows, most: int) -> None:
        self.rows, self.most = rows, most
        self.waiting: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()
        self.given_up = 0

    def take(self, row: tuple[Any, Any, Any]) -> Iterator[tuple[Any, Any]]:
        """Predict a row, or learn from the one that the label belongs to."""
        key, x, y = row
        if x is None:
            if key not in self.waiting:
                raise DataError(f"a label came for the key {key!r}, which no row that waits has.")
            x, said = self.waiting.pop(key)
        else:
            said = self.rows.predict(x)
            if is_missing(y):
                if key in self.waiting:
                    raise DataError(f"two rows that wait for their labels have the key {key!r}.")
                self.waiting[key] = (x, said)
                if len(self.waiting) > self.most:
                    self.waiting.popitem(last=False)
                    self.given_up += 1
                return
        if not is_missing(y):
            yield said, y
            self.rows.learn(x, y)

    def end(self) -> Iterator[tuple[Any, Any]]:
        """Rows whose labels never came."""
        self.given_up += len(self.waiting)
        self.waiting.clear()
        yield from ()
