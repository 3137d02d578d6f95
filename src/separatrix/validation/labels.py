"""y as classes (which there are, and which each row has), and numbers beside X: real targets, weights, offsets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.validation.table import as_vector, check_lengths, need_same_index, of_pandas, one_column

DISTINCT = 2**53  # whole numbers below are doubles of their own
BLOCK, FEW = 65_536, 1000  # texts that are looked up together, and different ones up to which they are


@dataclass(frozen=True, slots=True)
class Labels:
    """The classes, sorted or in the order of their categories, and for each row the number of its class."""

    classes: NDArray[Any]
    codes: NDArray[Any]

    def signs(self, positive: int = 1) -> NDArray[np.int8]:
        """+1 where the row is of class number ``positive``, -1 elsewhere."""
        own = (self.codes == positive).view(np.int8)
        return np.asarray(own + own - np.int8(1))


def check_labels(y: Any, *, what: str = "y", ids: bool = False, rows: Any = None, n: int | None = None) -> Labels:
    """Class labels: integers, booleans, text, or floats that are whole numbers; of these ``rows`` as they were given.

    Classes are sorted, and those of a categorical column have the order of its categories. ``ids``: names of groups
    instead, which are only compared with each other, so that integers may be of any size. ``n``: as many as that.
    """
    labels = _sorted_labels(_vector(y, what, rows), what, ids)
    if n is not None:
        check_lengths(n, len(labels.codes), what)
    order = None if ids else category_order(y, labels.classes)
    if order is None:
        return labels
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Labels(labels.classes[order], rank[labels.codes])


def _sorted_labels(array: NDArray[Any], what: str, ids: bool) -> Labels:
    if array.dtype.kind in "biuf":
        low, high = _extremes(array)
        if array.dtype.kind == "f" or not ids:
            _need_distinct(array, what, (low, high))
        if array.dtype.kind == "f" and not (np.isfinite(low) and np.isfinite(high) and low % 1 == high % 1 == 0):
            need_classes(array, what)  # raises: one of them is no class
        if low == high:
            return Labels(np.array([low], dtype=array.dtype), np.zeros(len(array), dtype=np.int8))
        if (upper := _upper_of_two(array, low, high)) is not None:
            return Labels(np.array([low, high], dtype=array.dtype), upper.view(np.int8))
        if array.dtype.kind == "f":
            need_classes(array, what)
        if array.dtype.kind in "iu" and int(high) - int(low) < 256 + len(array) and high < 2**63:
            return _counted(array, int(low))
    elif not ids:
        _need_distinct(array, what)
    if array.dtype.kind == "U" or (array.dtype.kind == "O" and all(type(label) is str for label in array)):
        found = _looked_up(array)
        if found is not None:
            return found
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError as mixed:
        kinds = sorted({type(v).__name__ for v in array.tolist()})
        raise DataTypeError(
            f"{what} mixes labels of several types ({', '.join(kinds)}): use one type, for example text."
        ) from mixed
    return Labels(classes, codes.reshape(-1).astype(np.intp, copy=False))


def _upper_of_two(array: NDArray[Any], low: Any, high: Any) -> NDArray[np.bool_] | None:
    """Where a label is the higher one of two, without sorting; None where there are others."""
    upper = np.empty(len(array), dtype=np.bool_)

    def part(block: tuple[int, int]) -> bool:
        own = array[slice(*block)]
        np.equal(own, high, out=upper[slice(*block)])
        return bool((upper[slice(*block)] | (own == low)).all())

    return upper if all(kernels.each_part(part, _blocks(array))) else None


def _extremes(array: NDArray[Any]) -> tuple[Any, Any]:
    """The least and the greatest entry; NaN where one is."""
    pairs = kernels.each_part(lambda block: _least_and_greatest(array[slice(*block)]), _blocks(array))
    return pairs[0] if len(pairs) == 1 else (np.min([low for low, _ in pairs]), np.max([high for _, high in pairs]))


def _least_and_greatest(array: NDArray[Any]) -> tuple[Any, Any]:
    return array.min(), array.max()


def _blocks(array: NDArray[Any]) -> list[tuple[int, int]]:
    return kernels.row_blocks(len(array), len(array))


def _counted(array: NDArray[Any], low: int) -> Labels:
    """Whole numbers that lie close together, by counting them."""
    above = array.astype(np.int64) - low
    there = np.bincount(above) > 0
    classes = (np.flatnonzero(there) + low).astype(array.dtype)
    return Labels(classes, (np.cumsum(there) - 1)[above])


def _looked_up(array: NDArray[Any]) -> Labels | None:
    """Few different texts, by a table of them: sorting all rows takes several times their memory."""
    blocks = [array[begin : begin + BLOCK] for begin in range(0, len(array), BLOCK)]
    seen: set[str] = set()
    for block in blocks:
        seen.update(block.tolist())
        if len(seen) > FEW:
            return None
    place = {label: k for k, label in enumerate(sorted(seen))}
    codes = np.empty(len(array), dtype=np.int8 if len(place) <= 2 else np.intp)
    for k, block in enumerate(blocks):
        codes[k * BLOCK : k * BLOCK + len(block)] = [place[label] for label in block.tolist()]
    return Labels(np.array(list(place), dtype=array.dtype), codes)


def label_vector(y: Any, *, what: str = "y", ids: bool = False, rows: Any = None) -> NDArray[Any]:
    """y as one dimension of labels, as it was given; numbers that doubles cannot tell apart are refused."""
    array = _vector(y, what, rows)
    if not ids:
        _need_distinct(array, what)
    return array


def _vector(y: Any, what: str, rows: Any) -> NDArray[Any]:
    if y is None:
        raise DataError(f"requires {what} to be passed, but the target {what} is None: pass a label for every row.")
    need_same_index(rows, y, what)
    array = one_column(y, what)
    if array.ndim != 1:
        grouped = " Counts go to LogisticRegression: pass y=successes, trials=successes + failures." * (
            array.shape[1:] == (2,)
        )
        raise DataError(
            f"{what} has shape {array.shape}; {what} should be a 1d array: one label for every row.{grouped}"
        )
    if not len(array):
        raise DataError(f"{what} has no labels: pass one for every row.")
    if array.dtype.kind == "c":
        raise DataError(f"Complex data not supported: {what} holds complex numbers, not classes.")
    if array.dtype.kind in "mM":
        raise DataTypeError(f"{what} holds dates or durations, not classes: convert them to text.")
    if array.dtype.kind == "O":
        _need_no_missing(array, what)
        array = _plain(array)
    return array


def _need_distinct(array: NDArray[Any], what: str, extremes: tuple[Any, Any] | None = None) -> None:
    """No number from 2**53 on: as doubles they merge, and a list that mixes kinds of numbers has become doubles."""
    kind = array.dtype.kind
    if kind == "O":
        beyond = (isinstance(v, (int, float)) and abs(v) >= DISTINCT for v in array)
        large = np.fromiter(beyond, dtype=np.bool_, count=len(array))
    elif kind in "iuf":
        low, high = extremes or _extremes(array)
        if low > -DISTINCT and high < DISTINCT:  # not so if there is a NaN
            return
        large = ((array >= DISTINCT) | (array <= -DISTINCT)) & np.isfinite(array)
    else:
        return
    if large.any():
        row = int(np.flatnonzero(large)[0])
        raise DataError(
            f"{what} has {_short(array[row])} at row {row}: numbers from 2**53 on cannot be told apart as doubles, "
            "so that classes could merge; use smaller numbers, or text."
        )


def _short(number: Any) -> str:
    """A label that may be a number of any size, in a few words."""
    bits = int(number).bit_length()
    return f"the label {int(number)}" if bits <= 128 else f"a label of {bits} bits"


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all of one kind of number, as that kind; anything else stays as it is."""
    if all(isinstance(v, (bool, np.bool_)) for v in array):
        return array.astype(bool)
    if all(isinstance(v, (int, np.integer)) for v in array):
        whole = np.array([int(v) for v in array])
        return whole if whole.dtype.kind in "iu" else array
    return array.astype(np.float64) if all(isinstance(v, (int, float, np.number)) for v in array) else array


def _need_no_missing(array: NDArray[Any], what: str) -> None:
    for i, value in enumerate(array):
        if value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and np.isnan(value)):
            raise DataError(f"{what} has no label (NaN or None) at row {i}: drop the row or label it.")


def need_classes(array: NDArray[Any], what: str) -> None:
    """Floats that are whole numbers, or which row has none."""
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(f"{what} has a NaN or inf at row {row}: Input {what} contains NaN; drop the row or label it.")
    whole = array == np.floor(array)
    if not whole.all():
        row = int(np.flatnonzero(~whole)[0])
        raise DataError(
            f"Unknown label type: continuous. {what} is {array[row]:g} at row {row}, which is not a class: "
            "round it to classes, or use a regression."
        )


def plain_value(label: Any) -> Any:
    """A number or text of numpy's as one of Python's."""
    return label.item() if isinstance(label, np.generic) else label


def shown_label(label: Any) -> str:
    """A label as messages quote it."""
    return repr(plain_value(label))


def category_order(y: Any, classes: NDArray[Any]) -> NDArray[np.intp] | None:
    """The places of the classes in the order of the categories of a pandas or polars column; None without such."""
    if getattr(y, "ndim", 1) == 2 and of_pandas(y) and y.shape[1] == 1:
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


# -- numbers that come beside X --


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
