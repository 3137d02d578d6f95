"""X: arrays of any layout, lists, sparse matrices and frames become rows that the kernels can use.

What comes beside X has one entry a row: the same length, and in pandas the same index.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError, DataTypeError, warn_user
from separatrix.validation import containers

EXACT = 2**53  # every integer up to here is a float64


@dataclass(frozen=True, slots=True)
class Table:
    """Checked rows: ``X`` is a C-order float array or a canonical CSR matrix; ``names`` its columns, if named.

    ``design`` says how they were made of the columns of a frame, if they were; ``index`` is that of a pandas frame.
    """

    X: Any
    names: tuple[str, ...] | None = None
    design: Any = None
    index: Any = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)


def check_table(X: Any, *, what: str = "X", finite: bool = True) -> Table:
    """Rows and columns of finite numbers; arrays that are already in order are used in place.

    Without ``finite`` the caller checks finiteness, which saves a pass over such arrays.
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.flags.c_contiguous and X.size:
        if finite:
            _need_finite(X, None, what)
        return Table(X)
    X = containers.unwrapped(X)
    if is_sparse(X):
        return Table(_check_sparse(X, what))
    if containers.is_frame(X):
        return _check_frame(X, what)
    return Table(_check_dense(X, None, what))


def finite_scores(scores: NDArray[np.float64], X: Any) -> NDArray[np.float64]:
    """Scores of rows that were not checked: a row with a NaN or an infinity has no finite score, and is refused."""
    if kernels.first_nonfinite(np.ascontiguousarray(scores)) >= 0:
        check_table(X)
    return scores


def is_sparse(X: Any) -> bool:
    """Whether X is one of scipy's sparse containers, without importing scipy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names, with parentheses around one that stands before it already: a column may be called "intercept"."""
    taken, out = set(names), dict[str, None]()
    for name in names:
        fresh = name
        while fresh in out or (fresh != name and fresh in taken):
            fresh = f"({fresh})"
        out[fresh] = None
    return list(out)


def describe_column(j: int, names: Sequence[str] | None) -> str:
    return f"column {j}" if names is None else f"column {j} ({names[j]!r})"


def describe_columns(columns: Sequence[int], names: Sequence[str] | None) -> str:
    """Columns as a list in a sentence, at most eight of them."""
    listed = [describe_column(j, names) for j in columns[:8]]
    if len(columns) > 8:
        return f"{', '.join(listed)} and {len(columns) - 8} more"
    return " and ".join([", ".join(listed[:-1]), listed[-1]] if len(listed) > 1 else listed)


def _check_frame(X: Any, what: str) -> Table:
    names, columns = containers.columns_of(X)
    labels = names if all(isinstance(name, str) for name in names) else None
    if labels is None and any(isinstance(name, str) for name in names):
        raise DataTypeError(
            f"{what} has column names of several types; "
            "Feature names are only supported if all input features have string names: rename the columns."
        )
    checked = [_check_column(column, j, names, what) for j, column in enumerate(columns)]
    if not checked or not len(checked[0]):
        raise DataError(_too_small(len(checked[0]) if checked else 1, len(checked), what))
    single = all(column.dtype == np.float32 for column in checked)
    out = np.empty((len(checked[0]), len(checked)), dtype=np.float32 if single else np.float64)
    for j, column in enumerate(checked):
        out[:, j] = column
    _need_finite(out, [str(name) for name in names], what)
    return Table(out, None if labels is None else tuple(labels), index=X.index if of_pandas(X) else None)


def _check_column(column: NDArray[Any], j: int, names: Sequence[Any], what: str) -> NDArray[Any]:
    if column.dtype.kind in "OUSmMV":
        return containers.as_floats(column[:, None], what, [f"column {j} ({str(names[j])!r})"])[:, 0]
    return _as_float(column, what)


def _check_dense(X: Any, names: Sequence[str] | None, what: str) -> NDArray[Any]:
    try:
        array = np.asarray(X)
    except ValueError as uneven:
        raise DataError(f"{what} has rows of different lengths: every row needs the same columns.") from uneven
    if array.ndim == 0 and array.dtype == object:
        raise DataError(
            f"{what} is a {type(X).__name__}, not a table. Expected 2D array: pass an array, a frame, a sparse matrix "
            "or a list of rows."
        )
    if array.ndim != 2:
        raise DataError(
            f"{what} has {array.ndim} dimension(s) and needs 2, rows and columns. Expected 2D array, "
            f"got {array.ndim}D array instead. Reshape your data: array.reshape(-1, 1) makes one column of it, "
            "array.reshape(1, -1) one row."
        )
    if not array.size:
        raise DataError(_too_small(array.shape[0], array.shape[1], what))
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        row, column = np.argwhere(np.ma.getmaskarray(X))[0]
        raise DataError(f"{what} is masked at row {row}, column {column}. Drop the row or fill the value in.")
    if array.dtype.kind in "OUSmMV":
        as_given = array if array.dtype.kind != "U" else np.asarray(X, dtype=object)
        array = containers.as_floats(as_given, what, [f"column {j}" for j in range(array.shape[1])])
    array = np.ascontiguousarray(_as_float(array, what))
    _need_finite(array, names, what)
    return array


def _as_float(array: NDArray[Any], what: str) -> NDArray[Any]:
    """The same numbers as float64, or as float32 where they fit that exactly."""
    if array.dtype in (np.float64, np.float32):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == "c":
        raise DataError(containers.complex_sentence(what))
    if array.dtype == np.float16:
        return array.astype(np.float32)
    out = array.astype(np.float64)
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and array.size:
        beyond = array[(array > EXACT) | (array < -EXACT)]
        if changed := sum(int(float(v)) != v for v in beyond.tolist()):
            containers.warn_rounded(what, changed)
    elif array.dtype.kind == "f" and (changed := int(np.count_nonzero((out != array) & np.isfinite(array)))):
        containers.warn_rounded(what, changed)
    return out


def _check_sparse(X: Any, what: str) -> Any:
    if X.ndim != 2:
        raise DataError(f"{what} is sparse with {X.ndim} dimension(s) and needs 2: rows and columns.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise DataError(_too_small(X.shape[0], X.shape[1], what))
    csr = X.tocsr()
    _need_intact(csr, what)
    data, indices, indptr = csr.data, csr.indices, csr.indptr
    if data.dtype.kind not in "biuf":
        raise DataError(
            containers.complex_sentence(what) if data.dtype.kind == "c" else f"{what} holds {data.dtype}: not numbers."
        )
    index = np.int32 if indices.dtype == indptr.dtype == np.int32 else np.int64
    parts = (_as_float(data, what), indices.astype(index, copy=False), indptr.astype(index, copy=False))
    if any(part is not was for part, was in zip(parts, (data, indices, indptr), strict=True)):
        csr = type(csr)(parts, shape=csr.shape)
        csr.indices, csr.indptr = csr.indices.astype(index, copy=False), csr.indptr.astype(index, copy=False)
    if not csr.has_canonical_format:
        csr = csr.copy()  # the arrays may be the user's
        csr.sum_duplicates()
    k = kernels.first_nonfinite(csr.data)
    if k >= 0:
        row = int(np.searchsorted(csr.indptr, k, side="right")) - 1
        raise DataError(_not_finite(csr.data[k], row, describe_column(int(csr.indices[k]), None), what))
    return csr


def _need_intact(csr: Any, what: str) -> None:
    """The arrays of a CSR matrix fit together, so that no kernel reads outside them."""
    n, d = csr.shape
    pointers = csr.indptr
    if len(pointers) != n + 1 or pointers[0] != 0 or np.any(np.diff(pointers) < 0):
        raise DataError(
            f"{what} is a sparse matrix whose row pointers do not ascend from 0 in {n} steps: it is corrupt."
        )
    if pointers[-1] > min(len(csr.data), len(csr.indices)):
        raise DataError(f"{what} is a sparse matrix whose row pointers leave its entries: it is corrupt.")
    if len(csr.indices) and (csr.indices.min() < 0 or csr.indices.max() >= d):
        raise DataError(f"{what} is a sparse matrix whose column indices leave 0 .. {d - 1}: it is corrupt.")


def _need_finite(X: NDArray[Any], names: Sequence[str] | None, what: str) -> None:
    at = kernels.first_nonfinite(X)
    if at < 0:
        return
    row, column = divmod(at, X.shape[1])
    raise DataError(_not_finite(X[row, column], row, describe_column(column, names), what))


def _not_finite(value: float, row: int, column: str, what: str) -> str:
    if np.isnan(value):
        return f"{what} has a NaN at row {row}, {column}. Drop the row or impute it; linear scores are undefined there."
    return f"{what} has an infinity (inf) at row {row}, {column}. Drop the row or cap the value."


def _too_small(n: int, d: int, what: str) -> str:
    lack = "0 sample(s)" if n == 0 else "0 feature(s)"
    needs = "while a minimum of 1 is required: pass at least one row and one column"
    return f"{what} has {lack} (shape=({n}, {d})) {needs}."


def check_same_features(table: Table, names: tuple[str, ...] | None, d: int, owner: str) -> None:
    """Columns at prediction must be those of the fit, by name and order where both have names."""
    if table.names is not None and names is not None and table.names != names:
        missing = [n for n in names if n not in table.names]
        added = [n for n in table.names if n not in names]
        reasons = ["The feature names should match those that were passed during fit."]
        if added:
            reasons.append("Feature names unseen at fit time:\n- " + "\n- ".join(sorted(added)[:5]))
        if missing:
            reasons.append("Feature names seen at fit time, yet now missing:\n- " + "\n- ".join(sorted(missing)[:5]))
        if not added and not missing:
            reasons.append("Feature names must be in the same order as they were in fit.")
        raise DataError("\n".join(reasons) + "\n")
    if table.d != d:
        raise DataError(
            f"X has {table.d} features, but {owner} is expecting {d} features as input: "
            "pass the columns that it was fitted on."
        )
    if table.names is None and names is not None:
        warn_user(f"X does not have valid feature names, but {owner} was fitted with feature names", UserWarning)
    elif table.names is not None and names is None:
        warn_user(f"X has feature names, but {owner} was fitted without feature names", UserWarning)


def as_vector(v: Any, what: str) -> NDArray[Any]:
    """Whatever holds one entry a row, as an array; hidden entries and uneven nests are refused."""
    if type(v) is np.ndarray:
        return v
    if isinstance(v, np.ma.MaskedArray) and np.ma.is_masked(v):
        at = int(np.flatnonzero(np.ma.getmaskarray(v))[0])
        raise DataError(f"{what} is masked at position {at}. Drop the row or fill the value in.")
    if hasattr(v, "tocsr"):
        raise DataTypeError(f"{what} is a sparse matrix and needs to be a plain vector: use {what}.toarray().ravel().")
    try:
        return containers.vector_of(v) if containers.is_frame(v) else np.asarray(v)
    except ValueError as uneven:
        raise DataError(f"{what} has entries of different lengths and needs one number or label a row.") from uneven


def one_column(v: Any, what: str) -> NDArray[Any]:
    """The same; a table of one column is read as that column, with scikit-learn's warning."""
    array = as_vector(v, what)
    if array.ndim == 2 and array.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_user(
            f"A column-vector {what} was passed when a 1d array was expected; its one column is used.",
            DataConversionWarning,
        )
        array = array[:, 0]
    return array


def check_lengths(n: int, m: int, what: str) -> None:
    if n != m:
        raise DataError(f"X has {n} rows and {what} has {m} (inconsistent numbers of samples): pass one for every row.")


def need_same_index(X: Any, y: Any, what: str = "y") -> None:
    """X and y of pandas with the same length have the same index: rows are never matched by position in silence."""
    if of_pandas(X) and of_pandas(y):
        need_index(X.index, y, what)


def need_index(index: Any, y: Any, what: str) -> None:
    """What comes beside rows of pandas has their index; None stands for rows without one."""
    if index is None or not of_pandas(y) or len(index) != len(y) or index.equals(y.index):
        return
    row = next((i for i, (a, b) in enumerate(zip(index, y.index, strict=True)) if a != b), 0)
    raise DataError(
        f"X and {what} have different pandas indexes (at row {row}: {index[row]!r} and {y.index[row]!r}): align "
        f"them, as {what}.loc[X.index], or pass {what}.to_numpy() if they match by position."
    )


def index_of(X: Any) -> Any:
    """The index of rows of pandas; the numbers of the rows of anything else."""
    return X.index if of_pandas(X) else np.arange(containers.count_rows(X))


def of_pandas(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "index") and hasattr(value, "iloc")
