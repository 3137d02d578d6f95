"""Short proofs where columns are nearly dependent, in integers with a preconditioner.

The rows A of a short proof, rounded to integers, may be closer to dependent than doubles can tell, and A'A has the
square of their condition number. With T near the inverse of the factor R of A = QR, rounded to integers, the product
AT is computed exactly: its columns are nearly orthonormal, or, where rounding hid columns from R, far better
conditioned than those of A, and a second step with AT in place of A makes them so. The matrix T'(A'A - s I)T is near a
multiple of I wherever s is well below the eigenvalues of A'A, so that Cholesky's factorisation shows in floating point
that it is positive definite; and then so is A'A - s I.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Floats

UNIT = 2.0**-53
LARGEST = 2.0**76  # entries of rows that are rounded to integers
UNEVEN = 2.0**300  # times the least weight of the first rows: no weight is more
DIGITS = 70  # bits of columns near 1 when they are made integers to look for what rounding hides
MOST = 610  # columns: checkers take some seconds
ROUNDS = 3  # corrections of the weights
STEPS = 3  # products, each of which takes some 40 bits off the condition number
HIDDEN = 1e-12  # the least pivot beside the largest, below which columns may be dependent
MORE = 8  # bits of the preconditioner beyond those that keep its rounding below 1
PRIME = (1 << 61) - 1


@dataclass(frozen=True)
class Preconditioned:
    """A matrix A of integers times T, so that the columns are nearly orthonormal."""

    T: Any  # of flint's, times 2^bits
    product: Any  # A times that, exactly
    bits: int
    table: Floats  # the product in doubles


def preconditioned(A: Floats) -> Preconditioned | None:
    """None where columns are dependent, or too close to it."""
    import flint

    m, p = A.shape
    whole = flint.fmpz_mat(m, p, [int(v) for v in A.ravel().tolist()])
    T, total, table = None, 0, A
    for _ in range(STEPS):
        R: Floats = np.asarray(np.linalg.qr(table, mode="r"))
        hidden = _hidden(R)
        if hidden and flint.nmod_mat(whole, PRIME).rank() < p:
            return None
        bits = math.ceil(math.log2(float(np.linalg.norm(table)) * math.sqrt(p) + 1)) + MORE
        try:
            near = np.ldexp(np.linalg.inv(R), bits)
        except np.linalg.LinAlgError:
            return None
        if not np.abs(near).max() < 2.0**400:
            return None
        step = flint.fmpz_mat(p, p, [round(v) for v in near.ravel().tolist()])
        T, total = step if T is None else T * step, total + bits
        product = whole * T
        table = np.array([math.ldexp(int(v), -total) for v in product.entries()]).reshape(m, p)
        if not hidden:
            return Preconditioned(T, product, total, table)
    return None


def _hidden(R: Floats) -> bool:
    """Whether columns with this factor may be dependent, as far as doubles tell."""
    pivots = np.abs(np.diag(R))
    return bool(pivots.min() < HIDDEN * pivots.max())


def orthogonal(Z: Floats) -> Floats:
    """Orthonormal columns with the span of these, which are near 1; exactly where rounding would hide some of them."""
    Q, R = np.linalg.qr(Z)
    found = preconditioned(np.rint(np.ldexp(Z, DIGITS))) if Z.shape[1] <= MOST and _hidden(R) else None
    return np.asarray(Q if found is None else np.linalg.qr(found.table)[0])


def hidden_singular_value(A: Floats) -> float:
    """The least singular value of columns near 1 that may be dependent, as far as doubles tell; 0 where they are."""
    found = preconditioned(np.rint(np.ldexp(A, DIGITS))) if A.shape[1] <= MOST else None
    if found is None:
        return 0.0
    p = A.shape[1]
    T = np.array([math.ldexp(int(v), -found.bits) for v in found.T.entries()]).reshape(p, p)
    inverse = T @ np.linalg.inv(np.asarray(np.linalg.qr(found.table, mode="r")))
    return math.ldexp(1 / float(np.linalg.norm(inverse, 2)), -DIGITS)


def proved_in_integers(scaled: Floats, q: Floats, m: int) -> tuple[list[int], int] | None:
    """Weights near q that nearly cancel the rows, and a floor that proves overlap by the first m of them [L18]."""
    p = scaled.shape[1]
    if p > MOST or not (np.isfinite(scaled).all() and np.abs(scaled).max() < LARGEST):
        return None
    lost = math.sqrt(float(np.vdot(scaled, scaled)) / 12)  # of the sum, when weights are rounded
    least = max(16.0, 4 * lost / math.sqrt(m * p))
    ratio = q / q[:m].min()
    if not ratio.max() < UNEVEN:
        return None
    weights = [max(1, int(v)) for v in ratio * least]
    enough, residual = _enough(scaled, weights, m)
    if enough >= m * p:  # what rounding the rows takes is a quarter of it
        corrected = _corrected(scaled, weights, m, residual)
        if corrected is None:
            return None
        weights, enough = corrected
    floor = math.ceil(1.5 * enough + 4 * p)
    room = floor // 4 + 8 * p  # what a checker in fixed point may lose
    return (weights, floor) if eigenvalues_exceed(np.rint(scaled[:m]), floor + room) else None


def _corrected(scaled: Floats, weights: list[int], m: int, residual: list[int]) -> tuple[list[int], float] | None:
    """Weights with a smaller residual, and what the eigenvalues must then exceed."""
    import flint

    p, table, found = scaled.shape[1], scaled, None
    R: Floats = np.asarray(np.linalg.qr(scaled, mode="r"))
    if _hidden(R):
        found = preconditioned(np.rint(scaled))
        if found is None:
            return None
        table, R = found.table, np.asarray(np.linalg.qr(found.table, mode="r"))
    for _ in range(ROUNDS):  # the least change that makes up for the residual, rounded to integers
        target: Floats = np.array(residual, dtype=float)
        if found is not None:
            moved = (flint.fmpz_mat(1, p, residual) * found.T).entries()
            target = np.array([math.ldexp(int(v), -found.bits) for v in moved])
        try:
            change: Floats = table @ np.linalg.solve(R, np.linalg.solve(R.T, target))
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(change).all():
            return None
        weights = [w - round(v) for w, v in zip(weights, change.tolist(), strict=True)]
        if min(weights) < 1:
            return None
        enough, residual = _enough(scaled, weights, m)
        if enough < m * p:
            break
    return weights, enough


def _enough(scaled: Floats, weights: list[int], m: int) -> tuple[float, list[int]]:
    """What the eigenvalues of A'A must exceed, rounded up, and the weighted sum of the rows, rounded."""
    import flint

    (n, p), total, least = scaled.shape, sum(weights), min(weights[:m])
    guard = (total // least).bit_length() + 8
    h = [int(v) for v in np.floor(np.ldexp(scaled, guard)).ravel().tolist()]  # within 1 of 2^guard times the rows
    sums = [int(v) for v in (flint.fmpz_mat(1, n, weights) * flint.fmpz_mat(n, p, h)).entries()]
    squares = sum((abs(v) + 2 * total) ** 2 for v in sums)
    residual = Fraction(math.isqrt(squares) + 1, least << guard)
    rounding = (0.5 + 2.0**-guard) * (math.isqrt(m * p) + 1)
    return (rounding + float(residual)) ** 2 * (1 + 1e-9), [v >> guard for v in sums]


def eigenvalues_exceed(A: Floats, level: int) -> bool:
    """Whether A'A, for a matrix of integers, is proved to have all its eigenvalues above a level."""
    found = preconditioned(A)
    if found is None:
        return False
    p, T, P = A.shape[1], found.T, found.product
    exact = P.transpose() * P - level * (T.transpose() * T)
    M = np.array([float(Fraction(int(v), 1 << 2 * found.bits)) for v in exact.entries()]).reshape(p, p)
    # entries are rounded once, and Cholesky's factor is that of a matrix so near (Demmel 1989)
    M[np.diag_indices(p)] -= p * UNIT * float(np.abs(M).max()) + 8 * (p + 8) * UNIT * float(np.abs(np.diag(M)).sum())
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True
