"""Overlap of the classes, proved from fitted probabilities.

Let z_i = y_i (x_i, 1) be the rows on their own side, q_i > 0 any numbers, Q = diag(q), and s = (Z'QZ)^-1 Z'q. Then
lambda = q (1 - Z s)  has  Z'lambda = 0, and it is positive where z_i.s < 1. Positive weights on rows that span the
space and cancel leave no direction that separates (Stiemke 1915), and some of the rows are enough. At a maximum of
the likelihood Z'q = 0 for q_i = 1 - P(y_i|x_i), so that s = 0. Of several classes z are  (x, 1) (x) (e_y - e_k)  with
q_k = P(k|x).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats

LEVELS = (1e-4, 1e-8, 1e-12)  # rows of smaller q than this share of the largest are left out
UNIT = 2.0**-53


def proves_overlap(Z: Floats, q: Floats) -> bool:
    """Whether positive weights near q on some rows of Z provably cancel and span; False proves nothing."""
    if not (np.isfinite(q).all() and q.max(initial=0.0) > 0):
        return False
    with np.errstate(all="ignore"):
        tried = 0
        for level in LEVELS:
            kept = q >= level * q.max()
            count = int(kept.sum())
            if count <= Z.shape[1] or count == tried:
                continue
            tried = count
            if cancels(Z[kept] if count < len(q) else Z, q[kept]):
                return True
    return False


def cancels(Z: Floats, q: Floats) -> bool:
    """Whether max z_i.s <= 1/2 for the exact s of these numbers.

    With A = Z'QZ and a computed t, the exact s differs from t by v = A^-1 r, r = Z'q - A t, and
    |z_i.v| <= sqrt(v'Av/q_i) <= |D r| / sqrt(e q_i), with D = diag(A)^-1/2 and e the least eigenvalue of D A D.
    Sums of m terms are wrong by at most m units of the sum of their sizes, in any order (Higham 2002, 3.1);
    by Cauchy and Schwarz the scaled sums of sizes are at most 1 in A, and  sqrt(sum q (1 + |z_i|.|t|)^2)
    <= sqrt(2 (sum q + (sum |t_j|/D_j)^2))  in D r.
    """
    m, p = Z.shape
    A = Z.T @ (q[:, None] * Z)
    diagonal = np.diagonal(A)
    if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
        return False
    D = 1.0 / np.sqrt(diagonal)
    scaled = A * D * D[:, None]
    share = 2.0 * (m + p + 20) * UNIT
    least = float(np.linalg.eigvalsh(scaled)[0]) - share * p - 16.0 * p * p * UNIT
    if not least > 0:
        return False
    r, room, total = Z.T @ q, np.sqrt(least * q), q.sum()
    distance = np.linalg.norm(D * r) + np.sqrt(2.0 * p * total) * share
    if 1.01 * distance <= 0.5 * room.min():  # t = 0, as at a maximum
        return True
    t = np.zeros(p)
    for _ in range(3):
        t += D * np.linalg.solve(scaled, D * r)
        r = Z.T @ (q * (1.0 - Z @ t))
    sizes = np.sqrt(2.0 * (total + (np.abs(t) / D).sum() ** 2))
    distance = np.linalg.norm(D * r) + np.sqrt(p) * share * sizes
    reach = Z @ t + share * (np.abs(Z) @ np.abs(t)) + 1.01 * distance / room
    return bool(np.all(reach <= 0.5))


def kesler_rows(lifted: Floats, codes: NDArray[np.intp], P: Floats) -> tuple[Floats, Floats]:
    """One row (x, 1) (x) (e_y - e_k) for each class k but the row's own, and P(k|x) as its q.

    The vector of the last class is left out: vectors are known up to a common one.
    """
    n, p = lifted.shape
    classes = P.shape[1]
    if classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None] * lifted, P[np.arange(n), 1 - codes]
    rows, q = [], []
    for k in range(classes):
        others = np.flatnonzero(codes != k)
        part = np.zeros((len(others), classes, p))
        part[np.arange(len(others)), codes[others]] += lifted[others]
        part[:, k] -= lifted[others]
        rows.append(part[:, :-1].reshape(len(others), -1))
        q.append(P[others, k])
    return np.concatenate(rows), np.concatenate(q)
