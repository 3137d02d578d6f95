"""Numbers read as the decimals they print as: 5.1 is 51/10, not the double next to it.

Points that are dependent in decimals are seldom dependent as doubles, so the two readings can differ in
their verdicts. Columns of at most 15 digits are multiplied by powers of ten and are then whole doubles,
for which everything else works as it is; longer ones are kept and made exact row by row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.exact_algebra import Row
from separatrix.proofs.lifted_rows import LiftedRows


def decimal_rows(X: Any, y: NDArray[np.int8], intercept: bool) -> LiftedRows:
    """The rows with every column times its power of ten, or the long way."""
    sparse = not isinstance(X, np.ndarray)
    values = np.asarray(X.data if sparse else X)
    columns = X.indices if sparse else np.broadcast_to(np.arange(X.shape[1]), X.shape)
    places = np.zeros(X.shape[1], dtype=np.int64)
    whole = np.rint(values)
    wrong = whole != values
    for k in range(1, 16):
        if not wrong.any():
            break
        at = np.unique(columns[wrong])
        places[at] = k
        mine = np.isin(columns, at)
        with np.errstate(over="ignore"):  # what overflows is no whole number below, and so a long decimal
            scaled = np.rint(values[mine] * 10.0**k)
        whole[mine] = scaled
        wrong[mine] = scaled / 10.0**k != values[mine]
    # Of at most 15 digits there is only one decimal that rounds to a given double: the printed one.
    if wrong.any() or float(np.abs(whole).max(initial=0.0)) >= 1e15:
        return LongDecimals(X, y, intercept)
    if sparse:
        table = X.copy()
        table.data = whole
    else:
        table = whole
    rows = LiftedRows(table, y, intercept)
    rows.unit = [10 ** int(k) for k in places] + [1] * int(intercept)
    return rows


class LongDecimals(LiftedRows):
    """Decimals of more than 15 digits: searched as doubles, proved as fractions."""

    def _exact(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        out = []
        for row in self.dense(ids).tolist():
            numbers = [Fraction(repr(v)) if v else Fraction(0) for v in row]
            m = math.lcm(*(q.denominator for q in numbers))
            out.append(([q.numerator * (m // q.denominator) for q in numbers], m))
        return out

    def signs(self, w: Sequence[int], ids: NDArray[np.int64] | None = None) -> NDArray[np.int8]:
        """The exact signs: by a bound on the rounding errors where it decides, else in integers."""
        ids = np.arange(self.n) if ids is None else ids
        top = max(map(abs, w)) or 1
        rounded = np.array([v / top for v in w])
        part = self.X[ids]
        with np.errstate(all="ignore"):
            constant = rounded[self.d] if self.intercept else 0.0
            s = part @ rounded[: self.d] + constant
            size = abs(part) @ np.abs(rounded[: self.d]) + abs(constant)
            sure = (np.abs(s) > (self.p + 8) * 2.0**-51 * size + 1e-290) & (size < 1e290)
        if any(v and not abs(r) > 1e-200 for v, r in zip(w, rounded.tolist(), strict=True)):
            sure[:] = False  # a number of w was rounded to zero, or nearly
        out = np.empty(len(ids), dtype=np.int8)
        out[sure] = np.sign(s[sure]) * self.y[ids[sure]]
        out[~sure] = self.signs_in_integers(w, ids[~sure])
        return out
