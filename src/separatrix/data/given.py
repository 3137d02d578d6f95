"""Tables that a caller holds in memory, as frames of ours: frames of any library, dicts of columns, arrays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Column, Frame
from separatrix.errors import DataError
from separatrix.validation import frames

EPOCH = datetime(1970, 1, 1)


def frame_from(table: Any, source: str = "the table") -> Frame:
    """The columns of a pandas, polars, pyarrow or duckdb frame, or of a dict of lists."""
    if isinstance(table, Mapping):
        names, columns = list(table), [_vector(name, values) for name, values in table.items()]
    else:
        names, columns = frames.columns_of(table)
    texts = [str(name) for name in names]
    twice = next((name for k, name in enumerate(texts) if name in texts[:k]), None)
    if twice is not None:
        raise DataError(f"{source} has several columns named {twice!r}: rename them.")
    sizes = {len(column) for column in columns}
    if len(sizes) > 1:
        raise DataError(f"the columns of {source} have different lengths ({', '.join(map(str, sorted(sizes)))}).")
    if not columns or not sizes.pop():
        raise DataError(f"{source} has no rows: nothing to learn from.")
    made = tuple(column_from(name, values) for name, values in zip(texts, columns, strict=True))
    return Frame(made, len(columns[0]), source)


def _vector(name: Any, values: Any) -> NDArray[Any]:
    array = frames.vector_of(values) if frames.is_frame(values) else np.asarray(values)
    if array.dtype.kind not in "biufOUSM":
        array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise DataError(f"column {name!r} has the shape {array.shape}: one value a row is needed.")
    return array


def column_from(name: str, values: NDArray[Any]) -> Column:
    """One column with its kind: numbers, booleans and dates as float64, the rest as text."""
    kind = values.dtype.kind
    if kind in "biuf":
        return Column(name, {"b": "boolean", "f": "number"}.get(kind, "integer"), values.astype(np.float64))
    if kind == "M":
        moments = values.astype("datetime64[us]")
        numbers = np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)
        return Column(name, "date", numbers)
    cells = [None if v is None or v != v else v for v in values.tolist()]
    present = [v for v in cells if v is not None]
    if present and all(isinstance(v, bool) for v in present):
        return Column(name, "boolean", np.array([np.nan if v is None else float(v) for v in cells]))
    if present and all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in present):
        numbers = np.array([np.nan if v is None else float(v) for v in cells])
        return Column(name, "number", numbers)
    if present and all(isinstance(v, date) for v in present):
        return Column(name, "date", np.array([np.nan if v is None else _seconds(v) for v in cells]))
    return Column(name, "text", np.array([None if v is None else str(v) for v in cells], dtype=object))


def _seconds(moment: date) -> float:
    """Seconds since 1970, in the moment's own zone where it has none."""
    if isinstance(moment, datetime):
        return moment.timestamp() if moment.tzinfo is not None else (moment - EPOCH).total_seconds()
    return (datetime(moment.year, moment.month, moment.day) - EPOCH).total_seconds()
