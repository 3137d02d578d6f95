"""Checkpoints beside the work: a snapshot is taken between two chunks, and written while the next ones are learned."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from separatrix.stream import checkpoint
from separatrix.stream.outputs import Output


class Saver:
    """When the next checkpoint is due, and the thread that writes it."""

    def __init__(self, path: Path | None, rows: int | None, seconds: float | None, outputs: list[Output]) -> None:
        self.path, self.every_rows, self.every_seconds, self.outputs = path, rows, seconds, outputs
        self.rows = 0  # of the last snapshot
        self.kept = 0  # of the last checkpoint that is on disk
        self.count = 0
        self.waited = 0.0  # seconds for which the stream stood still
        self._last = time.monotonic()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def due(self, rows: int) -> bool:
        """Whether it is time for a checkpoint; one that is still being written is not waited for."""
        if self.path is None or rows == self.rows or (self._thread is not None and self._thread.is_alive()):
            return False
        if self.every_rows is not None and rows - self.rows >= self.every_rows:
            return True
        return self.every_seconds is not None and time.monotonic() - self._last >= self.every_seconds

    def save(self, rows: int, snapshot: Callable[[], dict[str, Any]], wait: bool = False) -> None:
        """Take a snapshot and write it; an error of the writing before is raised here."""
        if self.path is None:
            return
        started = time.monotonic()
        self.finish()
        state = snapshot()
        self._thread = threading.Thread(target=self._write, args=(self.path, state, rows), daemon=False)
        self._thread.start()
        if wait:
            self.finish()
        self.rows, self._last = rows, time.monotonic()
        self.waited += self._last - started

    def _write(self, path: Path, state: dict[str, Any], rows: int) -> None:
        try:
            for output in self.outputs:  # what the checkpoint counts on is on disk before it
                output.sync()
            checkpoint.write(path, state)
            self.kept, self.count = rows, self.count + 1
        except BaseException as error:  # raised by the next save, or at the end
            self._error = error

    def finish(self) -> None:
        """Wait for what is being written."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error
