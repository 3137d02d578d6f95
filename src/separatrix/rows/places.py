"""Places in this process: a table in memory, dense or sparse, and pieces that are read anew in each pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from separatrix.arrays import Floats
from separatrix.rows.protocol import Leaf, Rows, View, leaf_rows, regrouped


class TableRows(Rows):
    """A dense array or a CSR matrix in memory (or mapped into it), whose leaves keep what passes have computed."""

    def __init__(
        self,
        X: Any,
        codes: Any = None,
        classes: int = 0,
        weights: Floats | None = None,
        offset: Floats | None = None,
        targets: Any = None,
    ) -> None:
        whole = Leaf(X, 0, codes, targets, weights, offset)
        self.whole, self.n, self.d, self.classes = whole, whole.n, whole.d, classes
        self.sparse, self.weighted, self.shifted = whole.sparse, weights is not None, offset is not None
        self.filled = X.nnz / max(1, self.n * self.d) if self.sparse else 1.0
        rows = leaf_rows(self.d, self.sparse)
        if self.n <= rows:
            self.kept = [whole]
        else:
            beside = whole.beside
            self.kept = [
                Leaf(X[own], own.start, *(None if v is None else v[own] for v in beside))
                for own in (slice(begin, begin + rows) for begin in range(0, self.n, rows))
            ]

    def leaves(self) -> list[Leaf]:
        return self.kept

    def reduce(self, work: Any, *given: Any) -> Any:
        if len(self.kept) == 1:
            return work.of(self.kept[0], *given)
        return super().reduce(work, *given)

    def view(self, view: View) -> TableRows:
        leaf = view.of(self.whole)
        classes = self.classes if view.against is None else 2
        return TableRows(leaf.X, leaf.codes, classes, leaf.weights, leaf.offset, leaf.targets)

    def take(self, stride: int) -> Leaf:
        return self.whole if stride == 1 else self.whole.part(slice(None, None, stride))


class PieceRows(Rows):
    """Rows that come in pieces of any sizes, made anew for each pass: a file, a cache, a generator."""

    keeps = False
    reread = 10.0  # parsing or reading a file once more, where a kernel is as fast as memory

    def __init__(
        self, pieces: Callable[[], Iterable[Leaf]], n: int, d: int, classes: int = 0, sparse: bool = False
    ) -> None:
        self.pieces, self.n, self.d, self.classes, self.sparse = pieces, n, d, classes, sparse

    def leaves(self) -> Iterable[Leaf]:
        return regrouped(self.pieces(), leaf_rows(self.d, self.sparse))
