"""Nearest points of hulls in exact arithmetic, and brackets that are proved.

Any weights (1 in each group) give a point of the hulls, so an upper bound of the distance; any direction w has every
row of group g at a_i.w >= h_g, so sum h_g / |w| is a lower bound. ``polish`` goes on from a support found in floating
point by Wolfe's (1976) steps in rational numbers until both are equal: the rows of a corral are independent, the row
that joins always is, and |v| falls at each step, so it ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.exact_signs import dot, integer_row
from separatrix.proofs.exact.algebra import Row, combination, independent
from separatrix.proofs.margin.hull_search import Hulls

LARGE = 200_000  # numbers beyond which a point's length is bounded by rounding errors, and not summed exactly


@dataclass(frozen=True)
class Side:
    """A proved lower bound: direction w (integers), the exact least a_i.w of each group, (their sum / |w|)^2."""

    w: Row
    least: tuple[Fraction, ...]
    squared: Fraction

    @staticmethod
    def of(w: Row, least: tuple[Fraction, ...]) -> Side:
        total = sum(least, Fraction(0))
        return Side(w, least, total * total / dot(w, w) if total > 0 else Fraction(0))


@dataclass(frozen=True)
class HullPoint:
    """A proved upper bound: weights on rows, 1 in each group, and the square of their point's length, or more."""

    weights: dict[int, Fraction]
    squared: Fraction


def point(hulls: Hulls, support: Sequence[int], weights: Sequence[float]) -> HullPoint:
    """The point of these weights, made to sum to 1 in each group exactly."""
    whole, _ = integer_row(list(weights))
    sums = [0] * hulls.groups
    for i, t in zip(support, whole, strict=True):
        sums[hulls.group[i]] += t
    exact = {i: Fraction(t, sums[hulls.group[i]]) for i, t in zip(support, whole, strict=True) if t > 0}
    above = _length2_above(hulls, exact) if len(exact) * hulls.q > LARGE else None
    return HullPoint(exact, above or _length2(hulls, exact))


def _length2(hulls: Hulls, weights: dict[int, Fraction]) -> Fraction:
    v, scale = hulls.combined(list(weights.values()), list(weights))
    return Fraction(sum(t * t for t in v.values()), scale * scale)


def _length2_above(hulls: Hulls, weights: dict[int, Fraction]) -> Fraction | None:
    """No less than the square of the point's length, by a bound on rounding in any order of summation (Higham 2002)."""
    ids = np.array(list(weights), dtype=np.int64)
    x = np.array([float(q) for q in weights.values()])
    scale = math.ldexp(1.0, -hulls.size)
    part = hulls.X[ids]
    v, size = (x * hulls.y[ids]) @ part * scale, x @ abs(part) * scale
    if hulls.lifted:
        v, size = np.append(v, x @ hulls.y[ids] * scale), np.append(size, scale)
    most = np.abs(v) + (len(ids) + 8) * 2.0**-51 * size + 1e-290
    total = math.fsum((most * most).tolist())
    return Fraction(total) * (1 + Fraction(1, 2**45)) / Fraction(scale) ** 2 if 1e-200 < total < 1e200 else None


def side(hulls: Hulls, w: Row) -> Side:
    """What the direction w proves: rows that rounding cannot tell from the least are compared exactly."""
    score, bound = hulls.bounds(rounded(hulls, w))
    least = []
    for g in range(hulls.groups):
        own = np.flatnonzero(hulls.group == g) if hulls.groups == 2 else np.arange(hulls.n)
        near = own[~(score[own] - bound[own] > np.fmin.reduce(score[own] + bound[own]))]
        while len(near):  # the row that set the level leaves, and with it all rows that tie with it or lie above
            level = next(hulls.inner([int(near[score[near].argmin()])], w))
            near = hulls.under(near, w, level)
        least.append(level)
    return Side.of(w, tuple(least))


def rounded(hulls: Hulls, w: Row) -> Floats:
    """w times a power of two as doubles, such that no score overflows or vanishes; infinite where doubles cannot."""
    top = max(abs(v) for v in w).bit_length()
    shift = -hulls.size if hulls.size < 0 else -hulls.size // 2
    heads = [_head(v, top) for v in w]
    out = np.array([math.ldexp(f, shift) for f in heads])
    small = [min(abs(f), abs(g) * 2.0**60) for f, g in zip(heads, out.tolist(), strict=True)]
    lost = any(v and f < 1e-280 for v, f in zip(w, small, strict=True))  # digits, or the number itself
    return np.full(len(w), np.inf) if lost else out


def _head(v: int, top: int) -> float:
    """v / 2**top, correctly rounded, for integers of any size."""
    return v / (1 << top) if top < 1000 else (v >> (top - 1000)) / (1 << 1000) if v else 0.0


def polish(hulls: Hulls, support: Sequence[int], weights: Sequence[float]) -> tuple[Side, HullPoint] | None:
    """The nearest points exactly, both bounds equal; None when the origin (or a common point) is among them."""
    chosen, x = _independent(hulls, list(support), list(weights))
    while True:  # |v| falls, so that no set of rows comes twice (Wolfe 1976); after a search a few rounds are left
        chosen, x, rows, scale = _descend(hulls, chosen, x)
        v = combination(rows, [q.numerator * (scale // q.denominator) for q in x])
        if not any(v):
            return None
        w = _lowest(v)
        entering, levels = _lowest_row(hulls, chosen, rows, w)
        if entering is None:
            common = math.lcm(*(m for _, m in hulls.exact(chosen)))
            length2 = Fraction(dot(v, v), (scale * common) ** 2)
            return Side.of(w, levels), HullPoint(dict(zip(chosen, x, strict=True)), length2)
        chosen, x = [*chosen, entering], [*x, Fraction(0)]


def _lowest(v: Row) -> Row:
    divisor = math.gcd(*v)
    return [t // divisor for t in v]


def _common(hulls: Hulls, ids: Sequence[int]) -> tuple[list[Row], int]:
    """Rows as integers, all multiplied by the same number."""
    pairs = hulls.exact(ids)
    common = math.lcm(*(m for _, m in pairs))
    return [[t * (common // m) for t in row] for row, m in pairs], common


def _independent(hulls: Hulls, support: list[int], weights: list[float]) -> tuple[list[int], list[Fraction]]:
    """Affinely independent rows of the support, all groups among them, and positive weights that sum to 1."""
    for g in range(hulls.groups):
        if not any(hulls.group[i] == g for i in support):
            support, weights = [*support, int(np.flatnonzero(hulls.group == g)[0])], [*weights, 1.0]
    order = sorted(range(len(support)), key=lambda t: -weights[t])
    rows, _ = _common(hulls, [support[t] for t in order])
    told = [
        [*row, *(int(hulls.group[support[t]] == g) for g in range(hulls.groups))]
        for row, t in zip(rows, order, strict=True)
    ]
    kept = sorted(order[t] for t in independent(told))
    floor = max(weights) * 1e-12 or 1.0
    x = [Fraction(max(weights[t], floor)) for t in kept]
    chosen = [support[t] for t in kept]
    sums = [
        sum((q for i, q in zip(chosen, x, strict=True) if hulls.group[i] == g), Fraction(0))
        for g in range(hulls.groups)
    ]
    return chosen, [q / sums[hulls.group[i]] for i, q in zip(chosen, x, strict=True)]


def _descend(hulls: Hulls, chosen: list[int], x: list[Fraction]) -> tuple[list[int], list[Fraction], list[Row], int]:
    """x moves to the least |v| over the affine hulls; rows whose weight would turn negative leave on the way."""
    while True:  # each round but the last drops a row
        rows, _ = _common(hulls, chosen)
        a, scale = affine(rows, [int(hulls.group[i]) for i in chosen], hulls.groups)
        if min(a) > 0:
            return chosen, [Fraction(t, scale) for t in a], rows, scale
        goal = [Fraction(t, scale) for t in a]
        step = min(q / (q - t) if q > t else Fraction(0) for q, t in zip(x, goal, strict=True) if t <= 0)
        x = [q + step * (t - q) for q, t in zip(x, goal, strict=True)]
        left = [k for k, q in enumerate(x) if q > 0]
        chosen, x = [chosen[k] for k in left], [x[k] for k in left]


def affine(rows: list[Row], group: list[int], groups: int) -> tuple[Row, int]:
    """Weights over a common denominator that sum to 1 in each group and have the least |sum x_i a_i|.

    G x + E t = 0, E'x = 1 with G the inner products of the rows and E their groups: nonsingular, since
    the rows are affinely independent.
    """
    import flint

    k = len(rows)
    A = flint.fmpz_mat(rows)
    inner: list[list[Any]] = (A * A.transpose()).tolist()
    E = [[int(g == h) for h in range(groups)] for g in group]
    system = [[*line, *own] for line, own in zip(inner, E, strict=True)]
    system += [[*(own[h] for own in E), *([0] * groups)] for h in range(groups)]
    right = flint.fmpz_mat(k + groups, 1, [0] * k + [1] * groups)
    x = flint.fmpz_mat(system).solve(right).entries()[:k]
    scale = math.lcm(*(int(q.q) for q in x))
    return [int(q.p) * (scale // int(q.q)) for q in x], scale


def _lowest_row(hulls: Hulls, chosen: list[int], rows: list[Row], w: Row) -> tuple[int | None, tuple[Fraction, ...]]:
    """The row farthest below the level of its group (None when no row is below it), and the levels."""
    near = rounded(hulls, w)
    score, bound = hulls.bounds(near)
    common = math.lcm(*(m for _, m in hulls.exact(chosen)))
    inside = np.zeros(hulls.n, dtype=bool)
    inside[chosen] = True
    levels: list[Fraction] = []
    entering, lowest = None, Fraction(0)
    for g in range(hulls.groups):
        k = next(t for t, i in enumerate(chosen) if hulls.group[i] == g)
        level = Fraction(dot(rows[k], w), common)
        levels.append(level)
        top = float(score[chosen[k]] + bound[chosen[k]])
        doubtful = ~(score - bound > top) & ~inside
        if hulls.groups == 2:
            doubtful &= hulls.group == g
        worse = hulls.under(np.flatnonzero(doubtful), w, level)
        if len(worse):
            i = int(worse[score[worse].argmin()])
            below = level - next(hulls.inner([i], w))
            if below > lowest:
                entering, lowest = i, below
    return entering, tuple(levels)
