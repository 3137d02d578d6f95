"""What frames know beside the values: an index that says which row is which, and the order of categories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError


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
