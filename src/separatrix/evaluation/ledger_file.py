"""The file of the ledger: read whole, locked, cut back after a failed write, and brought to disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic, sleep

PATIENCE = 60.0  # seconds to wait for the process that holds the lock; an opening takes a few milliseconds


def read_all(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    while part := os.read(file, 2**20):
        parts.append(part)
    return b"".join(parts)


def lock(file: int) -> None:
    """Take the lock of an open file; the wait has a limit, since the process that holds it may be stopped."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, 2**30, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)
        return
    import fcntl

    end = monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as held:
            if monotonic() > end:
                raise OSError(held.errno, f"another process has held its lock for {PATIENCE:g} seconds") from held
            sleep(0.01)


def shorten(file: int, size: int) -> None:
    """Take back what was written of a line that did not fit."""
    try:
        os.ftruncate(file, size)
    except OSError:
        return  # a device, or a disk that is gone: the cut line is skipped when the ledger is read


def sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut (not possible on every system)."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
