"""What a piece of work takes beside the memory that is there already: the peak, in a fresh child process."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def peak_of(work: Callable[[], Any]) -> float:
    """MB that the work adds at its peak; the child shares the rows with its parent and copies what it writes to."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        most, ended, begin = [0], Event(), _resident()

        def watch() -> None:
            while not ended.wait(0.001):
                most[0] = max(most[0], _resident())

        watcher = Thread(target=watch)
        watcher.start()
        try:
            work()
        finally:
            ended.set()
            watcher.join()
            os.write(writing, struct.pack("d", max(0, most[0] - begin) / 1e6))
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        found = answer.read()
    os.waitpid(child, 0)
    return float(struct.unpack("d", found)[0]) if found else float("nan")
