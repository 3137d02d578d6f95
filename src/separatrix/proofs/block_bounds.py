"""The lower bound of a search raised by blocks of rows, and by small witnesses where most numbers are zero."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.proofs.branch_and_bound import SMALL, TINY, Search
from separatrix.proofs.case_tree import packed_proof, proof
from separatrix.proofs.column_blocks import column_blocks
from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.near_witnesses import near_packing
from separatrix.proofs.packing import Packing
from separatrix.proofs.row_blocks import Solved, is_sparse, row_blocks, two_thirds
from separatrix.proofs.tree_rows import node_work

MOST_ROWS = 10_000  # of a table whose linear programme of small witnesses is solved again and again
ROUNDS = 100  # of that programme
MOST_WORK = 3e10  # steps of the trees of blocks


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
