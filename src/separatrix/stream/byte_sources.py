"""Where the bytes of a stream come from: a file, a file that grows, a pipe, a socket on this machine.

A feed is read until it has no more for now; ``more`` then says whether there will be more of the same, another file
in its place, or the end. ``position`` is what a checkpoint keeps, and ``go_to`` goes there again.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import socket
import stat
import sys
import zlib
from pathlib import Path
from typing import Any

from separatrix.data.conversions import local_file
from separatrix.data.file_pieces import gzipped
from separatrix.errors import CheckpointError, DataError, ParameterError
from separatrix.stream.stopping import POLL, Stopping

SAME, ANOTHER, END = "same", "another", "end"
PAUSE = 1.0  # seconds without a byte, after which the rows so far decide what the columns are
TAIL = 4096  # bytes before the position by which a file is known again
LOCAL = ("localhost", "127.0.0.1", "::1")


class FileFeed:
    """A file, from its beginning to its end; with ``follow`` also what is appended, and the file that replaces it.

    Standard input is a ``handle``, read from where it stands: its file may have no name any more.
    """

    sum = 0

    def __init__(self, path: Path, follow: bool, stopping: Stopping, handle: int | None = None) -> None:
        self.path, self.follow, self.stopping = path, follow, stopping
        self.live = follow
        self.notes: list[str] = []
        if handle is None and not path.exists():
            raise DataError(f"there is no file {path}.")
        if handle is None and path.is_dir():
            raise DataError(f"{path} is a folder: name a file.")
        start = os.lseek(handle, 0, os.SEEK_CUR) if handle is not None else 0
        self.packed = gzipped(path) if handle is None else os.pread(handle, 2, start) == b"\x1f\x8b"
        if self.packed and follow:
            raise ParameterError(f"{path.name} is gzipped, which cannot be followed: leave --follow out.")
        self.file = self._open(path if handle is None else handle)
        self.begun = start
        self.offset = 0 if self.packed else start

    def _open(self, place: Path | int) -> Any:
        self.raw = io.FileIO(place, "rb")
        return gzip.open(self.raw) if self.packed else self.raw

    def readinto(self, room: memoryview) -> int:
        try:
            got = self.file.readinto(room) or 0
        except (OSError, EOFError, zlib.error) as broken:
            if self.packed:
                raise DataError(f"{self.path.name} is a gzip file that cannot be unpacked: {broken}.") from broken
            raise
        self.offset += got
        return got

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes of the stream, and whether nothing follows; a file that grows is waited for."""
        if self.packed:
            packed = os.pread(self.raw.fileno(), size, self.begun)
            return zlib.decompressobj(31).decompress(packed, size), False
        while True:
            start = os.pread(self.file.fileno(), size, self.offset)
            if len(start) == size or not self.follow:
                return start, len(start) < size
            if start.count(b"\n") > 1:
                self.stopping.wait(PAUSE)
                return os.pread(self.file.fileno(), size, self.offset), False
            self.stopping.wait(POLL)
            self.stopping.idle()

    def more(self) -> str:
        """Wait for what comes after the end."""
        while self.follow:
            now = os.fstat(self.file.fileno())
            if now.st_size > self.offset:
                return SAME
            if now.st_size < self.offset:
                self.notes.append(f"{self.path.name} was truncated: reading on from its beginning")
                self.file.seek(0)
                self.offset = 0
                return ANOTHER
            try:
                named = os.stat(self.path)
            except FileNotFoundError:
                named = now
            if (named.st_dev, named.st_ino) != (now.st_dev, now.st_ino):
                self.stopping.wait(POLL)  # the writer may not have noticed yet
                if os.fstat(self.file.fileno()).st_size > self.offset:
                    return SAME
                self.notes.append(f"{self.path.name} was replaced: reading on in the new file")
                self.file.close()
                self.file, self.offset = self._open(self.path), 0
                return ANOTHER
            self.stopping.wait(POLL)
            self.stopping.idle()
        return END

    def position(self, offset: int, tail: bytes, sum_: int) -> dict[str, Any]:
        own = os.fstat(self.file.fileno())
        return {
            "kind": "file",
            "inode": [own.st_dev, own.st_ino],
            "offset": offset,
            "tail": [len(tail), zlib.crc32(tail)],
        }

    def go_to(self, position: dict[str, Any]) -> None:
        if position["kind"] != "file":
            raise CheckpointError(f"the checkpoint is of a pipe or a socket, and {self.path} is a file.")
        if self.follow:
            self._find(position["inode"])
        offset, (length, expected) = position["offset"], position["tail"]
        self.file.seek(offset - length)
        tail = b""
        while len(tail) < length and (more := self.file.read(length - len(tail))):
            tail += more
        if zlib.crc32(tail) == expected and len(tail) == length:
            self.offset = offset
        elif self.follow:
            self.notes.append(
                f"{self.path.name} was replaced or truncated meanwhile, and the rest of what was being read is gone: "
                "reading on from the beginning of what is there now"
            )
            self.file.seek(0)
        else:
            raise CheckpointError(
                f"{self.path} is not the file of the checkpoint: the {length:,} bytes before position {offset:,} "
                "differ; start again without --resume."
            )

    def _find(self, inode: list[int]) -> None:
        """The file that was being read, which may have another name by now."""
        own = os.fstat(self.file.fileno())
        if [own.st_dev, own.st_ino] == inode:
            return
        for beside in sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}*")):
            found = beside.stat()
            if [found.st_dev, found.st_ino] == inode:
                self.notes.append(f"{self.path.name} was replaced meanwhile: reading the rest of {beside.name} first")
                self.file.close()
                self.file = self._open(beside)
                return

    def close(self) -> None:
        self.file.close()
        self.raw.close()


class PipeFeed:
    """Bytes that pass by once: a checkpoint counts them, and what is sent again is skipped and compared."""

    live = True

    def __init__(self, handle: int, name: str, stopping: Stopping) -> None:
        self.handle, self.name, self.stopping = handle, name, stopping
        self.notes: list[str] = []
        self.offset = 0
        self.sum = 0  # CRC-32 of the bytes that were skipped
        self.start = b""  # read beforehand

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes of the stream, and whether nothing follows: all that comes until nothing does for a while."""
        while len(self.start) < size:
            if self.start.count(b"\n") > 1 and not self.stopping.wait(PAUSE, read=self.handle):
                return self.start, False
            self.stopping.wait_to_read(self.handle)
            got = os.read(self.handle, size - len(self.start))
            if not got:
                return self.start, True
            self.start += got
        return self.start, False

    def readinto(self, room: memoryview) -> int:
        if self.start:
            got = min(len(room), len(self.start))
            room[:got], self.start = self.start[:got], self.start[got:]
            self.offset += got
            return got
        self.stopping.wait_to_read(self.handle)
        got = os.readv(self.handle, [room])
        self.offset += got
        return got

    def more(self) -> str:
        return END

    def position(self, offset: int, tail: bytes, sum_: int) -> dict[str, Any]:
        return {"kind": "pipe", "offset": offset, "sum": sum_}

    def go_to(self, position: dict[str, Any]) -> None:
        if position["kind"] != "pipe":
            raise CheckpointError(f"the checkpoint is of a file, and the source is {self.name}: pass the file again.")
        room = memoryview(bytearray(1 << 20))
        left = position["offset"]
        while left:
            self.stopping.wait_to_read(self.handle)
            got = os.readv(self.handle, [room[: min(left, len(room))]])
            if not got:
                raise CheckpointError(
                    f"{self.name} ended {left:,} bytes before the position of the checkpoint: send all rows again, "
                    "from the first."
                )
            self.sum = zlib.crc32(room[:got], self.sum)
            left -= got
        if self.sum != position["sum"]:
            raise CheckpointError(
                f"the first {position['offset']:,} bytes of {self.name} are not those that were learned from: send "
                "the same rows again, from the first, or start without --resume."
            )
        self.offset = position["offset"]

    def close(self) -> None:
        os.close(self.handle)


Feed = FileFeed | PipeFeed


def feed_of(source: str, follow: bool, stopping: Stopping) -> Feed:
    """``-``, ``unix:PATH``, ``tcp:HOST:PORT`` on this machine, or a file (also a named pipe)."""
    if source.startswith(("unix:", "tcp:")):
        if follow:
            raise ParameterError("--follow is for files: a socket is read until its sender closes it.")
        return PipeFeed(_connected(source).detach(), source, stopping)
    if source == "-":
        handle = os.dup(sys.stdin.fileno())
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return FileFeed(Path("/dev/stdin").resolve(), follow, stopping, handle)
        return PipeFeed(handle, "standard input", stopping)
    path = Path(source if follow else local_file(source))
    if path.exists() and not path.is_file() and not path.is_dir():
        return PipeFeed(os.open(path, os.O_RDONLY), str(path), stopping)
    return FileFeed(path, follow, stopping)


def _connected(source: str) -> socket.socket:
    kind, _, place = source.partition(":")
    try:
        if kind == "unix":
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                made.connect(place)
            except OSError:
                made.close()
                raise
            return made
        host, _, port = place.rpartition(":")
        host = host.strip("[]")
        if host not in LOCAL or not port.isdecimal():
            raise ParameterError(
                f"{source}: only sockets of this machine are read, written tcp:localhost:PORT or unix:PATH."
            )
        return socket.create_connection((host, int(port)))
    except (OSError, OverflowError) as error:
        raise DataError(f"{source} cannot be connected to: {getattr(error, 'strerror', None) or error}.") from error
