"""Frames with columns of text or categories as numbers: a column of zeros and ones for each level but the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.features.formula import as_pandas
from separatrix.features.formula_columns import Factor, FormulaColumns


def dummy_columns(data: Any, declared: bool = False) -> tuple[Any, FormulaColumns]:
    """The frame with dummies in place of its categories, and its columns as data, which make such rows again.

    Levels are in the order of their categories, or sorted; the first that occurs is the reference. With ``declared``
    categories that do not occur are levels too.
    """
    import pandas as pd

    frame = as_pandas(data)
    frame.columns = frame.columns.map(str)
    names, products = list[str](), list[tuple[Factor, ...]]()
    levels: dict[str, tuple[str, ...]] = {}
    for name in map(str, frame.columns):
        column = frame[name]
        if not _is_category(column, pd):
            names.append(name)
            products.append((Factor(name),))
            continue
        if column.isna().any():
            row = int(np.flatnonzero(column.isna().to_numpy())[0])
            raise DataError(f"column {name!r} has no value at row {row}: drop the row or fill the value in.")
        levels[name] = own = _levels(column, declared)
        names += [f"{name}[T.{level}]" for level in own[1:]]
        products += [(Factor(name, level=level),) for level in own[1:]]
    columns = FormulaColumns(tuple(names), tuple(products), levels)
    if not names:
        raise DataError("every column has one level only: there is nothing to learn from.")
    table = {str(name): frame[name].to_numpy() for name in frame.columns}
    index = data.index if hasattr(data, "index") and hasattr(data, "iloc") else None
    return pd.DataFrame(columns.rows(table, len(frame)), columns=names, index=index), columns


def _is_category(column: Any, pd: Any) -> bool:
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return True
    if kind.kind == "O" and not isinstance(kind, pd.StringDtype):
        return any(isinstance(value, str) for value in column.tolist())
    return bool(pd.api.types.is_string_dtype(kind))


def _levels(column: Any, declared: bool) -> tuple[str, ...]:
    categories = getattr(column.dtype, "categories", None)
    present = set(map(str, column.unique().tolist()))
    if categories is None:
        return tuple(sorted(present))
    return tuple(str(c) for c in categories.tolist() if declared or str(c) in present)
