"""Files written atomically: they appear complete or not at all, and leave nothing behind.

Where the system allows (Linux), a file is written without a name and linked to its place when it is complete, so
that even a killed process leaves nothing. Elsewhere it is written beside its place under a temporary name.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
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
def naming(path: Path | str) -> Iterator[None]:
    """Name the file or folder in errors of the system that do not, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextlib.contextmanager
def unnamed_file(folder: Path | str | None = None) -> Iterator[Path]:
    """A path to an empty file that is gone when the block, or the process, ends."""
    folder = tempfile.gettempdir() if folder is None else folder
    handle = _without_name(folder)
    if handle is not None:
        try:
            yield _path_of(handle)
        finally:
            os.close(handle)
        return
    handle, name = tempfile.mkstemp(prefix=".separatrix-", dir=folder)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to, whose content becomes that of ``path`` when the block ends without an error.

    Where ``path`` is a link, what it points to is replaced.
    """
    path = path.resolve()
    with unnamed_file(path.parent) as written:
        yield written
        handle = os.open(written, os.O_RDWR)
        try:
            os.fsync(handle)
            os.chmod(written, 0o666 & ~_umask())
            _put(written, path)
        finally:
            os.close(handle)


def write_whole(path: Path, content: bytes) -> None:
    """Write bytes atomically; straight into a pipe or a device."""
    if is_special(path):
        with special_file(path) as file:
            file.write(content)
        return
    with whole_file(path) as beside:
        beside.write_bytes(content)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut (not possible on every system)."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _without_name(folder: Path | str) -> int | None:
    """A new file in a folder without a name in it; None where the system has no such files."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR, 0o600)
    except (IsADirectoryError, FileNotFoundError, NotImplementedError):  # how old kernels refuse
        return None
    except OSError as error:
        if error.strerror == os.strerror(95):  # EOPNOTSUPP: a file system without them
            return None
        raise


def _path_of(handle: int) -> Path:
    return Path(f"/proc/self/fd/{handle}")


def _put(written: Path, path: Path) -> None:
    """Give a complete file its name, in the place of what had it."""
    if written.parent == path.parent:
        os.replace(written, path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with contextlib.suppress(FileExistsError):
            os.link(written, path.name, dst_dir_fd=folder)  # with dst_dir_fd, the link in /proc is followed
            return
        beside = f".{path.name[:200]}.{secrets.token_hex(4)}"  # unlike what a killed process left
        os.link(written, beside, dst_dir_fd=folder)
        try:
            os.replace(beside, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.unlink(beside, dir_fd=folder)
            raise
    finally:
        os.close(folder)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
