"""The fewest mistakes along lines (native/separatrix/zero_one.hpp): the same lines, drawn from the same chance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from reference.chance import below, next_word
from reference.rows import Rows
from separatrix.arrays import Floats


def line_minimum(s: Floats, q: Floats) -> tuple[float, int]:
    """t with the fewest s_i + t q_i <= 0: the middle of the widest such interval, and the mistakes there."""
    crossing, wrong = [], 0
    for a, b in zip(s.tolist(), q.tolist(), strict=True):
        t = -a / b if b else math.nan
        if math.isfinite(t):
            crossing.append((t, -1 if b > 0 else 1))
            wrong += b > 0
        else:
            wrong += not a > 0
    if not crossing:
        return 0.0, wrong
    crossing.sort()
    best, least, widest, before = 0.0, len(s) + 1, 0.0, wrong
    for k, (t, change) in enumerate(crossing):
        wrong += change
        if k + 1 == len(crossing):
            break
        width = crossing[k + 1][0] - t
        if width > 0 and (wrong < least or (wrong == least and width > widest)):
            best, least, widest = t + 0.5 * width, wrong, width
    first, last = crossing[0][0], crossing[-1][0]
    if before < least:
        best, least = first - 1 - abs(first), before
    if wrong < least:
        best, least = last + 1 + abs(last), wrong
    return best, least


def zero_one_descent(
    X: Rows,
    y: NDArray[np.int8],
    intercept: bool,
    center: Floats,
    scale: Floats,
    w: Floats,
    state: NDArray[np.uint64],
    restarts: int,
    lines: int,
) -> int:
    """Lines from w as it is, then from w moved; w becomes the best, and its mistakes are returned."""
    descent = _Descent(X, y, intercept, center, scale, w, state, lines)
    least = descent.descend(w.copy(), X.n + 1)
    for _ in range(restarts):
        if least == 0 or descent.left <= 0:
            break
        size = max((abs(a / b) for a, b in zip(w[: X.d].tolist(), scale.tolist(), strict=True)), default=0.0)
        u = descent.draw()
        step = math.ldexp(size, -below(11, state))
        least = descent.descend(w + step * u, least)
    return least


class _Descent:
    def __init__(
        self,
        X: Rows,
        y: NDArray[np.int8],
        intercept: bool,
        center: Floats,
        scale: Floats,
        best: Floats,
        state: NDArray[np.uint64],
        lines: int,
    ) -> None:
        self.left = lines
        self.X, self.y, self.intercept = X, y, intercept
        self.center, self.scale, self.best, self.state = center, scale, best, state
        self.p = X.d + int(intercept)

    def uniform(self) -> float:
        return (next_word(self.state) >> 11) * 2.0**-53

    def outward(self, u: Floats) -> Floats:
        """From coordinates to weights: the intercept makes up for the center."""
        d = self.X.d
        if self.intercept:
            for j in range(d):
                u[d] -= u[j] * self.scale[j] * self.center[j]
        u[:d] *= self.scale
        return u

    def draw(self) -> Floats:
        return self.outward(np.array([2 * self.uniform() - 1 for _ in range(self.p)]))

    def margins(self, w: Floats) -> Floats:
        b = float(w[self.X.d]) if self.intercept else 0.0
        return np.array([float(self.y[i]) * (self.X.dot(i, w) + b) for i in range(self.X.n)])

    def direct(self, s: Floats, mistakes: int) -> Floats:
        kind, u = below(10, self.state), np.zeros(self.p)
        if kind < 3 or (kind >= 6 and mistakes == 0):
            u[below(self.p, self.state)] = 1.0
            return self.outward(u)
        if kind < 6:
            return self.draw()
        i = int(np.flatnonzero(~(s > 0))[below(mistakes, self.state)])
        label, d = float(self.y[i]), self.X.d
        self.X.axpy(label, i, u)
        u[:d] = (u[:d] - label * self.center) * self.scale
        if self.intercept:
            u[d] = label
        return self.outward(u)

    def descend(self, w: Floats, least: int) -> int:
        """Until 3 p lines in a row have brought nothing."""
        s = self.margins(w)
        mistakes, stale = int((~(s > 0)).sum()), 0
        while True:
            if mistakes <= least:
                least = mistakes
                self.best[:] = w
            if stale > 3 * self.p or mistakes == 0:
                return least
            self.left -= 1
            if self.left < 0:
                return least
            stale += 1
            u = self.direct(s, mistakes)
            t, fewer = line_minimum(s, self.margins(u))
            if fewer > mistakes or not math.isfinite(t) or t == 0:
                continue
            if fewer < mistakes:
                stale = 0
            w = w + t * u
            top = float(np.abs(w).max())
            if not (top > 0 and math.isfinite(top)):
                return least
            w = np.ldexp(w, -math.frexp(top)[1])
            s = self.margins(w)
            mistakes = int((~(s > 0)).sum())
