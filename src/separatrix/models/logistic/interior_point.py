"""The minimum of a quadratic with an L1 penalty by an interior point, where following signs takes too long.

    minimise  q(v) + alpha |v|_1,    v = p - q,   p, q >= 0,   up = alpha + s >= 0,   down = alpha - s >= 0

with the slopes s of q. At the minimum  p up = q down = 0. Newton's method for these products at ever smaller targets
(Mehrotra 1992) takes 10 to 20 matrices H + D, however many signs change, where leaps go from one change to the next.
D is above zero also where columns are dependent and H is singular.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg

MOST = 40
INSIDE = 0.99  # of the way to the boundary
LEAST = 1e-16  # of alpha: how far from zero the sizes are at first
FLAT = 1e-15  # of the curvatures: rounding


class LassoInterior:
    """v with its slopes s, and the four sizes ``at`` = (p, q, up, down), which a step keeps above zero."""

    def __init__(self, H: Floats, v: Floats, s: Floats, alpha: Floats) -> None:
        self.H, self.v, self.s, self.alpha, self.own = H, v, s, alpha, np.diag_indices(len(v))
        off = float(np.where(v != 0, np.abs(s + alpha * np.sign(v)), np.abs(s) - alpha).max())
        self.at = np.maximum([v, -v, alpha + s, alpha - s], 0.0) + max(off, LEAST * float(alpha.max()))

    @property
    def products(self) -> Floats:
        return self.at[:2] * self.at[2:]

    def step(self) -> bool:
        """One step, or False where rounding allows none."""
        p, q, up, down = self.at
        self.rest = self.alpha + self.s - up, self.alpha - self.s - down, self.v - (p - q)
        self.D = 1.0 / (p / up + q / down)
        M = self.H.copy()
        M[self.own] += self.D + FLAT
        self.factor, failed = scipy_linalg().lapack.dpotrf(M.T, overwrite_a=1)
        if failed:
            return False
        products = self.products
        _, _, moves = self.towards(-products)
        ahead = self.at + self.longest(moves) * moves
        left = (ahead[:2] * ahead[2:]).sum()
        target = left * (left / products.sum()) ** 2 / products.size
        d, bent, moves = self.towards(target - products - moves[:2] * moves[2:])
        share = min(1.0, INSIDE * self.longest(moves))
        if not (np.isfinite(moves).all() and share > 0):
            return False
        self.v, self.s, self.at = self.v + share * d, self.s + share * bent, self.at + share * moves
        return True

    def towards(self, added: Floats) -> tuple[Floats, Floats, Floats]:
        """Moves of v, of s and of the four sizes that add so much to the products, to first order."""
        p, q, up, down = self.at
        wanted = (added[0] - p * self.rest[0]) / up - (added[1] - q * self.rest[1]) / down - self.rest[2]
        d = scipy_linalg().lapack.dpotrs(self.factor, self.D * wanted)[0]
        bent = self.H @ d
        slacks = np.array([bent + self.rest[0], self.rest[1] - bent])
        return d, bent, np.concatenate([(added - self.at[:2] * slacks) / self.at[2:], slacks])

    def longest(self, moves: Floats) -> float:
        """The share of these moves, at most all of them, that leaves no size below zero."""
        return 1.0 / max(1.0, float((-moves / self.at).max()))


def interior_minimum(H: Floats, v: Floats, s: Floats, alpha: Floats, enough: float) -> tuple[Floats, float]:
    """Coordinates near the minimum, and what they gain, from v with slopes s; ``H`` is overwritten.

    ``enough`` is about the share of the gain that is left. Columns have units of their own, in which H has a diagonal
    of ones.
    """
    curvature = np.diagonal(H)
    unit = 1.0 / np.sqrt(np.where(curvature > 0, curvature, 1.0))
    H *= unit[:, None]
    H *= unit
    begin, first, alpha = v / unit, unit * s, unit * alpha
    point, found, gained = LassoInterior(H, begin, first, alpha), begin, 0.0
    with np.errstate(all="ignore"):
        for _ in range(MOST):
            if not point.step():
                break
            p, q, up, down = point.at
            u = np.where((p > up) | (q > down), point.v, 0.0)
            d = u - begin
            gain = -float(d @ (first + 0.5 * (H @ d))) - float(alpha @ (np.abs(u) - np.abs(begin)))
            if gain > gained:
                found, gained = u, gain
            if float(point.products.sum()) <= enough * gained:
                break
    return unit * found, gained
