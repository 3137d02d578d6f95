"""Columns that count the rows: 1 to n, or 0 to n - 1, in file order or shuffled. They name rows and describe nothing.

In a table that is sorted by class such a column gives the target away; in any other it says nothing about new rows. A
table without other columns keeps it: the day of a trend counts the rows as well.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Column

FEWEST = 20  # rows: a few whole numbers are all different by chance


def counts_rows(values: NDArray[np.float64]) -> bool:
    """Whether each of 1 to n (or of 0 to n - 1) occurs once."""
    n = len(values)
    if n < FEWEST or values.min() not in (0, 1) or values.max() - values.min() != n - 1:
        return False  # also where a value is missing
    whole = values.astype(np.int64)
    return bool((whole == values).all()) and len(np.unique(whole)) == n


def counter(column: Column) -> str | None:
    """Why a column counts the rows, or None where it does not."""
    if column.kind not in ("integer", "number") or not counts_rows(column.values):
        return None
    return reason(column.values.min(), column.values.max(), column.name)


def reason(low: float, high: float, name: str) -> str:
    """As notes have it, behind the name of the column and "it"."""
    return f"counts the rows from {low:.0f} to {high:.0f} (--keep {name} uses it)"


def moments_of_a_counter(n: int, low: float, high: float, mean: float, squares: float) -> bool:
    """Whether whole numbers have the ends, the mean and the spread of 1 to n or 0 to n - 1.

    For rows that are not in one place; other whole numbers between the same ends have the same moments by rare chance.
    """
    if n < FEWEST or low not in (0, 1) or high - low != n - 1:
        return False
    wanted = n * (n * n - 1) / 12
    return abs(mean - (low + high) / 2) < 1e-9 * n and abs(squares - wanted) < 1e-9 * wanted
