"""Python objects as numbers, one by one: what each is, where it stands, and why it cannot be used."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DataTypeError, RoundingWarning, warn_user


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
