"""Rows of a stream on a common scale: each is standardised by the rows before it."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.stream.growing_encoder import GrowingEncoder
from separatrix.stream.late_labels import need_item
from separatrix.validation.table import is_sparse

CHUNK = 4096  # rows of a table at a time


class RunningStandardiser:
    """Subtracts means and divides by standard deviations of the rows that came before.

    A row is scaled by the mean and the deviation of the rows before the last boundary; boundaries lie at rows 2, 4, 8,
    …, 256, and from there on every 256, so that the result does not depend on how rows are cut into chunks. Until two
    rows have been seen a number becomes 0, as does one that has not varied, or that is missing (NaN, or None in a
    dict). Texts in dicts are left as they are. ``separatrix stream --scale standard`` does the same.

    Examples
    --------
    >>> from separatrix import Perceptron, RunningStandardiser, progressive
    >>> rows = [({"dose": 1000.0 + k % 5, "age": 40 + k % 7}, "high" if k % 5 > 2 else "low") for k in range(500)]
    >>> scaler, model = RunningStandardiser(), Perceptron()
    >>> progressive(model, scaler.rows(rows)).rows
    500
    >>> model.predict_one(scaler.transform({"dose": 1004.0, "age": 43}))
    'high'
    """

    def __init__(self) -> None:
        self._state = GrowingEncoder(standard=True, most=sys.maxsize)

    def rows(self, stream: Any, y: Any = None) -> Iterator[Any]:
        """The items of a stream as :func:`progressive` takes them, with scaled rows, each made when it is asked for.

        Parameters
        ----------
        stream : array or iterable
            All rows, with ``y``; or an iterable of (X, y) chunks, (x, y) rows, or (key, x, y).
        y : array or None
            The labels, where ``stream`` is all rows.

        Yields
        ------
        tuple
            The same items, with scaled rows.

        Examples
        --------
        >>> from separatrix import RunningStandardiser
        >>> [x.tolist() for x, _ in RunningStandardiser().rows([([1.0], 0), ([3.0], 1), ([4.0], 1)])]
        [[0.0], [0.0], [2.0]]
        """
        if not hasattr(stream, "__iter__"):
            raise DataError(f"stream is a {type(stream).__name__}: pass something that gives (row, label) pairs.")
        items: Iterable[Any] = stream
        if y is not None:
            if len(stream) != len(y):
                raise DataError(f"stream has {len(stream)} rows and y has {len(y)} labels: pass one label a row.")
            items = ((stream[k : k + CHUNK], y[k : k + CHUNK]) for k in range(0, len(y), CHUNK))
        for at, item in enumerate(items):
            need_item(at, item)
            *key, x, label = item
            yield (*key, x if x is None else self._next(x), label)

    def transform(self, x: Any) -> Any:
        """One row or a table by the means and deviations so far, which stay as they are: for predictions.

        Parameters
        ----------
        x : array of one or two dimensions, list, or dict
            As the rows of the stream.

        Returns
        -------
        array or dict

        Examples
        --------
        >>> from separatrix import RunningStandardiser
        >>> scaler = RunningStandardiser()
        >>> seen = list(scaler.rows([([1.0], 0), ([3.0], 1)]))
        >>> scaler.transform([4.0]).tolist()
        [2.0]
        """
        shift, scale = self._state.shift_and_scale()
        if isinstance(x, dict):
            at = self._state.columns
            new = sorted(name for name, value in x.items() if not isinstance(value, str) and name not in at)
            if new:
                raise DataError(
                    f"the row has {new[0]!r}, a number that no row of the stream had: its scale is not known."
                )
            return {
                name: value if isinstance(value, str) else _scaled(value, shift[at[name]], scale[at[name]])
                for name, value in x.items()
            }
        table = self._checked(_floats(x))
        return (np.where(np.isnan(table), shift, table) - shift) / scale

    def _next(self, x: Any) -> Any:
        """The next row or chunk, scaled; it then counts."""
        if not isinstance(x, dict):
            if is_sparse(x) or isinstance(x, tuple):
                raise DataError(
                    "a row of the stream is sparse, and would be full if it were scaled: pass arrays or dicts."
                )
            table = _floats(x)
            if not self._state.columns:
                self._state.begin([str(j) for j in range(table.shape[-1] if table.ndim else 0)])
            scaled = self._state.standardised(np.atleast_2d(self._checked(table)))
            return scaled if table.ndim == 2 else scaled[0]
        names = [name for name, value in x.items() if not isinstance(value, str)]
        values = _floats([math.nan if x[name] is None else x[name] for name in names])
        if values.ndim != 1:
            raise DataError(f"a row of the stream is {x!r:.60}: its entries must be numbers.")
        self._state.begin(names)
        columns = np.array([self._state.columns[name] for name in names], dtype=np.int64)
        scaled = self._state.standardised_entries(columns, values, np.array([len(names)]))
        return {**x, **dict(zip(names, scaled.tolist(), strict=True))}

    def _checked(self, table: Floats) -> Floats:
        d = len(self._state.columns)
        if table.ndim not in (1, 2) or table.shape[-1] != d:
            raise DataError(f"a row has shape {table.shape}, and the rows of the stream have {d} numbers each.")
        return table


def _floats(x: Any) -> Floats:
    """Numbers, of which some may be missing; an infinite one would spoil the mean of all rows after it."""
    try:
        table = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"a row of the stream is {x!r:.60}: its entries must be numbers.") from error
    if np.isinf(table).any():
        raise DataError(f"a row of the stream is {x!r:.60}, with an infinite number: leave it out, or pass NaN.")
    return table


def _scaled(value: Any, shift: float, scale: float) -> float:
    number = math.nan if value is None else float(_floats(value))
    return 0.0 if math.isnan(number) else (number - shift) / scale
