"""Dual coordinate descent for the soft margin, pass by pass (native/separatrix/hinge.hpp)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from reference.rows import Rows
from separatrix.arrays import Floats


def hinge_pass(
    X: Rows,
    y: NDArray[np.int8],
    order: NDArray[np.int64],
    cost: Floats,
    curvature: Floats,
    rho: float,
    high: float,
    low: float,
    z: Floats,
    w: Floats,
    bias: Floats,
) -> tuple[int, float, float]:
    """Put each listed multiplier where it is best; ``w`` and ``bias`` follow.

    Rows at a bound with gradients beyond ``high`` and ``low`` are left out: ``order`` has the others first. Returns
    how many those are, and the largest and the smallest projected gradient.
    """
    kept, most, least = 0, -math.inf, math.inf
    for t, i in enumerate(order.tolist()):
        sign, before, top = float(y[i]), float(z[i]), float(cost[i])
        gradient = sign * (X.dot(i, w) + float(bias[0])) - 1.0
        projected = gradient
        if before <= 0:
            if gradient > high:
                continue
            projected = min(gradient, 0.0)
        elif before >= top:
            if gradient < low:
                continue
            projected = max(gradient, 0.0)
        order[t] = order[kept]
        order[kept] = i
        kept, most, least = kept + 1, max(most, projected), min(least, projected)
        if projected == 0:
            continue
        if curvature[i] > 0:
            after = before - gradient / float(curvature[i])
        else:
            after = top if gradient < 0 else 0.0
        after = min(max(after, 0.0), top)
        step = (after - before) * sign
        if step == 0:
            continue
        z[i] = after
        X.axpy(step, i, w)
        bias[0] += rho * step
    return kept, most, least
