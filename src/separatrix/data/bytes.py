"""The bytes of a file as an array: mapped into memory where the file is plain, unpacked where it is gzipped."""

from __future__ import annotations

import gzip
import mmap
import os
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError

Bytes = NDArray[np.uint8]
NEWLINE = 10


def bytes_of(path: str | os.PathLike[str]) -> Bytes:
    """All bytes of a file; a plain file is not read before it is looked at."""
    with Path(path).open("rb") as file:
        if file.read(2) == b"\x1f\x8b":
            file.seek(0)
            try:
                return np.frombuffer(gzip.decompress(file.read()), dtype=np.uint8)
            except (OSError, EOFError, zlib.error) as broken:
                raise DataError(f"{Path(path).name} is a gzip file that cannot be unpacked: {broken}.") from broken
        if not os.fstat(file.fileno()).st_size:
            raise DataError(f"{Path(path).name} is empty: nothing to learn from.")
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)


def slices(text: Bytes, size: int, begin: int = 0) -> list[tuple[int, int]]:
    """Bounds of consecutive pieces of about ``size`` bytes that end behind line ends."""
    bounds, at = [], begin
    while at < len(text):
        end = min(at + size, len(text))
        while end < len(text) and text[end - 1] != NEWLINE:
            found = np.flatnonzero(text[end : end + 65536] == NEWLINE)
            end = end + int(found[0]) + 1 if len(found) else min(end + 65536, len(text))
        bounds.append((at, end))
        at = end
    return bounds


def line_at(text: Bytes, at: int) -> tuple[int, str]:
    """The number of the line (from 1) that holds a byte, and its words there."""
    number = kernels.count_byte(text[:at], NEWLINE) + 1
    word = text[at : at + 200].tobytes().split()
    return number, word[0].decode("utf-8", "replace")[:40] if word else ""


def workers() -> int:
    """How many threads may run: the processors that this process is given."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
