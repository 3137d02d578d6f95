"""Rounds in this process over more partitions than memory holds: one is in use, the others lie in a file.

Each preparation writes all partitions anew, the arrays of each beside its description. They come back with the arrays
mapped into memory, so that a round touches what it reads. The file has no name, and is gone with the process.
"""

from __future__ import annotations

import contextlib
import mmap
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from separatrix.atomic_write import unnamed_file
from separatrix.cluster.partitions import SourcePart
from separatrix.cluster.rounds import Failure, HeldPart, Join, Node, Progress, Rounds, Work, condensed

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
