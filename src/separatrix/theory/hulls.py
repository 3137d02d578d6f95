"""The margin as a distance between hulls, searched in floating point.

    half-width (with an intercept)    half the distance between the hulls of the two classes
    lifted, or without an intercept   the distance between the origin and the hull of the y_i (x_i, 1), or y_i x_i

In each case rows a_i in one or two groups are given, and min |sum x_i a_i| is wanted over weights x >= 0 that sum
to 1 in each group. A small working set is solved (native/separatrix/hull.hpp), its direction is priced on all rows,
and those that lie below their group's level join it. Nothing here is believed: ``theory.corral`` proves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.theory.exact import Row, integer_row

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
ORIGIN = 1


@dataclass(frozen=True)
class Found:
    """A support with weights (1 in each group) and the direction v; ``origin``: |v| could not be told from 0."""

    support: list[int]
    weights: Floats
    v: Floats
    origin: bool
    rounds: int


class Hulls:
    """Rows a_i = y_i x_i, or y_i (x_i, 1) when lifted; two groups are the classes, one group is all rows."""

    def __init__(self, X: Any, y: NDArray[np.int8], *, lifted: bool, groups: int, reading: str = "binary64") -> None:
        self.X, self.y, self.lifted, self.groups, self.reading = X, y, lifted, groups, reading
        self.n, self.d = X.shape
        self.q = self.d + int(lifted)
        self.view = kernels.rows(X)

    @cached_property
    def group(self) -> NDArray[np.int8]:
        """0 and 1 for the classes, or 0 for all rows."""
        return (self.y < 0).view(np.int8) if self.groups == 2 else np.zeros(self.n, dtype=np.int8)

    @cached_property
    def size(self) -> int:
        """The exponent of the largest number, such that doubles hold its inverse."""
        values = self.X if isinstance(self.X, np.ndarray) else self.X.data
        top = max(float(values.max(initial=0)), -float(values.min(initial=0)), 1.0 if self.lifted else 0.0)
        return max(math.frexp(top)[1], -1000)

    # -- rows ------------------------------------------------------------------------------------

    def plain(self, ids: Sequence[int] | Indices) -> Floats:
        """Rows (x_i, 1) or x_i as doubles, without their signs."""
        ids = np.asarray(ids, dtype=np.int64)
        part = self.X[ids]
        part = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
        return np.column_stack([part, np.ones(len(ids))]) if self.lifted else part

    def exact(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        """Rows a_i times m as integers, and m."""
        out = []
        for row, sign in zip(self.plain(ids).tolist(), self.y[np.asarray(ids, dtype=np.int64)].tolist(), strict=True):
            if self.reading == "decimal":
                numbers = [Fraction(repr(v)) if v else Fraction(0) for v in row]
                m = math.lcm(*(q.denominator for q in numbers))
                whole = [q.numerator * (m // q.denominator) for q in numbers]
            else:
                whole, m = integer_row(row)
            out.append((whole if sign > 0 else [-v for v in whole], m))
        return out

    def scores(self, w: Floats, out: Floats) -> Floats:
        """a_i . w for every row, rounded."""
        kernels.scores(self.view, w if self.lifted else np.append(w, 0.0), out)
        out *= self.y
        return out

    def bounds(self, w: Floats) -> tuple[Floats, Floats]:
        """a_i . w for every row, and how far that may be from the truth."""
        score, bound = np.zeros(self.n), np.full(self.n, np.inf)
        if not np.isfinite(w).all():
            return score, bound
        kernels.bounded_scores(self.view, w if self.lifted else np.append(w, 0.0), score, bound)
        score *= self.y
        return score, bound

    # -- the search ------------------------------------------------------------------------------

    def search(self, rounds: int = 500, seed: int = 0) -> Found:
        """Rows and weights whose v no row contradicts, as far as rounding lets one see."""
        working = self._first(seed)
        first = self.plain(working)
        scale = math.ldexp(1.0, -self.size)
        centre = (first * scale).mean(axis=0) if self.groups == 2 else np.zeros(self.q)

        def rows(ids: Indices) -> Floats:
            return np.asarray((self.plain(ids) * scale - centre) * self.y[ids][:, None])

        A = rows(working)
        most, batch = 3 * max(len(A), 400), max(4 * self.q, 100)
        start, x, c = np.empty(0, dtype=np.int64), np.empty(0), 1.0
        scores, v = np.empty(self.n), np.empty(self.q)
        for count in range(1, rounds + 1):
            k = self.q + self.groups
            support, weights = np.empty(k, dtype=np.int64), np.empty(k)
            status, k, _ = kernels.nearest_hulls(
                A, self.group[working], start, x, c, 1e-15, 100 * self.q + 10_000, support, weights, v
            )
            start, x = support[:k].copy(), weights[:k].copy()
            length = float(np.linalg.norm(v))
            chosen = working[start]
            if status == ORIGIN or not length > 0:
                return Found(chosen.tolist(), x, v * scale, True, count)
            c = min(1.0, max(1e-7, length))
            fresh = self._below(v / length, chosen, x, scores, working, batch)
            if not len(fresh):
                break
            if len(working) > most:
                working, A, start = self._forget(working, A, v, start, most // 2)
            working, A = np.concatenate([working, fresh]), np.concatenate([A, rows(fresh)])
        return Found(working[start].tolist(), x, v, False, count)

    def _first(self, seed: int) -> Indices:
        """The rows to begin with: all, or a sample with both classes in it."""
        size = max(400, min(10 * self.q, 2**24 // self.q))
        if self.n <= size:
            return np.arange(self.n)
        chance = np.random.default_rng(seed)
        sides = [np.flatnonzero(self.y == sign) for sign in (1, -1)]
        parts = [side if len(side) <= size // 2 else chance.choice(side, size // 2, replace=False) for side in sides]
        return np.sort(np.concatenate(parts))

    def _below(self, w: Floats, support: Indices, x: Floats, scores: Floats, working: Indices, batch: int) -> Indices:
        """The rows farthest below the level of their group that are not yet in the working set."""
        unit = w * math.ldexp(1.0, -self.size)
        with np.errstate(all="ignore"):
            self.scores(unit, scores)
            level = np.zeros(self.groups)
            for g in range(self.groups):
                own = self.group[support] == g
                level[g] = np.average(scores[support[own]], weights=x[own])
            reach = 1e-13 * abs(level.sum()) + 2e-16 * float(np.abs(scores[support]).max())
            below = (level[self.group] - scores) if self.groups == 2 else level[0] - scores
            wrong = np.flatnonzero(~(below <= reach))
            wrong = np.setdiff1d(wrong, working)
            if len(wrong) > batch:
                wrong = wrong[np.argpartition(-below[wrong], batch)[:batch]]
        return wrong

    def _forget(
        self, working: Indices, A: Floats, v: Floats, support: Indices, keep: int
    ) -> tuple[Indices, Floats, Indices]:
        """Keeps the support and the rows nearest to their level."""
        slack = A @ v
        for g in range(self.groups):
            own = self.group[working] == g
            slack[own] -= slack[own].min()
        slack[support] = -np.inf
        kept = np.sort(np.argpartition(slack, keep)[:keep])
        return working[kept], np.ascontiguousarray(A[kept]), np.searchsorted(kept, support)
