"""Kernels, built in or brought by users, and the columns of their matrices; rows that carry weights."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, DataTypeError
from separatrix.validation import Table

KINDS = ("linear", "poly", "rbf")


@dataclass(frozen=True, slots=True)
class Kernel:
    """linear x.z, poly (gamma x.z + coef0)^degree, or rbf exp(-gamma |x - z|^2)."""

    kind: str
    gamma: float
    coef0: float
    degree: int

    def arguments(self) -> tuple[int, float, float, int]:
        return KINDS.index(self.kind), self.gamma, self.coef0, self.degree


def norms2(rows: kernels.Rows) -> Floats:
    """|x_i|^2 of all rows, which a kernel needs as numbers."""
    out = np.empty(rows.n)
    kernels.norms2(rows, out)
    if (row := kernels.first_nonfinite(out)) >= 0:
        raise DataError(f"X is so large at row {row} that its squared length overflows: scale the features.")
    return out


class KernelColumns(Protocol):
    """Where columns of the kernel matrix come from."""

    def column(self, i: int) -> Floats: ...


@dataclass(slots=True)
class NativeColumns:
    """Columns of a kernel that is built in."""

    rows: kernels.Rows
    kernel: Kernel
    norm2: Floats

    def column(self, i: int) -> Floats:
        out = np.empty(self.rows.n)
        kernels.kernel_column(self.rows, self.norm2, i, *self.kernel.arguments(), out)
        return out

    def late_scores(self, one: float) -> kernels.LateScores:
        """Scores of all rows that are brought up to date late."""
        return kernels.LateScores(self.rows, self.norm2, *self.kernel.arguments(), one, True)


@dataclass(slots=True)
class CachedColumns:
    """Columns that are remembered, the least recently used forgotten first."""

    source: KernelColumns
    most: int
    kept: OrderedDict[int, Floats] = field(default_factory=OrderedDict)

    def column(self, i: int) -> Floats:
        found = self.kept.get(i)
        if found is None:
            found = self.source.column(i)
            if self.most > 0:
                self.kept[i] = found
                if len(self.kept) > self.most:
                    self.kept.popitem(last=False)
        else:
            self.kept.move_to_end(i)
        return found


def kernel_matrix(function: Callable[[Any, Any], Any], A: Any, B: Any) -> Floats:
    """k(a, b) for all rows of A and B, and nothing else than finite numbers in that shape."""
    try:
        matrix = np.asarray(function(A, B), dtype=np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataTypeError(f"the kernel function did not return numbers: {error}.") from error
    if matrix.shape != (A.shape[0], B.shape[0]):
        raise DataError(
            f"the kernel function returned shape {matrix.shape} for {A.shape[0]} and {B.shape[0]} rows: "
            "it must return one number for each pair of rows."
        )
    if not np.isfinite(matrix).all():
        i, j = np.argwhere(~np.isfinite(matrix))[0]
        raise DataError(f"the kernel function returned {matrix[i, j]} for rows {i} and {j}: it must be finite.")
    return matrix


def need_square(table: Table) -> None:
    if table.n != table.d:
        raise DataError(
            f"X has shape ({table.n}, {table.d}), but a precomputed kernel matrix must be square: "
            "pass k(x_i, x_j) for all pairs of rows of the fit."
        )


@dataclass(slots=True)
class CallableColumns:
    """Columns that a function computes."""

    function: Callable[[Any, Any], Any]
    X: Any

    def column(self, i: int) -> Floats:
        return np.ascontiguousarray(kernel_matrix(self.function, self.X, self.X[[i]])[:, 0])


@dataclass(slots=True)
class MatrixColumns:
    """Columns of a matrix that is given."""

    X: Any

    def column(self, i: int) -> Floats:
        column = self.X[:, [i]]
        dense = column if isinstance(column, np.ndarray) else column.toarray()
        return np.ascontiguousarray(dense[:, 0], dtype=np.float64)


class SupportRows:
    """Rows that are appended one by one, dense or CSR, with their squared lengths."""

    def __init__(self, d: int, sparse: bool) -> None:
        self.d, self.sparse, self.n = d, sparse, 0
        self.values = np.empty(0)
        self.columns = np.empty(0, dtype=np.int64)
        self.starts = np.zeros(1, dtype=np.int64)
        self.norm2 = np.empty(0)

    @classmethod
    def of(cls, X: Any) -> SupportRows:
        """The rows of a checked table."""
        rows = cls(X.shape[1], not isinstance(X, np.ndarray))
        rows.n = X.shape[0]
        if rows.sparse:
            rows.values = X.data.astype(np.float64)
            rows.columns, rows.starts = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        else:
            rows.values = X.astype(np.float64).reshape(-1).copy()
            rows.starts = np.arange(rows.n + 1) * rows.d
        rows.norm2 = norms2(rows.view())
        return rows

    def view(self) -> kernels.Rows:
        used = int(self.starts[self.n])
        if self.sparse:
            return kernels.Rows.csr(self.values[:used], self.columns[:used], self.starts[: self.n + 1], self.d)
        return kernels.Rows.dense(self.values[:used].reshape(self.n, self.d))

    def append(self, values: Floats, columns: NDArray[np.int64] | None, norm2: float) -> None:
        used = int(self.starts[self.n])
        self.values = _with_room(self.values, used, values)
        if columns is not None:
            self.columns = _with_room(self.columns, used, columns)
        self.starts = _with_room(self.starts, self.n + 1, np.array([used + len(values)]))
        self.norm2 = _with_room(self.norm2, self.n, np.array([norm2]))
        self.n += 1

    def table(self) -> Any:
        """The rows as an array or a CSR matrix."""
        used = int(self.starts[self.n])
        if not self.sparse:
            return self.values[:used].reshape(self.n, self.d).copy()
        import scipy.sparse as sp

        parts = self.values[:used].copy(), self.columns[:used].copy(), self.starts[: self.n + 1].copy()
        return sp.csr_array(parts, shape=(self.n, self.d))

    def keep(self, mask: NDArray[np.bool_]) -> SupportRows:
        """The rows that the mask marks."""
        return SupportRows.of(self.table()[mask])


def _with_room(buffer: NDArray[Any], used: int, more: NDArray[Any]) -> NDArray[Any]:
    """The buffer with ``more`` behind its first ``used`` entries, grown by doubling."""
    need = used + len(more)
    if need > len(buffer):
        grown = np.empty(max(need, 2 * len(buffer), 16), dtype=buffer.dtype)
        grown[:used] = buffer[:used]
        buffer = grown
    buffer[used:need] = more
    return buffer
