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
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.atomic_write import naming, unnamed_file
from separatrix.data.cached_chunks import STEP, Chunk, Growth, Layout, chunks_of_file, chunks_of_iterable, write_arrays
from separatrix.data.file_pieces import PIECE
from separatrix.errors import CheckpointError, DataError, ParameterError

VERSION = 2
HEADER = "header.json"
MEMORY = 256 << 20


def cache_folder() -> Path:
    """Where caches are kept: SEPARATRIX_CACHE, or ``separatrix`` in the user's folder for caches."""
    named = os.environ.get("SEPARATRIX_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "separatrix"


@dataclass
class RowCache:
    """Rows and labels in files that are mapped into memory; ``with`` closes them.

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
    facts : dict
        What else is known of the rows, as plain values; ``tensors`` are arrays that belong to it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import Perceptron
    >>> from separatrix.data import cache_rows
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
    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)

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
        >>> from separatrix.data import cache_rows
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
        >>> from separatrix.data import cache_rows
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
        Folder of the arrays; None: the folder that SEPARATRIX_CACHE names, or the user's folder for caches.
    keep : bool
        Whether the cache is kept and reused while the source is unchanged; False: it is removed when it is closed, or
        when the process ends.
    memory : int
        Approximate memory for reading, in bytes.

    Returns
    -------
    RowCache

    Examples
    --------
    >>> from separatrix import LeastSquares
    >>> from separatrix.data import cache_rows
    >>> chunks = (([[float(i)], [i + 1.0]], [2.0 * i, 2.0 * i + 2.0]) for i in range(0, 100, 2))
    >>> with cache_rows(chunks) as rows:
    ...     model = LeastSquares().fit(rows.X, rows.y)
    ...
    >>> rows_seen, slope = 100, round(float(model.coef_[0]), 6)
    >>> rows_seen, slope
    (100, 2.0)
    """
    need_memory(memory)
    if not isinstance(source, (str, os.PathLike)):
        if keep:
            raise ParameterError("keep=True is for files: chunks cannot be recognised when they come again.")
        return cached(lambda: CacheContent(chunks_of_iterable(source)), {}, folder)
    path = Path(source)
    if not path.is_file():
        raise DataError(f"there is no file {path}.")
    about = {"files": [signature(path)], "target": target}
    chunks = chunks_of_file(path, target, piece_of(memory))
    return cached(lambda: CacheContent(chunks), about, folder, keep)


def need_memory(memory: Any) -> None:
    """Refuse what is not a number of bytes that suffices to read."""
    if isinstance(memory, bool) or not isinstance(memory, int) or memory < 16_000_000:
        raise ParameterError(f"memory is {memory!r}: it must be a number of bytes, 16 MB or more.")


def piece_of(memory: int) -> int:
    """Bytes of a file that are read together, a few of them side by side."""
    return max(1 << 16, min(PIECE, memory >> 6))


def place_of(folder: str | os.PathLike[str] | None) -> Path:
    """The folder for caches, made for this user alone where it is not there."""
    place = cache_folder() if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return place


def signature(path: Path) -> dict[str, Any]:
    """What a file is recognised by when it comes again."""
    found = path.stat()
    return {"source": str(path.resolve()), "size": found.st_size, "changed": found.st_mtime_ns}


@dataclass(frozen=True, slots=True)
class CacheContent:
    """What goes into a cache: rows, and facts about them with their arrays."""

    chunks: Iterator[Chunk]
    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)


def cached(
    content: Callable[[], CacheContent],
    about: dict[str, Any],
    folder: str | os.PathLike[str] | None = None,
    keep: bool = False,
) -> RowCache:
    """The cache of a source that was kept and is the same by ``about``, or a new one of its content."""
    place = place_of(folder)
    with naming(place):
        return _cached(content, about, place, keep)


def _cached(content: Callable[[], CacheContent], about: dict[str, Any], place: Path, keep: bool) -> RowCache:
    if not keep:
        return _made(content(), place, None, about)
    names = [file["source"] for file in about["files"]]
    key = json.dumps([names, {k: v for k, v in about.items() if k != "files"}], sort_keys=True)
    own = place / f"{hashlib.sha256(key.encode()).hexdigest()[:20]}.rows"
    notes = ["made"]
    if own.exists():
        try:
            return _read(own, about)
        except CheckpointError as wrong:
            notes = [f"made again: {wrong}"]
            shutil.rmtree(own)
    made = _made(content(), place, own, about)
    made.notes = notes
    return made


def _made(content: CacheContent, place: Path, own: Path | None, about: dict[str, Any]) -> RowCache:
    """Write the arrays; under ``own`` when all are complete, or in files without a name."""
    if own is None:
        with contextlib.ExitStack() as files:
            arrays, layout = write_arrays(content.chunks, lambda _: files.enter_context(unnamed_file(place)), files)
            found = _assembled({name: growth.mapped() for name, growth in arrays.items()}, layout)
            found.notes, found.facts, found.tensors = ["made"], content.facts, content.tensors
            return found
    with tempfile.TemporaryDirectory(prefix=".making-", dir=place) as folder:
        beside = Path(folder)
        with contextlib.ExitStack() as files:
            arrays, layout = write_arrays(content.chunks, lambda name: _fresh(beside / name), files)
            for k, tensor in enumerate(content.tensors.values()):
                arrays[f"tensor{k}"] = Growth(_fresh(beside / f"tensor{k}"), tensor.dtype.str)
                files.enter_context(arrays[f"tensor{k}"].file)
                arrays[f"tensor{k}"].add(tensor)
            for growth in arrays.values():
                growth.file.flush()
                os.fsync(growth.file.fileno())
        told = {name: [g.dtype.str, g.count, g.sum] for name, g in arrays.items()}
        facts = {"facts": content.facts, "tensors": list(content.tensors)}
        header = {"version": VERSION, "about": about, "layout": list(layout), "arrays": told, **facts}
        text = json.dumps(header, sort_keys=True)
        _fresh(beside / HEADER).write_text(f"{hashlib.sha256(text.encode()).hexdigest()} {text}")
        os.rename(beside, own)
        os.mkdir(beside)  # for the temporary folder to remove
    return _read(own, about, verify=False)


def _fresh(path: Path) -> Path:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


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
    tensors = {name: arrays.pop(f"tensor{k}") for k, name in enumerate(header["tensors"])}
    cache = _assembled(arrays, Layout(*header["layout"]))
    cache.folder, cache.notes, cache.facts, cache.tensors = own, ["read"], header["facts"], tensors
    return cache


def _sum(array: NDArray[Any]) -> int:
    sum_, raw = 0, array.view(np.uint8)
    for begin in range(0, len(raw), STEP):
        sum_ = zlib.crc32(memoryview(raw[begin : begin + STEP]), sum_)  # type: ignore[arg-type]  # arrays are buffers
    return sum_
