"""The bytes of a file in pieces that end behind line ends, gzipped or not, and work on pieces side by side."""

from __future__ import annotations

import gzip
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError

Bytes = NDArray[np.uint8]
Item = TypeVar("Item")
Result = TypeVar("Result")
NEWLINE = 10
PIECE = 1 << 22  # bytes
BACK = 1 << 16


def gzipped(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """A file to read bytes from, unpacked on the way where it is gzipped."""
    if not gzipped(path):
        with open(path, "rb", buffering=0) as file:
            yield file
        return
    try:
        with gzip.open(path, "rb") as file:
            yield file
    except (OSError, EOFError, zlib.error) as broken:
        raise DataError(f"{Path(path).name} is a gzip file that cannot be unpacked: {broken}.") from broken


def pieces(path: str | os.PathLike[str], *, size: int = PIECE, begin: int = 0, ring: int = 0) -> Iterator[Bytes]:
    """Arrays of about ``size`` bytes; all but the last end behind a line end.

    A line that is longer than ``size`` makes a longer piece. With ``ring`` the memory of a piece is written
    over after as many others. The file is read and not mapped, so that what was seen does not count as memory
    of this process.
    """
    slots = [np.empty(0, dtype=np.uint8)] * max(1, ring)
    with opened(path) as file:
        file.seek(begin)
        rest = np.empty(0, dtype=np.uint8)
        for turn in count():
            need, slot = len(rest) + max(size, len(rest)), turn % len(slots)
            if not ring or len(slots[slot]) < need:
                slots[slot] = np.empty(need + need // 8, dtype=np.uint8)
            room = slots[slot][:need]
            room[: len(rest)] = rest
            end = _fill(file, room, len(rest))
            if end < len(room):
                if end:
                    yield room[:end]
                return
            cut = behind_last_line(room, len(rest))
            rest = room[cut:].copy()
            if cut:
                yield room[:cut]


def _fill(file: Any, room: Bytes, at: int) -> int:
    view = memoryview(room)  # type: ignore[arg-type]  # an array has a buffer, which its type does not say
    while at < len(room):
        got = file.readinto(view[at:])
        if not got:
            break
        at += got
    return at


def behind_last_line(room: Bytes, searched: int) -> int:
    """Where the last line ends; 0 if no line does. There is no line end before ``searched``."""
    high = len(room)
    while high > searched:
        low = max(searched, high - BACK)
        found = room[low:high].tobytes().rfind(b"\n")
        if found >= 0:
            return low + found + 1
        high = low
    return 0


def line_at(path: str | os.PathLike[str], at: int) -> tuple[int, str]:
    """The number of the line (from 1) that holds a byte, and its word there."""
    number, seen = 1, 0
    for piece in pieces(path):
        if seen + len(piece) > at:
            word = piece[at - seen : at - seen + 200].tobytes().split()
            number += kernels.count_byte(piece[: at - seen], NEWLINE)
            return number, word[0].decode("utf-8", "replace")[:40] if word else ""
        number += kernels.count_byte(piece, NEWLINE)
        seen += len(piece)
    return number, ""


def in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """The results of some work on items, in their order; a few items are worked on side by side."""
    if threads == 1:
        yield from map(work, items)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Growing:
    """An array that grows at its end."""

    def __init__(self, dtype: Any) -> None:
        self._room: NDArray[Any] = np.empty(0, dtype=dtype)
        self.size = 0

    def add(self, part: NDArray[Any], share: float = 1.0) -> None:
        """Append; ``share`` is the part of the whole that has then been seen, by which room is made for the rest."""
        end = self.size + len(part)
        if end > len(self._room):
            room = np.empty(max(int(1.02 * end / share), len(self._room) * 3 // 2), dtype=self._room.dtype)
            room[: self.size] = self.array
            self._room = room
        self._room[self.size : end] = part
        self.size = end

    @property
    def array(self) -> Any:
        return self._room[: self.size]


def workers() -> int:
    """How many threads may run: the processors that this process is given."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
