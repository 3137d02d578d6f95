"""Columns that are simple combinations of others: guessed in floating point, proved on the rows.

Dummies of a category that add up to the constant, a column that is there twice, a dummy that is zero in the rows at
hand: null vectors of a few small numbers. Others would have as many digits as a circuit, and are not looked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from separatrix.arrays import Indices
from separatrix.numerics.interruptible import interruptible
from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.exact.face import Face
from separatrix.proofs.exact.lifted_rows import LiftedRows

LARGEST = 64  # numerators and denominators of the coefficients
NEAR = 1e-6  # how far from such a quotient a coefficient may be
MOST = 64  # null vectors
INDEPENDENT = 1e-8  # the part of a column, squared, that others leave, from which on it counts as independent


def small_null_vectors(rows: LiftedRows, ids: Indices) -> dict[int, Row]:
    """Simple vectors that vanish on these rows, each by a column that no other has."""
    from scipy.linalg.lapack import dpstrf

    Z = rows.dense(ids)
    with np.errstate(over="ignore"):  # then there are no such vectors to be found
        size = np.sqrt(np.mean(Z * Z, axis=0))
    if not np.isfinite(size).all():
        return {}
    B = Z / np.where(size > 0, size, 1.0)
    _, order, rank, _ = dpstrf(B.T @ B / len(B), tol=INDEPENDENT)  # Cholesky's factorisation, the largest pivot first
    used, free = np.sort(order[:rank] - 1), np.sort(order[rank:] - 1)
    if not 0 < len(free) <= MOST:
        return {}
    coefficients = interruptible(Z.size * len(used), np.linalg.lstsq, Z[:, used], Z[:, free], rcond=None)[0]
    made: dict[int, Row] = {}
    for j, column in zip(free.tolist(), coefficients.T.tolist(), strict=True):
        quotients = [Fraction(c).limit_denominator(LARGEST) for c in column]
        if any(abs(c - t) > NEAR or abs(t) > LARGEST for c, t in zip(quotients, column, strict=True)):
            continue
        m = math.lcm(*(c.denominator for c in quotients))
        v = [0] * rows.p
        v[j] = -m
        for k, c in zip(used.tolist(), quotients, strict=True):
            v[k] = int(c * m)
        if not rows.signs(v, ids).any():
            made[j] = v
    return made


def face_of(null: dict[int, Row], p: int) -> Face:
    """The vectors that these span."""
    import flint

    free = sorted(null)
    bound = sorted(set(range(p)) - set(free))
    scale = math.lcm(*(null[j][j] for j in free))
    follow = [null[j][k] * (scale // null[j][j]) for k in bound for j in free]
    return Face(p, bound, free, flint.fmpz_mat(len(bound), len(free), follow), scale)


def part_of(face: Face, rows: Sequence[Row]) -> Face:
    """The vectors of a face that vanish on rows too."""
    if not face.bound:
        return Face.of(rows, face.p)
    part = Face.of(face.coordinates(rows), face.dimension)
    null = {face.free[j]: face.lift(v) for j, v in zip(part.free, part.basis(), strict=True)}
    return face_of(null, face.p) if null else Face.zero(face.p)
