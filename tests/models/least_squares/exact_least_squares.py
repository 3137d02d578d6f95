"""Least squares in integers: every double is an integer over a power of two, so nothing is rounded."""

from __future__ import annotations

from fractions import Fraction

import flint
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


def _rational(value):
    return flint.fmpq(*float(value).as_integer_ratio())


def _rationals(Z):
    return flint.fmpq_mat(*Z.shape, [_rational(v) for v in Z.ravel()])


def exact_ridge(X, y, alpha, c=None, fit_intercept=True, penalize_intercept=False):
    """The lifted minimiser as fractions; with alpha = 0 the shortest of all.

    It is a combination R'z of independent rows R of A (centred where b is free, lifted where it is penalised), with
    (R A'C A R' + alpha R R') z = R A'C y, a regular system whatever the shape and the rank of A.
    """
    c = np.ones(len(X)) if c is None else c
    X, y, c = np.asarray(X, dtype=np.float64)[c > 0], np.asarray(y, dtype=np.float64)[c > 0], c[c > 0]
    if fit_intercept and penalize_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    A, t, C = _rationals(X), _rationals(y[:, None]), _rationals(np.diag(c))
    free = fit_intercept and not penalize_intercept
    if free:
        ones = flint.fmpq_mat(len(X), 1, [flint.fmpq(1)] * len(X))
        total = (ones.transpose() * C * ones)[0, 0]
        x_mean, y_mean = ones.transpose() * C * A * (1 / total), (ones.transpose() * C * t)[0, 0] / total
        A, t = A - ones * x_mean, t - ones * y_mean
    across, rank = A.transpose().rref()
    independent = [next(j for j in range(A.nrows()) if across[i, j] != 0) for i in range(rank)]
    w = [flint.fmpq(0)] * A.ncols()
    if rank:
        R = flint.fmpq_mat(rank, A.ncols(), [A[i, j] for i in independent for j in range(A.ncols())])
        B = A * R.transpose()
        z = (B.transpose() * C * B + R * R.transpose() * _rational(alpha)).solve(B.transpose() * C * t)
        found = R.transpose() * z
        w = [found[j, 0] for j in range(A.ncols())]
    if free:
        w.append(y_mean - sum((x_mean[0, j] * v for j, v in enumerate(w)), flint.fmpq(0)))
    elif not fit_intercept:
        w.append(flint.fmpq(0))
    return [Fraction(int(v.p), int(v.q)) for v in w]


def apart(got, exact):
    """The greatest difference of weights, relative to the greatest weight."""
    size = max(abs(e) for e in exact) or Fraction(1)
    return float(max(abs(Fraction(float(g)) - e) for g, e in zip(got, exact, strict=True)) / size)
