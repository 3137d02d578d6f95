"""A worker: it holds partitions and runs functions on them, one at a time.

The same class is a Ray actor and, without Ray, an object of this process. A round sends a function of a
:class:`HeldPart` and its arguments; what a function needs to be repeated elsewhere is in its arguments or was prepared
by functions that a new worker repeats first.

Sums follow a fixed binary tree over the partitions, so that they have the same bits wherever leaves are computed.
Leaves are numbered in the order of the source. Node (l, k) joins the leaves from k 2^l on, 2^l of them or as many as
there are. A worker joins what it holds as far up as both halves are its own, and the driver joins the rest: the same
pairs are joined in the same order for any number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from separatrix.cluster.partitions import SourcePart

Value = TypeVar("Value")
Node = tuple[int, int]  # level, place
Join = Callable[[Value, Value], Value]


def condensed(nodes: Mapping[Node, Value | None], leaves: int, join: Join[Value]) -> dict[Node, Value | None]:
    """The same values in as few nodes as can be made of them; None is the value of nothing."""
    found = dict(nodes)
    for level in range(max(0, leaves - 1).bit_length()):
        for node in sorted(node for node in found if node[0] == level):
            if node not in found:
                continue
            place = node[1]
            beside = (level, place ^ 1)
            if (place ^ 1) << level >= leaves:
                found[level + 1, place // 2] = found.pop(node)
            elif beside in found:
                left, right = (found.pop((level, (place & ~1) + side)) for side in (0, 1))
                found[level + 1, place // 2] = joined(left, right, join)
    return found


def joined(left: Value | None, right: Value | None, join: Join[Value]) -> Value | None:
    """Two values as one, where one of them may be of nothing."""
    if left is None or right is None:
        return right if left is None else left
    return join(left, right)


def root(nodes: Mapping[Node, Value | None], leaves: int, join: Join[Value]) -> Value | None:
    """The value of all leaves."""
    found = condensed(nodes, leaves, join)
    if len(found) != 1:
        raise AssertionError("a node of the tree is missing")
    return next(iter(found.values()))


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

    @property
    def has_rows(self) -> bool:
        return self.table is not None if self.X is None else self.n > 0


def of_rows(part: HeldPart, work: Work, *arguments: Any) -> Any:
    """The result of a function on a partition; None for one without rows."""
    return work(part, *arguments) if part.has_rows else None


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
