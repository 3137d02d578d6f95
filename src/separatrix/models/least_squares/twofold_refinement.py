"""Weights corrected by gradients in twofold precision, until nothing changes.

A correction leaves a share of the error that is bounded beforehand (``contraction``): where the next one is bound to
change no bit, the rows are not read again for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Protocol

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.twofold import twofold_add, twofold_sum, twofold_times
from separatrix.rows.protocol import Leaf, Pass, Rows

STEPS = 12
SMALL = 1e-8  # of the sum of squares: a change that is known well enough to be subtracted


class Penalised(Protocol):
    """The penalty, whether there is a bias and whether it is free."""

    alpha: float
    lift: bool
    free: bool


class Correcting(Penalised, Protocol):
    """A penalised problem with an approximate inverse of its normal matrix."""

    weight: float
    scale: Floats

    @property
    def contraction(self) -> float: ...

    def correction(self, g: Floats) -> Floats: ...


Residuals = Callable[[Floats, Floats], tuple[Floats, Floats, float]]  # at twofold weights: see leaf_residuals


def leaf_residuals(leaf: Leaf, target: int, high: Floats, low: Floats) -> tuple[Floats, Floats, float]:
    """Of a leaf at twofold lifted weights: the weighted sum of residual times lifted row, as a pair of doubles, and the
    residual sum of squares."""
    y = leaf.targets if leaf.targets.ndim == 1 else np.ascontiguousarray(leaf.targets[:, target])
    g, rest = np.zeros(len(high)), np.zeros(len(high))
    squares, _ = kernels.residual_gradient(leaf.rows, y, leaf.weights, high, low, g, rest, None)
    return g, rest, squares


def join_residuals(
    left: tuple[Floats, Floats, float], right: tuple[Floats, Floats, float]
) -> tuple[Floats, Floats, float]:
    """The sums of two runs of leaves."""
    high, error = twofold_sum(left[0], right[0])
    return high, left[1] + right[1] + error, left[2] + right[2]


RESIDUALS = Pass(leaf_residuals, join_residuals)


def residuals_of(rows: Rows, target: int) -> Residuals:
    """The residuals of one target, in a pass over rows of any place."""
    return partial(rows.reduce, RESIDUALS, target)


def penalised_gradient(g: Floats, rest: Floats, high: Floats, low: Floats, normal: Penalised) -> Floats:
    """Minus half the gradient at twofold lifted weights, in twofold precision, then rounded."""
    if normal.alpha:
        pull, pull_low = twofold_times(normal.alpha, high, low)
        if normal.free:
            pull[-1] = pull_low[-1] = 0.0
        g, rest = twofold_add(g, rest - pull_low, -pull)
    return g + rest


def refine(
    residuals: Residuals, start: Floats, normal: Correcting, close: float = 1e-15
) -> tuple[Floats, float | None] | None:
    """Lifted weights corrected until nothing changes, and their residual sum of squares; None where corrections stop
    shrinking above ``close``.

    With u the last step, g and p the gradient at the point before it without and with the penalty, the sum of squares
    there falls by 2 u.g - u.X'Xu, where X'Xu = p - alpha u. The sum is None where that is not small beside it.
    """
    high, low = start.copy(), np.zeros(len(start))
    scale = np.append(normal.scale, np.sqrt(normal.weight)) if len(normal.scale) < len(start) else normal.scale
    before, left = np.inf, normal.contraction
    for _ in range(STEPS):
        g, rest, squares = residuals(high, low)
        p = penalised_gradient(g, rest, high, low, normal)
        u = normal.correction(p)
        if not normal.lift:
            u[-1] = 0.0
        moved = np.abs(u) * scale
        relative = float(np.max(moved)) / (float(np.max(np.abs(high) * scale)) or 1.0)
        if not np.isfinite(relative) or relative > 0.25 * before:
            return (high + low, squares) if before < close else None
        high, low = twofold_add(high, low, u)
        following = np.fmin(moved, left * float(np.max(moved)))  # no step is longer than the one before it
        if np.all(following <= EPS / 64 * np.abs(high) * scale):
            break
        before = relative
    penalised = u[:-1] if normal.free else u
    change = 2 * float(u @ (g + rest)) - float(u @ p) + normal.alpha * float(penalised @ penalised)
    return high + low, squares - change if abs(change) <= SMALL * squares else None


def residual_sum(rows: Rows, lifted: Floats, known: Sequence[float | None] = ()) -> Floats:
    """Residual sums of squares, one per target, in twofold precision; those that are known are not computed."""
    zeros = np.zeros(lifted.shape[1])
    return np.array(
        [
            residuals_of(rows, k)(np.ascontiguousarray(w), zeros)[2] if squares is None else squares
            for k, (w, squares) in enumerate(zip_longest(lifted, known))
        ]
    )
