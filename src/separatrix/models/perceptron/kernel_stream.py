"""The kernel perceptron on rows that pass by: support rows that all classes share, each class with its own weights.

As in class_vectors.py a phantom that sees every row as negative runs beside open classes, and a class
that appears late starts as its copy.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.class_labels import need_joining, with_class
from separatrix.models.perceptron.kernel_columns import Kernel, SupportRows, kernel_matrix, norms2
from separatrix.models.perceptron.kernel_dual import least_weight
from separatrix.validation import Table


@dataclass(slots=True)
class KernelStream:
    """DualState weights of every vector (``a``, one row per vector, the phantom last) over the support rows."""

    function: Kernel | Callable[[Any, Any], Any]
    open: bool
    classes: list[Any]
    support: SupportRows
    a: Floats
    one: float = 1.0
    zero_is_mistake: bool = True
    max_support: float = np.inf
    updates: int = 0
    visits: int = 0
    forgotten: int = 0

    @classmethod
    def begin(cls, function: Any, declared: list[Any] | None, support: SupportRows) -> Self:
        """No row seen: the phantom alone, or the vectors of the declared classes."""
        count = 1 if declared is None or len(declared) == 2 else len(declared)
        return cls(function, declared is None, declared or [], support, np.zeros((count, 0)))

    def copy(self) -> Self:
        """A copy, so that a chunk that fails leaves this as it was."""
        twin = copy(self)
        twin.classes, twin.a = list(self.classes), self.a.copy()
        twin.support = SupportRows.of(self.support.table()) if self.support.n else copy(self.support)
        return twin

    def shown(self) -> Floats:
        """The dual weights that predict."""
        if len(self.classes) == 2:
            return np.ascontiguousarray(self.a[1:2] if self.open else self.a)
        return np.ascontiguousarray(self.a[: len(self.classes)])

    def _is_mistake(self, score: float, own: bool) -> bool:
        """Whether a score is on the wrong side of its vector; zero by the tie rule, NaN always."""
        right = score > 0 if own else score < 0
        return not (right or (score == 0 and own and not self.zero_is_mistake))

    def learn(self, table: Table, labels: NDArray[Any], step: Floats | None) -> None:
        """One look at each row, in order."""
        names = labels.tolist()
        counted = [i for i in range(table.n) if step is None or step[i] > 0]
        for i in counted:
            if names[i] not in self.classes:
                need_joining(names[i], self.classes, self.open)
        all_norms = norms2(kernels.rows(table.X))
        for i in counted:
            if names[i] not in self.classes:
                self._join(names[i])
            values, columns = self._entries(table, i)
            scores = self._scores(table, i, float(all_norms[i]))
            own = self._own(names[i])
            moves = [k for k, s in enumerate(scores) if self._is_mistake(s, k == own)]
            self.visits += 1
            if not moves:
                continue
            self.support.append(values, columns, float(all_norms[i]))
            self.a = np.concatenate([self.a, np.zeros((len(self.a), 1))], axis=1)
            for k in moves:
                self._make_room(k)
                self.a[k, -1] = (1.0 if k == own else -1.0) * (1.0 if step is None else float(step[i]))
                self.updates += 1
            self._compact()

    def _own(self, label: Any) -> int:
        at = self.classes.index(label)
        return at - 1 if len(self.classes) == 2 and not self.open else at

    def _join(self, label: Any) -> None:
        self.classes = with_class(self.classes, label)
        at, phantom = self.classes.index(label), len(self.a) - 1
        self.a = self.a[[*range(at), phantom, *range(at, phantom + 1)]]

    def _entries(self, table: Table, i: int) -> tuple[Floats, NDArray[np.int64] | None]:
        """Row i in the layout of the support rows."""
        if not self.support.sparse:
            row = table.X[[i]].toarray()[0] if table.sparse else table.X[i]
            return row.astype(np.float64), None
        if not table.sparse:
            stored = np.flatnonzero(table.X[i])
            return table.X[i][stored].astype(np.float64), stored
        part = slice(table.X.indptr[i], table.X.indptr[i + 1])
        return table.X.data[part].astype(np.float64), table.X.indices[part].astype(np.int64)

    def _scores(self, table: Table, i: int, norm2: float) -> list[float]:
        if self.support.n == 0:
            return [0.0] * len(self.a)
        row = table.X[[i]]
        if not isinstance(self.function, Kernel):
            column = kernel_matrix(self.function, row, self.support.table())[0]
            return [float(s) for s in self.a @ (column + self.one)]
        out = np.empty((1, len(self.a)))
        known = self.support.view(), self.support.norm2[: self.support.n], np.ascontiguousarray(self.a)
        arguments = (*known, kernels.rows(row), np.array([norm2]))
        kernels.kernel_scores(*arguments, *self.function.arguments(), self.one, out)
        return [float(s) for s in out[0]]

    def _make_room(self, k: int) -> None:
        if np.count_nonzero(self.a[k]) >= self.max_support:
            self.a[k, least_weight(self.a[k], np.arange(self.a.shape[1]))] = 0.0
            self.forgotten += 1

    def _compact(self) -> None:
        """Drop rows without a weight, once they are half of all."""
        used = np.asarray(self.a.any(axis=0))
        if self.support.n >= 64 and 2 * np.count_nonzero(used) <= self.support.n:
            self.support, self.a = self.support.keep(used), np.ascontiguousarray(self.a[:, used])
