"""Scores of all rows of a table in the dual, brought up to date late and by blocks (native/separatrix/late_scores.hpp).

The native ones are kept in single precision, with a bound, where only signs are asked for. Here everything is
double: the answers are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from reference.dual import first_mistake, kernel_update
from reference.linear import first_nonfinite
from reference.rows import Rows
from separatrix.arrays import Floats, Labels


class LateScores:
    """s_i = sum over the entries (r, a) of a (k(x_r, x_i) + one)"""

    screened = False

    def __init__(
        self,
        X: Rows,
        norm2: Floats,
        kind: int,
        gamma: float,
        coef0: float,
        degree: int,
        one: float,
        screened: bool,
    ) -> None:
        self._fixed = (X, norm2, kind, gamma, coef0, degree)
        self.n = X.n
        self._one = one
        self._scores = np.zeros(X.n)
        self._rows: list[int] = []
        self._weights: list[float] = []
        self._applied: dict[int, int] = {}
        self.block = max(64, 2**15 // max(1, X.d))

    def another(self) -> LateScores:
        """The same rows, without entries."""
        return LateScores(*self._fixed, self._one, False)

    def add(self, i: int, a: float) -> None:
        """One more entry."""
        self._rows.append(i)
        self._weights.append(a)

    def next_mistake(self, y: Labels, begin: int, end: int, zero_is_mistake: bool) -> int:
        """The first row from ``begin`` on that is wrong, ``end`` if none is; all of one block."""
        self._catch_up(end - 1)
        return first_mistake(self._scores, y, None, begin, end, zero_is_mistake)

    def mistakes(self, y: Labels, begin: int, end: int, zero_is_mistake: bool) -> int:
        """How many of them are wrong."""
        count, t = 0, self.next_mistake(y, begin, end, zero_is_mistake)
        while t < end:
            count, t = count + 1, self.next_mistake(y, t + 1, end, zero_is_mistake)
        return count

    def exact(self, rows: NDArray[np.int64], out: Floats) -> None:
        """The scores of some rows in double."""
        for i in rows.tolist():
            self._catch_up(i)
        out[:] = self._scores[rows]

    def bounds(self, s: Floats, e: Floats) -> None:
        """All scores as they are known, and how far they may be from those in double."""
        self.exact(np.arange(len(s)), s)
        e[:] = 0.0

    def finite(self, begin: int, end: int) -> bool:
        """Whether the scores of some rows of a block are numbers, with all entries."""
        self._catch_up(end - 1)
        return first_nonfinite(self._scores[begin:end]) < 0

    def _catch_up(self, i: int) -> None:
        begin = i // self.block * self.block
        end, have = min(begin + self.block, self.n), self._applied.get(begin, 0)
        row, a = np.array(self._rows[have:], dtype=np.int64), np.array(self._weights[have:])
        kernel_update(*self._fixed, row, a, self._one, begin, end, self._scores)
        self._applied[begin] = len(self._rows)
