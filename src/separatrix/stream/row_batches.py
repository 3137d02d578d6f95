"""The rows of a piece of text, and the lines that could not be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.file_pieces import Bytes
from separatrix.data.row_files import csr_rows

SHOWN = 200  # characters of a line in the reject file


class Reject(NamedTuple):
    """A line that is left out: how many rows of its piece come before it, its byte and line there, and why."""

    rows_before: int
    byte: int
    line: int
    reason: str
    text: bytes


@dataclass(slots=True)
class SparseRows:
    """Rows as they are written, columns by feature number."""

    ends: NDArray[np.int32]
    indices: NDArray[np.int32]
    values: Floats
    labels: NDArray[Any]
    labelled: NDArray[np.bool_] | None = None  # None: all
    weights: Floats | None = None
    rejects: list[Reject] = field(default_factory=list)
    least: int | None = None  # feature number
    most: int = -1

    @property
    def n(self) -> int:
        return len(self.ends)

    def matrix(self, width: int) -> Any:
        return csr_rows(self.values, self.indices, self.ends, width)


@dataclass(slots=True)
class ReadRows:
    """Rows of cells: numbers with codes of texts beside them, or dicts of numbers, texts and missing values."""

    labels: NDArray[Any]
    labelled: NDArray[np.bool_] | None
    numbers: Floats | None = None
    cells: list[dict[str, Any]] | None = None
    codes: NDArray[np.int32] | None = None  # of texts, -1 where one is missing
    levels: list[list[str]] = field(default_factory=list)
    numeric: list[str] = field(default_factory=list)  # names of the columns
    words: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)  # of both, as in the file
    rejects: list[Reject] = field(default_factory=list)
    weights: Floats | None = None

    @property
    def n(self) -> int:
        return len(self.labels)


Rows = SparseRows | ReadRows


def lines_of(text: Bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, first byte and bytes of every line, without its line end."""
    at = 0
    raw = text.tobytes()
    lines = raw.split(b"\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1]):
        yield number, at, line
        at += len(line) + 1
