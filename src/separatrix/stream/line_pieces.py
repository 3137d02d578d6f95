"""Pieces of text that end behind line ends, of bounded size whatever comes.

A line that is longer than ``limit`` is read over, and only its beginning is kept. Where rows may go over several lines,
``complete`` says how many bytes are whole rows, and the rest is held back until more has come.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.data.file_pieces import NEWLINE, Bytes, behind_last_line
from separatrix.stream.byte_sources import ANOTHER, END, SAME, TAIL, Feed, FileFeed

PIECE = 1 << 20  # bytes
LIMIT = 1 << 24  # bytes of a line
SHOWN = 200  # bytes of a line that is rejected
EMPTY = np.empty(0, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines, where they begin, and where to go on behind them; or one line that is too long or not whole."""

    text: Bytes
    begin: int  # bytes before it
    line: int  # number of its first line, from 1
    lines: int
    position: dict[str, Any]  # behind it, for a checkpoint
    fault: str | None = None  # why its only line is rejected


class LineReader:
    """The lines of a feed, piece by piece."""

    def __init__(self, feed: Feed, line: int = 1, limit: int = LIMIT) -> None:
        self.feed, self.limit = feed, limit
        self.begin, self.line = feed.offset, line
        self.sum = feed.sum  # CRC-32 of all bytes of a pipe before ``begin``
        self.rest = EMPTY
        self.complete: Callable[[Bytes, int, bool], int] | None = None
        self.held = False  # whether the rest has whole lines

    def __iter__(self) -> Iterator[Piece]:
        while True:
            size = max(PIECE, len(self.rest)) if not self.feed.live else PIECE
            room = np.empty(len(self.rest) + size, dtype=np.uint8)
            room[: len(self.rest)] = self.rest
            known = len(self.rest)
            got = self.feed.readinto(memoryview(room)[known:])  # type: ignore[arg-type]  # an array has a buffer
            if not got:
                more = self.feed.more()
                if more in (ANOTHER, END):
                    yield from self._last()
                    if more == END:
                        return
                    self.begin, self.line = 0, 1
                continue
            room = room[: known + got]
            cut = behind_last_line(room, 0 if self.held else known)
            whole = cut
            if cut and self.complete is not None:
                cut = self.complete(room[:whole], len(room) - whole, False)
                self.held = cut < whole
            if cut:
                self.rest = room[cut:].copy()
                yield self._piece(room[:cut])
            elif len(room) > self.limit:
                yield from self._read_over(room)
            else:
                self.rest = room
            if len(self.rest) > self.limit:
                yield from self._read_over(self.rest)

    def _piece(self, text: Bytes, fault: str | None = None) -> Piece:
        lines = 1 if fault else kernels.count_byte(text, NEWLINE) + int(text[-1] != NEWLINE)
        self._pass(text)
        return self._made(text, len(text), lines, fault)

    def _made(self, text: Bytes, size: int, lines: int, fault: str | None) -> Piece:
        line = self.line + lines
        position = {**self.feed.position(self.begin + size, text[-TAIL:].tobytes(), self.sum), "line": line}
        made = Piece(text, self.begin, self.line, lines, position, fault)
        self.begin, self.line = self.begin + size, line
        return made

    def _pass(self, text: Bytes) -> None:
        if not isinstance(self.feed, FileFeed):
            self.sum = zlib.crc32(text, self.sum)  # type: ignore[arg-type]  # arrays are buffers

    def _last(self) -> Iterator[Piece]:
        """A last line without a line end: a row of a file, but cut off where it comes from a pipe."""
        cut = behind_last_line(self.rest, 0) if self.held and not isinstance(self.feed, FileFeed) else 0
        if cut:
            text, self.rest = self.rest[:cut], self.rest[cut:]
            yield self._piece(text)
        self.held = False
        if len(self.rest):
            whole = isinstance(self.feed, FileFeed)
            yield self._piece(self.rest, None if whole else "the stream ended within this row")
        self.rest = EMPTY

    def _read_over(self, start: Bytes) -> Iterator[Piece]:
        """A line that is too long, to its end."""
        size, room = len(start), np.empty(PIECE, dtype=np.uint8)
        fault, shown, last = f"the line is longer than {self.limit:,} bytes", start[:SHOWN].copy(), start[-TAIL:].copy()
        self._pass(start)
        self.rest = EMPTY
        while True:
            got = self.feed.readinto(memoryview(room))  # type: ignore[arg-type]  # arrays are buffers
            found = np.flatnonzero(room[:got] == NEWLINE)[:1]
            at = int(found[0]) + 1 if len(found) else got
            self._pass(room[:at])
            size, last = size + at, np.concatenate([last, room[:at]])[-TAIL:]
            more = SAME if got else self.feed.more()
            if not len(found) and more == SAME:
                continue
            self.rest = room[at:got].copy()
            made = self._made(last, size, 1, fault)
            yield replace(made, text=shown)
            if more == ANOTHER:
                self.begin, self.line = 0, 1
            cut = behind_last_line(self.rest, 0)
            if cut:
                text, self.rest = self.rest[:cut], self.rest[cut:].copy()
                yield self._piece(text)
            return
