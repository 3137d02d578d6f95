"""Blocks of rows that are zero outside a few columns, for tables of which most numbers are zero.

The tree of cases grows fast with the columns. Rows that are zero outside a few columns have those columns only: there
may be hundreds of them, with many mistakes, and the tree still closes. Blocks are taken one after the other, with more
and more columns. Each has all rows that are left and are zero outside its columns, and keeps those that its proof
refers to. Columns are chosen one by one, so that the rows that the best hyperplane gets wrong lack as few as possible.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.row_blocks import Block, Solve, pattern, solved

SHARES = tuple(k / 9 for k in range(2, 10))  # of the columns, block after block
ALWAYS = 0.9  # share of rows from which on a column is taken in any case
MISSING = 0.4  # what each column that a row lacks leaves of its weight
RIGHT = 0.3  # weight of a row that the best hyperplane gets right


def column_blocks(
    rows: LiftedRows,
    solve: Solve,
    work: float,
    late: Callable[[], bool],
    wrong: NDArray[np.int64],
) -> list[Block]:
    """Blocks without common rows; ``wrong`` are those that the best hyperplane gets wrong."""
    filled = pattern(rows)
    weight = np.full(rows.n, RIGHT)
    weight[wrong] = 1.0
    free = np.arange(rows.n)
    found: list[Block] = []
    for turn, share in enumerate(SHARES):
        if late() or not len(free):
            break
        columns = _columns(filled[free], weight[free], max(1, round(share * rows.d)))
        ids = free[~filled[np.ix_(free, ~columns)].any(axis=1)]
        if len(ids) < 2:
            continue
        run = solved(rows, ids, solve, work / (len(SHARES) - turn))  # what one block leaves is for those after it
        work -= run.work
        found += run.blocks
        free = np.setdiff1d(free, [i for block in run.blocks for i in block.rows])
    return found


def _columns(filled: NDArray[np.bool_], weight: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """So many columns, outside of which as many rows as possible are zero, or nearly so."""
    chosen = filled.mean(axis=0) > ALWAYS
    for _ in range(count - int(chosen.sum())):
        lacking = filled & ~chosen
        chosen[int(((weight * MISSING ** lacking.sum(axis=1)) @ lacking).argmax())] = True
    return np.asarray(chosen)
