"""Least squares in integers: every double is an integer over a power of two, so nothing is rounded."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def fixed_point(values, bits):
    """Doubles as integers over 2^bits, which must hold them exactly."""
    scaled = np.ldexp(np.asarray(values, dtype=np.float64), bits)
    whole = np.rint(scaled)
    assert np.array_equal(whole, scaled), "the numbers need more bits"
    assert np.abs(whole).max() < 2**56
    return whole.astype(np.int64)


def exact_gram(Z, bits):
    """Z'Z 2^(2 bits) as Python integers, by limbs of 14 bits whose products floating point adds exactly."""
    whole = fixed_point(Z, bits)
    sign, size = np.sign(whole), np.abs(whole)
    limbs = [(sign * ((size >> (14 * k)) & 0x3FFF)).astype(np.float64) for k in range(4)]
    assert len(Z) * 2**28 < 2**53
    total = np.zeros((Z.shape[1], Z.shape[1]), dtype=object)
    for i, a in enumerate(limbs):
        for j, b in enumerate(limbs):
            part = np.vectorize(int, otypes=[object])(a.T @ b)
            total = total + part * (1 << (14 * (i + j)))
    return [[int(v) for v in row] for row in total]


def rational_gram(Z):
    """Z'Z as fractions, for few rows of any exponents."""
    rows = [[Fraction(float(v)) for v in row] for row in Z]
    q = len(rows[0])
    return [[sum(row[i] * row[j] for row in rows) for j in range(q)] for i in range(q)]


def solve_exactly(G):
    """Solve the normal equations in the Gram matrix of (A, y) without rounding."""
    p = len(G) - 1
    M = [[Fraction(v) for v in row[:p]] + [Fraction(row[p])] for row in G[:p]]
    for k in range(p):
        pivot = M[k][k]
        for i in range(k + 1, p):
            factor = M[i][k] / pivot
            M[i] = [a - factor * b for a, b in zip(M[i], M[k], strict=True)]
    x = [Fraction(0)] * p
    for k in reversed(range(p)):
        x[k] = (M[k][p] - sum(M[k][j] * x[j] for j in range(k + 1, p))) / M[k][k]
    return x


def digits(got, exact):
    """The least number of right decimal digits over all coefficients, 17 at most."""
    worst = 17.0
    for g, e in zip(got, exact, strict=True):
        error = abs(Fraction(float(g)) - e) / abs(e)
        if error:
            worst = min(worst, -float(np.log10(float(error))))
    return worst
