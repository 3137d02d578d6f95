"""Coordinates in which rows are far from dependent, worked out in integers.

Columns that depend on others but for rounding errors (a sum that was stored, a product of low rank) differ by digits
that are lost in floating point, and yet decide whether rows can be separated. Here the columns are combined by
integers near the singular vectors; the products are exact, so that the digits that cancel are gone and those that are
left can be rounded; and again, until the rounded columns are well conditioned.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.exact_signs import integer_row
from separatrix.proofs.exact.algebra import Row, independent, transpose

ROUNDS = 6  # each takes some 40 bits off the condition number
CONDITION = 1e-6  # of the smallest singular value to the largest
BITS = 50  # of the combinations


@dataclass(frozen=True)
class ExactBasis:
    """``table``: the rows in these coordinates as doubles, each row times a positive number."""

    table: Floats
    columns: list[int]  # those that are combined; the others depend on them
    p: int
    combined: Any  # a matrix of flint's: the coordinates as combinations of the columns
    shift: list[int]  # each coordinate was divided by 2 to this power

    @staticmethod
    def of(rows: Sequence[Row]) -> ExactBasis | None:
        """None when the columns do not become well conditioned."""
        import flint

        columns = independent(transpose(rows))
        if not columns:
            return None
        C = flint.fmpz_mat([[row[j] for j in columns] for row in rows])
        q = len(columns)
        M = flint.fmpz_mat(q, q, [int(i == j) for i in range(q) for j in range(q)])
        for _ in range(ROUNDS):
            table, shift = rounded(C)
            _, s, Vt = np.linalg.svd(table, full_matrices=False)
            if len(s) == q and s[-1] > CONDITION * s[0]:
                return ExactBasis(table, columns, len(rows[0]), M, shift)
            V = np.eye(q) if len(s) < q else Vt.T / np.maximum(s, s[0] * 1e-14)
            V = np.ldexp(V / np.abs(V).max(), BITS)
            top = max(shift)
            whole = [[int(v) << (top - k) for v in row] for row, k in zip(np.rint(V).tolist(), shift, strict=True)]
            step = flint.fmpz_mat(whole)
            C, M = C * step, M * step
        return None

    def vector(self, w: Floats) -> Row:
        """w of these coordinates as a vector of the columns, exactly, times a positive number."""
        import flint

        top = max(self.shift)
        u = [v << (top - k) for v, k in zip(integer_row(w.tolist())[0], self.shift, strict=True)]
        out = [0] * self.p
        for j, v in zip(self.columns, (self.combined * flint.fmpz_mat(len(u), 1, u)).entries(), strict=True):
            out[j] = int(v)
        return out


def rounded(C: Any) -> tuple[Floats, list[int]]:
    """The matrix as doubles, rows and columns divided by powers of two; the powers of the columns."""
    rows = [[int(v) for v in row] for row in C.tolist()]
    bits = np.array([[v.bit_length() for v in row] for row in rows], dtype=np.int64)
    across = bits.max(axis=1)
    down = np.where(bits > 0, bits - across[:, None], -(1 << 40)).max(axis=0)
    table = np.empty(bits.shape)
    for i, row in enumerate(rows):
        table[i] = [head(v, int(across[i] + k)) for v, k in zip(row, down.tolist(), strict=True)]
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-300)
    return table, [int(k) for k in down]


def head(v: int, power: int) -> float:
    """v / 2**power as a double, from its leading 64 bits."""
    drop = max(0, v.bit_length() - 64)
    return math.ldexp(float(v >> drop), max(-2000, drop - power))
