"""Families of small tables that are hard on proofs, and some with labels of their own; each is drawn from a Random."""

from __future__ import annotations

import math

MODULI = ((1 << 61) - 1, (1 << 31) - 1)  # primes that ranks may be taken by


def tiny_grid(rng):
    n, d = rng.randint(2, 9), rng.randint(1, 3)
    return matrix(n, d, lambda: float(rng.randint(-2, 2)))


def rank_deficient(rng):
    """Rows and columns that are combinations of few others."""
    n, d, r = rng.randint(3, 9), rng.randint(2, 5), rng.randint(1, 2)
    left = matrix(n, r, lambda: rng.randint(-2, 2))
    right = matrix(r, d, lambda: rng.randint(-2, 2))
    return [[float(sum(a[k] * right[k][j] for k in range(r))) for j in range(d)] for a in left]


def constant_columns(rng):
    n, d = rng.randint(2, 8), rng.randint(2, 4)
    X = matrix(n, d, lambda: float(rng.randint(-1, 2)))
    for j in rng.sample(range(d), rng.randint(1, d - 1)):
        value = rng.choice([0.0, 1.0, -3.0, 0.1])
        for x in X:
            x[j] = value
    return X


def duplicated(rng):
    """Few distinct rows, most of them several times, often in both classes."""
    pool = matrix(rng.randint(1, 4), rng.randint(1, 3), lambda: float(rng.randint(-2, 2)))
    return [list(rng.choice(pool)) for _ in range(rng.randint(3, 12))]


def one_hot(rng):
    """Dummies of one or two factors; with an intercept they are dependent."""
    sizes = [rng.randint(2, 3) for _ in range(rng.randint(1, 2))]
    out = []
    for _ in range(rng.randint(3, 10)):
        row = []
        for size in sizes:
            level = rng.randrange(size)
            row += [float(level == k) for k in range(size)]
        out.append(row)
    return out


def sparse_binary(rng):
    n, d, share = rng.randint(4, 14), rng.randint(2, 5), rng.choice([0.15, 0.3, 0.5])
    return matrix(n, d, lambda: float(rng.random() < share))


def near_ties(rng):
    """Points that differ by a few units in the last place."""
    n, d = rng.randint(3, 7), rng.randint(1, 3)
    base = [rng.choice([1.0, 0.1, 1e5 / 3, -7.7, 2.0**52]) for _ in range(d)]
    X = [list(base) for _ in range(n)]
    for x in X:
        for j in range(d):
            for _ in range(rng.randint(0, 2)):
                x[j] = math.nextafter(x[j], rng.choice([-math.inf, math.inf]))
            if rng.random() < 0.2:
                x[j] = float(rng.randint(-2, 2))
    return X


def wide(rng):
    return matrix(rng.randint(2, 5), rng.randint(4, 7), lambda: float(rng.randint(-2, 2)))


def exponents(rng):
    """Small mantissas times powers of two, to the ends of the range."""
    n, d = rng.randint(2, 7), rng.randint(1, 3)
    most = rng.choice([40, 300, 1000, 1022])
    by_column = [rng.randint(-most, most) for _ in range(d)] if rng.random() < 0.5 else None

    def number(j):
        e = by_column[j] if by_column else rng.randint(-most, most)
        return math.ldexp(rng.choice([-3, -2, -1, 0, 0, 1, 1, 2, 3, 5]) / 4, e)

    return [[number(j) for j in range(d)] for _ in range(n)]


def largest(rng):
    n, d = rng.randint(2, 6), rng.randint(1, 3)
    pool = [1.7976931348623157e308, -1.7976931348623157e308, 8.98846567431158e307, 1e308, -1e308, 0.0, 1.0]
    return matrix(n, d, lambda: rng.choice(pool))


def subnormal(rng):
    n, d = rng.randint(2, 7), rng.randint(1, 3)
    ordinary = rng.choice([0.0, 0.2])
    return matrix(n, d, lambda: float(rng.randint(-2, 2)) if rng.random() < ordinary else rng.randint(-4, 4) * 5e-324)


def against_modulus(rng):
    """Values whose minors, alone or with the constant, are divisible by a prime."""
    prime = rng.choice(MODULI)
    bits = prime.bit_length()
    n, d = rng.randint(2, 6), rng.randint(1, 3)
    if rng.random() < 0.5:  # 2^bits is 1 modulo the prime
        return matrix(n, d, lambda: math.ldexp(rng.choice([-2, -1, 0, 1, 1, 2]), bits * rng.randint(-2, 2)))
    if bits < 53 and rng.random() < 0.5:
        return matrix(n, d, lambda: float(prime * rng.randint(-2, 2) + rng.choice([0, 0, 0, 1])))
    a, b = rng.randrange(1, 1 << 26), rng.randrange(1, 1 << 26)
    ratio, rows = b * pow(a, -1, prime) % prime, [[a, b]]
    for c in (rng.randrange(1, 1 << 26) for _ in range(2000)):  # rows (c, e) with a e = b c modulo the prime
        if (e := ratio * c % prime) < 1 << 53:
            rows.append([c, e])
            if len(rows) == 4:
                break
    more = rng.randint(0 if len(rows) > 1 else 1, 2)
    return [[float(v) for v in row] for row in rows] + matrix(more, 2, lambda: float(rng.randint(-1, 1)))


def decimals(rng):
    """Decimals of a few digits, on lines and grids that doubles miss."""
    n, d = rng.randint(2, 8), rng.randint(1, 3)
    return matrix(n, d, lambda: rng.randint(-6, 6) / 10)


def long_decimals(rng):
    """Decimals of up to seventeen digits and of far exponents."""
    n, d = rng.randint(2, 6), rng.randint(1, 3)
    pool = [0.1, 0.2, 0.30000000000000004, 0.3, 1e22, 1e23, 123456789.12345678, 1e-7, 1 / 3, 1e-100, 1e300, 5.1, 0.0]
    return matrix(n, d, lambda: rng.choice(pool) * rng.choice([-1.0, 1.0]))


def gaussian(rng):
    n, d = rng.randint(3, 10), rng.randint(1, 4)
    return matrix(n, d, lambda: rng.gauss(0, 1))


def offset(rng):
    """A small cloud far from the origin."""
    n, d = rng.randint(3, 8), rng.randint(1, 3)
    centre = [10.0 ** rng.randint(3, 15) for _ in range(d)]
    return [[c + rng.randint(-2, 2) / 4 for c in centre] for _ in range(n)]


def one_column(rng):
    """Numbers on a line, most of them equal to another."""
    pool = [rng.choice([0.0, 1.0, -1.0, 1e-300, 1e300, 0.1, 2.0**61]) for _ in range(3)]
    return [[rng.choice(pool)] for _ in range(rng.randint(2, 10))]


PLAIN = [
    tiny_grid, rank_deficient, constant_columns, duplicated, one_hot, sparse_binary, near_ties, wide, exponents,
    largest, subnormal, against_modulus, decimals, long_decimals, gaussian, offset, one_column,
]  # fmt: skip


def one_class_columns(rng):
    """Columns that occur in one class only, each row leaning on later ones: deep chains of faces."""
    d, X, y = rng.randint(2, 5), [], []
    for j in range(d):
        for _ in range(rng.randint(1, 2)):
            row = [0.0] * d
            row[j] = float(rng.choice([1, 1, 2, -1]))
            for k in range(j + 1, d):
                if rng.random() < 0.5:
                    row[k] = float(rng.choice([-2, -1, 1, 2]))
            X.append(row)
            y.append(j % 2 if rng.random() < 0.8 else rng.randrange(2))
    for _ in range(rng.randint(0, 3)):
        X.append(list(rng.choice(X)))
        y.append(rng.randrange(2))
    order = rng.sample(range(d), d)
    return [[row[j] for j in order] for row in X], y


def contradictory(rng):
    """A separated set with rows that occur once in each class."""
    X, y = halved(rng, tiny_grid(rng))
    for i in rng.sample(range(len(X)), min(len(X), rng.randint(1, 2))):
        X.append(list(X[i]))
        y.append(1 - y[i])
    return X, y


def touching(rng):
    """A separated set with rows on the hyperplane itself: quasi-complete, or complete by a hair."""
    d = rng.randint(1, 3)
    w = [rng.randint(-2, 2) for _ in range(d)]
    X = matrix(rng.randint(4, 9), d, lambda: float(rng.randint(-2, 2)))
    scores = [sum(a * b for a, b in zip(w, x, strict=True)) for x in X]
    return X, [int(s > 0) if s else rng.randrange(2) for s in scores]


LABELLED = [one_class_columns, contradictory, touching]


def matrix(n, d, number):
    return [[number() for _ in range(d)] for _ in range(n)]


def halved(rng, X):
    """Labels by a random hyperplane, now and then with one of them wrong."""
    d = len(X[0])
    spread = [max(abs(x[j]) for x in X) or 1.0 for j in range(d)]
    w, b = [rng.gauss(0, 1) for _ in range(d)], rng.gauss(0, 0.5)
    y = [int(sum(a * (v / s) for a, v, s in zip(w, x, spread, strict=True)) + b > 0) for x in X]
    if rng.random() < 0.3:
        k = rng.randrange(len(y))
        y[k] = 1 - y[k]
    return X, y
