"""What a worker is: it holds partitions and runs functions on them, one at a time.

The same class is a Ray actor and, without Ray, an object of this process. A round sends a function of a
:class:`HeldPart` and its arguments; what a function needs to be repeated elsewhere is in its arguments or was prepared
by functions that a new worker repeats first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from separatrix.cluster.merge_tree import Join, Node, condensed
from separatrix.cluster.partitions import SourcePart

Work = Callable[..., Any]  # of a HeldPart and arguments


@dataclass(slots=True)
class HeldPart:
    """A partition and what was made of it: columns, then rows of numbers; ``memo`` may be emptied at any time."""

    partition: SourcePart
    table: Any = None  # Frame, Matrix, parsed svmlight lines, or None where there are no rows
    X: Any = None
    y: Any = None  # class numbers or targets
    weights: Any = None
    first_row: int = 0  # its number in the whole source
    memo: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """How many rows it has."""
        return 0 if self.X is None else int(self.X.shape[0])


@dataclass(frozen=True, slots=True)
class Failure:
    """What a function raised, by the number of the partition."""

    index: int
    error: Exception


class PartWorker:
    """Partitions, and functions run on them."""

    def __init__(self) -> None:
        self.parts: dict[int, HeldPart] = {}

    def pid(self) -> int:
        """The process that this worker is."""
        return os.getpid()

    def take(self, partitions: Sequence[SourcePart], prepared: Sequence[tuple[Work, tuple[Any, ...]]]) -> Any:
        """Hold partitions, prepared as the others are; None, or the first failure."""
        for partition in partitions:
            self.parts[partition.index] = HeldPart(partition)
        for work, arguments in prepared:
            for partition in partitions:
                try:
                    work(self.parts[partition.index], *arguments)
                except Exception as error:
                    return Failure(partition.index, error)
        return None

    def run(self, job: tuple[Work, tuple[Any, ...], Join[Any] | None], indices: Sequence[int], leaves: int) -> Any:
        """The results of a function by node of the tree: joined as far as these partitions go, or one a leaf."""
        work, arguments, join = job
        found: dict[Node, Any] = {}
        for index in indices:
            try:
                found[0, index] = work(self.parts[index], *arguments)
            except Exception as error:
                return Failure(index, error)
        return found if join is None else condensed(found, leaves, join)
