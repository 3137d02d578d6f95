"""Numbers that come beside X: real targets, weights, offsets; and flags."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.validation.table import as_vector, check_lengths, need_same_index, one_column


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
            kind = "text" if array.dtype.kind in "US" else array.dtype
            raise DataTypeError(f"{what} holds {kind}, not numbers: convert it first.")
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


def need_flag(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}: it must be True or False.")
