"""What comes beside X: real targets, weights, starts, flags; and whether lengths agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError, DataTypeError, ParameterError, warn_user
from separatrix.validation import containers


def as_vector(v: Any, what: str) -> NDArray[Any]:
    """Whatever holds one entry a row, as an array; hidden entries and uneven nests are refused."""
    if type(v) is np.ndarray:
        return v
    if isinstance(v, np.ma.MaskedArray) and np.ma.is_masked(v):
        at = int(np.flatnonzero(np.ma.getmaskarray(v))[0])
        raise DataError(f"{what} is masked at position {at}. Drop the row or fill the value in.")
    if hasattr(v, "tocsr"):
        raise DataTypeError(f"{what} is a sparse matrix and needs to be a plain vector: use {what}.toarray().ravel().")
    try:
        return containers.vector_of(v) if containers.is_frame(v) else np.asarray(v)
    except ValueError as uneven:
        raise DataError(f"{what} has entries of different lengths and needs one number or label a row.") from uneven


def one_column(v: Any, what: str) -> NDArray[Any]:
    """The same; a table of one column is read as that column, with scikit-learn's warning."""
    array = as_vector(v, what)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_user(
            f"A column-vector {what} was passed when a 1d array was expected; its one column is used.",
            DataConversionWarning,
        )
        array = array[:, 0]
    return array


def check_finite_vector(v: Any, *, what: str) -> NDArray[np.float64]:
    """One dimension of finite float64 numbers, contiguous; arrays in order are used in place."""
    raw: Any = as_vector(v, what)
    if raw.dtype.kind in "OUS":
        raw = raw.tolist()
    try:
        array = np.asarray(raw)
        if array.dtype.kind == "c":
            raise DataError(f"Complex data not supported: {what} holds complex numbers.")
        if array.dtype.kind in "USmMV":
            raise DataTypeError(f"{what} holds {array.dtype}, not numbers: convert it first.")
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataTypeError(f"{what} does not hold numbers only: {error}.") from error
    if array.ndim != 1:
        raise DataError(f"{what} has shape {array.shape} and needs one dimension.")
    if (at := kernels.first_nonfinite(array)) >= 0:
        raise DataError(
            f"{what} has {array[at]} at position {at}, which contains NaN or infinity: every entry must be finite."
        )
    return array


def check_targets(y: Any, *, what: str = "y", rows: Any = None) -> NDArray[np.float64]:
    """Real targets of a regression, of these ``rows`` as they were given."""
    if y is None:
        raise DataError(f"requires {what} to be passed, but the target {what} is None: pass a number for every row.")
    need_same_index(rows, y, what)
    return check_finite_vector(one_column(y, what), what=what)


def check_target_columns(y: Any, *, rows: Any = None) -> tuple[NDArray[np.float64], bool]:
    """Real targets as columns (n, k), and whether they came in columns rather than as one vector."""
    if y is None:
        return check_targets(y).reshape(-1, 1), False
    need_same_index(rows, y)
    array = as_vector(y, "y")
    if array.ndim != 2:
        return check_finite_vector(array, what="y").reshape(-1, 1), False
    if not array.shape[1]:
        raise DataError("y has no columns: pass a number for every row.")
    columns = [check_finite_vector(column, what=f"column {k} of y") for k, column in enumerate(array.T)]
    return np.stack(columns, axis=1), True


def check_weights(
    sample_weight: Any, n: int, *, may_be_zero: bool = False, rows: Any = None
) -> NDArray[np.float64] | None:
    """Weights of n rows, none negative and (but for chunks) not all zero; None where every row counts once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, (int, float, np.number)):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    need_same_index(rows, sample_weight, "sample_weight")
    weights = check_finite_vector(sample_weight, what="sample_weight")
    check_lengths(n, len(weights), "sample_weight")
    if weights.min() < 0:
        row = int(weights.argmin())
        raise DataError(f"sample_weight is {weights[row]:g} at row {row}: weights must not be negative.")
    if not may_be_zero and not weights.any():
        raise DataError("sample_weight is zero in every row: at least one row must count.")
    return weights


def check_row_offset(offset: Any, n: int, rows: Any = None) -> NDArray[np.float64]:
    """What is added to the mean of each of n rows: one finite number a row."""
    need_same_index(rows, offset, "offset")
    shift = check_finite_vector(offset, what="offset")
    check_lengths(n, len(shift), "offset")
    return shift


def check_lengths(n: int, m: int, what: str) -> None:
    if n != m:
        raise DataError(f"X has {n} rows and {what} has {m} (inconsistent numbers of samples): pass one for every row.")


def need_flag(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}: it must be True or False.")


def need_same_index(X: Any, y: Any, what: str = "y") -> None:
    """X and y of pandas with the same length have the same index: rows are never matched by position in silence."""
    if not (_of_pandas(X) and _of_pandas(y)) or len(X) != len(y) or X.index.equals(y.index):
        return
    row = next((i for i, (a, b) in enumerate(zip(X.index, y.index, strict=True)) if a != b), 0)
    raise DataError(
        f"X and {what} have different pandas indexes (at row {row}: {X.index[row]!r} and {y.index[row]!r}): align "
        f"them, as {what}.loc[X.index], or pass {what}.to_numpy() if they match by position."
    )


def category_order(y: Any, classes: NDArray[Any]) -> NDArray[np.intp] | None:
    """The places of the classes in the order of the categories of a pandas or polars column; None without such."""
    if getattr(y, "ndim", 1) == 2 and _of_pandas(y) and y.shape[1] == 1:
        y = y.iloc[:, 0]
    kind = getattr(y, "dtype", None)
    if type(kind).__name__ not in ("CategoricalDtype", "Enum") or kind is None:
        return None
    place = {value: k for k, value in enumerate(list(kind.categories))}
    if any(value not in place for value in classes.tolist()):
        return None
    order = np.argsort([place[value] for value in classes.tolist()], kind="stable")
    return None if bool((order == np.arange(len(order))).all()) else order


def last_category(y: Any) -> str | None:
    """The last category that occurs in an ordered column of pandas, or an Enum of polars; None of other columns."""
    kind = getattr(y, "dtype", None)
    ordered = {"Enum": True, "CategoricalDtype": bool(getattr(kind, "ordered", False))}
    if not ordered.get(type(kind).__name__, False):
        return None
    known = {str(value) for value in y.unique()}
    return next((str(value) for value in reversed(list(getattr(kind, "categories", []))) if str(value) in known), None)


def _of_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "index") and hasattr(value, "iloc")
