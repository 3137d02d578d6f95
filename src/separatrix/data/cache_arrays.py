"""The arrays of a cache on their way to disk: chunks appended to files, with a checksum of each."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.data.cached_chunks import Chunk
from separatrix.errors import DataError

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
