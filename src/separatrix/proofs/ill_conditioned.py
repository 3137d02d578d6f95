"""Short proofs where columns are nearly dependent, in integers with a preconditioner.

The rows A of a short proof, rounded to integers of up to 52 bits, have a condition number up to about 10^12, and that
of A'A is its square: beyond floating point. With T near the inverse of the factor R of A = QR, rounded to integers,
the matrix T'(A'A - s I)T is computed exactly. It is near a multiple of I wherever s is well below the eigenvalues of
A'A, so that Cholesky's factorisation shows in floating point that it is positive definite; and then so is A'A - s I.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from separatrix.arrays import Floats

UNIT = 2.0**-53
LARGEST = 2.0**52  # entries of rows that are rounded to integers
MOST = 600  # columns: checkers take some seconds
ROUNDS = 3  # corrections of the weights
MORE = 8  # bits of the preconditioner beyond those that keep its rounding below 1


def proved_in_integers(scaled: Floats, q: Floats, m: int) -> tuple[list[int], int] | None:
    """Weights near q that nearly cancel the rows, and a floor that proves overlap by the first m of them [L18]."""
    p = scaled.shape[1]
    if p > MOST or not (np.isfinite(scaled).all() and np.abs(scaled).max() < LARGEST):
        return None
    lost = math.sqrt(float(np.vdot(scaled, scaled)) / 12)  # of the sum, when weights are rounded
    least = max(16.0, 4 * lost / math.sqrt(m * p))
    weights = [max(1, int(v)) for v in q / q[:m].min() * least]
    R: Floats = np.asarray(np.linalg.qr(scaled, mode="r"))
    enough, residual = _enough(scaled, weights, m)
    for _ in range(ROUNDS):
        if enough < m * p:  # what rounding the rows takes is a quarter of it
            break
        try:  # the least change that makes up for the residual, rounded to integers
            change: Floats = scaled @ np.linalg.solve(R, np.linalg.solve(R.T, residual))
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(change).all():
            return None
        weights = [w - round(v) for w, v in zip(weights, change.tolist(), strict=True)]
        if min(weights) < 1:
            return None
        enough, residual = _enough(scaled, weights, m)
    floor = math.ceil(1.5 * enough + 4 * p)
    room = floor // 4 + 8 * p  # what a checker in fixed point may lose
    return (weights, floor) if eigenvalues_exceed(np.rint(scaled[:m]), floor + room) else None


def _enough(scaled: Floats, weights: list[int], m: int) -> tuple[float, Floats]:
    """What the eigenvalues of A'A must exceed, rounded up, and the weighted sum of the rows."""
    import flint

    (n, p), total, least = scaled.shape, sum(weights), min(weights[:m])
    guard = (total // least).bit_length() + 8
    h = [int(v) for v in np.floor(np.ldexp(scaled, guard)).ravel().tolist()]  # within 1 of 2^guard times the rows
    sums = [int(v) for v in (flint.fmpz_mat(1, n, weights) * flint.fmpz_mat(n, p, h)).entries()]
    squares = sum((abs(v) + 2 * total) ** 2 for v in sums)
    residual = Fraction(math.isqrt(squares) + 1, least << guard)
    rounding = (0.5 + 2.0**-guard) * (math.isqrt(m * p) + 1)
    return (rounding + float(residual)) ** 2 * (1 + 1e-9), np.array([float(Fraction(v, 1 << guard)) for v in sums])


def eigenvalues_exceed(A: Floats, level: int) -> bool:
    """Whether A'A, for a matrix of integers, is proved to have all its eigenvalues above a level."""
    import flint

    (m, p), size = A.shape, float(np.linalg.norm(A))
    try:
        inverse = np.linalg.inv(np.asarray(np.linalg.qr(A, mode="r")))
    except np.linalg.LinAlgError:
        return False
    bits = math.ceil(math.log2(size * math.sqrt(p) + 1)) + MORE
    near = np.ldexp(inverse, bits)
    if not np.isfinite(near).all():
        return False
    T = flint.fmpz_mat(p, p, [round(v) for v in near.ravel().tolist()])
    P = flint.fmpz_mat(m, p, [int(v) for v in A.ravel().tolist()]) * T
    exact = P.transpose() * P - level * (T.transpose() * T)
    M = np.array([float(Fraction(int(v), 1 << 2 * bits)) for v in exact.entries()]).reshape(p, p)
    # entries are rounded once, and Cholesky's factor is that of a matrix so near (Demmel 1989)
    M[np.diag_indices(p)] -= p * UNIT * float(np.abs(M).max()) + 8 * (p + 8) * UNIT * float(np.abs(np.diag(M)).sum())
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True
