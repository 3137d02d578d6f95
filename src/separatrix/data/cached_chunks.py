"""Chunks of rows for a cache, from the readers of files or from whatever gives (X, y), and their arrays on disk."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.delimited_table import DelimitedTable
from separatrix.data.file_kinds import kind_of
from separatrix.data.file_pieces import workers
from separatrix.data.frame import unknown_column
from separatrix.data.reading_plan import PLAIN, Reading
from separatrix.data.sparse_text import parts, vw_chunks
from separatrix.errors import DataError
from separatrix.validation import check_lengths, check_table

LETTERS = 64  # of a label


@dataclass(frozen=True, slots=True)
class Chunk:
    """Rows, dense or sparse (values, columns, ends of rows), and their labels."""

    labels: NDArray[Any]
    dense: Floats | None = None
    sparse: tuple[Floats, NDArray[np.int32], NDArray[Any]] | None = None
    features: int = 0
    zero: bool = False  # whether features are counted from 0, and columns therefore from -1
    weights: Floats | None = None


def chunks_of_file(path: Path, target: str | None, size: int) -> Iterator[Chunk]:
    """The rows of a file, piece by piece, by the native readers."""
    kind = kind_of(path)
    if kind == "svmlight":
        for part in parts(path, 1, size, workers()):
            if part.rows:
                sparse = (part.values, part.indices, part.ends)
                yield Chunk(part.labels, None, sparse, part.most, part.least == 0)
        return
    if kind == "vw":
        for X, y, weights in vw_chunks(path):
            yield Chunk(y, None, (X.data, X.indices, X.indptr[1:]), X.shape[1], False, weights)
        return
    yield from _delimited(path, target, size)


def _delimited(path: Path, target: str | None, size: int) -> Iterator[Chunk]:
    table = DelimitedTable([path], path.name, Reading())
    names, plain = table.plan.names, [own == PLAIN for own in table.plan.columns]
    if not table.plan.header or not all(plain):
        raise DataError(
            f"{path.name} is not an svmlight file, a file in Vowpal Wabbit's format, or a delimited file of plain "
            "numbers with names: pass chunks (X, y) instead."
        )
    if target is None:
        raise DataError(f"{path.name} has columns {', '.join(names[:8])}: pass target=, the one with the labels.")
    if target not in names:
        raise DataError(unknown_column(target, list(names), path.name))
    at, row = names.index(target), 0
    for rows in table.rows(size=size):
        gone = np.flatnonzero(np.isnan(rows.numbers).any(axis=1))
        if len(gone):
            at_row = f"row {row + int(gone[0]):,} (counted from 0)"
            raise DataError(f"{path.name} has an empty cell in {at_row}: drop the row or impute it.")
        row += rows.n
        yield Chunk(rows.numbers[:, at].copy(), np.ascontiguousarray(np.delete(rows.numbers, at, axis=1)))


def chunks_of_iterable(chunks: Iterable[tuple[Any, Any]]) -> Iterator[Chunk]:
    """Chunks that a caller gives, checked."""
    for X, y in chunks:
        table, own = check_table(X), _labels(y)
        check_lengths(table.n, len(own), "y")
        if table.sparse:
            yield Chunk(own, None, (table.X.data, table.X.indices, table.X.indptr[1:]), table.d)
        else:
            yield Chunk(own, np.asarray(table.X, dtype=np.float64))


def _labels(y: Any) -> NDArray[Any]:
    """Labels or targets as an array of one type: whole numbers, numbers, or short texts."""
    own = np.asarray(y)
    own = np.array(own.tolist()) if own.dtype.kind == "O" else own
    if own.ndim != 1 or own.dtype.kind not in "biufU":
        raise DataError(f"the labels of a chunk are {own.dtype} of shape {own.shape}: pass one number or text a row.")
    if own.dtype.kind == "U":
        if own.dtype.itemsize > 4 * LETTERS:
            raise DataError(f"a label has more than {LETTERS} letters: shorten it.")
        return own.astype(f"<U{LETTERS}")
    if own.dtype.kind == "f":
        if not np.isfinite(own).all():
            raise DataError("a label is NaN or infinite: leave its row out.")
        return own.astype(np.float64)
    return own.astype(np.int64)


STEP = 1 << 24  # bytes of an array that are looked at together


class Growth:
    """One array on its way to disk: a file, the bytes so far, and their CRC-32."""

    def __init__(self, path: Path, dtype: str) -> None:
        self.path, self.dtype = path, np.dtype(dtype)
        self.file = path.open("r+b")
        self.count = self.sum = 0

    def add(self, part: NDArray[Any]) -> None:
        raw = memoryview(np.ascontiguousarray(part, dtype=self.dtype).reshape(-1).view(np.uint8))  # type: ignore[arg-type]  # arrays are buffers
        self.file.write(raw)
        self.sum = zlib.crc32(raw, self.sum)
        self.count += len(raw) // self.dtype.itemsize

    def mapped(self) -> NDArray[Any]:
        """The array, read only."""
        self.file.flush()
        if not self.count:
            return np.empty(0, dtype=self.dtype)
        return np.asarray(np.memmap(self.file, dtype=self.dtype, mode="r", shape=(self.count,)))

    def shift(self) -> None:
        """Add one to all numbers: the features of this file begin at 0."""
        self.file.flush()
        array = np.memmap(self.file, dtype=self.dtype, mode="r+", shape=(self.count,))
        self.sum = 0
        for begin in range(0, self.count, STEP):
            array[begin : begin + STEP] += 1
            self.sum = zlib.crc32(array[begin : begin + STEP].tobytes(), self.sum)
        array.flush()


class Layout(NamedTuple):
    """What the arrays are."""

    kind: str  # dense or sparse
    rows: int
    features: int


def write_arrays(
    chunks: Iterator[Chunk], place: Callable[[str], Path], files: contextlib.ExitStack
) -> tuple[dict[str, Growth], Layout]:
    """All chunks, array by array; ``files`` closes what is opened."""
    arrays: dict[str, Growth] = {}
    rows, features, entries, kind, zero = 0, 0, 0, "", False
    for chunk in chunks:
        new = "dense" if chunk.dense is not None else "sparse"
        if kind and new != kind:
            raise DataError("some chunks are dense and some sparse: pass all in one way.")
        if not kind:
            names = {"labels": chunk.labels.dtype.str}
            names |= {"X": "<f8"} if new == "dense" else {"data": "<f8", "indices": "<i4", "indptr": "<i8"}
            names |= {} if chunk.weights is None else {"weights": "<f8"}
            for name, dtype in names.items():
                arrays[name] = Growth(place(name), dtype)
                files.enter_context(arrays[name].file)
            kind = new
            if kind == "sparse":
                arrays["indptr"].add(np.zeros(1, dtype=np.int64))
        if chunk.labels.dtype != arrays["labels"].dtype:
            raise DataError(f"labels are {chunk.labels.dtype} after {arrays['labels'].dtype}: use one type of label.")
        if chunk.dense is not None:
            if rows and chunk.dense.shape[1] != features:
                raise DataError(f"a chunk has {chunk.dense.shape[1]} columns after {features}.")
            features = chunk.dense.shape[1]
            arrays["X"].add(chunk.dense)
        elif chunk.sparse is not None:
            values, indices, ends = chunk.sparse
            arrays["data"].add(values)
            arrays["indices"].add(indices)
            arrays["indptr"].add(ends.astype(np.int64) + entries)
            entries += len(values)
            features, zero = max(features, chunk.features), zero or chunk.zero
        arrays["labels"].add(chunk.labels)
        if chunk.weights is not None:
            arrays["weights"].add(chunk.weights)
        rows += len(chunk.labels)
    if not rows:
        raise DataError("the source has no rows: nothing to learn from.")
    if zero:
        arrays["indices"].shift()
        features += 1
    return arrays, Layout(kind, rows, max(1, features))
