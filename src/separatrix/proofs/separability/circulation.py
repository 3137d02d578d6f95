"""Weights that sum to zero, and the face where their rows vanish: what is proved of the rows of T.

A circulation is weights > 0 on some rows with sum weight_i z_i = 0. No vector of the cone {w : z_i.w >= 0} is positive
on a row that has a weight, so the search for such vectors goes on in the face where all of these rows vanish.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Indices
from separatrix.proofs.exact.algebra import Weights, combination, independent, lowest_terms
from separatrix.proofs.exact.face import Face, solve_in_span
from separatrix.proofs.exact.gordan import Circuit
from separatrix.proofs.exact.lifted_rows import LiftedRows


class Circulation:
    """Weights of the rows z themselves, and the face that their rows cut out; every change is exact."""

    def __init__(self, rows: LiftedRows) -> None:
        self.rows = rows
        self.weights: Weights = {}
        self.face = Face.whole(rows.p)

    def own_weights(self, weights: Weights) -> Weights:
        """Weights of the rows as integers, as weights of the rows z, in lowest terms."""
        factors = self.rows.integers(list(weights))[1]
        return lowest_terms({i: t * m for (i, t), m in zip(weights.items(), factors, strict=True)})

    def add(self, circuit: Circuit) -> None:
        """Take in a circuit of the face, lifted to the whole space.

        sum mu_i z_i vanishes on the face, so it is a signed combination of the rows that cut the face
        out; enough of the circulation added makes its weights positive again.
        """
        rows, ids = self.rows, list(circuit.weights)
        spans = len(ids) - 1 == self.face.dimension
        if not self.weights:
            self.weights = self.own_weights(circuit.weights)
        else:
            whole, factors = rows.integers(ids)
            old = list(self.weights)
            old_rows, old_factors = rows.integers(old)
            rest = combination(whole, list(circuit.weights.values()))
            solved = solve_in_span(old_rows, [-v for v in rest])
            c = {i: t * m for i, t, m in zip(old, solved[0], old_factors, strict=True)}
            merged = {i: solved[1] * circuit.weights[i] * m for i, m in zip(ids, factors, strict=True)}
            enough = max([1] + [-c[i] // self.weights[i] + 1 for i in old])
            for i in old:
                merged[i] = merged.get(i, 0) + c[i] + enough * self.weights[i]
            self.weights = lowest_terms(merged)
        self.face = Face.zero(rows.p) if spans else self._face_of(list(self.weights))

    def take(self, weights: Weights) -> None:
        """Another circulation, of the rows as integers, if its rows leave a smaller face.

        It takes the place of the old one, or joins it where the old rows do not vanish on its face.
        """
        fresh = self.own_weights(weights)
        face = self._face_of(list(fresh))
        if face.dimension >= self.face.dimension:
            return
        if any(map(any, face.coordinates(self.rows.integers(list(self.weights))[0]))):
            fresh = {i: fresh.get(i, 0) + self.weights.get(i, 0) for i in {**fresh, **self.weights}}
            face = self._face_of(list(fresh))
        self.weights, self.face = fresh, face

    def pair_off(self, ids: Indices, partner: Indices) -> None:
        """Rows that do not vanish on the face join with their partners, their opposites: as many as are independent."""
        whole = not self.face.bound
        some = [int(i) for i in ids[:: max(1, len(ids) // (4 * self.face.dimension))]]
        part = self.rows.narrow(some)[0].integers(range(len(some))) if whole else self.rows.integers(some)
        cut = [some[k] for k in independent(part[0] if whole else self.face.coordinates(part[0]))]
        for i in [*cut, *partner[cut].tolist()]:
            self.weights[i] = self.weights.get(i, 0) + 1
        self.face = self._face_of(cut, known=True) if whole else self._face_of(list(self.weights))

    def _face_of(self, ids: list[int], known: bool = False) -> Face:
        """Where these rows vanish; ``known``: they are known to be independent."""
        if not self.rows.wide:
            return Face.of(self.rows.integers(ids)[0], self.rows.p, None, known)
        part, columns = self.rows.narrow(ids)  # rare columns are bound first, so that few rows are changed
        order = np.argsort(self.rows.non_zeros[columns], kind="stable").tolist()
        return Face.of(part.integers(range(part.n))[0], part.p, order, known).among(columns, self.rows.p)


def drawn(dimension: int) -> list[int]:
    """Coordinates of a vector of a face, drawn by chance."""
    chance: list[int] = np.random.default_rng(dimension).integers(1, 1 << 60, dimension).tolist()
    return chance


def moving(rows: LiftedRows, face: Face, ids: Indices) -> Indices:
    """Rows that do not vanish at a vector of the face drawn by chance: all that are not zero on it, with some luck."""
    found: Indices = ids[rows.signs(face.lift(drawn(face.dimension)), ids) != 0] if face.dimension else ids[:0]
    return found


def not_vanishing(rows: LiftedRows, face: Face, ids: Indices) -> Indices:
    """The rows that are not zero on the whole face, exactly."""
    if not face.dimension:
        return ids[:0]
    if rows.wide:
        blocks = np.array_split(ids, 1 + len(ids) // 1024)
        return np.concatenate([block[images_are_not_zero(rows, face, block)] for block in blocks])
    still = ids
    for v in face.basis():
        if not len(still):
            break
        still = still[rows.signs(v, still) == 0]
    return np.setdiff1d(ids, still, assume_unique=True)


def images_are_not_zero(rows: LiftedRows, face: Face, ids: Indices) -> NDArray[np.bool_]:
    """Which rows are not zero on the face, where it leaves most of very many columns free."""
    near = np.sort(np.array([*face.bound, *face.linked], dtype=np.int64))
    outside = np.setdiff1d(np.arange(rows.p), near)
    moved: NDArray[np.bool_] = np.asarray((rows.table(ids)[:, outside] != 0).sum(axis=1)).ravel() > 0
    rest = np.flatnonzero(~moved)
    if len(rest):
        part, columns = rows.narrow(ids[rest].tolist(), near.tolist())
        images = face.within(columns).coordinates(part.integers(range(part.n))[0])
        moved[rest] = [any(row) for row in images]
    return moved
