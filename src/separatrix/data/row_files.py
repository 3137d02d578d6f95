"""Files whose rows are numbers already, without column names: svmlight, Vowpal Wabbit's format, numpy arrays."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.frame import CELLS
from separatrix.errors import DataError

NPY = b"\x93NUMPY"
Watch = Callable[[int], None]
SPOKEN = {"svmlight": "svmlight files", "vw": "files in Vowpal Wabbit's format", "npy": "arrays", "npz": "arrays"}


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows that are numbers already: an array or a CSR matrix, with labels where the file has them."""

    X: Any
    y: NDArray[Any] | None
    source: str
    weights: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows: all of them, or batches for a model of so many features, while bytes are reported as read."""

    read: Callable[[], Matrix]
    batches: Callable[[int, Watch], Iterator[Matrix]]


def row_file(kind: str, paths: list[Path], name: str) -> RowFile:
    """The reader of a kind of file."""
    if len(paths) > 1:
        raise DataError(f"{name} names {len(paths)} {SPOKEN[kind]}: name one.")
    read, batches = ROW_FILES[kind]
    return RowFile(lambda: read(paths[0], name), lambda features, watch: batches(paths[0], name, features, watch))


def _svmlight(path: Path, name: str) -> Matrix:
    from separatrix.data.sparse_text import read_libsvm

    X, y = read_libsvm(path)
    return Matrix(X, y, name)


def _svmlight_batches(path: Path, name: str, features: int, watch: Watch) -> Iterator[Matrix]:
    from separatrix.data.sparse_text import libsvm_chunks

    for X, y in libsvm_chunks(path, features=features, zero_based=None, watch=watch):
        yield Matrix(X, y, name)


def _vw(path: Path, name: str) -> Matrix:
    from separatrix.data.sparse_text import read_vw

    X, y, weights = read_vw(path)
    return Matrix(X, y, name, None if (weights == 1).all() else weights)


def _vw_batches(path: Path, name: str, features: int, watch: Watch) -> Iterator[Matrix]:
    from separatrix.data.sparse_text import vw_chunks

    for X, y, weights in vw_chunks(path, watch=watch):
        yield Matrix(X, y, name, weights)


def _arrays(path: Path, name: str) -> Matrix:
    """Arrays of numbers: rows of a .npy file, or X and y of a .npz file. Pickled objects are refused."""
    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                X, y = loaded, None
            elif "X" not in loaded:
                raise DataError(f"{name} has no array named X (it has {', '.join(loaded.files) or 'none'}).")
            else:
                X, y = loaded["X"], loaded.get("y")
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, (DataError, PermissionError)):
            raise
        raise _unreadable(name, error) from error
    _need_numbers(X.dtype, X.shape, name)
    if y is not None and y.shape != (len(X),):
        raise DataError(f"{name} has {len(X)} rows in X and y of shape {y.shape}: pass one label for every row.")
    return Matrix(X, y, name)


def _array_batches(path: Path, name: str, features: int, watch: Watch) -> Iterator[Matrix]:
    """The rows of a .npy file in the order of C a few at a time; those of other arrays at once."""
    with path.open("rb") as file:
        if file.read(len(NPY)) == NPY:
            file.seek(0)
            try:
                version = np.lib.format.read_magic(file)
                read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
                shape, fortran, dtype = read.get(version, read[2, 0])(file)
            except (ValueError, OSError, EOFError) as error:
                raise _unreadable(name, error) from error
            if not fortran and not dtype.hasobject:
                _need_numbers(dtype, shape, name)
                yield from _npy_rows(file, dtype, shape, name, watch)
                return
    whole = _arrays(path, name)
    step = max(1, CELLS // whole.X.shape[1])
    for begin in range(0, whole.n, step):
        yield Matrix(whole.X[begin : begin + step], None, name)


def _npy_rows(file: Any, dtype: np.dtype[Any], shape: tuple[int, ...], name: str, watch: Watch) -> Iterator[Matrix]:
    n, d = shape
    step = max(1, CELLS // d)
    for begin in range(0, n, step):
        rows = min(step, n - begin)
        block = file.read(rows * d * dtype.itemsize)
        if len(block) < rows * d * dtype.itemsize:
            raise DataError(f"{name} is cut off: it says {n:,} rows and ends within row {begin:,} or later.")
        watch(len(block))
        yield Matrix(np.frombuffer(block, dtype=dtype).reshape(rows, d), None, name)


def _need_numbers(dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 2 or not shape[0] or not shape[1] or dtype.kind not in "biuf":
        raise DataError(f"{name} holds {dtype} of shape {shape}: rows and columns of numbers are needed.")


def _unreadable(name: str, error: Exception) -> DataError:
    reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    if "pickle" in reason.lower():
        reason = "it holds Python objects, which only a pickle can carry; those are never loaded"
    return DataError(f"{name} cannot be read: {reason}.")


ROW_FILES: dict[str, tuple[Callable[[Path, str], Matrix], Callable[[Path, str, int, Watch], Iterator[Matrix]]]] = {
    "svmlight": (_svmlight, _svmlight_batches),
    "vw": (_vw, _vw_batches),
    "npy": (_arrays, _array_batches),
    "npz": (_arrays, _array_batches),
}


def csr_rows(values: Floats, columns: NDArray[np.int32], ends: NDArray[Any], width: int) -> Any:
    """CSR rows by where the entries of each end; the columns of a row ascend."""
    from scipy.sparse import csr_array

    X = csr_array((values, columns, np.insert(ends, 0, 0)), shape=(len(ends), width))
    X.has_canonical_format = True
    return X


def stacked(parts: Sequence[Any]) -> Any:
    """The rows of several arrays or CSR arrays, one after the other."""
    if isinstance(parts[0], np.ndarray):
        return np.ascontiguousarray(np.concatenate(parts))
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr"))


def columns_of(X: Any, kept: Any) -> Any:
    """Some columns of rows, as an array or CSR array of their own."""
    part = X[:, kept]
    return np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part.tocsr()
