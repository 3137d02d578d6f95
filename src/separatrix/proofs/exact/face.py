"""Faces of the cone: the vectors that vanish on given rows, exactly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.exact.algebra import Row, independent, leading, pivots, ratio, solve, transpose


@dataclass(frozen=True)
class Face:
    """The vectors w that vanish on given rows: free coordinates at will, the bound ones follow.

    ``scale * w[bound] = follow @ w[linked]`` in integers, where ``linked`` are some of the free coordinates; columns
    that are zero in all rows are neither bound nor linked.
    """

    p: int
    bound: list[int]
    linked: list[int]
    follow: Any  # a matrix of flint's; None where nothing is bound or linked
    scale: int

    @staticmethod
    def whole(p: int) -> Face:
        return Face(p, [], [], None, 1)

    @staticmethod
    def zero(p: int) -> Face:
        return Face(p, list(range(p)), [], None, 1)

    @staticmethod
    def of(rows: Sequence[Row], p: int, order: Sequence[int] | None = None, known: bool = False) -> Face:
        """{w : rows w = 0}, exactly.

        ``order``: the columns, those first that had better be bound; ``known``: the rows are known to be independent.
        """
        some = [any(column) for column in zip(*rows, strict=True)]
        columns = [j for j in (range(len(some)) if order is None else order) if some[j]] if rows else []
        part = [[row[j] for j in columns] for row in rows]
        kept = part if known else [part[i] for i in pivots(transpose(part))]
        while True:  # at most p rounds: each but the last adds independent rows to those kept
            face = Face._echelon(kept, len(columns))
            if len(kept) == len(part) or not face.free or face.images(part).is_zero():
                break
            there = face.coordinates(part)
            missed = [i for i, row in enumerate(there) if any(row)]
            kept += [part[missed[k]] for k in independent([there[i] for i in missed])]
        return face.among(columns, p)

    @staticmethod
    def _echelon(rows: Sequence[Row], p: int) -> Face:
        """The same for independent rows, by flint's reduced row echelon form; all free coordinates are linked."""
        import flint

        if not rows or len(rows) == p:
            return Face(p, list(range(len(rows))), list(range(len(rows), p)), None, 1)
        reduced, scale, rank = flint.fmpz_mat(list(rows)).rref()
        bound = leading(reduced, rank)
        free = sorted(set(range(p)) - set(bound))
        sign = -1 if scale < 0 else 1
        follow = flint.fmpz_mat(rank, len(free), [-sign * int(reduced[i, j]) for i in range(rank) for j in free])
        return Face(p, bound, free, follow, sign * int(scale))

    def among(self, columns: Sequence[int], p: int) -> Face:
        """The face of the same rows in a space of p columns, these columns among them."""
        return Face(p, [columns[j] for j in self.bound], [columns[j] for j in self.linked], self.follow, self.scale)

    def within(self, columns: Sequence[int]) -> Face:
        """The face in these columns alone, all that are bound or linked among them."""
        at = {j: k for k, j in enumerate(columns)}
        return Face(len(at), [at[j] for j in self.bound], [at[j] for j in self.linked], self.follow, self.scale)

    @cached_property
    def free(self) -> list[int]:
        return sorted(set(range(self.p)) - set(self.bound))

    @property
    def linked_at(self) -> NDArray[np.intp]:
        """Where the linked coordinates are among the free ones."""
        return np.searchsorted(self.free, self.linked)

    @property
    def dimension(self) -> int:
        return self.p - len(self.bound)

    def lift(self, u: Sequence[int]) -> Row:
        """The vector of the face with these free coordinates, times a positive number."""
        import flint

        w = [0] * self.p
        for j, v in zip(self.free, u, strict=True):
            w[j] = v * self.scale
        if self.bound and self.linked:
            ahead = flint.fmpz_mat(len(self.linked), 1, [w[j] // self.scale for j in self.linked])
            for j, v in zip(self.bound, (self.follow * ahead).entries(), strict=True):
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
        if j not in self.bound:
            return self.free.index(j)
        i = self.bound.index(j)
        return next((self.free.index(t) for k, t in enumerate(self.linked) if self.follow[i, k] != 0), None)

    def unit_vectors(self) -> NDArray[np.bool_]:
        """Which unit vectors are in the face: free coordinates that nothing follows."""
        inside = np.ones(self.p, dtype=bool)
        inside[self.bound] = False
        if self.bound and self.linked:
            inside[self.linked] = [not any(column) for column in transpose(self.follow.tolist())]
        return inside

    def coordinates(self, rows: Sequence[Row]) -> list[Row]:
        """z N for rows z: what they are as functions on the face, times a positive number."""
        if not self.bound:
            return [list(row) for row in rows]
        if not rows or not self.free:
            return [[] for _ in rows]
        there = dict(zip(self.linked, transpose(self.images(rows).tolist()), strict=True)) if self.linked else {}
        return [
            [int(there[j][i]) if j in there else row[j] * self.scale for j in self.free] for i, row in enumerate(rows)
        ]

    def images(self, rows: Sequence[Row]) -> Any:
        """The coordinates that are linked, as a matrix of flint's; there must be some, and rows."""
        import flint

        ahead = flint.fmpz_mat([[row[j] for j in self.linked] for row in rows]) * self.scale
        if not self.bound:
            return ahead
        return ahead + flint.fmpz_mat([[row[j] for j in self.bound] for row in rows]) * self.follow

    def matrix(self) -> NDArray[np.float64]:
        """A basis as columns of doubles, for the search only."""
        N = np.zeros((self.p, self.dimension))
        N[self.free, range(self.dimension)] = 1.0
        if self.bound and self.linked:
            N[np.ix_(np.array(self.bound), self.linked_at)] = self.followed()
        return N

    def followed(self) -> NDArray[np.float64]:
        """What the bound coordinates are of the linked ones, as doubles."""
        out = np.zeros((len(self.bound), len(self.linked)))
        if self.bound and self.linked:
            for i, row in enumerate(self.follow.tolist()):
                out[i] = [ratio(int(v), self.scale) for v in row]
        return out


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
