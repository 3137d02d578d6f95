"""Rounds: one function on all partitions, its results in order or joined in the fixed tree; the worker that runs it.

A worker: it holds partitions and runs functions on them, one at a time.

The same class is a Ray actor and, without Ray, an object of this process. A round sends a function of a
:class:`HeldPart` and its arguments; what a function needs to be repeated elsewhere is in its arguments or was prepared
by functions that a new worker repeats first.

Sums follow a fixed binary tree over the partitions, so that they have the same bits wherever leaves are computed.
Leaves are numbered in the order of the source. Node (l, k) joins the leaves from k 2^l on, 2^l of them or as many as
there are. A worker joins what it holds as far up as both halves are its own, and the driver joins the rest: the same
pairs are joined in the same order for any number of workers.

Rounds in this process over more partitions than memory holds: one is in use, the others lie in a file.

Each preparation writes all partitions anew, the arrays of each beside its description. They come back with the arrays
mapped into memory, so that a round touches what it reads. The file has no name, and is gone with the process.
"""

from __future__ import annotations

import contextlib
import logging
import mmap
import os
import pickle
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeVar

from separatrix.atomic_write import unnamed_file
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


LOG = logging.getLogger("separatrix.cluster")
Progress = Callable[[str, int, int], None]  # what is being done, the number of this round, rows of the source


class Rounds:
    """What is the same with and without Ray: bookkeeping, progress, the first failure by the order of the source.

    Attributes
    ----------
    count : rounds so far
    rows : rows of the source, once they are known
    """

    def __init__(self, partitions: Sequence[SourcePart], progress: Progress | None = None) -> None:
        self.partitions = list(partitions)
        self.prepared: list[tuple[Work, tuple[Any, ...]]] = []
        self.progress = progress
        self.count = self.rows = 0

    @property
    def leaves(self) -> int:
        return len(self.partitions)

    def map(self, what: str, work: Work, *arguments: Any) -> list[Any]:
        """The result of a function on each partition, in the order of the source."""
        found = self._round(what, (work, arguments, None))
        return [found[0, k] for k in range(self.leaves)]

    def gather(self, what: str, work: Work, *arguments: Any) -> list[Any]:
        """As :meth:`map`, of the partitions that have rows, where the result is not None."""
        return [own for own in self.map(what, of_rows, work, *arguments) if own is not None]

    def reduce(self, what: str, work: Work, *arguments: Any, join: Join[Any]) -> Any:
        """The results on all partitions that have rows, joined in the fixed tree."""
        return root(self._round(what, (of_rows, (work, *arguments), join)), self.leaves, join)

    def prepare(self, what: str, work: Work, *arguments: Any) -> list[Any]:
        """As :meth:`map`, for a function that changes what a partition holds: a new worker repeats it."""
        found = self.map(what, work, *arguments)
        self.prepared.append((work, arguments))
        return found

    def replace(self, partitions: Sequence[SourcePart]) -> None:
        """Other descriptions of the same partitions, before anything is prepared."""
        self.partitions = list(partitions)
        self._take()

    def _take(self) -> None:
        """Hand the partitions to the workers."""

    def close(self) -> None:
        """Let go of the workers; the cluster is as it was."""

    def _round(self, what: str, job: tuple[Work, tuple[Any, ...], Join[Any] | None]) -> dict[Node, Any]:
        started = time.perf_counter()
        self.count += 1
        if self.progress is not None:
            self.progress(what, self.count, self.rows)
        answers = self._answers(job)
        failures = sorted((a for a in answers if isinstance(a, Failure)), key=lambda failure: failure.index)
        if failures:
            raise failures[0].error
        LOG.info("round %d: %s, %.1f ms", self.count, what, 1e3 * (time.perf_counter() - started))
        return {node: value for answer in answers for node, value in answer.items()}

    def _answers(self, job: tuple[Work, tuple[Any, ...], Join[Any] | None]) -> list[Any]:
        """One answer of each worker: values by node, or a failure."""
        raise NotImplementedError("a kind of rounds runs them")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class LocalRounds(Rounds):
    """All partitions in this process, without Ray."""

    def __init__(self, partitions: Sequence[SourcePart], progress: Progress | None = None) -> None:
        super().__init__(partitions, progress)
        self.worker = PartWorker()
        self._take()

    def _take(self) -> None:
        self.worker.take(self.partitions, [])

    def _answers(self, job: tuple[Work, tuple[Any, ...], Join[Any] | None]) -> list[Any]:
        return [self.worker.run(job, range(self.leaves), self.leaves)]

    def close(self) -> None:
        self.worker.parts.clear()


ALIGNED = 64  # bytes: arrays begin at multiples of it


class PartsFile:
    """Partitions in one file, pickled by this process for itself."""

    def __init__(self, folder: Path) -> None:
        self.places: list[list[tuple[int, int]]] = []  # of each partition: its arrays, then the rest
        with contextlib.ExitStack() as files:
            path = files.enter_context(unnamed_file(folder))
            self.file: BinaryIO = files.enter_context(path.open("r+b"))
            self.files = files.pop_all()
        self.mapped: memoryview | None = None

    def add(self, part: HeldPart) -> None:
        """Write one more partition."""
        part.memo.clear()
        buffers: list[pickle.PickleBuffer] = []
        rest = pickle.dumps(part, protocol=5, buffer_callback=buffers.append)
        spans = []
        for content in (*(buffer.raw() for buffer in buffers), memoryview(rest)):
            self.file.write(bytes(-self.file.tell() % ALIGNED))
            spans.append((self.file.tell(), content.nbytes))
            self.file.write(content)
        self.places.append(spans)

    def read(self, index: int) -> HeldPart:
        """A partition, its arrays read only; all of them must have been written."""
        if self.mapped is None:
            self.file.flush()
            self.mapped = memoryview(mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ))
        whole = self.mapped
        *arrays, rest = (whole[begin : begin + size] for begin, size in self.places[index])
        part: HeldPart = pickle.loads(rest, buffers=arrays)
        return part

    def close(self) -> None:
        """Let go of the file; arrays that are in use stay readable."""
        self.mapped = None
        self.files.close()


class SpilledRounds(Rounds):
    """All partitions in this process, without Ray, one in memory at a time."""

    def __init__(self, partitions: Sequence[SourcePart], folder: Path, progress: Progress | None = None) -> None:
        super().__init__(partitions, progress)
        self.folder = folder
        self.old: PartsFile | None = None
        self.new: PartsFile | None = None

    def prepare(self, what: str, work: Work, *arguments: Any) -> list[Any]:
        self.new = PartsFile(self.folder)
        try:
            found = super().prepare(what, work, *arguments)
            self.old, self.new = self.new, self.old
            return found
        finally:
            if self.new is not None:
                self.new.close()
            self.new = None

    def _answers(self, job: tuple[Work, tuple[Any, ...], Join[Any] | None]) -> list[Any]:
        work, arguments, join = job
        found: dict[Node, Any] = {}
        for index in range(self.leaves):
            part = self.part(index)
            try:
                found[0, index] = work(part, *arguments)
            except Exception as error:
                return [Failure(index, error)]
            if self.new is not None:
                self.new.add(part)
            if join is not None:
                found = condensed(found, self.leaves, join)
        return [found]

    def part(self, index: int) -> HeldPart:
        """A partition as it was last prepared."""
        return HeldPart(self.partitions[index]) if self.old is None else self.old.read(index)

    def close(self) -> None:
        if self.old is not None:
            self.old.close()
        self.old = None
