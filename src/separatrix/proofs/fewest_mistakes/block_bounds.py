"""The lower bound of a search raised by blocks of rows, and by small witnesses where most numbers are zero.

The tree of cases grows fast with the columns. Rows that are zero outside a few columns have those columns only: there
may be hundreds of them, with many mistakes, and the tree still closes. Blocks are taken one after the other, with more
and more columns. Each has all rows that are left and are zero outside its columns, and keeps those that its proof
refers to. Columns are chosen one by one, so that the rows that the best hyperplane gets wrong lack as few as possible.
The first mistakes of a block are soon proved, and each one more takes longer than the last. So every block is given a
little work at first; then each is solved again, with more, on its rows and those that are left over.

Rows that are zero in the same columns lie in a space of few dimensions, and a witness among them has few rows: far
fewer than p + 1, which is what limits packings of any witnesses. The rows nearest to one row, by the columns that
they would add, are taken until they cannot be separated. Which rows are taken first follows the loads of the linear
programme of packing.py (column generation): a witness that bears less than 1 improves the packing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.fewest_mistakes.branch_and_bound import SMALL, TINY, Search
from separatrix.proofs.fewest_mistakes.case_tree import node_work, packed_proof, proof
from separatrix.proofs.fewest_mistakes.packing import Packing, programme, whole_weights
from separatrix.proofs.fewest_mistakes.row_blocks import (
    Block,
    Run,
    Solve,
    Solved,
    is_sparse,
    pattern,
    row_blocks,
    solved,
    two_thirds,
)

MOST_ROWS = 10_000  # of a table whose linear programme of small witnesses is solved again and again
ROUNDS = 100  # of that programme
MOST_WORK = 3e10  # steps of the trees of blocks
SHARES = tuple(k / 9 for k in range(2, 10))  # of the columns, block after block
ALWAYS = 0.9  # share of rows from which on a column is taken in any case
MISSING = 0.4  # what each column that a row lacks leaves of its weight
RIGHT = 0.3  # weight of a row that the best hyperplane gets right
LEVELS = (0.06, 0.24, 0.7)  # shares of the work, one after the other
TWICE = 2  # times the work of the last time, at least, that a block is solved again with
Codes = list[int]
FIRST = 60  # rows of a neighbourhood at first
TRIES = 20  # neighbourhoods between two solutions of the programme
PATIENCE = 15  # rounds without a gain of a hundredth


def raise_by_blocks(search: Search, max_nodes: int) -> None:
    """Try blocks and small witnesses; ``search.fraction`` becomes the better packing."""
    rows = search.rows
    if rows.wide or rows.n * rows.p <= TINY:
        return

    def solve(part: LiftedRows, nodes: int) -> Solved:
        inner = Search(part, search.deadline, None)
        inner.run(nodes, 0)
        return (inner.lower, inner.lower == inner.upper, inner.nodes, *proof(inner, inner.lower))

    work = min(MOST_WORK, max_nodes * node_work(rows.n, rows.p))
    if is_sparse(rows) and rows.n <= MOST_ROWS:
        blocks = column_blocks(rows, solve, 4 * work, search.late, search.incumbent.wrong)
        _keep_better(search, near_packing(rows, search.packed, blocks, search.prove, search.late, ROUNDS))
        return
    blocks = row_blocks(rows, solve, work, search.late)
    taken = {i for block in blocks for i in block.rows}
    others = [codes for codes in search.packed if taken.isdisjoint(codes)]
    if rows.n * rows.p > SMALL:
        taken.update(c for codes in others for c in codes)
        others += search.disjoint(np.setdiff1d(np.arange(rows.n), list(taken)))
    _keep_better(search, Packing(others, [1] * len(others), 1, tuple(blocks), (1,) * len(blocks)))
    if 0 < len(blocks) <= 3 and rows.n * rows.p <= SMALL:
        thirds = tuple(two_thirds(rows, solve, work / 2, search.late))
        _keep_better(search, Packing([], [], 2, thirds, (1,) * len(thirds)))


def _keep_better(search: Search, packing: Packing) -> None:
    """Blocks and witnesses, less the blocks of the longest proofs where a checker would not take all of them."""
    while (search.fraction is None or packing.bound > search.fraction.bound) and packing.bound > 0:
        nodes, witnesses = packed_proof(packing)
        if search.cost.allows(witnesses, nodes):
            search.fraction = packing
            return
        search.long = True
        if not packing.blocks:
            return
        kept = sorted(range(len(packing.blocks)), key=lambda k: len(packing.blocks[k].witnesses))[:-1]
        packing = replace(
            packing, blocks=tuple(packing.blocks[k] for k in kept), shares=tuple(packing.shares[k] for k in kept)
        )


# -- blocks of rows that are zero outside a few columns --


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


# -- small witnesses among like rows --


class Neighbourhoods:
    """The rows by the columns in which they are not zero."""

    def __init__(self, rows: LiftedRows) -> None:
        self.rows = rows
        self.filled = pattern(rows)
        self.floats = self.filled.astype(np.float32)
        self.chance = np.random.default_rng(0)
        few = 1.0 / (1.0 + self.filled.sum(axis=1))
        self.share = few / few.sum()

    def order(self, load: Floats) -> NDArray[np.intp]:
        """Rows by the columns that they add to those of a row drawn at random, by their loads, and by chance."""
        n, chance = self.rows.n, self.chance
        i = int(chance.choice(n, p=self.share))
        added = self.floats @ (1 - self.floats[i])
        weight, noise = (5.0, 20.0, 60.0)[chance.integers(3)], (0.3, 1.0, 3.0)[chance.integers(3)]
        return np.argsort(added + weight * load + chance.exponential(noise, n), kind="stable")

    def witnesses(self, order: NDArray[np.intp]) -> list[Codes]:
        """Disjoint witnesses among the first rows of the order that cannot be separated, the heaviest rows first."""
        rows, count = self.rows, FIRST
        while True:  # ends at all rows
            ids = np.sort(order[:count])
            part = self._part(ids)
            found = part.search()
            if found.status != "separates" or count >= rows.n:
                break
            count = 3 * count // 2
        out: list[Codes] = []
        left = np.arange(len(ids))
        while found.status == "witness" and found.support:  # the rows of each witness leave
            out.append([int(ids[found.support[k]]) for k in np.argsort(-found.weights, kind="stable")])
            left = np.setdiff1d(left, found.support)
            if not len(left):
                break
            found = part.search(left)
        return out

    def _part(self, ids: NDArray[np.intp]) -> LiftedRows:
        rows = self.rows
        X = rows.X[ids]
        X = X if isinstance(X, np.ndarray) else X.toarray()
        own = np.flatnonzero(self.filled[ids].any(axis=0))
        X = np.asarray(X[:, own if len(own) else [0]], dtype=np.float64)
        with np.errstate(all="ignore"):
            top = np.abs(X).max(axis=0, initial=0.0)
            X = np.ldexp(X, -np.frexp(np.where(top > 0, top, 1.0))[1])
        return LiftedRows(np.ascontiguousarray(X), rows.y[ids], rows.intercept)


def near_packing(
    rows: LiftedRows,
    pool: list[Codes],
    blocks: list[Block],
    prove: Callable[[Codes], Codes],
    late: Callable[[], bool],
    rounds: int,
) -> Packing:
    """The best packing of the blocks, the pool and what is found among like rows, all of them proved."""
    near = Neighbourhoods(rows)
    known = {tuple(sorted(codes)): 0 for codes in pool}  # and the rounds since each had a weight
    fixed, demands = [tuple(block.rows) for block in blocks], [block.lower for block in blocks]
    best, steady, since, reached = Packing([], [], 1), np.full(rows.n, 0.01), 0, 0.0
    load = np.zeros(rows.n)
    for turn in range(rounds + 1):
        if known or fixed:
            witnesses = sorted(known)
            load, t = programme([*fixed, *witnesses], rows.n, [*demands, *([1] * len(witnesses))])
            packing = whole_weights(witnesses, t, blocks)
            best = max(best, packing, key=lambda one: one.bound)
            known = _in_use(witnesses, t[len(fixed) :], known)
            steady = 0.8 * steady + 0.2 * load
            since, reached = (0, load.sum()) if load.sum() > 1.01 * reached else (since + 1, reached)
        if turn == rounds or since > PATIENCE or late():
            return best
        for k in range(TRIES):
            if late():
                return best
            for codes in near.witnesses(near.order(steady if k % 2 else load)):
                if load[codes].sum() < 1 - 1e-6 and (proved := prove(codes)):
                    known.setdefault(tuple(sorted(proved)), 0)
    return best


def _in_use(
    witnesses: list[tuple[int, ...]], t: Floats, known: dict[tuple[int, ...], int]
) -> dict[tuple[int, ...], int]:
    """Witnesses that had no weight in ten rounds are forgotten: the programme stays small."""
    idle = {w: 0 if v > 1e-9 else known[w] + 1 for w, v in zip(witnesses, t.tolist(), strict=True)}
    return {w: k for w, k in idle.items() if k <= 10}
