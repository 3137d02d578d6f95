"""Frames with columns of text or categories as numbers: a column of zeros and ones for each level but the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.features.formula import as_pandas
from separatrix.features.formula_columns import Factor, FormulaColumns


def dummy_columns(data: Any) -> tuple[Any, FormulaColumns]:
    """The frame with dummies in place of its categories, and its columns as data, which make such rows again.

    Levels are in the order of their categories, or sorted; the first that occurs is the reference.
    """
    import pandas as pd

    frame = as_pandas(data)
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
        levels[name] = own = _levels(column)
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
    text = pd.api.types.is_string_dtype(kind) or kind.kind == "O"
    return isinstance(kind, pd.CategoricalDtype) or (text and not pd.api.types.is_numeric_dtype(kind))


def _levels(column: Any) -> tuple[str, ...]:
    categories = getattr(column.dtype, "categories", None)
    present = set(map(str, column.unique().tolist()))
    ordered = sorted(present) if categories is None else [str(c) for c in categories.tolist() if str(c) in present]
    return tuple(ordered)
