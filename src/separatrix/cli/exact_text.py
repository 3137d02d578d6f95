"""Whether the numbers that were read are those that a file says: a double holds about 16 digits of a cell.

The decimal reading is about the text of the cells, so a cell that is not the decimal its double prints as is refused.
The binary reading is about the doubles; where two different texts of a column become one of them, that is said.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from separatrix import checker
from separatrix.cli.certifiable_table import Certifiable
from separatrix.errors import DataError, RoundingWarning, warn_user

WHOLE = 2.0**53  # up to which different whole numbers are different doubles


def need_exact_text(rows: Certifiable, reading: str) -> None:
    """Refuse or warn of cells of a file that were rounded when they were read."""
    values = rows.X if isinstance(rows.X, np.ndarray) else rows.X.data
    large = float(np.abs(values).max(initial=0.0)) >= WHOLE
    if rows.file is None or not (large or reading == "decimal"):
        return
    text = checker.read_table(rows.file, rows.target, rows.names, "decimal")
    if len(text.whole) != values.size or text.scales is None:  # a sparse file's zeros: the checker compares the rest
        return
    columns = np.tile(np.arange(text.d), len(rows.X)) if isinstance(rows.X, np.ndarray) else rows.X.indices
    first: dict[tuple[int, float], tuple[int, int]] = {}
    for k, (j, value) in enumerate(zip(columns.tolist(), values.ravel().tolist(), strict=True)):
        m, places = text.whole[k], text.scales[j]
        if reading == "decimal" and Fraction(repr(value)) * 10**places != m:
            here = f"{_place(rows, k, j)} is {_written(m, places)}"
            raise DataError(
                f"{here}, which was read as {value!r}: the decimal reading needs the number that the cell says; "
                "subtract an offset from the column, or drop it (--drop)."
            )
        if reading != "decimal" and abs(value) >= WHOLE:
            before, at = first.setdefault((j, value), (m, k))
            if before != m:
                here = f"{_place(rows, k, j)} is {_written(m, places)}"
                there = f"{_place(rows, at, j)} is {_written(before, places)}"
                said = f"{there}, {here}: both are the double {value!r}, and the proof does not tell them apart."
                warn_user(said, RoundingWarning)
                return


def _place(rows: Certifiable, k: int, j: int) -> str:
    row = (
        k // rows.X.shape[1] if isinstance(rows.X, np.ndarray) else int(np.searchsorted(rows.X.indptr, k, "right")) - 1
    )
    name = f"column {j + 1}" if rows.names is None else f"column {rows.names[j]!r}"
    return f"{name} of row {row} (counted from 0)"


def _written(m: Any, places: int) -> str:
    return str(m) if not places else f"{m}e-{places}"
