"""What pandas knows beside the values: an index that says which row is which, and the order of categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.validation.labels import Labels


def need_same_index(X: Any, y: Any, what: str = "y") -> None:
    """X and y of pandas with the same length have the same index: rows are never matched by position in silence."""
    if not (_of_pandas(X) and _of_pandas(y)) or len(X) != len(y) or X.index.equals(y.index):
        return
    row = next(i for i, (a, b) in enumerate(zip(X.index, y.index, strict=True)) if a != b)
    raise DataError(
        f"X and {what} have different pandas indexes (at row {row}: {X.index[row]!r} and {y.index[row]!r}): align "
        f"them, as {what}.loc[X.index], or pass {what}.to_numpy() if they match by position."
    )


def by_categories(labels: Labels, y: Any) -> Labels:
    """The classes in the order of the categories of a pandas categorical; otherwise as they are."""
    categories = getattr(getattr(y, "dtype", None), "categories", None)
    if categories is None:
        return labels
    place = {value: k for k, value in enumerate(categories.tolist())}
    order = np.argsort([place[value] for value in labels.classes.tolist()], kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return Labels(labels.classes[order], rank[labels.codes])


def _of_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "index") and hasattr(value, "iloc")
