"""Files that appear whole or not at all: written beside their place, then moved there."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


def is_special(path: Path) -> bool:
    """A pipe, a device, or a name of one such as /dev/stdout, which must not be replaced even where it is a file."""
    return path.exists() and (not path.is_file() or path.absolute().parts[1:2] in (("dev",), ("proc",)))


@contextlib.contextmanager
def special_file(path: Path) -> Iterator[BinaryIO]:
    """A pipe or a device to write to; /dev/stdout and its like go on where this process was writing."""
    named = re.fullmatch(r"/dev/(stdout|stderr|fd/(\d+))|/proc/self/fd/(\d+)", str(path))
    if named is None:
        with path.open("wb") as file:
            yield file
        return
    sys.stdout.flush()
    number = {"stdout": 1, "stderr": 2}.get(named[1]) or int(named[2] or named[3])
    with os.fdopen(os.dup(number), "wb") as file:
        yield file


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` when the block ends well, and else goes.

    Where ``path`` is a link, what it points to is replaced.
    """
    path = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        yield Path(name)
        with open(name, "rb") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Bytes, whole or not at all; straight into a pipe or a device."""
    if is_special(path):
        with special_file(path) as file:
            file.write(content)
        return
    with whole_file(path) as beside:
        beside.write_bytes(content)
