"""The rows of proofs: z_i = y_i (x_i, 1), or y_i x_i without an intercept.

The table is used where it lies (dense or CSR, float64 or float32, also a memory map); only the few rows
that a question needs are ever written out.

Numbers may be read as the decimals they print as: 5.1 is then 51/10, not the double next to it. Points that are
dependent in decimals are seldom dependent as doubles, so the two readings can differ in their verdicts. Columns of at
most 15 digits are multiplied by powers of ten and are then whole doubles, for which everything else works as it is;
longer ones are kept and made exact row by row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.numerics.exact_signs import dot, exact_signs, integer_row
from separatrix.proofs.exact.algebra import Row, combination
from separatrix.proofs.exact.face import Face

REMEMBERED = 1_000_000  # integers of rows that were asked for before
STATUS = ("separates", "witness", "stalled", "limit")


@dataclass(frozen=True)
class Proposal:
    """What the search in floating point suggests; nothing is proved yet."""

    status: str
    w: NDArray[np.float64]
    support: list[int]
    weights: NDArray[np.float64]
    rounds: int
    scanned: int


class LiftedRows:
    """n rows z of p numbers, read from a table X with labels -1 and +1."""

    def __init__(self, X: Any, y: NDArray[np.int8], intercept: bool) -> None:
        self.X, self.y, self.intercept = X, y, intercept
        self.n, self.d = X.shape
        self.p = self.d + int(intercept)
        self.view = kernels.rows(X)
        self.unit = [1] * self.p  # what a column was multiplied by
        self._integers: dict[int, tuple[Row, int]] = {}

    def dense(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float64]:
        """Rows z as doubles; exact, since a sign changes no digit."""
        ids = np.asarray(ids, dtype=np.int64)
        part = self.X[ids]
        part = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
        signs = self.y[ids].astype(np.float64)
        z = np.empty((len(ids), self.p))
        np.multiply(part, signs[:, None], out=z[:, : self.d])
        if self.intercept:
            z[:, self.d] = signs
        return z

    def table(self, ids: NDArray[np.int64]) -> Any:
        """Rows z as doubles, dense or sparse as the table is."""
        if isinstance(self.X, np.ndarray):
            return self.dense(ids)
        from scipy import sparse

        signs = self.y[ids].astype(np.float64)
        own = sparse.diags_array(signs) @ sparse.csr_array(self.X[ids], dtype=np.float64)
        return sparse.csr_array(sparse.hstack([own, signs[:, None]], format="csr") if self.intercept else own)

    def integers(self, ids: Sequence[int]) -> tuple[list[Row], list[int]]:
        """Rows z as integers and, for each, the factor that made them so."""
        missing = [i for i in ids if i not in self._integers]
        if missing:
            if len(self._integers) * self.p > REMEMBERED:
                self._integers.clear()
                missing = list(ids)
            self._integers.update(zip(missing, self._exact(missing), strict=True))
        pairs = [self._integers[i] for i in ids]
        return [row for row, _ in pairs], [m for _, m in pairs]

    def _exact(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        return [integer_row(row) for row in self.dense(ids).tolist()]

    def total(self, ids: NDArray[np.int64]) -> tuple[Row, int]:
        """(v, m) with v = m sum z_i over these rows, exactly."""
        total, m = [0] * self.p, 1
        for some in np.array_split(ids, 1 + len(ids) // 1024):
            Z = self.table(some)
            values = Z if isinstance(Z, np.ndarray) else Z.data
            whole = type(self) is LiftedRows and bool((values == np.rint(values)).all())
            top = float(np.max(np.abs(values), initial=0.0))
            if whole and top * len(some) < 2.0**53:  # no sum is rounded
                part, own = [int(v) for v in np.asarray(Z.sum(axis=0)).ravel()], 1
            else:
                pairs = self._exact(some.tolist())
                own = math.lcm(*(factor for _, factor in pairs))
                part = combination([row for row, _ in pairs], [own // factor for _, factor in pairs]) or [0] * self.p
            common = math.lcm(m, own)
            total = [a * (common // m) + b * (common // own) for a, b in zip(total, part, strict=True)]
            m = common
        return total, m

    def search(
        self,
        active: NDArray[np.int64] | None = None,
        extra: NDArray[np.float64] | None = None,
        basis: NDArray[np.float64] | None = None,
        seed: int = 0,
    ) -> Proposal:
        """A hyperplane or a witness for the active and the extra rows, in floating point."""
        q = self.p if basis is None else basis.shape[1]
        w, support, weights = np.empty(self.p), np.empty(q + 1, dtype=np.int64), np.empty(q + 1)
        status, k, rounds, scanned, _ = kernels.decide(
            self.view, self.y, self.intercept, active, extra, basis, seed, w, support, weights
        )
        return Proposal(STATUS[status], w, support[:k].tolist(), weights[:k].copy(), rounds, scanned)

    @property
    def wide(self) -> bool:
        """So many columns that a matrix of p x p numbers is out of place."""
        return bool(self.p > 5000 or (self.p > 1500 and 2 * self.p > self.n))

    def narrow(self, ids: Sequence[int], columns: Sequence[int] | None = None) -> tuple[LiftedRows, list[int]]:
        """These rows in some columns of z, by default in those where one of them is not zero; and the columns."""
        part = self.X[np.asarray(ids, dtype=np.int64)]
        if columns is None:
            used = np.flatnonzero(part.any(axis=0)) if isinstance(part, np.ndarray) else np.unique(part.indices)
            columns = [*used.tolist(), *range(self.d, self.p)]
        own = [j for j in columns if j < self.d]
        constant = len(own) < len(columns)
        assert list(columns) == [*own, *([self.d] if constant else [])], "the intercept comes last"
        part = np.ascontiguousarray(part[:, own]) if isinstance(part, np.ndarray) else part[:, own]
        return type(self)(part, self.y[np.asarray(ids, dtype=np.int64)], constant), list(columns)

    @cached_property
    def non_zeros(self) -> NDArray[np.int64]:
        """How many rows are not zero in each column of z."""
        X = self.X
        count = np.count_nonzero(X, axis=0) if isinstance(X, np.ndarray) else np.bincount(X.indices, minlength=self.d)
        return np.append(count, self.n)[: self.p]

    def perceptron(self, passes: int = 2000, visits: int = 100_000_000) -> Proposal | None:
        """Rosenblatt's rule from zero: where columns abound it separates within a few passes, if at all."""
        w, habit = np.zeros(self.d + 1), np.zeros(self.n, dtype=np.int8)
        for count in range(1, min(passes, 1 + visits // self.n) + 1):
            wrong, _, _ = kernels.perceptron_pass(
                self.view, self.y, None, None, w, self.intercept, True, None, 0, self.n, self.n, habit
            )
            if not wrong:
                return Proposal("separates", w[: self.p], [], np.empty(0), count, count * self.n)
        return None

    def reduced(self, face: Face, ids: NDArray[np.int64], extra: Sequence[Row]) -> LiftedRows:
        """The rows named and the extra ones as functions on the face, rounded: a table of its own."""
        from scipy import sparse

        def columns(Z: Any) -> Any:
            Z = sparse.csr_array(Z)
            if not face.bound:
                return Z
            follow = sparse.coo_array(face.followed())
            shape = (len(face.bound), face.dimension)
            follow = sparse.csr_array((follow.data, (follow.row, face.linked_at[follow.col])), shape=shape)
            return sparse.csr_array(Z[:, face.free] + Z[:, face.bound] @ follow)

        signs = self.y[ids].astype(np.float64)
        own = sparse.diags_array(signs) @ sparse.csr_array(self.X[ids], dtype=np.float64)
        own = sparse.hstack([own, signs[:, None]], format="csr") if self.intercept else own
        tops = [max(map(abs, row)) or 1 for row in extra]
        parts = [own, *(np.array([[v / top for v in row]]) for row, top in zip(extra, tops, strict=True))]
        Z = sparse.csr_array(sparse.vstack([columns(part) for part in parts], format="csr"))
        Z.sum_duplicates()
        return LiftedRows(Z, np.ones(Z.shape[0], dtype=np.int8), False)

    def signs(self, w: Sequence[int], ids: NDArray[np.int64] | None = None) -> NDArray[np.int8]:
        """The exact sign of z_i . w for every row, or for the rows named."""
        signs = exact_signs(self.view, self.y, self.intercept, w, ids)
        return self.signs_in_integers(w, np.arange(self.n) if ids is None else ids) if signs is None else signs

    def signs_in_integers(self, w: Sequence[int], ids: NDArray[np.int64]) -> NDArray[np.int8]:
        out = np.empty(len(ids), dtype=np.int8)
        for start in range(0, len(ids), 1024):
            for k, row in enumerate(self.integers(ids[start : start + 1024].tolist())[0], start):
                total = dot(row, w)
                out[k] = (total > 0) - (total < 0)
        return out

    def opposites(self) -> NDArray[np.int64]:
        """For each row, an equal one with the other label, or -1."""
        partner = np.empty(self.n, dtype=np.int64)
        kernels.opposites(self.view, self.y, partner)
        return partner

    def outward(self, w: Sequence[int]) -> Row:
        """w for the columns as the user gave them."""
        return [v * u for v, u in zip(w, self.unit, strict=True)]


# -- numbers read as the decimals they print as --


def decimal_rows(X: Any, y: NDArray[np.int8], intercept: bool) -> LiftedRows:
    """The rows with every column times its power of ten, or the long way."""
    sparse = not isinstance(X, np.ndarray)
    values = np.asarray(X.data if sparse else X)
    columns = X.indices if sparse else np.broadcast_to(np.arange(X.shape[1]), X.shape)
    places = np.zeros(X.shape[1], dtype=np.int64)
    whole = np.rint(values)
    wrong = whole != values
    for k in range(1, 16):
        if not wrong.any():
            break
        at = np.unique(columns[wrong])
        places[at] = k
        mine = np.isin(columns, at)
        with np.errstate(over="ignore"):  # what overflows is no whole number below, and so a long decimal
            scaled = np.rint(values[mine] * 10.0**k)
        whole[mine] = scaled
        wrong[mine] = scaled / 10.0**k != values[mine]
    # Of at most 15 digits there is only one decimal that rounds to a given double: the printed one.
    if wrong.any() or float(np.abs(whole).max(initial=0.0)) >= 1e15:
        return LongDecimals(X, y, intercept)
    if sparse:
        table = X.copy()
        table.data = whole
    else:
        table = whole
    rows = LiftedRows(table, y, intercept)
    rows.unit = [10 ** int(k) for k in places] + [1] * int(intercept)
    return rows


class LongDecimals(LiftedRows):
    """Decimals of more than 15 digits: searched as doubles, proved as fractions."""

    def _exact(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        out = []
        for row in self.dense(ids).tolist():
            numbers = [Fraction(repr(v)) if v else Fraction(0) for v in row]
            m = math.lcm(*(q.denominator for q in numbers))
            out.append(([q.numerator * (m // q.denominator) for q in numbers], m))
        return out

    def signs(self, w: Sequence[int], ids: NDArray[np.int64] | None = None) -> NDArray[np.int8]:
        """The exact signs: by a bound on the rounding errors where it decides, else in integers."""
        ids = np.arange(self.n) if ids is None else ids
        top = max(map(abs, w)) or 1
        rounded = np.array([v / top for v in w])
        part = self.X[ids]
        with np.errstate(all="ignore"):
            constant = rounded[self.d] if self.intercept else 0.0
            s = part @ rounded[: self.d] + constant
            size = abs(part) @ np.abs(rounded[: self.d]) + abs(constant)
            sure = (np.abs(s) > (self.p + 8) * 2.0**-51 * size + 1e-290) & (size < 1e290)
        if any(v and not abs(r) > 1e-200 for v, r in zip(w, rounded.tolist(), strict=True)):
            sure[:] = False  # a number of w was rounded to zero, or nearly
        out = np.empty(len(ids), dtype=np.int8)
        out[sure] = np.sign(s[sure]) * self.y[ids[sure]]
        out[~sure] = self.signs_in_integers(w, ids[~sure])
        return out
