"""Rounds: one function on all partitions, its results in order or joined in the fixed tree."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

from separatrix.cluster.part_worker import Failure, Join, Node, PartWorker, Work, of_rows, root
from separatrix.cluster.partitions import SourcePart

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
