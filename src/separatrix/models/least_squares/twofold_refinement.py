"""Weights corrected by gradients in twofold precision, until nothing changes.

A correction leaves a share of the error that is bounded beforehand (``contraction``): where the next one is bound to
change no bit, the rows are not read again for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Protocol

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.normal_equations import LeastSquaresProblem
from separatrix.numerics.twofold import twofold_add, twofold_times

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


Sums = Callable[[Floats, Floats], tuple[Floats, Floats]]  # X'(y - Xw) at twofold weights, as a pair


def residual_sums(
    rows: kernels.Rows, y: Floats, weights: Floats | None, high: Floats, low: Floats
) -> tuple[Floats, Floats]:
    """The weighted sum of residual times lifted row, in twofold precision."""
    return _residuals(rows, y, weights, high, low)[:2]


def _residuals(
    rows: kernels.Rows, y: Floats, weights: Floats | None, high: Floats, low: Floats
) -> tuple[Floats, Floats, float]:
    g, rest = np.zeros(len(high)), np.zeros(len(high))
    squares, _ = kernels.residual_gradient(rows, y, weights, high, low, g, rest, None)
    return g, rest, squares


def penalised_gradient(sums: Sums, high: Floats, low: Floats, normal: Penalised) -> Floats:
    """Minus half the gradient at twofold lifted weights, in twofold precision, then rounded."""
    g, rest = sums(high, low)
    if normal.alpha:
        pull, pull_low = twofold_times(normal.alpha, high, low)
        if normal.free:
            pull[-1] = pull_low[-1] = 0.0
        g, rest = twofold_add(g, rest - pull_low, -pull)
    return g + rest


@dataclass(frozen=True, slots=True)
class Refined:
    """Lifted weights, the last step to them, and the gradient from which that was made."""

    lifted: Floats
    step: Floats
    gradient: Floats


def refine(
    rows: kernels.Rows, y: Floats, weights: Floats | None, start: Floats, normal: Correcting, close: float = 1e-15
) -> tuple[Floats, float | None] | None:
    """As :func:`refine_by`, for rows of this process: lifted weights, and the residual sum of squares.

    With u the last step, g and p the gradient at the point before it without and with the penalty, the sum of squares
    there falls by 2 u.g - u.X'Xu, where X'Xu = p - alpha u. The sum is None where that is not small beside it.
    """
    plain, squares = np.zeros_like(start), 0.0

    def sums(high: Floats, low: Floats) -> tuple[Floats, Floats]:
        nonlocal plain, squares
        g, rest, squares = _residuals(rows, y, weights, high, low)
        plain = g + rest
        return g, rest

    found = refine_by(sums, start, normal, close)
    if found is None:
        return None
    u = found.step
    penalised = u[:-1] if normal.free else u
    change = 2 * float(u @ plain) - float(u @ found.gradient) + normal.alpha * float(penalised @ penalised)
    return found.lifted, squares - change if abs(change) <= SMALL * squares else None


def refine_by(sums: Sums, start: Floats, normal: Correcting, close: float = 1e-15) -> Refined | None:
    """Lifted weights corrected until nothing changes, or None where corrections stop shrinking above ``close``."""
    high, low = start.copy(), np.zeros(len(start))
    scale = np.append(normal.scale, np.sqrt(normal.weight)) if len(normal.scale) < len(start) else normal.scale
    before, left = np.inf, normal.contraction
    for _ in range(STEPS):
        gradient = penalised_gradient(sums, high, low, normal)
        step = normal.correction(gradient)
        if not normal.lift:
            step[-1] = 0.0
        moved = np.abs(step) * scale
        relative = float(np.max(moved)) / (float(np.max(np.abs(high) * scale)) or 1.0)
        if not np.isfinite(relative) or relative > 0.25 * before:
            return Refined(high + low, np.zeros_like(step), gradient) if before < close else None
        high, low = twofold_add(high, low, step)
        following = np.fmin(moved, left * float(np.max(moved)))  # no step is longer than the one before it
        if np.all(following <= EPS / 64 * np.abs(high) * scale):
            break
        before = relative
    return Refined(high + low, step, gradient)


def residual_sum(problem: LeastSquaresProblem, lifted: Floats, known: Sequence[float | None] = ()) -> Floats:
    """Residual sums of squares, one per target, in twofold precision; those that are known are not computed."""
    rows = kernels.rows(problem.X)
    out = np.empty(len(lifted))
    zeros = np.zeros(lifted.shape[1])
    for k, (w, squares) in enumerate(zip_longest(lifted, known)):
        if squares is None:
            y = np.ascontiguousarray(problem.Y[:, k])
            squares = _residuals(rows, y, problem.weights, np.ascontiguousarray(w), zeros)[2]
        out[k] = squares
    return out
