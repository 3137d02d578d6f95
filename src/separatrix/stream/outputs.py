"""What a stream writes: a line for every row as it comes, and rejected lines with their place and reason.

A file can be cut back to where a checkpoint was made; a pipe cannot, and is written in small parts, so that a reader
who stops is waited for and a signal still ends the wait.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import CheckpointError
from separatrix.models.perceptron.arrivals import Judged
from separatrix.printable import printable
from separatrix.stream.line_pieces import Piece
from separatrix.stream.row_batches import Reject
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
                done = os.write(self.handle, left)
            else:
                self.stopping.wait(None, write=self.handle)
                done = os.write(self.handle, left[:SMALL])
            left = left[done:]
        self.offset += len(text)

    def sync(self) -> None:
        if self.regular:
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
