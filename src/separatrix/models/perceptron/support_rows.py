"""The rows that carry the weights of a kernel perceptron."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.perceptron.kernel_columns import norms2


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
