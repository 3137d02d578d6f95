"""The exact truth about small labelled sets, in whole numbers, sharing nothing with the package.

With z_i = y_i (x_i, 1), all that can be said about separation is read off the cone K = {w : z_i.w >= 0 for all i}.
Its generators come from the double description method (Motzkin, Raiffa, Thompson & Thrall 1953): start from the
whole space, add one row at a time. K is the sum of its lines (the w with z_i.w = 0 everywhere) and its rays.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


def dot(a, b):
    return sum(map(int.__mul__, a, b))


def primitive(vector):
    """The shortest whole vector in the direction of a whole vector."""
    divisor = math.gcd(*vector)
    return tuple(v // divisor for v in vector) if divisor > 1 else tuple(vector)


def whole(row):
    """The shortest whole vector in the direction of a row of Fractions."""
    common = math.lcm(*(q.denominator for q in row))
    return primitive([q.numerator * (common // q.denominator) for q in row])


def exact(v, reading):
    """The number that is meant: the double itself, or the decimal that it prints as."""
    return Fraction(repr(float(v))) if reading == "decimal" else Fraction(float(v))


def lifted(X, signs, intercept, reading="binary64"):
    """z_i = y_i (x_i, 1) as Fractions; without the 1 where there is no intercept."""
    one = [Fraction(1)] if intercept else []
    return [[s * q for q in [*(exact(v, reading) for v in x), *one]] for x, s in zip(X, signs, strict=True)]


def kesler(X, codes, classes, intercept, reading="binary64"):
    """Kesler's rows, (x, 1) in the block of the own class and -(x, 1) in that of another; the last has no block."""
    rows, owners = [], []
    for i, (x, y) in enumerate(zip(lifted(X, [1] * len(X), intercept, reading), codes, strict=True)):
        for k in range(classes):
            if k != y:
                parts = [[Fraction((c == y) - (c == k)) * q for q in x] for c in range(classes - 1)]
                rows.append([q for part in parts for q in part])
                owners.append((i, k))
    return rows, owners


@dataclass(frozen=True)
class Cone:
    """Lines and rays; beside each ray, bit by bit, the rows that vanish on it."""

    lines: list[tuple[int, ...]]
    rays: list[tuple[tuple[int, ...], int]]
    count: int = 0

    def cut(self, z):
        """This cone where z.w >= 0."""
        bit, lines = 1 << self.count, self.lines
        levels = [dot(z, line) for line in lines]
        at = next((k for k, level in enumerate(levels) if level), None)
        if at is not None:  # one line becomes a ray, all else is moved along it onto z.w = 0
            level = abs(levels[at])
            pivot = lines[at] if levels[at] > 0 else tuple(-v for v in lines[at])
            flat = [
                primitive([level * v - t * u for v, u in zip(line, pivot, strict=True)])
                for line, t in zip(lines, levels, strict=True)
                if line is not lines[at]
            ]
            rays = [(pivot, bit - 1)]
            for ray, zeros in self.rays:
                t = dot(z, ray)
                rays.append((primitive([level * v - t * u for v, u in zip(ray, pivot, strict=True)]), zeros | bit))
            return Cone(flat, rays, self.count + 1)
        plus, minus, rays = [], [], []
        for ray, zeros in self.rays:
            t = dot(z, ray)
            if t < 0:
                minus.append((ray, zeros, t))
            else:
                rays.append((ray, zeros if t else zeros | bit))
                if t:
                    plus.append((ray, zeros, t))
        for a, zeros_a, t in plus:
            for b, zeros_b, s in minus:
                both = zeros_a & zeros_b
                others = (zeros for ray, zeros in self.rays if ray is not a and ray is not b)
                if all(both & ~zeros for zeros in others):  # a and b are neighbours
                    rays.append((primitive([t * v - s * u for v, u in zip(b, a, strict=True)]), both | bit))
        return Cone(lines, rays, self.count + 1)

    def reaches(self, z):
        """The signs that z.w takes somewhere in the cone, of -1 and +1."""
        found = set()
        for line in self.lines:
            if dot(z, line):
                return {1, -1}
        for ray, _ in self.rays:
            if t := dot(z, ray):
                found.add(1 if t > 0 else -1)
        return found


def space(p):
    """All of the p-dimensional space."""
    return Cone([tuple(int(i == j) for i in range(p)) for j in range(p)], [])


def cone(rows):
    """K, for rows of Fractions."""
    out = space(len(rows[0]))
    for row in dict.fromkeys(map(whole, rows)):
        out = out.cut(row)
    return out


def strict_rows(rows, K=None):
    """The rows z with z.w > 0 for some w of K (Tucker 1956): the others vanish on all of K."""
    rays = [ray for ray, _ in (K or cone(rows)).rays]
    return [i for i, z in enumerate(map(whole, rows)) if any(dot(z, ray) for ray in rays)]


def verdict(rows):
    """Complete when every row is strict, overlap when none is."""
    count = len(strict_rows(rows))
    return "complete" if count == len(rows) else "quasi" if count else "overlap"


def is_minimal_witness(rows):
    """Whether no w separates the rows, but some w separates them without any one of them."""
    return verdict(rows) != "complete" and all(
        len(rows) == 1 or verdict(rows[:i] + rows[i + 1 :]) == "complete" for i in range(len(rows))
    )


def fates(rows, K=None):
    """What the logistic estimate does at each coefficient (Albert & Anderson 1984)."""
    K = K or cone(rows)
    out = []
    for j in range(len(rows[0])):
        unit = tuple(int(k == j) for k in range(len(rows[0])))
        signs = K.reaches(unit)
        if any(line[j] for line in K.lines):
            out.append("unidentifiable")
        elif len(signs) == 2:
            out.append("undetermined")
        else:
            out.append("+inf" if 1 in signs else "-inf" if signs else "finite")
    return out


def fewest_mistakes(rows):
    """The least number of rows with z.w <= 0 over all w.

    Some best w has z.w = 0 on zero rows only, since rows that are right stay right nearby. So cells suffice: go
    through the rows, the right side of each first, and leave off where the best so far cannot be beaten.
    """
    weights = {}
    for z in map(whole, rows):
        weights[z] = weights.get(z, 0) + 1
    zeros = sum(weight for z, weight in weights.items() if not any(z))
    order = sorted((item for item in weights.items() if any(item[0])), key=lambda item: -item[1])
    best = len(rows) - zeros
    stack = [(0, space(len(rows[0])), 0)]
    while stack:
        at, cell, wrong = stack.pop()
        if wrong >= best:
            continue
        if at == len(order):
            best = wrong
            continue
        z, weight = order[at]
        signs = cell.reaches(z)
        if -1 in signs:
            stack.append((at + 1, cell.cut(tuple(-v for v in z)), wrong + weight))
        if 1 in signs:
            stack.append((at + 1, cell.cut(z), wrong))
    return best + zeros
