"""What a stream writes: a line for every row as it comes, rejected lines with their place and reason, its status.

A file can be cut back to where a checkpoint was made; a pipe cannot, and is written in small parts, so that a reader
who stops is waited for and a signal still ends the wait.

One line that says how a stream is doing, with a small curve of its accuracy in braille dots.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.atomic_write import naming
from separatrix.errors import CheckpointError
from separatrix.models.perceptron.arrivals import Judged
from separatrix.printable import printable
from separatrix.stream.line_pieces import Piece
from separatrix.stream.row_batches import Reject
from separatrix.stream.scorecard import Scorecard
from separatrix.stream.stopping import Stopping

SMALL = 4096  # bytes that a pipe takes at once if it takes any (PIPE_BUF)
FLAGS = os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)


class Output:
    """Bytes to a file from a position on, or to a pipe or terminal."""

    def __init__(self, path: Path | None, stopping: Stopping, offset: int | None = None) -> None:
        self.path, self.stopping = path, stopping
        self.handle = os.dup(1) if path is None else os.open(path, FLAGS, 0o666)
        self.regular = stat.S_ISREG(os.fstat(self.handle).st_mode) and path is not None
        self.terminal = os.isatty(self.handle)  # which labels must not steer
        self.offset = 0
        if self.regular:
            size = os.fstat(self.handle).st_size
            if offset is not None and size < offset:
                raise CheckpointError(
                    f"{path} has {size:,} bytes, and the checkpoint was made at {offset:,}: it was changed since; "
                    "start again without --resume."
                )
            os.ftruncate(self.handle, offset or 0)
            self.offset = os.lseek(self.handle, offset or 0, os.SEEK_SET)

    @property
    def name(self) -> str:
        return "standard output" if self.path is None else str(self.path)

    def write(self, text: bytes) -> None:
        """All bytes, now."""
        if self.terminal:
            text = "\n".join(printable(line) for line in text.decode("utf-8", "replace").split("\n")).encode()
        left = memoryview(text)
        while left:
            if self.regular:
                size = len(left)
            else:
                self.stopping.wait(None, write=self.handle)
                size = SMALL
            with naming(self.name):
                done = os.write(self.handle, left[:size])
            left = left[done:]
        self.offset += len(text)

    def sync(self) -> None:
        if self.regular:
            with naming(self.name):
                os.fsync(self.handle)

    def close(self) -> None:
        os.close(self.handle)


def label_text(label: Any) -> str:
    """A label as it is written: whole numbers without a point."""
    if isinstance(label, (float, np.floating)):
        return str(int(label)) if label == int(label) else repr(float(label))
    return str(label).replace("\n", " ").replace("\r", " ")


def prediction_lines(judged: Judged, rejects: Sequence[Reject], scores: bool) -> bytes:
    """A line for every row, in order; an empty one where a line was rejected or nothing was known yet."""
    if judged.codes is None:
        lines = ["\n" if s != s else f"{s!r}\n" for s in judged.scores.tolist()]
    elif scores:
        names = [label_text(label) for label in judged.classes]
        pairs = zip(judged.codes.tolist(), judged.scores.tolist(), strict=True)
        lines = ["\n" if k < 0 else f"{names[k]}\t{'' if s != s else repr(s)}\n" for k, s in pairs]
    else:
        table = [*(f"{label_text(label)}\n" for label in judged.classes), "\n"]
        lines = [table[k] for k in judged.codes.tolist()]  # -1 is the last
    if rejects:
        mixed, at = [], 0
        for reject in rejects:
            mixed += [*lines[at : reject.rows_before], "\n"]
            at = reject.rows_before
        lines = mixed + lines[at:]
    return "".join(lines).encode()


def reject_lines(piece: Piece, rejects: Sequence[Reject]) -> bytes:
    """One JSON object a rejected line."""
    told = [
        json.dumps(
            {
                "line": piece.line + own.line,
                "byte": piece.begin + own.byte,
                "reason": own.reason,
                "text": own.text.decode("utf-8", "replace").rstrip("\r\n"),
            }
        )
        for own in rejects
    ]
    return "".join(f"{line}\n" for line in told).encode()


EVERY = 0.25  # seconds
CELLS = 16  # of the curve
LEFT, RIGHT = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)  # dots of a braille cell from below


def braille(values: Sequence[float], cells: int) -> str:
    """The last values, two in a cell, as dots of four heights between their least and greatest."""
    shown = list(values)[-2 * cells :]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    heights = [3 if high == low else round(3 * (v - low) / (high - low)) for v in shown]
    heights += [-1] * (len(heights) % 2)
    out = []
    for left, right in zip(heights[::2], heights[1::2], strict=True):
        out.append(chr(0x2800 + LEFT[left] + (RIGHT[right] if right >= 0 else 0)))
    return "".join(out)


def percent(share: float) -> str:
    """A share as a percentage that never rounds to 0% or 100% what is not."""
    text = f"{100 * share:.1f}%"
    if share < 1 and text == "100.0%":
        return ">99.9%"
    return "<0.1%" if share > 0 and text == "0.0%" else text


def rate(rows_per_second: float) -> str:
    if rows_per_second >= 1e6:
        return f"{rows_per_second / 1e6:.1f} M rows/s"
    return f"{rows_per_second / 1e3:.1f} k rows/s" if rows_per_second >= 1e3 else f"{rows_per_second:.0f} rows/s"


def describe(card: Scorecard, rows_per_second: float, rejected: int) -> str:
    """The line itself."""
    parts = [f"{card.rows:,} rows", rate(rows_per_second)]
    if card.regression:
        if len(card.recent):
            parts.append(f"last {len(card.recent):,}: rms error {np.sqrt(card.recent.mean()):.4g}")
    else:
        parts.append(f"{card.mistakes:,} mistakes")
        if len(card.recent):
            parts.append(f"last {len(card.recent):,}: {percent(1 - card.recent.mean())}")
            parts.append(braille((1 - card.curve.means()).tolist(), CELLS))
        if card.drift.count:
            parts.append(f"{card.drift.count} drift warning{'s' if card.drift.count > 1 else ''}")
    if rejected:
        parts.append(f"{rejected:,} rejected")
    return "  ".join(part for part in parts if part)


class StatusLine:
    """The line on a terminal, written over a few times a second; nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self.on = not quiet and sys.stderr.isatty()
        self._shown = 0.0
        self._rows, self._since = 0, time.monotonic()
        self._rate = 0.0

    def show(self, card: Scorecard, rejected: int) -> None:
        now = time.monotonic()
        if not self.on or now - self._shown < EVERY:
            return
        if now > self._since:
            self._rate = (card.rows - self._rows) / (now - self._since)
        self._rows, self._since, self._shown = card.rows, now, now
        width = shutil.get_terminal_size((80, 24)).columns
        sys.stderr.write(f"\r{describe(card, self._rate, rejected)[: width - 1]}\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.on and self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
