"""Exact linear algebra on a few rows: integers from floats, ranks, solutions, null vectors, roots as doubles.

Rows are lists of Python integers, each a given row times a positive number. A word-sized prime
finds out what is independent. A rank modulo a prime is a lower bound of the true rank and nothing more: numbers
can be chosen against any prime. So every answer is solved by flint over the integers and multiplied out, and where
the prime has missed a row the row is found exactly and added.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

PRIME = (1 << 61) - 1

Row = list[int]
Weights = dict[int, int]  # of rows, by number


def ratio(a: int, b: int) -> float:
    """a / b as a double; infinite beyond them."""
    try:
        return a / b
    except OverflowError:
        return math.inf if (a > 0) == (b > 0) else -math.inf


def pivots(rows: Sequence[Row], prime: int = PRIME) -> list[int]:
    """Columns that are independent modulo a prime, and therefore independent; as many as the rank modulo it."""
    import flint

    if not rows or not rows[0]:
        return []
    table = flint.nmod_mat(len(rows), len(rows[0]), [v % prime for row in rows for v in row], prime)
    return leading(*table.rref())


def leading(echelon: Any, rank: int) -> list[int]:
    """The columns in which the rows of an echelon form begin."""
    found: list[int] = []
    for i in range(rank):
        j = found[-1] + 1 if found else 0
        while not int(echelon[i, j]):  # no row is zero, and each begins beyond the one above it
            j += 1
        found.append(j)
    return found


def other_prime(rows: Sequence[Row]) -> int:
    """A prime of 61 bits that depends on the numbers through a hash, so that nobody can choose them against it."""
    import flint

    digest = hashlib.sha256(array("Q", [v % PRIME for row in rows for v in row]).tobytes()).digest()
    prime = (1 << 60) | int.from_bytes(digest[:7], "little") | 1
    while not flint.fmpz(prime).is_prime():  # ends below 2**61, by Bertrand's postulate; after some 20 steps
        prime += 2
    return prime


def transpose(rows: Sequence[Row]) -> list[Row]:
    return [list(column) for column in zip(*rows, strict=True)]


def independent(rows: Sequence[Row]) -> list[int]:
    """Rows that are independent, the first of each kind: as many as the rank, unless two primes divide a minor.

    At least one, where a row is not zero.
    """
    columns = [list(column) for column in zip(*rows, strict=True) if any(column)]
    found = pivots(columns)
    if len(found) < min(len(rows), len(columns)):
        again = pivots(columns, other_prime(columns))
        found = again if len(again) > len(found) else found
    return found or [i for i, row in enumerate(rows) if any(row)][:1]


def combination(rows: Sequence[Row], weights: Sequence[int]) -> Row:
    """sum of weights_i rows_i"""
    import flint

    if not rows:
        return []
    total = flint.fmpz_mat(1, len(rows), list(weights)) * flint.fmpz_mat([list(row) for row in rows])
    return [int(v) for v in total.entries()]


def solve(rows: Sequence[Row], target: Row, kept: list[int] | None = None) -> tuple[Row, int] | None:
    """(c, m) with sum c_i rows_i = m target, m > 0; None when the target is not in the span of ``kept``.

    ``kept``: independent rows, by default as many as ``independent`` finds.
    """
    import flint

    if not any(target):
        return [0] * len(rows), 1
    kept = independent(rows) if kept is None else kept
    columns = list(range(len(target))) if len(kept) == len(target) else independent(transpose([rows[i] for i in kept]))
    if not kept or len(columns) != len(kept):
        return None
    k = len(kept)
    square = flint.fmpz_mat(k, k, [rows[i][j] for j in columns for i in kept])
    x = square.solve(flint.fmpz_mat(k, 1, [target[j] for j in columns])).entries()
    m = math.lcm(*(int(q.q) for q in x))
    c = [0] * len(rows)
    for i, q in zip(kept, x, strict=True):
        c[i] = int(q.p) * (m // int(q.q))
    return (c, m) if combination(rows, c) == [m * t for t in target] else None


def lowest_terms(weights: Weights) -> Weights:
    divisor = math.gcd(*weights.values())
    return {i: t // divisor for i, t in weights.items()}


def null_line(rows: Sequence[Row]) -> Row | None:
    """The weights > 0 with sum weights_i rows_i = 0, when they are unique up to a factor; else None.

    The rows are then a circuit: no proper subset of them has such weights.
    """
    if len(rows) == 1:
        return None if any(rows[0]) else [1]
    kept = independent(rows[:-1])
    if len(kept) != len(rows) - 1:
        return None
    solved = solve(rows[:-1], [-v for v in rows[-1]], kept)
    if solved is None:
        return None
    weights = [*solved[0], solved[1]]
    if min(weights) <= 0:
        return None
    divisor = math.gcd(*weights)
    return [v // divisor for v in weights]


def rational_root(q: Fraction) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above the root of q >= 0, within 2**-100 of it."""
    if q <= 0:
        return Fraction(0), Fraction(0)
    shift = max(0, 104 - (q.numerator.bit_length() - q.denominator.bit_length()) // 2)
    whole = math.isqrt((q.numerator << 2 * shift) // q.denominator)
    low = Fraction(whole, 1 << shift)
    return low, low if low * low == q else Fraction(whole + 1, 1 << shift)


def root_below(q: Fraction) -> float:
    """The root of q >= 0 as a double that is not above it."""
    low = rational_root(q)[0]
    try:
        r = float(low)
    except OverflowError:
        return math.nextafter(math.inf, 0)
    return r if Fraction(r) <= low else math.nextafter(r, 0)


def root_above(q: Fraction) -> float:
    """The root of q >= 0 as a double that is not below it; infinite beyond the doubles."""
    return above(rational_root(q)[1])


def above(q: Fraction) -> float:
    """The smallest double that is at least q >= 0."""
    try:
        r = float(q)
    except OverflowError:
        return math.inf
    return r if Fraction(r) >= q else math.nextafter(r, math.inf)
