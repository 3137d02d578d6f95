"""Some rows of whatever a user passed, in its own kind: arrays stay arrays, frames frames, lists lists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError
from separatrix.validation import frames
from separatrix.validation.table import is_sparse


def count_rows(X: Any, *, what: str = "X") -> int:
    """How many rows there are."""
    if X is None:
        role = "" if what == "X" else "the target "
        raise DataError(f"requires {what} to be passed, but {role}{what} is None: pass an entry for every row.")
    if hasattr(X, "fetchnumpy") or _is_arrow_array(X):
        return len(X)
    if frames.is_frame(X):
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
        names, columns = frames.columns_of(X)
        if all(column.dtype.kind in "biuf" for column in columns):
            return np.column_stack([column[index] for column in columns])
        raise DataTypeError(f"a duckdb relation with text columns ({', '.join(names[:5])}): pass relation.arrow().")
    if _is_arrow_array(X):
        return X.take(index)
    if frames.is_frame(X):
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
    return (
        frames.is_frame(X) and type(X).__module__.startswith("pyarrow") and hasattr(X, "take") and hasattr(X, "buffers")
    )
