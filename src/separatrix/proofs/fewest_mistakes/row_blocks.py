"""A lower bound from blocks of rows: blocks that share no row cost at least the sum of their fewest mistakes.

A witness needs about as many rows as there are columns, so that disjoint or fractional packings of witnesses cannot
exceed n / (p + 1). A block of some hundred rows has no such limit, its tree of cases is small, and columns that are
combinations of others on its rows fall away. Blocks are runs of rows in an order that keeps like rows together; two
neighbours are merged as long as the tree closes both of them. Rows that no proof needs are dealt out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.exact.algebra import independent, transpose
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.fewest_mistakes.case_tree import node_work

Codes = list[int]  # a row i as i, the row reversed (-z_i) as ~i
Solved = tuple[int, bool, int, list[dict[str, Any]], list[Codes]]  # bound, whether it is the minimum, cases, proof
Solve = Callable[[LiftedRows, int], Solved]

LEAST = (32, 45)  # rows of the first blocks: sizes double, and the better of the two series counts
PARTS = 8  # first blocks of a table that is divided at all
ROUNDS = 4  # times that rows not needed so far are dealt out
LEVELS = 15  # shares of the work: one round of merging takes at most one
MOST = 40_000  # rows that are dealt out
PATTERN = 50_000_000  # numbers of a table of which the places of zeros are written out
DENSE = 0.5  # share of non-zeros from which on the places of the zeros say nothing
FEW = 20  # nodes for the smallest blocks


@dataclass(frozen=True)
class Block:
    """At least ``lower`` of these rows are wrong for every w: a tree of cases, and its witnesses."""

    rows: list[int]  # those that the proof refers to
    lower: int
    nodes: list[dict[str, Any]]
    witnesses: list[Codes]


@dataclass(frozen=True)
class Run:
    """Neighbours in the order of rows, the blocks among them, and whether nothing better can be proved."""

    ids: NDArray[np.int64]
    blocks: list[Block]
    closed: bool
    work: float = 0.0  # steps of the tree

    @property
    def lower(self) -> int:
        return sum(block.lower for block in self.blocks)


def row_blocks(rows: LiftedRows, solve: Solve, work: float, late: Callable[[], bool]) -> list[Block]:
    """Blocks without common rows; ``solve`` brackets the fewest mistakes of some rows within so many nodes."""
    found: list[Block] = []
    free = np.arange(rows.n)
    orders = _orders(rows)
    sparse = is_sparse(rows)
    usual = int(np.median(pattern(rows).sum(axis=1))) + 1 if sparse else rows.p
    sizes = [max(least, least * 2 * usual // LEAST[0]) for least in (LEAST[:1] if sparse else LEAST)]
    if rows.n < PARTS * sizes[0]:
        return []
    for turn in range(ROUNDS):
        order = next(orders)
        order = order[np.isin(order, free)][:MOST]
        series = [_round(rows, order, least, solve, work / LEVELS, late) for least in sizes[: 1 if turn else None]]
        fresh = max(series, key=lambda blocks: sum(block.lower for block in blocks))
        found += fresh
        free = np.setdiff1d(free, [i for block in fresh for i in block.rows])
        if late() or (turn > 0 and not fresh):
            break
    return found


def is_sparse(rows: LiftedRows) -> bool:
    """Whether the places of the zeros say which rows are alike."""
    size = rows.n * rows.d
    return bool(size <= PATTERN and rows.non_zeros[: rows.d].sum() < DENSE * size)


def pattern(rows: LiftedRows) -> NDArray[np.bool_]:
    """Where the table is not zero."""
    X = rows.X
    return np.asarray(X != 0 if isinstance(X, np.ndarray) else (X != 0).toarray(), dtype=np.bool_)


def _orders(rows: LiftedRows) -> Iterator[NDArray[np.int64]]:
    """Orders of the rows: by the places of their zeros where there are many, else at random."""
    chance = np.random.default_rng(0)
    filled = pattern(rows) if is_sparse(rows) else None
    rare = np.argsort(rows.non_zeros[: rows.d], kind="stable")
    for turn in range(ROUNDS):
        order = chance.permutation(rows.n)
        if filled is not None:
            order = order[np.lexsort(filled[order][:, rare if turn % 2 else rare[::-1]].T)]
        yield order


def _round(
    rows: LiftedRows, order: NDArray[np.int64], least: int, solve: Solve, work: float, late: Callable[[], bool]
) -> list[Block]:
    """Runs of a few rows, merged in pairs as long as that may help."""

    def block(ids: NDArray[np.int64]) -> Run:
        return solved(rows, ids, solve, work * len(ids) / rows.n)

    runs: list[Run] = []
    for ids in np.array_split(order, max(1, round(len(order) / least))):
        if late():
            return [block for run in runs for block in run.blocks]
        runs.append(block(ids))
    while len(runs) > 1:  # each round halves their number
        merged, tried = [], False
        for a, b in zip(runs[::2], runs[1::2], strict=False):
            together = Run(np.concatenate([a.ids, b.ids]), a.blocks + b.blocks, False)
            if a.closed and b.closed and not late():
                tried = True
                once = block(together.ids)
                together = once if once.lower > together.lower else Run(together.ids, together.blocks, once.closed)
            merged.append(together)
        runs = merged + (runs[-1:] if len(runs) % 2 else [])
        if not tried:
            break
    return [block for run in runs for block in run.blocks]


def solved(rows: LiftedRows, ids: NDArray[np.int64], solve: Solve, work: float) -> Run:
    """These rows as one block, by a tree that takes so many steps."""
    part = _part(rows, np.sort(ids))
    if part is None:
        return Run(ids, [], True)
    each = node_work(len(ids), part.p)
    lower, closed, cases, tree, witnesses = solve(part, max(FEW, int(work / each)))
    return Run(ids, [_outward(np.sort(ids), lower, tree, witnesses)] if lower else [], closed, cases * each)


def two_thirds(rows: LiftedRows, solve: Solve, work: float, late: Callable[[], bool]) -> list[Block]:
    """Three blocks that each lack a third of the rows: half the sum of their bounds is one of all rows.

    For tables of which two halves are soon closed and the whole is not: trees grow fast with the rows.
    """
    parts = np.array_split(np.random.default_rng(0).permutation(rows.n), 3)
    runs = [] if late() else [solved(rows, np.concatenate([a, b]), solve, work / 3) for a, b in combinations(parts, 2)]
    return [block for run in runs for block in run.blocks]


def _part(rows: LiftedRows, ids: NDArray[np.int64]) -> LiftedRows | None:
    """These rows in columns of which all others are combinations on them; None where one class is absent."""
    if rows.intercept and abs(int(rows.y[ids].sum(dtype=np.int64))) == len(ids):
        return None
    X = rows.X[ids]
    X = X if isinstance(X, np.ndarray) else X.toarray()
    moving = (X[0] != X).any(axis=0) if rows.intercept else X.any(axis=0)
    own = np.flatnonzero(moving).tolist() or [0]
    last = [rows.d] * int(rows.intercept)
    part = _dense(rows.narrow(ids.tolist(), [*own, *last])[0])
    Z = part.dense(np.arange(part.n))
    with np.errstate(all="ignore"):
        Z = np.nan_to_num(Z / np.abs(Z).max(axis=0, initial=1e-300))
    if np.linalg.matrix_rank(Z) == part.p:
        return part
    columns = transpose(part.integers(range(part.n))[0])
    kept = independent(columns[::-1])  # the intercept first, so that it stays
    if len(kept) < _rank(columns):
        return part
    chosen = sorted([*own, *last][len(columns) - 1 - k] for k in kept)
    return _dense(rows.narrow(ids.tolist(), chosen)[0]) if any(j < rows.d for j in chosen) else part


def _dense(part: LiftedRows) -> LiftedRows:
    if isinstance(part.X, np.ndarray):
        return part
    return type(part)(np.ascontiguousarray(part.X.toarray()), part.y, part.intercept)


def _rank(columns: list[list[int]]) -> int:
    import flint

    return int(flint.fmpz_mat(columns).rank())


def _outward(ids: NDArray[np.int64], lower: int, tree: list[dict[str, Any]], witnesses: list[Codes]) -> Block:
    """The proof in the numbers of all rows."""
    number = ids.tolist()
    moved = [{**node, "split": number[node["split"]]} if "split" in node else node for node in tree]
    named = [[number[c] if c >= 0 else ~number[~c] for c in codes] for codes in witnesses]
    used = {c for codes in named for c in codes if c >= 0} | {node["split"] for node in moved if "split" in node}
    return Block(sorted(used), lower, moved, named)
