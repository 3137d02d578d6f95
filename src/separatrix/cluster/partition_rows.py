"""Rows in partitions, on workers or in this process, as a place of :mod:`separatrix.rows`: a pass is a round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import HeldPart
from separatrix.rows.protocol import Leaf, Pass, Rows, seen


class PartitionRows(Rows):
    """The rows of a source in partitions; each partition is a leaf, and its memo stays with it on the worker."""

    reread = 5.0  # a round takes milliseconds beside its work

    def __init__(self, source: EncodedSource, sparse: bool = False) -> None:
        self.rounds, self.n, self.d, self.sparse = source.rounds, source.n, source.d, sparse
        self.classes = 0 if source.target.classes is None else len(source.target.classes)

    def reduce(self, work: Pass, *given: Any) -> Any:
        return writable(self.rounds.reduce(name_of(work.of, given), on_part, work.of, *given, join=work.join))

    def gather(self, of: Callable[..., Any], *given: Any) -> Iterator[Any]:
        return iter([writable(own) for own in self.rounds.gather(name_of(of, given), on_part, of, *given)])


def on_part(part: HeldPart, of: Callable[..., Any], *given: Any) -> Any:
    """A function of a leaf on a partition."""
    leaf = part.memo.get("leaf")
    if leaf is None or leaf.X is not part.X:
        classes = part.y is not None and part.y.dtype.kind == "i"
        codes, targets = (part.y, None) if classes else (None, part.y)
        leaf = part.memo["leaf"] = Leaf(part.X, part.first_row, codes, targets, part.weights)
    return of(leaf, *given)


def name_of(of: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """What a round of this function is called."""
    return str((given[1] if of is seen else of).__name__).replace("_", " ").strip()


def writable(value: Any) -> Any:
    """Numbers that came from a worker may not be written to: a copy of those."""
    if isinstance(value, tuple):
        return tuple(map(writable, value))
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    return value.copy() if hasattr(value, "flushed") else value
