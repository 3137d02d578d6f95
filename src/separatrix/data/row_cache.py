"""Rows of a file larger than memory as memory-mapped arrays, made in one pass: every learner and proof takes them.

A cache is a folder of plain arrays and a header, which is written last. The header has a version, what the source was
(size and time of change), and a CRC-32 of every array; what does not agree is made again. A cache that is not kept
has files without names, which are gone with the process, however it ends. Only the user may read either.

Mapped pages belong to the file: the system drops them when memory is short, and they do not count as data of the
process.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.atomic_write import unnamed_file
from separatrix.data.bytes import PIECE
from separatrix.data.cached_chunks import Chunk, chunks_of_file, chunks_of_iterable
from separatrix.errors import CheckpointError, DataError, ParameterError

VERSION = 1
HEADER = "header.json"
MEMORY = 256 << 20
STEP = 1 << 24  # bytes of an array that are looked at together


def cache_folder() -> Path:
    """Where caches are kept: SEPARATRIX_CACHE, or ``separatrix`` in the user's folder for caches."""
    named = os.environ.get("SEPARATRIX_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "separatrix"


@dataclass
class RowCache:
    """Rows and labels that lie in files; ``with`` closes them.

    Attributes
    ----------
    X : array or CSR matrix
        The rows, mapped into memory, read only.
    y : array
        The labels.
    weights : array or None
        Weights of the rows, where the source has them.
    folder : Path or None
        Where the cache is kept; None: nowhere.
    notes : list of str
        What happened: "made", "read", or why it was made again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import Perceptron, cache_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.svm"
    ...     _ = path.write_text("1 1:2\\n-1 2:1\\n1 1:1 2:0.5\\n")
    ...     with cache_rows(path, folder=folder) as rows:
    ...         model = Perceptron().fit(rows.X, rows.y)
    ...
    >>> model.errors_
    0
    """

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    folder: Path | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the arrays; a cache that is not kept is then gone.

        Examples
        --------
        >>> from separatrix import cache_rows
        >>> rows = cache_rows([([[1.0], [2.0]], [0, 1])])
        >>> rows.n
        2
        >>> rows.close()
        """
        self.X = self.y = self.weights = None  # type: ignore[assignment]  # nothing is left to ask for

    def remove(self) -> None:
        """Close, and remove the files of a cache that was kept.

        Examples
        --------
        >>> from separatrix import cache_rows
        >>> cache_rows([([[1.0], [2.0]], [0, 1])]).remove()
        """
        self.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


def cache_rows(
    source: str | os.PathLike[str] | Iterable[tuple[Any, Any]],
    target: str | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    keep: bool = False,
    memory: int = MEMORY,
) -> RowCache:
    """Rows of a file, or of chunks, as arrays mapped into memory, for fits and proofs on more rows than fit into it.

    Parameters
    ----------
    source : path, or iterable of (X, y)
        An svmlight file, a file in Vowpal Wabbit's format, a delimited file of plain numbers; or chunks of rows and
        labels. gzipped files too.
    target : str or None
        The column with the labels, for a delimited file.
    folder : path or None
        Where the arrays lie; None: the folder that SEPARATRIX_CACHE names, or the user's folder for caches.
    keep : bool
        Whether the cache stays and is used again while the source is the same; False: it is gone when it is closed, or
        the process ends.
    memory : int
        Bytes that reading may take, about.

    Returns
    -------
    RowCache

    Examples
    --------
    >>> from separatrix import LeastSquares, cache_rows
    >>> chunks = (([[float(i)], [i + 1.0]], [2.0 * i, 2.0 * i + 2.0]) for i in range(0, 100, 2))
    >>> with cache_rows(chunks) as rows:
    ...     model = LeastSquares().fit(rows.X, rows.y)
    ...
    >>> rows_seen, slope = 100, round(float(model.coef_[0]), 6)
    >>> rows_seen, slope
    (100, 2.0)
    """
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < 1 << 24:
        raise ParameterError(f"memory is {memory!r}: it must be a number of bytes, 16 MB or more.")
    place = cache_folder() if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not isinstance(source, (str, os.PathLike)):
        if keep:
            raise ParameterError("keep=True is for files: chunks cannot be recognised when they come again.")
        return _made(chunks_of_iterable(source), place, None, {})
    path = Path(source)
    if not path.is_file():
        raise DataError(f"there is no file {path}.")
    size = max(1 << 16, min(PIECE, memory >> 6))
    about = _about(path, target)
    chunks = chunks_of_file(path, target, size)
    if not keep:
        return _made(chunks, place, None, about)
    key = hashlib.sha256(f"{path.resolve()}\0{target}".encode()).hexdigest()[:20]
    own = place / f"{key}.rows"
    notes = ["made"]
    if own.exists():
        try:
            return _read(own, about)
        except CheckpointError as wrong:
            notes = [f"made again: {wrong}"]
            shutil.rmtree(own)
    made = _made(chunks, place, own, about)
    made.notes = notes
    return made


def _about(path: Path, target: str | None) -> dict[str, Any]:
    found = path.stat()
    return {"source": str(path.resolve()), "target": target, "size": found.st_size, "changed": found.st_mtime_ns}


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


def _made(chunks: Iterator[Chunk], place: Path, own: Path | None, about: dict[str, Any]) -> RowCache:
    """Write the arrays; under ``own`` when all are complete, or in files without a name."""
    if own is None:
        with contextlib.ExitStack() as files:
            arrays, layout = _write(chunks, lambda _: files.enter_context(unnamed_file(place)), files)
            return _assembled({name: growth.mapped() for name, growth in arrays.items()}, layout)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=place) as folder:
        beside = Path(folder)
        with contextlib.ExitStack() as files:
            arrays, layout = _write(chunks, lambda name: _fresh(beside / name), files)
            for growth in arrays.values():
                growth.file.flush()
                os.fsync(growth.file.fileno())
        told = {name: [g.dtype.str, g.count, g.sum] for name, g in arrays.items()}
        header = {"version": VERSION, "about": about, "layout": list(layout), "arrays": told}
        text = json.dumps(header, sort_keys=True)
        _fresh(beside / HEADER).write_text(f"{hashlib.sha256(text.encode()).hexdigest()} {text}")
        os.rename(beside, own)
        os.mkdir(beside)  # for the temporary folder to remove
    return _read(own, about, verify=False)


def _fresh(path: Path) -> Path:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def _write(
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


def _assembled(arrays: dict[str, NDArray[Any]], layout: Layout) -> RowCache:
    if layout.kind == "dense":
        X: Any = arrays["X"].reshape(layout.rows, layout.features)
    else:
        from scipy.sparse import csr_array

        indptr, indices = arrays["indptr"], arrays["indices"]
        if len(arrays["data"]) < 2**31:
            indptr = indptr.astype(np.int32)
        else:
            indices = indices.astype(np.int64)  # scipy has one type for both
        X = csr_array((arrays["data"], indices, indptr), shape=(layout.rows, layout.features))
        X.has_canonical_format = True
    return RowCache(X, arrays["labels"], arrays.get("weights"))


def _read(own: Path, about: dict[str, Any], verify: bool = True) -> RowCache:
    """A cache that was kept, after every check."""
    try:
        digest, _, text = (own / HEADER).read_text().partition(" ")
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            raise CheckpointError("its header is damaged")
        header = json.loads(text)
    except (OSError, ValueError) as error:
        raise CheckpointError(str(error) if isinstance(error, CheckpointError) else "its header is missing") from error
    if header["version"] != VERSION:
        raise CheckpointError(f"it has version {header['version']}, and this is {VERSION}")
    if header["about"] != about:
        raise CheckpointError("the source has changed")
    arrays = {}
    for name, (dtype, count, expected) in header["arrays"].items():
        path, kind = own / name, np.dtype(dtype)
        if not path.is_file() or path.stat().st_size != count * kind.itemsize:
            raise CheckpointError(f"its array {name!r} is cut off")
        array = np.asarray(np.memmap(path, dtype=kind, mode="r", shape=(count,))) if count else np.empty(0, dtype=kind)
        if verify and _sum(array) != expected:
            raise CheckpointError(f"the checksum of its array {name!r} does not match")
        arrays[name] = array
    cache = _assembled(arrays, Layout(*header["layout"]))
    cache.folder, cache.notes = own, ["read"]
    return cache


def _sum(array: NDArray[Any]) -> int:
    sum_, raw = 0, array.view(np.uint8)
    for begin in range(0, len(raw), STEP):
        sum_ = zlib.crc32(memoryview(raw[begin : begin + STEP]), sum_)  # type: ignore[arg-type]  # arrays are buffers
    return sum_
