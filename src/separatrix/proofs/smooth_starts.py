"""Hyperplanes from which few mistakes are searched for: logistic regression, also with rows given up.

The logistic loss grows with the distance of a row on the wrong side, so that a few rows far away decide; the number of
mistakes does not. Rows are weighted with the probability that the last hyperplane gave them, sharper each time, and
the weighted loss is minimised again: rows that it gets far wrong are given up one by one (a smooth form of the 0-1
loss, minimised as a sequence of convex ones).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from separatrix.arrays import Floats

SHARPNESS = (1.0, 2.0, 4.0, 8.0)
STEPS = 6  # of Newton's method, each time
RIDGE = 1e-4  # per row, on columns of variance 1


def smooth_starts(A: Floats, y: Floats) -> Iterator[Floats]:
    """Weights for the rows A (the constant 1 included where there is an intercept) and labels -1 and +1."""
    Z = A * y[:, None]
    u = np.zeros(A.shape[1])
    weight = np.ones(len(A))
    with np.errstate(all="ignore"):
        for sharp in (0.0, *SHARPNESS):
            if sharp:
                margin = Z @ u
                size = np.median(np.abs(margin))
                weight = 1 / (1 + np.exp(-np.clip(sharp * margin / (size if size > 0 else 1.0), -30, 30)))
            u = _newton(Z, weight, u)
            if not np.isfinite(u).all():
                return
            yield u.copy()


def _newton(Z: Floats, weight: Floats, u: Floats) -> Floats:
    """The minimum of sum weight log(1 + exp(-Z u)) with a small ridge, after some steps."""
    n, p = Z.shape
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(np.clip(Z @ u, -30, 30)))
        slope = -(weight * wrong) @ Z + RIDGE * n * u
        curve = (Z * (weight * wrong * (1 - wrong))[:, None]).T @ Z + RIDGE * n * np.eye(p)
        try:
            u = u - np.linalg.solve(curve, slope)
        except np.linalg.LinAlgError:
            return np.full(p, np.nan)
    return u
