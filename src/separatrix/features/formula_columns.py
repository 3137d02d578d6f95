"""Columns of a formula as data: products of numbers, functions from a short list, and codes of levels.

Formulas are Python, and a model file must not run any. What is stored of a formula is this: for each column the factors
that are multiplied, and nothing that is evaluated. A formula with anything else (splines, functions of one's own) works
while the model is in memory, and has to be given again after it was loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.validation.containers import several_of_one_name

FUNCTIONS: dict[str, Callable[[Floats], Any]] = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "exp": np.exp, "sqrt": np.sqrt, "abs": np.abs,
}  # fmt: skip
CALL = re.compile(r"(?:np\.)?(\w+)\(\s*(.+?)\s*\)\Z")
POWER = re.compile(r"(?:I\(\s*)?(.+?)\s*\*\*\s*([2-9])\s*\)?\Z")


@dataclass(frozen=True, slots=True)
class Factor:
    """A column of the table: as it is, as a function of it, to a power, or 1 where it has a level and 0 elsewhere."""

    name: str
    function: str | None = None
    power: int = 1
    level: str | None = None

    def of(self, column: NDArray[Any]) -> Floats:
        """Its numbers for the rows of a column, which has no levels."""
        if column.dtype.kind in "mM":
            raise DataError(f"column {self.name!r} is dates or times: turn it into numbers, such as days.")
        try:
            numbers = np.asarray(column, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"column {self.name!r} is not numbers, as it was in the fit.") from error
        with np.errstate(all="ignore"):
            return np.asarray((numbers if self.function is None else FUNCTIONS[self.function](numbers)) ** self.power)


def level_codes(name: str, column: NDArray[Any], known: Sequence[str]) -> NDArray[np.intp]:
    """The position of each row's level; missing values, and levels that the fit did not have, are refused."""
    import pandas as pd

    codes, values = pd.factorize(column)
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        raise DataError(f"column {name!r} has no value at row {row}: drop the row or fill the value in.")
    found = [_level_name(value, known) for value in values.tolist()]
    new = sorted(set(found) - set(known))
    if new:
        some = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise DataError(f"column {name!r} has the level {new[0]!r}, which the fit did not have ({some}).")
    place = {level: k for k, level in enumerate(known)}
    return np.asarray([place[level] for level in found], dtype=np.intp)[np.asarray(codes, dtype=np.intp)]


def _level_name(value: Any, known: Sequence[str]) -> str:
    """A value as text; a whole number that became a float beside missing ones has the name that it had."""
    text = str(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() and text not in known else text


def number_factor(expression: str, columns: Sequence[str]) -> Factor | None:
    """A numerical factor of a formula, if it is one of those that can be stored."""
    plain = expression.strip("`")
    if plain in columns:
        return Factor(plain)
    if (call := CALL.match(expression)) and call[1] in FUNCTIONS and call[2].strip("`") in columns:
        return Factor(call[2].strip("`"), call[1])
    if (power := POWER.match(expression)) and power[1].strip("`") in columns:
        return Factor(power[1].strip("`"), None, int(power[2]))
    return None


@dataclass(frozen=True)
class FormulaColumns:
    """The columns of a design: names, and for each the factors whose product it is; ``levels`` of the categories."""

    names: tuple[str, ...]
    products: tuple[tuple[Factor, ...], ...]
    levels: Mapping[str, tuple[str, ...]]

    def rows(self, table: Mapping[str, NDArray[Any]], n: int) -> Floats:
        """The design of the rows of a table of columns."""
        out, codes = np.ones((n, len(self.names))), dict[str, NDArray[np.intp]]()
        for j, product in enumerate(self.products):
            for factor in product:
                if factor.name not in table:
                    raise DataError(f"the table has no column {factor.name!r}, which the model needs.")
                if factor.level is None:
                    out[:, j] *= factor.of(table[factor.name])
                    continue
                known = self.levels.get(factor.name, ())
                if factor.name not in codes:
                    codes[factor.name] = level_codes(factor.name, table[factor.name], known)
                out[:, j] *= codes[factor.name] == known.index(factor.level)
        return out

    @property
    def terms(self) -> dict[str, tuple[int, ...]]:
        """The positions of the columns that come from each column of the table alone."""
        found: dict[str, list[int]] = {}
        for j, product in enumerate(self.products):
            found.setdefault(":".join(factor.name for factor in product), []).append(j)
        return {name: tuple(places) for name, places in found.items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a model file."""
        products = [[[f.name, f.function, f.power, f.level] for f in product] for product in self.products]
        return {"names": list(self.names), "products": products, "levels": {k: list(v) for k, v in self.levels.items()}}

    @staticmethod
    def from_dict(kept: Any) -> FormulaColumns:
        """Back from plain values; ValueError for what is not of this form."""
        try:
            names = tuple(need_text(name) for name in kept["names"])
            levels = {need_text(k): tuple(need_text(v) for v in own) for k, own in kept["levels"].items()}
            products = tuple(tuple(_factor(*entry) for entry in product) for product in kept["products"])
        except (TypeError, KeyError, AttributeError) as error:
            raise ValueError("its formula is damaged") from error
        if len(products) != len(names):
            raise ValueError("its formula has another number of columns than names")
        if any(f.level is not None and f.level not in levels.get(f.name, ()) for product in products for f in product):
            raise ValueError("its formula names a level that it does not list")
        return FormulaColumns(names, products, levels)


def _factor(name: Any, function: Any, power: Any, level: Any) -> Factor:
    if not (function is None or function in FUNCTIONS) or type(power) is not int or not 1 <= power <= 9:
        raise ValueError("its formula uses a function that a model file cannot carry")
    return Factor(need_text(name), function, power, None if level is None else need_text(level))


def need_text(value: Any) -> str:
    """The value, which a file says is text."""
    if not isinstance(value, str):
        raise TypeError("text was expected")
    return value


def as_pandas(data: Any) -> Any:
    """A pandas frame of a mapping, a relation or any frame, its rows numbered anew."""
    import narwhals.stable.v2 as nw
    import pandas as pd
    from narwhals.exceptions import DuplicateError

    if isinstance(data, dict):
        try:
            data = pd.DataFrame(data)
        except ValueError as error:
            raise DataError(
                "the columns of data have different lengths, or are single values: pass lists of one length."
            ) from error
    elif hasattr(data, "fetchnumpy"):  # a duckdb relation
        data = data.to_arrow_table()
    try:
        frame = nw.from_native(data)
        frame = (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_pandas()
    except DuplicateError as repeated:
        raise DataError(several_of_one_name(repeated)) from repeated
    except TypeError as error:
        raise DataError(f"data is a {type(data).__name__}: pass a frame with named columns.") from error
    return frame.reset_index(drop=True)


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
