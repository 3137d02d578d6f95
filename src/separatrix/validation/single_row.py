"""One row: an array, a list, a pair (columns, values), a sparse row, or a dict of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError
from separatrix.validation.table import check_table, is_sparse


@dataclass(frozen=True, slots=True)
class Row:
    """A checked row of d numbers: all of them, or (``columns``) those stored."""

    values: NDArray[np.float64]
    columns: NDArray[np.int64] | None
    d: int

    def table(self) -> Any:
        """The row as a table of one row."""
        if self.columns is None:
            return self.values[None]
        import scipy.sparse as sp

        return sp.csr_array((self.values, self.columns, np.array([0, len(self.values)])), shape=(1, self.d))


def check_row(x: Any, d: int | None, owner: str) -> Row:
    """One row of finite numbers, with d features where that is known."""
    if is_sparse(x):
        table = check_table(x, what="x")
        if table.n != 1:
            raise DataError(f"x has {table.n} rows and must be one: use partial_fit for several.")
        row = Row(table.X.data.astype(np.float64), table.X.indices.astype(np.int64), table.d)
    elif isinstance(x, tuple) and len(x) == 2 and all(np.ndim(part) == 1 for part in x):
        row = _pair(x[0], x[1], d)
    else:
        try:
            shape = np.shape(x)
        except ValueError as uneven:
            raise DataError("x is not one row of numbers: pass a list, an array, a pair or a dict.") from uneven
        if len(shape) == 2 and shape[0] == 1:
            x = x[0]
        elif len(shape) != 1:
            raise DataError(f"x has shape {shape} and must be one row: pass one dimension of numbers.")
        table = check_table(np.asarray(x)[None], what="x")
        row = Row(np.ascontiguousarray(table.X[0], dtype=np.float64), None, table.d)
    if d is not None and row.d != d:
        raise DataError(f"x has {row.d} features, but {owner} is expecting {d} features as input.")
    return row


def _pair(columns: Any, values: Any, d: int | None) -> Row:
    at, numbers = np.asarray(columns), np.asarray(values)
    if d is None:
        raise DataError(
            "x is a pair (columns, values), which does not say how many features there are: "
            "let the first row be an array or a dict, or set hashing."
        )
    if at.dtype.kind not in "iu" and at.size:
        raise DataTypeError(f"x is a pair whose columns are {at.dtype}, not whole numbers.")
    if len(at) != len(numbers):
        raise DataError(f"x is a pair of {len(at)} columns and {len(numbers)} values: they must go together.")
    if len(at) and (at.min() < 0 or at.max() >= d):
        raise DataError(f"x is a pair whose columns leave 0 .. {d - 1}.")
    if len(np.unique(at)) != len(at):
        raise DataError("x is a pair that names a column twice: add its values up first.")
    order = np.argsort(at)
    checked = check_table(numbers[None], what="x").X[0] if len(numbers) else numbers
    return Row(np.asarray(checked, dtype=np.float64)[order], at[order].astype(np.int64), d)


def check_features(x: Mapping[Any, Any]) -> dict[str, float]:
    """A dict of features: names to finite numbers; text is a level, the feature "name=text" with the value 1."""
    features: dict[str, float] = {}
    for name, value in x.items():
        if not isinstance(name, str):
            raise DataTypeError(f"x has the feature {name!r} of type {type(name).__name__}: names must be text.")
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, str):
            name, value = f"{name}={value}", 1.0
        if not isinstance(value, (int, float)):
            raise DataTypeError(f"x[{name!r}] is {value!r:.60}, neither a number nor text: leave it out or encode it.")
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if not np.isfinite(number):
            raise DataError(f"x[{name!r}] is {value!r:.60}: every feature must be finite.")
        features[name] = features[name] + number if name in features else number
    return features
