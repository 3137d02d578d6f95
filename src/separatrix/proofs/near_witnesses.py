"""Small witnesses among like rows, for tables of which most numbers are zero, and the best packing of them.

Rows that are zero in the same columns lie in a space of few dimensions, and a witness among them has few rows: far
fewer than p + 1, which is what limits packings of any witnesses. The rows nearest to one row, by the columns that
they would add, are taken until they cannot be separated. Which rows are taken first follows the loads of the linear
programme of packing.py (column generation): a witness that bears less than 1 improves the packing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.packing import Packing, programme, whole_weights
from separatrix.proofs.row_blocks import Block, pattern

Codes = list[int]
FIRST = 60  # rows of a neighbourhood at first
TRIES = 20  # neighbourhoods between two solutions of the programme
PATIENCE = 15  # rounds without a gain of a hundredth


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
