"""Linear scores s(x) = w . x + b, and their geometry.

w is normal to the hyperplane s = 0. The margin of a labelled row is y s(x): positive where the row is
on its own side. The signed distance of x from the hyperplane is s(x)/|w|, and the point of the
hyperplane nearest to x is its foot point x - s(x) w/|w|^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.validation import check_finite_vector, check_table


def lift(w: ArrayLike, b: float = 0.0) -> Floats:
    """(w, b) as one vector of d + 1 numbers."""
    return np.append(np.asarray(w, dtype=np.float64), b)


def row_scores(X: Any, lifted: Floats) -> Floats:
    """s_i for checked rows, summed in the declared lanes."""
    out = np.empty(X.shape[0])
    kernels.scores(kernels.rows(X), lifted, out)
    return out


def lifted_norms(rows: kernels.Rows, bias: bool) -> Floats:
    """The length of each lifted row, 1 for a zero row (or one so short that its square vanishes)."""
    norm = np.empty(rows.n)
    kernels.norms2(rows, norm)
    norm = np.sqrt(norm + (1.0 if bias else 0.0))
    if (at := kernels.first_nonfinite(norm)) >= 0:
        raise DataError(f"row {at} is too long to be scaled to length 1, its square overflows: scale the features.")
    norm[norm == 0] = 1.0
    return norm


def scores(X: Any, w: ArrayLike, b: float = 0.0) -> Floats:
    """s_i = w . x_i + b"""
    table = check_table(X)
    return row_scores(table.X, lift(_checked(w, table.d), b))


def margins(X: Any, y: ArrayLike, w: ArrayLike, b: float = 0.0) -> Floats:
    """m_i = y_i s_i, for labels -1 and +1."""
    signs = check_finite_vector(y, what="y")
    if not np.isin(signs, (-1.0, 1.0)).all():
        row = int(np.flatnonzero(~np.isin(signs, (-1.0, 1.0)))[0])
        raise DataError(f"y is {signs[row]:g} at row {row}: margins are defined for labels -1 and +1.")
    s = scores(X, w, b)
    if len(s) != len(signs):
        raise DataError(f"X has {len(s)} rows and y has {len(signs)}: pass one label for every row.")
    return signs * s


def distances(X: Any, w: ArrayLike, b: float = 0.0) -> Floats:
    """Signed distances s_i/|w| from the hyperplane."""
    w, b = _moderate(check_finite_vector(w, what="w"), b)
    return scores(X, w, b) / float(np.linalg.norm(w))


def foot_points(X: Any, w: ArrayLike, b: float = 0.0) -> Floats:
    """The points of the hyperplane nearest to the rows: x_i - s_i w/|w|^2."""
    table = check_table(X)
    w, b = _moderate(_checked(w, table.d), b)
    s = row_scores(table.X, lift(w, b))
    dense = table.X.toarray() if table.sparse else table.X
    return np.asarray(dense - np.outer(s, w / float(w @ w)), dtype=np.float64)


def _checked(w: ArrayLike, d: int) -> Floats:
    w = check_finite_vector(w, what="w")
    if len(w) != d:
        raise DataError(f"w has {len(w)} entries and X has {d} columns: they must agree.")
    return w


def _moderate(w: Floats, b: float) -> tuple[Floats, float]:
    """The same hyperplane with the greatest weight near 1, so that squares neither overflow nor vanish."""
    largest = float(np.abs(w).max())
    if largest == 0:
        raise DataError("w is zero: it is normal to no hyperplane.")
    scale = 2.0 ** -np.frexp(largest)[1]
    return w * scale, b * scale


SIZE = 2**20  # numbers of a chunk


def dense_chunks(X: Any) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Dense float64 chunks of checked rows, each with the number of its first row."""
    n, d = X.shape
    step = max(1, SIZE // d)
    for begin in range(0, n, step):
        rows = X[begin : begin + step]
        yield begin, np.asarray(rows if isinstance(X, np.ndarray) else rows.toarray(), dtype=np.float64)
