"""The bytes of a file in pieces that end behind line ends, gzipped or not, and work on pieces side by side.

Files in another encoding than UTF-8 are recognised and copied, since DuckDB reads UTF-8.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import gzip
import io
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
from separatrix.atomic_write import unnamed_file
from separatrix.errors import DataError, ParameterError

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


KEPT = contextlib.ExitStack()  # copies, until the process ends
atexit.register(KEPT.close)
UTF16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
BLOCK = 1 << 20
UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # in cp1252
CONTROLS = bytes(range(0x80, 0xA0))  # in latin-1; letters and signs in cp1252


def kept_bytes(blocks: Iterator[bytes]) -> Path:
    """A file of these bytes that is gone when the process ends: DuckDB reads files by name."""
    path = KEPT.enter_context(unnamed_file())
    with path.open("wb") as file:
        file.writelines(blocks)
    return path


def check_encoding(name: str) -> None:
    """Refuse a name that is not that of an encoding of text."""
    try:
        known = codecs.lookup(name)
        if getattr(known, "_is_text_encoding", True):
            return
    except (LookupError, ValueError):
        pass
    raise ParameterError(f"encoding is {name!r}, which is not known: usual ones are utf-8, cp1252, latin-1 and utf-16.")


def encoding_of(path: Path, name: str) -> str | None:
    """None for UTF-8, else the encoding that the bytes suggest."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    odd: set[int] = set()
    valid = True
    with opened(path) as file:
        for number, block in enumerate(_blocks(file)):
            if number == 0 and block.startswith(UTF16):
                return "utf-16"
            if block.isascii() and (not valid or not decoder.getstate()[0]):
                continue
            odd.update(block.translate(None, bytes(range(0x80))))
            try:
                if valid:
                    decoder.decode(block)
            except UnicodeDecodeError:
                valid = False
    if valid and not decoder.getstate()[0]:
        return None
    return _single_byte(odd, name)


def _single_byte(odd: set[int], name: str) -> str:
    """The encoding of text that is not UTF-8, by its bytes beyond ASCII."""
    if odd.intersection(UNDEFINED):
        raise DataError(f"{name} is not in UTF-8, and its bytes are not text in cp1252 or latin-1: pass encoding=.")
    return "cp1252" if odd.intersection(CONTROLS) else "latin-1"


def utf8_of(text: bytes, name: str, encoding: str | None) -> bytes:
    """Some lines of a file in UTF-8."""
    try:
        text.decode(encoding or "utf-8")
        return text if encoding is None else text.decode(encoding).encode()
    except UnicodeDecodeError:
        if encoding is not None:
            raise DataError(f"{name} is not in {encoding}: pass another encoding.") from None
    return text.decode(_single_byte(set(text.translate(None, bytes(range(0x80)))), name)).encode()


def as_utf8(path: Path, name: str, encoding: str) -> Path:
    """A copy of a file in UTF-8."""
    line = 1

    def blocks() -> Iterator[bytes]:
        nonlocal line
        with opened(path) as raw, io.TextIOWrapper(io.BufferedReader(raw), encoding=encoding, newline="") as text:
            while block := text.read(BLOCK):
                yield block.encode("utf-8", "replace")
                line += block.count("\n")

    try:
        return kept_bytes(blocks())
    except UnicodeError as wrong:
        said = "begins like UTF-16 and cannot be read as such" if encoding == "utf-16" else f"is not in {encoding}"
        reason = getattr(wrong, "reason", str(wrong))
        raise DataError(f"{name} {said} (from line {line} on: {reason}): pass another encoding.") from wrong


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block
