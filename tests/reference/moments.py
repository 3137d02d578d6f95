"""Moments of rows, block by block (native/separatrix/moments.hpp)."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference.rows import Rows
from separatrix.arrays import Floats, Indices

block_rows = 128


def moments_add(
    X: Rows,
    targets: Floats | None,
    code: Indices | None,
    weights: Floats | None,
    begin: int,
    end: int,
    rows: Indices,
    fill: Indices,
    weight: Floats,
    mean: Floats,
    scatter: Floats,
    block: Floats,
    block_weight: Floats,
) -> None:
    """Rows begin .. end join the blocks of their classes; a full block is added."""
    for i in range(begin, end):
        c = 1.0 if weights is None else weights[i]
        if c == 0:
            continue
        k = 0 if code is None else int(code[i])
        block[k, fill[k], : X.d] = X.row(i)
        if targets is not None:
            block[k, fill[k], X.d :] = targets[i]
        block_weight[k, fill[k]] = c
        rows[k] += 1
        fill[k] += 1
        if fill[k] == block_rows:
            _flush(k, fill, weight, mean, scatter, block, block_weight)


def moments_flush(
    rows: Indices, fill: Indices, weight: Floats, mean: Floats, scatter: Floats, block: Floats, block_weight: Floats
) -> None:
    """The waiting blocks are added."""
    for k in range(len(rows)):
        if fill[k]:
            _flush(k, fill, weight, mean, scatter, block, block_weight)


@np.errstate(over="ignore", invalid="ignore")
def moments_merge(
    other_rows: Indices,
    other_weight: Floats,
    other_mean: Floats,
    other_scatter: Floats,
    rows: Indices,
    fill: Indices,
    weight: Floats,
    mean: Floats,
    scatter: Floats,
    block: Floats,
    block_weight: Floats,
) -> None:
    """The blocks that were added to the other state join those of this one; blocks that wait are left alone."""
    q = mean.shape[2]
    scatter += other_scatter
    for k, before in enumerate(weight.tolist()):
        total = before + other_weight[k]
        if before == 0:
            mean[:, k] = other_mean[:, k]
        else:
            share = other_weight[k] / total
            away = (other_mean[0, k] - mean[0, k]) + (other_mean[1, k] - mean[1, k])
            root = np.sqrt(before * share) * away
            scatter[k if len(scatter) > 1 else 0, :q, :q] += np.outer(root, root)
            mean[:, k] = _two_sum(mean[0, k], mean[1, k] + share * away)
        weight[k] = total
    rows += other_rows


@np.errstate(over="ignore", invalid="ignore")  # infinities are for the caller to find, as behind the native kernel
def _flush(k: int, fill: Any, weight: Any, mean: Any, scatter: Any, block: Any, block_weight: Any) -> None:
    """Shift by the first row and then by the mean; the mean's own distance is one more row."""
    z, c = block[k, : fill[k]], block_weight[k, : fill[k]]
    total = c.sum()
    shift = (c[:, None] * (z - z[0])).sum(axis=0) / total
    centred = np.sqrt(c)[:, None] * ((z - z[0]) - shift)
    table = scatter[k if len(scatter) > 1 else 0]
    q = z.shape[1]
    table[:q, :q] += np.triu(centred.T @ centred)
    new = _two_sum(z[0], shift)
    high, low = mean[0, k], mean[1, k]
    if weight[k] == 0:
        high[:], low[:] = new
    else:
        share = total / (weight[k] + total)
        far, left = _two_sum(new[0], -high)
        delta = far + (left + (new[1] - low))
        table[:q, :q] += np.triu(np.outer(delta, delta)) * (weight[k] * share)
        high[:], low[:] = _two_sum(high.copy(), low + delta * share)
    weight[k] += total
    fill[k] = 0


def _two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)
