"""Blocks of rows that are zero outside a few columns, for tables of which most numbers are zero.

The tree of cases grows fast with the columns. Rows that are zero outside a few columns have those columns only: there
may be hundreds of them, with many mistakes, and the tree still closes. Blocks are taken one after the other, with more
and more columns. Each has all rows that are left and are zero outside its columns, and keeps those that its proof
refers to. Columns are chosen one by one, so that the rows that the best hyperplane gets wrong lack as few as possible.

The first mistakes of a block are soon proved, and each one more takes longer than the last. So every block is given a
little work at first; then each is solved again, with more, on its rows and those that are left over.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.row_blocks import Block, Run, Solve, pattern, solved

SHARES = tuple(k / 9 for k in range(2, 10))  # of the columns, block after block
ALWAYS = 0.9  # share of rows from which on a column is taken in any case
MISSING = 0.4  # what each column that a row lacks leaves of its weight
RIGHT = 0.3  # weight of a row that the best hyperplane gets right
LEVELS = (0.06, 0.24, 0.7)  # shares of the work, one after the other
TWICE = 2  # times the work of the last time, at least, that a block is solved again with


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
    free = np.ones(rows.n, dtype=bool)
    found: list[tuple[NDArray[np.bool_], Run]] = []
    for share in SHARES:
        if late() or not free.any():
            break
        ids = np.flatnonzero(free)
        columns = _columns(filled[ids], weight[ids], max(1, round(share * rows.d)))
        found.append((columns, _best_run(rows, free, filled, columns, None, solve, LEVELS[0] * work / len(SHARES))))
    for level in LEVELS[1:]:
        left = level * work
        for k, (columns, run) in enumerate(found):
            if late():
                break
            more = left / (len(found) - k)
            if run.blocks and not run.closed and more > TWICE * run.work:
                again = _best_run(rows, free, filled, columns, run, solve, more)
                left -= again.work  # what one block leaves is for those after it
                found[k] = columns, again
    return [block for _, run in found for block in run.blocks]


def _best_run(
    rows: LiftedRows,
    free: NDArray[np.bool_],
    filled: NDArray[np.bool_],
    columns: NDArray[np.bool_],
    before: Run | None,
    solve: Solve,
    work: float,
) -> Run:
    """The rows that are left and zero outside the columns as a block; those that its proof refers to are not left.

    ``before``: what was proved with these columns. Its rows are taken back, and it stays if nothing more is proved.
    """
    own = np.zeros(rows.n, dtype=bool)
    own[[i for block in (before.blocks if before else []) for i in block.rows]] = True
    ids = np.flatnonzero((free | own) & ~filled[:, ~columns].any(axis=1))
    run = solved(rows, ids, solve, work) if len(ids) > 1 else Run(ids, [], True)
    if before is not None and run.lower <= before.lower:
        run = Run(before.ids, before.blocks, run.closed, run.work)
    free |= own
    free[[i for block in run.blocks for i in block.rows]] = False
    return run


def _columns(filled: NDArray[np.bool_], weight: NDArray[np.float64], count: int) -> NDArray[np.bool_]:
    """So many columns, outside of which as many rows as possible are zero, or nearly so."""
    chosen = filled.mean(axis=0) > ALWAYS
    for _ in range(count - int(chosen.sum())):
        lacking = filled & ~chosen
        chosen[int(((weight * MISSING ** lacking.sum(axis=1)) @ lacking).argmax())] = True
    return np.asarray(chosen)
