"""Files that appear whole or not at all: written beside their place, then moved there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside ``path`` to write to; it takes the place of ``path`` when the block ends well, and else goes."""
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
    """Bytes, whole or not at all."""
    with whole_file(path) as beside:
        beside.write_bytes(content)
