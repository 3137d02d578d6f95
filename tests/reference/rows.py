"""The rows of a table, dense or CSR, with the same verbs (native/separatrix/rows.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference import lanes


class Rows:
    """A view of a table's rows; values are read as Python floats, which are doubles."""

    def __init__(self, n: int, d: int) -> None:
        self.n = n
        self.d = d

    @staticmethod
    def dense(X: NDArray[Any]) -> Rows:
        return _Dense(X)

    @staticmethod
    def csr(value: NDArray[Any], column: NDArray[Any], start: NDArray[Any], d: int) -> Rows:
        return _Csr(value, column, start, d)

    @property
    def size(self) -> int:
        """How many numbers are stored"""
        raise NotImplementedError("Rows is abstract: use Rows.dense or Rows.csr")

    def part(self, begin: int, end: int) -> Rows:
        """Rows begin .. end"""
        raise NotImplementedError("Rows is abstract: use Rows.dense or Rows.csr")

    def row(self, i: int) -> NDArray[np.float64]:
        """x_i with all its zeros, as doubles"""
        raise NotImplementedError("Rows is abstract: use Rows.dense or Rows.csr")

    def dot(self, i: int, w: NDArray[np.float64]) -> float:
        """x_i . w"""
        raise NotImplementedError("Rows is abstract: use Rows.dense or Rows.csr")

    def axpy(self, a: float, i: int, w: NDArray[np.float64]) -> None:
        """w += a x_i"""
        raise NotImplementedError("Rows is abstract: use Rows.dense or Rows.csr")

    def norm2(self, i: int) -> float:
        """|x_i|^2"""
        raise NotImplementedError("Rows is abstract: use Rows.dense or Rows.csr")


class _Dense(Rows):
    def __init__(self, X: NDArray[Any]) -> None:
        super().__init__(*X.shape)
        self.X = X

    @property
    def size(self) -> int:
        return int(self.X.size)

    def part(self, begin: int, end: int) -> Rows:
        _need_range(self.n, begin, end)
        return _Dense(self.X[begin:end])

    def row(self, i: int) -> NDArray[np.float64]:
        return np.asarray(self.X[i], dtype=np.float64)

    def dot(self, i: int, w: NDArray[np.float64]) -> float:
        return lanes.dot(self.X[i].tolist(), w[: self.d].tolist(), 4)

    def axpy(self, a: float, i: int, w: NDArray[np.float64]) -> None:
        for k, x in enumerate(self.X[i].tolist()):
            w[k] = float(w[k]) + a * x

    def norm2(self, i: int) -> float:
        x = self.X[i].tolist()
        return lanes.dot(x, x, 4)


class _Csr(Rows):
    def __init__(self, value: NDArray[Any], column: NDArray[Any], start: NDArray[Any], d: int) -> None:
        _need_intact(value, column, start, d)
        super().__init__(len(start) - 1, d)
        self.value, self.column, self.start = value, column, start

    @property
    def size(self) -> int:
        return int(self.start[-1])

    def part(self, begin: int, end: int) -> Rows:
        _need_range(self.n, begin, end)
        first, last = self.start[begin], self.start[end]
        return _Csr(self.value[first:last], self.column[first:last], self.start[begin : end + 1] - first, self.d)

    def _row(self, i: int) -> tuple[list[float], list[int]]:
        part = slice(self.start[i], self.start[i + 1])
        return self.value[part].tolist(), self.column[part].tolist()

    def row(self, i: int) -> NDArray[np.float64]:
        out = np.zeros(self.d)
        value, column = self._row(i)
        out[column] = value
        return out

    def dot(self, i: int, w: NDArray[np.float64]) -> float:
        value, column = self._row(i)
        return lanes.dot(value, [float(w[c]) for c in column], 2)

    def axpy(self, a: float, i: int, w: NDArray[np.float64]) -> None:
        for x, c in zip(*self._row(i), strict=True):
            w[c] = float(w[c]) + a * x

    def norm2(self, i: int) -> float:
        value, _ = self._row(i)
        return lanes.dot(value, value, 2)


def _need_range(n: int, begin: int, end: int) -> None:
    if not 0 <= begin <= end <= n:
        raise ValueError("begin and end leave the rows")


def _need_intact(value: NDArray[Any], column: NDArray[Any], start: NDArray[Any], d: int) -> None:
    """Refuse arrays that would lead a kernel outside them."""
    if d < 0:
        raise ValueError("d must not be negative")
    if len(start) < 1 or start[0] != 0 or not 0 <= start[-1] <= min(len(value), len(column)):
        raise ValueError("the CSR arrays do not fit together: start must go from 0 to at most the stored numbers")
    lengths, stored = np.diff(start), column[: start[-1]]
    if (lengths < 0).any():
        raise ValueError("the CSR arrays do not fit together: start must not descend")
    if (lengths > d).any():
        raise ValueError("a row stores more numbers than there are columns: add up its duplicates")
    if len(stored) and not 0 <= stored.min() <= stored.max() < d:
        raise ValueError("column names a column that does not exist")
