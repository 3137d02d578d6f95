"""A step of the soft margin along its central path, row by row (native/separatrix/central_path.hpp).

Sums run in eight lanes, row i in lane i mod 8 (lanes.py).
"""

from __future__ import annotations

import numpy as np

from reference.lanes import dot
from separatrix.arrays import Floats


def _sum(values: Floats) -> float:
    return dot(values.tolist(), [1.0] * len(values), 1)


@np.errstate(all="ignore")  # what is not finite is for the caller to find, as behind the native kernels
def margin_system(
    y: Floats, cost: Floats, z: Floats, s: Floats, t: Floats, score: Floats, weight: Floats, right: Floats
) -> tuple[float, float]:
    """Weights of the rows and the predictor's right-hand side; returns the sums of both."""
    weight[:] = 1.0 / (s / z + t / (cost - z))
    right[:] = y * (z - weight * (score - 1.0))
    return _sum(weight), _sum(right)


@np.errstate(all="ignore")
def margin_predictor(
    y: Floats,
    cost: Floats,
    z: Floats,
    s: Floats,
    t: Floats,
    score: Floats,
    weight: Floats,
    moved: Floats,
    dz: Floats,
) -> tuple[list[float], list[float], list[float]]:
    """The predictor's dz, and with r = dz/z and f = dz/(cost - z) the largest r, -r, f and -f, the sums of
    s z (1, r, r^2) and those of t (cost - z) (1, f, f^2)."""
    free = cost - z
    dz[:] = -weight * (y * moved + (score - 1.0))
    r, f, sz, tf = dz / z, dz / free, s * z, t * free
    ends = [max([-np.inf, *v.tolist()]) for v in (r, -r, f, -f)]
    return ends, [_sum(sz), _sum(sz * r), _sum(sz * r * r)], [_sum(tf), _sum(tf * f), _sum(tf * f * f)]


@np.errstate(all="ignore")
def margin_corrector(
    y: Floats,
    cost: Floats,
    z: Floats,
    s: Floats,
    t: Floats,
    score: Floats,
    weight: Floats,
    dz: Floats,
    aim: float,
    low: Floats,
    high: Floats,
    right: Floats,
) -> float:
    """What the products aim at, as slack, and the corrector's right-hand side; returns its sum."""
    free = cost - z
    low[:] = (aim + s * (1.0 + dz / z) * dz) / z
    high[:] = (aim - t * (1.0 - dz / free) * dz) / free
    right[:] = y * (z - weight * ((score - 1.0 - low) + high))
    return _sum(right)


@np.errstate(all="ignore")
def margin_direction(
    y: Floats,
    cost: Floats,
    z: Floats,
    s: Floats,
    t: Floats,
    score: Floats,
    weight: Floats,
    moved: Floats,
    dz: Floats,
    low: Floats,
    high: Floats,
) -> float:
    """The changes of z, s (in ``low``) and t (in ``high``); returns the largest share of a slack or multiplier, to
    its bound, that they take away."""
    free = cost - z
    dz[:] = -weight * (y * moved + ((score - 1.0 - low) + high))
    r, f = dz / z, dz / free
    low -= s * (1.0 + r)
    high -= t * (1.0 - f)
    return float(max([0.0, *np.concatenate([-low / s, -high / t, -r, f]).tolist()]))
