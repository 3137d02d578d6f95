"""Exact distances of hulls, and the margins and mistakes that follow from them, sharing nothing with the package."""

from __future__ import annotations

import math
from fractions import Fraction

from oracle import dot, lifted, whole


def nearest2(points):
    """The squared distance of the origin from the hull of points of Fractions (Wolfe 1976, in exact arithmetic).

    The loop ends with a point x of the hull for which x.p >= x.x at every p: no other is nearer.
    """
    common = math.lcm(*(q.denominator for point in points for q in point))
    P = [tuple(int(q * common) for q in point) for point in points]
    P = list(dict.fromkeys(P))
    weights = {min(P, key=lambda p: dot(p, p)): Fraction(1)}
    while True:
        scale = math.lcm(*(t.denominator for t in weights.values()))
        x = [sum(int(t * scale) * p[j] for p, t in weights.items()) for j in range(len(P[0]))]  # scale times the point
        far = min(P, key=lambda p: dot(p, x))
        if scale * dot(far, x) >= dot(x, x):
            return Fraction(dot(x, x), scale * scale * common * common)
        weights[far] = Fraction(0)
        while min(wanted := affine_weights(list(weights))) <= 0:
            pairs = list(zip(weights.values(), wanted, strict=True))
            step = min(t / (t - a) for t, a in pairs if a <= 0)
            moved = zip(weights, (t + step * (a - t) for t, a in pairs), strict=True)
            weights = {p: t for p, t in moved if t}
        weights = dict(zip(weights, wanted, strict=True))


def affine_weights(points):
    """Weights, of sum 1, of the shortest vector in the affine span of independent points."""
    first, rest = points[0], [[v - u for v, u in zip(p, points[0], strict=True)] for p in points[1:]]
    b = solve([[dot(u, v) for v in rest] for u in rest], [-dot(u, first) for u in rest])
    return [1 - sum(b), *b]


def solve(A, b):
    """The solution of a regular whole system, by fraction-free elimination (Bareiss 1968)."""
    M, previous = [[*row, t] for row, t in zip(A, b, strict=True)], 1
    n = len(M)
    for k in range(n):
        pivot = next(i for i in range(k, n) if M[i][k])
        M[k], M[pivot] = M[pivot], M[k]
        for i in range(n):
            if i != k:
                M[i] = [(M[k][k] * v - M[i][k] * u) // previous for v, u in zip(M[i], M[k], strict=True)]
        previous = M[k][k]
    return [Fraction(M[i][n], M[i][i]) for i in range(n)]


def margin2(X, signs, intercept, reading="binary64"):
    """The square of the largest half-width: half the distance between the hulls; from the origin without intercept."""
    Z = lifted(X, signs, False, reading)
    if not intercept:
        return nearest2(Z)
    plus, minus = ([z for z, s in zip(Z, signs, strict=True) if s == t] for t in (1, -1))
    return nearest2([[u + v for u, v in zip(a, b, strict=True)] for a in plus for b in minus]) / 4


def unit_rows(rows, bits=400):
    """The rows over their lengths, to about ``bits`` bits."""
    out = []
    for z in map(whole, rows):
        length2 = dot(z, z)
        length = math.isqrt(length2 << (2 * bits))
        out.append([Fraction(v << bits, length) for v in z])
    return out


def perceptron_mistakes(rows, weights, start, order, most):
    """The mistakes of a perceptron that goes round and round in this order, or most + 1 when it makes more."""
    common = math.lcm(*(q.denominator for row in [*rows, start, weights] for q in row))
    Z = [[int(q * common) for q in row] for row in rows]
    w, steps, mistakes = [int(q * common * common) for q in start], [int(q * common) for q in weights], 0
    clean = 0
    while clean < len(order):
        for i in order:
            if dot(Z[i], w) > 0:
                clean += 1
                continue
            clean, mistakes = 0, mistakes + 1
            if mistakes > most:
                return mistakes
            w = [u + steps[i] * v for u, v in zip(w, Z[i], strict=True)]
    return mistakes
