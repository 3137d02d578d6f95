"""The last resort: Gordan's alternative decided by the simplex method in integers.

    find  x >= 0,  sum x_i a_i = 0,  sum x_i = 1     or     u  with  a_i . u > 0  for all i.

Phase one by Dantzig's rule (1951), which is fast, and after a while by Bland's (1977), which cannot cycle;
pivots keep the tableau integral (Edmonds 1967, Bareiss 1968), so that there are no fractions to reduce.
Slow, certain, and hardly ever needed. Bland's rule visits no basis twice, so that it ends; but there may be very many
bases, so the work is counted and given up when there has been enough of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from separatrix.proofs.exact.algebra import Row

WORK = 300_000_000  # words of tableaux worked out before a decision is given up: of the order of a minute


@dataclass
class Patience:
    """What may still be spent, in words of 64 bits that are worked out: the same on every machine, unlike time."""

    left: int = WORK

    def spend(self, words: int) -> bool:
        """Whether there is any left after this."""
        self.left -= words
        return self.left > 0


def _entering(cost: Sequence[Any], m: int, steepest: bool) -> int | None:
    """The column of least reduced cost, or, by Bland, the first one below zero."""
    if steepest:
        least = min(range(m), key=cost.__getitem__)
        return least if cost[least] < 0 else None
    return next((j for j in range(m) if cost[j] < 0), None)


def alternative(rows: Sequence[Row], patience: Patience | None = None) -> tuple[dict[int, int] | None, Row | None]:
    """(weights by row, None) when the origin is in the hull of the rows, else (None, u).

    The weights are a basic solution: their rows are a circuit. (None, None) when patience runs out.
    """
    from flint import fmpz

    m, q = len(rows), len(rows[0])
    size = q + 1
    # Columns: the m rows of A, then the artificial variables; the right-hand side last.
    table = [[fmpz(row[j]) for row in rows] + [fmpz(i == j) for i in range(size)] + [fmpz(0)] for j in range(q)]
    table.append([fmpz(1)] * m + [fmpz(i == q) for i in range(size)] + [fmpz(1)])
    cost = [-sum((line[j] for line in table), fmpz(0)) for j in range(m)] + [fmpz(0)] * size + [fmpz(-1)]
    basis = list(range(m, m + size))
    patience = patience or Patience()
    scale = fmpz(1)  # the true tableau is the stored one over this
    steps = 0
    # Bland's rule, from the step 10 size on, visits no basis twice; patience ends it long before that may matter.
    while (entering := _entering(cost, m, steepest=steps < 10 * size)) is not None:
        steps += 1
        leaving = None
        for i, line in enumerate(table):
            if line[entering] > 0:
                if leaving is None:
                    leaving = i
                    continue
                other = table[leaving]
                here, there = line[-1] * other[entering], other[-1] * line[entering]
                if here < there or (here == there and basis[i] < basis[leaving]):
                    leaving = i
        assert leaving is not None, "phase one is bounded"
        if not patience.spend((size + 1) * (m + size + 1) * (1 + int(scale).bit_length() // 64)):
            return None, None
        pivot_row = table[leaving]
        pivot = pivot_row[entering]
        for i, line in enumerate(table):
            if i != leaving:
                factor = line[entering]
                table[i] = [(pivot * a - factor * b) // scale for a, b in zip(line, pivot_row, strict=True)]
        factor = cost[entering]
        cost = [(pivot * a - factor * b) // scale for a, b in zip(cost, pivot_row, strict=True)]
        scale = pivot
        basis[leaving] = entering
    if cost[-1] == 0:
        return {j: int(line[-1]) for j, line in zip(basis, table, strict=True) if j < m and line[-1] > 0}, None
    # The reduced cost of artificial variable j is (1 - pi_j) scale, and pi . (a_i, 1) <= 0 < pi . (0, 1).
    return None, [int(cost[m + j] - scale) for j in range(q)]
