"""Exact linear algebra on a few rows: integers from floats, null vectors, solutions, faces.

Rows are lists of Python integers, each a given row times a positive number. A word-sized prime
finds out what is independent. A rank modulo a prime is a lower bound of the true rank and nothing more: numbers
can be chosen against any prime. So every answer is solved by flint over the integers and multiplied out, and where
the prime has missed a row the row is found exactly and added.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PRIME = (1 << 61) - 1

Row = list[int]
Weights = dict[int, int]  # of rows, by number


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(u * v for u, v in zip(a, b, strict=True) if u and v)


def ratio(a: int, b: int) -> float:
    """a / b as a double; infinite beyond them."""
    try:
        return a / b
    except OverflowError:
        return math.inf if (a > 0) == (b > 0) else -math.inf


def integer_row(values: Sequence[float]) -> tuple[Row, int]:
    """The row times m as integers, and m: every double is an integer over a power of two."""
    ratios = [v.as_integer_ratio() for v in values]
    m = max((q for _, q in ratios), default=1)
    return [a * (m // q) for a, q in ratios], m


def expansion(w: Sequence[int]) -> NDArray[np.float64] | None:
    """w times a power of two as a sum of vectors of doubles, the first within 2**-52 of it.

    None when the numbers spread over more bits than doubles reach.
    """
    top = max((abs(v).bit_length() for v in w), default=0)
    if top > 1900:
        return None
    shift = max(0, top - 900)
    parts: list[list[float]] = []
    rest = list(w)
    while any(rest) or not parts:  # each round takes 53 bits off every number
        part = []
        for j, v in enumerate(rest):
            sign, size = (-1 if v < 0 else 1), abs(v)
            low = max(0, size.bit_length() - 53)
            part.append(sign * math.ldexp(size >> low, low - shift))
            rest[j] = sign * (size & ((1 << low) - 1))
        parts.append(part)
    return np.array(parts, dtype=np.float64)


def pivots(rows: Sequence[Row], prime: int = PRIME) -> list[int]:
    """Columns that are independent modulo a prime, and therefore independent; as many as the rank modulo it."""
    import flint

    if not rows or not rows[0]:
        return []
    table = flint.nmod_mat(len(rows), len(rows[0]), [v % prime for row in rows for v in row], prime)
    reduced, rank = table.rref()
    found: list[int] = []
    for i in range(rank):  # row i of the echelon form is not zero, and its first entry lies beyond row i - 1's
        j = found[-1] + 1 if found else 0
        while not int(reduced[i, j]):
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
    columns = transpose(rows)
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


def solve_in_span(rows: Sequence[Row], target: Row) -> tuple[Row, int]:
    """The same for a target that is known to be in the span of the rows, whatever the primes make of it."""
    solved = solve(rows, target)
    if solved is None:  # (c, -m) is a null vector of the rows and the target as columns
        relations = Face.of(transpose([*rows, target]), len(rows) + 1)
        k = relations.moving(len(rows))
        if k is None:
            raise AssertionError("the target is not in the span of the rows")
        *c, m = relations.vector(k)
        solved = (c, -m) if m < 0 else ([-v for v in c], m)
    return solved


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


@dataclass(frozen=True)
class Face:
    """The vectors w that vanish on given rows: free coordinates at will, the others follow.

    ``scale * w[pivot] = follow @ w[free]`` with integers; nothing is bound when there are no rows.
    """

    p: int
    free: list[int]
    bound: list[int]
    follow: Any
    scale: int

    @staticmethod
    def whole(p: int) -> Face:
        return Face(p, list(range(p)), [], None, 1)

    @staticmethod
    def zero(p: int) -> Face:
        return Face(p, [], list(range(p)), None, 1)

    @staticmethod
    def of(rows: Sequence[Row], p: int) -> Face:
        """{w : rows w = 0}, exactly."""
        if not rows:
            return Face.whole(p)
        kept = [rows[i] for i in pivots(transpose(rows))]
        while True:  # at most p rounds: each but the last adds independent rows to those kept
            face = Face.echelon(kept, p)
            if len(kept) == len(rows) or not face.free or face.images(rows).is_zero():
                return face
            there = face.coordinates(rows)
            missed = [i for i, row in enumerate(there) if any(row)]
            kept += [rows[missed[k]] for k in independent([there[i] for i in missed])]

    @staticmethod
    def echelon(rows: Sequence[Row], p: int) -> Face:
        """{w : rows w = 0} for independent rows, by flint's reduced row echelon form."""
        import flint

        if not rows:
            return Face.whole(p)
        if len(rows) == p:
            return Face.zero(p)
        reduced, scale, rank = flint.fmpz_mat(list(rows)).rref()
        bound: list[int] = []
        for i in range(rank):
            j = bound[-1] + 1 if bound else 0
            while reduced[i, j] == 0:  # no row of the echelon form is zero
                j += 1
            bound.append(j)
        free = sorted(set(range(p)) - set(bound))
        sign = -1 if scale < 0 else 1
        follow = flint.fmpz_mat(rank, len(free), [-sign * int(reduced[i, j]) for i in range(rank) for j in free])
        return Face(p, free, bound, follow, sign * int(scale))

    @property
    def dimension(self) -> int:
        return len(self.free)

    def lift(self, u: Sequence[int]) -> Row:
        """The vector of the face with these free coordinates, times a positive number."""
        import flint

        w = [0] * self.p
        for j, v in zip(self.free, u, strict=True):
            w[j] = v * self.scale
        if self.bound and self.free:
            for j, v in zip(self.bound, (self.follow * flint.fmpz_mat(len(u), 1, list(u))).entries(), strict=True):
                w[j] = int(v)
        divisor = math.gcd(*w) or 1
        return [v // divisor for v in w]

    def basis(self) -> Iterator[Row]:
        return (self.vector(k) for k in range(self.dimension))

    def vector(self, k: int) -> Row:
        """The k-th vector of the basis: one free coordinate is not zero."""
        return self.lift([int(i == k) for i in range(self.dimension)])

    def moving(self, j: int) -> int | None:
        """A vector of the basis whose j-th coordinate is not zero; None when all of the face has zero there."""
        if j in self.free:
            return self.free.index(j)
        i = self.bound.index(j)
        return next((k for k in range(self.dimension) if self.follow[i, k] != 0), None)

    def coordinates(self, rows: Sequence[Row]) -> list[Row]:
        """z N for rows z: what they are as functions on the face, times a positive number."""
        if not self.bound:
            return [list(row) for row in rows]
        if not rows or not self.free:
            return [[] for _ in rows]
        return [[int(v) for v in row] for row in self.images(rows).tolist()]

    def images(self, rows: Sequence[Row]) -> Any:
        """The same as a matrix of flint's, where there are rows and free coordinates."""
        import flint

        ahead = flint.fmpz_mat([[row[j] for j in self.free] for row in rows]) * self.scale
        if not self.bound:
            return ahead
        return ahead + flint.fmpz_mat([[row[j] for j in self.bound] for row in rows]) * self.follow

    def matrix(self) -> NDArray[np.float64]:
        """A basis as columns of doubles, for the search only."""
        N = np.zeros((self.p, self.dimension))
        N[self.free, range(self.dimension)] = 1.0
        N[self.bound] = self.followed()
        return N

    def followed(self) -> NDArray[np.float64]:
        """What the bound coordinates are of the free ones, as doubles."""
        out = np.zeros((len(self.bound), self.dimension))
        if self.bound and self.free:
            for i, row in enumerate(self.follow.tolist()):
                out[i] = [ratio(int(v), self.scale) for v in row]
        return out
