"""Weights corrected by gradients in twofold precision, until nothing changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.least_squares_problem import LeastSquaresProblem
from separatrix.numerics.normal_equations import EPS
from separatrix.numerics.twofold import twofold_add, twofold_times

STEPS = 12


class Correcting(Protocol):
    """A penalised problem with an approximate inverse of its normal matrix."""

    alpha: float
    lift: bool
    free: bool
    weight: float
    scale: Floats

    def correction(self, g: Floats) -> Floats: ...


Sums = Callable[[Floats, Floats], tuple[Floats, Floats]]  # X'(y - Xw) at twofold weights, as a pair


def residual_sums(
    rows: kernels.Rows, y: Floats, weights: Floats | None, high: Floats, low: Floats
) -> tuple[Floats, Floats]:
    """The weighted sum of residual times lifted row, in twofold precision."""
    g, rest = np.zeros(len(high)), np.zeros(len(high))
    kernels.residual_gradient(rows, y, weights, high, low, g, rest, None)
    return g, rest


def penalised_gradient(sums: Sums, high: Floats, low: Floats, normal: Correcting) -> Floats:
    """Minus half the gradient at twofold lifted weights, in twofold precision, then rounded."""
    g, rest = sums(high, low)
    if normal.alpha:
        pull, pull_low = twofold_times(normal.alpha, high, low)
        if normal.free:
            pull[-1] = pull_low[-1] = 0.0
        g, rest = twofold_add(g, rest - pull_low, -pull)
    return g + rest


def refine(
    rows: kernels.Rows, y: Floats, weights: Floats | None, start: Floats, normal: Correcting, close: float = 1e-15
) -> Floats | None:
    """As :func:`refine_by`, for rows of this process."""
    return refine_by(lambda high, low: residual_sums(rows, y, weights, high, low), start, normal, close)


def refine_by(sums: Sums, start: Floats, normal: Correcting, close: float = 1e-15) -> Floats | None:
    """Lifted weights corrected until nothing changes, or None where corrections stop shrinking above ``close``."""
    high, low = start.copy(), np.zeros(len(start))
    scale = np.append(normal.scale, np.sqrt(normal.weight)) if len(normal.scale) < len(start) else normal.scale
    before = np.inf
    for _ in range(STEPS):
        step = normal.correction(penalised_gradient(sums, high, low, normal))
        if not normal.lift:
            step[-1] = 0.0
        size = float(np.max(np.abs(step) * scale)) / (float(np.max(np.abs(high) * scale)) or 1.0)
        if not np.isfinite(size) or size > 0.25 * before:
            return high + low if before < close else None
        high, low = twofold_add(high, low, step)
        settled = np.abs(step) <= EPS / 64 * np.abs(high)
        if settled.all():
            break
        before = size
    return high + low


def residual_sum(problem: LeastSquaresProblem, lifted: Floats) -> Floats:
    """Residual sums of squares, one per target, in twofold precision."""
    rows = kernels.rows(problem.X)
    out = np.empty(len(lifted))
    zeros = np.zeros(lifted.shape[1])
    for k, w in enumerate(lifted):
        y = np.ascontiguousarray(problem.Y[:, k])
        out[k], _ = kernels.residual_gradient(
            rows, y, problem.weights, np.ascontiguousarray(w), zeros, zeros.copy(), zeros.copy(), None
        )
    return out
