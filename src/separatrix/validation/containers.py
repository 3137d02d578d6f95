"""What users pass as rows: frames of any library, rows of any container in its own kind, Python objects as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError, RoundingWarning, warn_user
from separatrix.validation.table import is_sparse

ROOTS = frozenset({"pandas", "polars", "pyarrow", "duckdb", "_duckdb", "modin", "cudf", "narwhals", "dask", "ibis"})


def unwrapped(X: Any) -> Any:
    """The frame inside a matrix of formulaic, which is a proxy of it; anything else as it is."""
    return X.__wrapped__ if type(X).__module__.partition(".")[0] == "formulaic" and hasattr(X, "__wrapped__") else X


def is_frame(X: Any) -> bool:
    """Whether X comes from a library of frames (series included), without importing any."""
    return any(kind.__module__.partition(".")[0] in ROOTS for kind in type(X).__mro__)


def columns_of(X: Any) -> tuple[list[Any], list[NDArray[Any]]]:
    """Names and columns; missing values become NaN, and text stays text for the caller to refuse."""
    if hasattr(X, "fetchnumpy"):  # a duckdb relation
        fetched = X.fetchnumpy()
        return list(fetched), [_filled(column) for column in fetched.values()]
    import narwhals.stable.v2 as nw
    from narwhals.exceptions import DuplicateError

    if type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        X = pa.Table.from_batches([X])
    try:
        frame = nw.from_native(X)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        names = list(frame.columns)
    except DuplicateError as repeated:
        raise DataError(several_of_one_name(repeated)) from repeated
    except TypeError as unknown:
        raise DataTypeError(
            f"X is a {type(X).__module__}.{type(X).__qualname__}, not a table with rows and columns. "
            "Expected 2D array: pass a frame, or Reshape your data with to_frame() or array.reshape(-1, 1)."
        ) from unknown
    return names, [_column(frame[:, j], nw) for j in range(len(names))]


def several_of_one_name(repeated: Exception) -> str:
    """A sentence about the names that narwhals lists under its own."""
    names = [line.removeprefix("- ") for line in str(repeated).splitlines()[1:] if line.startswith("- ")]
    return f"X has several columns of one name ({', '.join(names[:5]) or str(repeated)}): rename them."


def vector_of(y: Any) -> NDArray[Any]:
    """One column as an array: a series, or a frame with a single column."""
    if any(hasattr(type(y), name) for name in ("fetchnumpy", "columns", "column_names")):
        _, columns = columns_of(y)
        return np.stack(columns, axis=1) if len(columns) != 1 else columns[0]
    import narwhals.stable.v2 as nw

    try:
        return _column(nw.from_native(y, series_only=True), nw)
    except TypeError:  # no series of a frame library, but array-like: pyarrow's arrays
        return np.asarray(y)


def _column(column: Any, nw: Any) -> NDArray[Any]:
    kind = column.dtype
    if kind == nw.Boolean or kind.is_numeric():
        if column.null_count() > 0 or kind in (nw.Decimal, nw.Int128, nw.UInt128):
            return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_list(), dtype=object)


def _filled(column: Any) -> NDArray[Any]:
    if isinstance(column, np.ma.MaskedArray) and np.ma.is_masked(column):
        if column.dtype.kind in "biuf":
            return np.ma.filled(column.astype(np.float64), np.nan)
        return np.asarray(column.tolist(), dtype=object)
    return np.asarray(column)


def count_rows(X: Any, *, what: str = "X") -> int:
    """How many rows there are."""
    if X is None:
        role = "" if what == "X" else "the target "
        raise DataError(f"requires {what} to be passed, but {role}{what} is None: pass an entry for every row.")
    if hasattr(X, "fetchnumpy") or _is_arrow_array(X):
        return len(X)
    if is_frame(X):
        import narwhals.stable.v2 as nw

        try:
            frame = nw.from_native(X, allow_series=True)
        except TypeError as unknown:
            raise DataTypeError(f"{what} is a {type(X).__name__}, which has no rows to take.") from unknown
        return len(frame.collect() if isinstance(frame, nw.LazyFrame) else frame)
    if hasattr(X, "shape"):
        if not X.shape:
            raise DataError(f"{what} is a single number: pass one entry a row.")
        return int(X.shape[0])
    try:
        return len(np.asarray(X) if hasattr(X, "__array__") else X)
    except TypeError as unsized:
        raise DataTypeError(f"{what} is a {type(X).__name__}, which has no rows to count.") from unsized


def take_rows(X: Any, index: NDArray[np.intp]) -> Any:
    """The rows of these numbers, copied."""
    if hasattr(X, "fetchnumpy"):  # a duckdb relation becomes an array: it has no order to take rows by twice
        names, columns = columns_of(X)
        if all(column.dtype.kind in "biuf" for column in columns):
            return np.column_stack([column[index] for column in columns])
        raise DataTypeError(f"a duckdb relation with text columns ({', '.join(names[:5])}): pass relation.arrow().")
    if _is_arrow_array(X):
        return X.take(index)
    if is_frame(X):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(X, allow_series=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        taken = frame[index.tolist()]
        return taken.to_native()
    if is_sparse(X):
        return X.tocsr()[index]
    if isinstance(X, np.ndarray):
        return X.take(index, axis=0)  # releases the GIL, which indexing does not
    if hasattr(X, "shape") or hasattr(X, "__array__"):
        return np.asarray(X)[index]
    return [X[i] for i in index.tolist()]


def _is_arrow_array(X: Any) -> bool:
    """Whether X is a plain array of pyarrow and not a series of a frame."""
    return is_frame(X) and type(X).__module__.startswith("pyarrow") and hasattr(X, "take") and hasattr(X, "buffers")


def complex_sentence(what: str) -> str:
    remedy = "pass their real and imaginary parts as columns"
    return f"Complex data not supported: {what} holds complex numbers; {remedy}."


def warn_rounded(what: str, changed: int) -> None:
    """Numbers that float64 cannot hold were rounded."""
    kind = "number" if changed == 1 else "numbers"
    warn_user(
        f"{what} has {changed} {kind} with more than 53 bits (integers beyond 2**53 or thirds, for example), rounded "
        "to float64; shift or scale the column.",
        RoundingWarning,
    )


def as_floats(array: NDArray[Any], what: str, columns: Sequence[str]) -> NDArray[np.float64]:
    """A table of objects as float64; missing values become NaN for the caller to find."""
    out = np.empty(array.shape)
    rounded = 0
    for (i, j), value in np.ndenumerate(array):
        out[i, j] = number = _float_of(value, what, f"row {i}, {columns[j]}")
        rounded += isinstance(value, Rational) and value != number
    if rounded:
        warn_rounded(what, rounded)
    return out


def _float_of(value: Any, what: str, where: str) -> float:
    if value is None or type(value).__name__ == "NAType":
        return float("nan")
    if isinstance(value, (str, bytes)):
        text = value if isinstance(value, str) else value.decode(errors="replace")
        raise DataTypeError(
            f"{what} has {text!r} at {where}: not a number, text where a number belongs. "
            'Encode the column as numbers, fit a frame with categorical="dummies" or by a formula, or leave it out.'
        )
    if isinstance(value, (complex, np.complexfloating)):
        raise DataError(complex_sentence(what))
    if isinstance(value, (np.ndarray, np.datetime64, np.timedelta64)) or not hasattr(value, "__float__"):
        raise DataTypeError(
            f"{what} has a {type(value).__name__} at {where}; an argument must be a number, "
            "not a string or an object of another number-less type."
        )
    try:
        return float(value)
    except OverflowError:
        raise DataError(f"{what} has a number at {where} that is too large for float64: scale the column.") from None
    except (TypeError, ValueError) as error:
        raise DataTypeError(f"{what} has {value!r} at {where}, which is not a number: {error}.") from None
