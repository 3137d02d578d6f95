"""A fractional packing of witnesses: weights t on witnesses that no row bears more than 1 of cost sum t mistakes.

Every set of mistakes hits every witness, so that it has at least sum t rows, rounded up. The best t is the dual of
the linear programme  min sum x,  x(W) >= 1 for every witness W,  x >= 0; rows with small x show where witnesses
are missing. The programme is solved in floating point as a hint; its weights are rounded down to integers over a
common denominator, and what is claimed is added up from those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.fewest_mistakes.row_blocks import Block

Codes = list[int]


@dataclass(frozen=True)
class Packing:
    """Witnesses and blocks of rows with whole weights; no row bears more than ``over``."""

    witnesses: list[Codes]
    weights: list[int]
    over: int
    blocks: tuple[Block, ...] = ()
    shares: tuple[int, ...] = ()  # the weights of the blocks

    @property
    def bound(self) -> int:
        total = sum(self.weights) + sum(t * block.lower for t, block in zip(self.shares, self.blocks, strict=True))
        return -(-total // self.over)


def packed_fractionally(pool: list[Codes], n: int) -> Packing:
    """The best packing over proved witnesses of n rows.

    Where no single row is in all of them its bound is at least 2: loads of sum 1 that every witness bears in full would
    lie on rows that all witnesses share.
    """
    witnesses = sorted({tuple(sorted(codes)) for codes in pool})
    return whole_weights(witnesses, programme(witnesses, n)[1])


def programme(
    witnesses: list[tuple[int, ...]], n: int, demands: list[int] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The loads x of rows and the weights t of witnesses, or of sets of rows that cost so many mistakes."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    sizes = [len(w) for w in witnesses]
    at = np.concatenate([[0], np.cumsum(sizes)])
    A = csr_array((np.ones(at[-1]), np.concatenate([np.array(w) for w in witnesses]), at), shape=(len(witnesses), n))
    least = np.ones(len(witnesses)) if demands is None else np.array(demands, dtype=np.float64)
    solved = linprog(np.ones(n), A_ub=-A, b_ub=-least, bounds=(0, None), method="highs-ds")
    if solved.x is None:
        return np.zeros(n), np.zeros(len(witnesses))
    return solved.x, -solved.ineqlin.marginals


def whole_weights(witnesses: list[tuple[int, ...]], t: NDArray[np.float64], blocks: Sequence[Block] = ()) -> Packing:
    """The weights as integers, those of the blocks first; the row that bears most says over what."""
    whole = np.floor(np.clip(np.nan_to_num(t), 0, 1) * 2**30).astype(np.int64).tolist()
    own = [(block, v) for block, v in zip(blocks, whole, strict=False) if v > 0]
    chosen = [(list(w), v) for w, v in zip(witnesses, whole[len(blocks) :], strict=True) if v > 0]
    load: dict[int, int] = {}
    for ids, v in [*chosen, *((block.rows, v) for block, v in own)]:
        for i in ids:
            load[i] = load.get(i, 0) + v
    over = max(load.values(), default=1)
    shares = tuple(v for _, v in own)
    return Packing([w for w, _ in chosen], [v for _, v in chosen], over, tuple(block for block, _ in own), shares)
