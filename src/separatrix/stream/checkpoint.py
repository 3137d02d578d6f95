"""Checkpoints: written atomically, with a checksum, the last few kept.

A file is a mark, a SHA-256 over the rest, the length of a JSON header, the header, and arrays behind each other. The
newest has the name that was asked for; those before it end in ``.1`` and ``.2``. A file that is cut off or changed is
seen by its checksum, and the one before it is used. A snapshot is taken between two chunks, and written while the next
ones are learned.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.atomic_write import naming, sync_folder, whole_file
from separatrix.errors import CheckpointError
from separatrix.persistence.object_state import pack, unpack
from separatrix.stream.outputs import Output

MARK = b"SEPXSTREAM 1\n"
GENERATIONS = 3
LIMIT = 1 << 32  # bytes of a checkpoint


class FoundCheckpoint(NamedTuple):
    """A checkpoint that was read, its file, and what was wrong with newer ones."""

    state: dict[str, Any]
    path: Path
    refused: list[str]


def to_bytes(state: dict[str, Any]) -> list[bytes | memoryview]:
    """The pieces of a checkpoint file."""
    arrays: dict[str, NDArray[Any]] = {}
    packed = pack(state, arrays)
    shapes = {name: [a.dtype.str, list(a.shape)] for name, a in arrays.items()}
    header = json.dumps({"state": packed, "arrays": shapes}, separators=(",", ":")).encode()
    body: list[bytes | memoryview] = [len(header).to_bytes(8, "little"), header]
    body += [memoryview(a.reshape(-1).view(np.uint8)) for a in arrays.values() if a.size]  # type: ignore[arg-type]  # buffers
    digest = hashlib.sha256()
    for piece in body:
        digest.update(piece)
    return [MARK, digest.digest(), *body]


def from_bytes(content: bytes) -> dict[str, Any]:
    """The state of a checkpoint; an error that says what is wrong with it."""
    start = len(MARK) + 32
    if not content.startswith(MARK):
        raise CheckpointError("it is not a checkpoint of this version")
    if hashlib.sha256(memoryview(content)[start:]).digest() != content[len(MARK) : start]:
        raise CheckpointError("its checksum does not match: it was cut off or changed")
    size = int.from_bytes(content[start : start + 8], "little")
    at = start + 8 + size
    header = json.loads(content[start + 8 : at])
    arrays = {}
    for name, (dtype, shape) in header["arrays"].items():
        kind, count = np.dtype(dtype), int(np.prod(shape, dtype=np.int64))
        arrays[name] = np.frombuffer(content, dtype=kind, count=count, offset=at).reshape(shape)
        at += count * kind.itemsize
    state = unpack(header["state"], arrays)
    if not isinstance(state, dict):
        raise CheckpointError("it does not hold the state of a stream")
    return state


def generations(path: Path) -> list[Path]:
    """The files of the last checkpoints, the newest first."""
    return [path, *(path.with_name(f"{path.name}.{k}") for k in range(1, GENERATIONS))]


def write(path: Path, state: dict[str, Any]) -> None:
    """Write the next checkpoint; the ones before it move on, and at no moment is there none."""
    path = path.resolve()
    content = to_bytes(state)
    names = generations(path)
    with naming(path), whole_file(path) as beside:
        with beside.open("wb") as file:
            for piece in content:
                file.write(piece)
        if not _same_file(path, names[1]):  # the same: the run was killed right here, and the files have moved on
            for older, newer in zip(reversed(names[2:]), reversed(names[1:-1]), strict=True):
                with contextlib.suppress(FileNotFoundError):
                    os.replace(newer, older)
            with contextlib.suppress(FileNotFoundError):
                os.link(path, names[1])
    sync_folder(path.parent)


def read(path: Path) -> FoundCheckpoint | None:
    """The newest checkpoint that is whole; None where there is no file at all."""
    refused: list[str] = []
    for own in generations(path.resolve()):
        try:
            if own.stat().st_size > LIMIT:
                raise CheckpointError(f"it has more than {LIMIT:,} bytes")
            return FoundCheckpoint(from_bytes(own.read_bytes()), own, refused)
        except FileNotFoundError:
            continue
        except (CheckpointError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError) as error:
            refused.append(f"{own.name}: {str(error).rstrip('.')}")
    if refused:
        raise CheckpointError(f"no checkpoint can be read ({'; '.join(refused)}): start again without --resume.")
    return None


def _same_file(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except FileNotFoundError:
        return False


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
        """Whether it is time for a checkpoint; one that is still being written is not waited for.

        The first comes with the first rows: what ends a stream may come before the next is due.
        """
        if self.path is None or rows == self.rows or (self._thread is not None and self._thread.is_alive()):
            return False
        if not self.rows:
            return True
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
            write(path, state)
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
