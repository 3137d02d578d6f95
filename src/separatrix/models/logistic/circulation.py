"""Overlap of the classes, proved from fitted probabilities.

Let z_i = y_i (x_i, 1) be the rows on their own side, q_i > 0 any numbers, Q = diag(q), and s = (Z'QZ)^-1 Z'q. Then
lambda = q (1 - Z s)  has  Z'lambda = 0, and it is positive where z_i.s < 1. Positive weights on rows that span the
space and cancel leave no direction that separates (Stiemke 1915), and some of the rows are enough. At a maximum of
the likelihood Z'q = 0 for q_i = 1 - P(y_i|x_i), so that s = 0. Of several classes z are  (x, 1) (x) (e_y - e_k)  with
q_k = P(k|x).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.gram_matrix import least_eigenvalue_above
from separatrix.numerics.interruptible import interruptible

LEVELS = (1e-4, 1e-8, 1e-12)  # rows of smaller q than this share of the largest are left out
UNIT = 2.0**-53
SMALL = 100  # columns up to which all eigenvalues are found
ROUNDS, SHARES = 6, (0.7, 0.1)  # of inverse iteration, and shares of its estimate that are then proved
PRODUCTS = 2**20  # numbers of weighted rows that are held at once


class RowsOnTheirSide(Protocol):
    """Rows z_i, known by what is made of them. A sum over all of them has ``terms`` roundings of a number."""

    columns: int
    terms: int

    def gram(self, q: Floats) -> Floats:
        """Z'QZ"""
        ...

    def sums(self, q: Floats) -> Floats:
        """Z'q"""
        ...

    def scores(self, t: Floats) -> Floats:
        """Z t, in the shape of q"""
        ...

    def sizes(self, t: Floats) -> Floats:
        """|Z||t|, in the shape of q"""
        ...


class TwoClassRows:
    """The rows of two classes, written out."""

    def __init__(self, Z: Floats) -> None:
        self.Z = Z
        self.terms, self.columns = Z.shape

    def gram(self, q: Floats) -> Floats:
        return np.asarray(self.Z.T @ (q[:, None] * self.Z))

    def sums(self, q: Floats) -> Floats:
        return np.asarray(self.Z.T @ q)

    def scores(self, t: Floats) -> Floats:
        return np.asarray(self.Z @ t)

    def sizes(self, t: Floats) -> Floats:
        return np.asarray(np.abs(self.Z) @ np.abs(t))


class ClassRows:
    """Rows  x (x) (e_y - e_k),  one for each class k but y: q is (n, K), and zero at the row's own class.

    The vector of the last class is left out, since vectors are known up to a common one. A row appears in the sums of
    its own class with the total of its q, and in those of another class k with q_k; Z'QZ has in the place of two
    classes what rows of either have with the q of the other.
    """

    def __init__(self, lifted: Floats, codes: NDArray[np.intp], classes: int) -> None:
        self.lifted, self.codes, self.classes = lifted, codes, classes
        n, p = lifted.shape
        self.own = np.arange(n), codes
        self.columns, self.terms = (classes - 1) * p, n + 2 * classes

    def gram(self, q: Floats) -> Floats:
        K, p = self.classes, self.lifted.shape[1]
        S, step = np.zeros((K, K * p, p)), max(1, PRODUCTS // (K * p))
        order = np.argsort(self.codes, kind="stable")
        for a, rows in enumerate(np.split(order, np.cumsum(np.bincount(self.codes, minlength=K))[:-1])):
            for begin in range(0, len(rows), step):
                part = rows[begin : begin + step]
                X = self.lifted[part]
                S[a] += (q[part].T[:, None, :] * X.T).reshape(K * p, -1) @ X
        pairs = S.reshape(K, K, p, p)
        out = -(pairs + pairs.transpose(1, 0, 2, 3))
        out[np.arange(K), np.arange(K)] = pairs.sum(axis=0) + pairs.sum(axis=1)
        return np.ascontiguousarray(out[:-1, :-1].transpose(0, 2, 1, 3)).reshape(self.columns, self.columns)

    def sums(self, q: Floats) -> Floats:
        M = -q
        M[self.own] = q.sum(axis=1)
        return np.asarray((M.T @ self.lifted)[:-1].reshape(-1))

    def scores(self, t: Floats) -> Floats:
        s = self.lifted @ self._vectors(t).T
        return np.asarray(s[self.own][:, None] - s)

    def sizes(self, t: Floats) -> Floats:
        s = np.abs(self.lifted) @ np.abs(self._vectors(t)).T
        return np.asarray(s[self.own][:, None] + s)

    def _vectors(self, t: Floats) -> Floats:
        p = self.lifted.shape[1]
        return np.vstack([t.reshape(-1, p), np.zeros(p)])


def proves_overlap(rows: RowsOnTheirSide, q: Floats) -> bool:
    """Whether positive weights near q on some rows provably cancel and span; False proves nothing."""
    if not (np.isfinite(q).all() and q.max(initial=0.0) > 0):
        return False
    with np.errstate(all="ignore"):
        tried = 0
        for level in LEVELS:
            kept = q >= level * q.max()
            count = int(kept.sum())
            if count <= rows.columns or count == tried:
                continue
            tried = count
            if cancels(rows, np.where(kept, q, 0.0)):
                return True
    return False


def cancels(rows: RowsOnTheirSide, q: Floats) -> bool:
    """Whether max z_i.s <= 1/2 for the exact s of these numbers, over the rows of q > 0.

    With A = Z'QZ and a computed t, the exact s differs from t by v = A^-1 r, r = Z'q - A t, and
    |z_i.v| <= sqrt(v'Av/q_i) <= |D r| / sqrt(e q_i), with D = diag(A)^-1/2 and e the least eigenvalue of D A D.
    Sums of m terms are wrong by at most m units of the sum of their sizes, in any order (Higham 2002, 3.1);
    by Cauchy and Schwarz the scaled sums of sizes are at most 1 in A, and  sqrt(sum q (1 + |z_i|.|t|)^2)
    <= sqrt(2 (sum q + (sum |t_j|/D_j)^2))  in D r.
    """
    m, p = rows.terms, rows.columns
    A = rows.gram(q)
    diagonal = np.diagonal(A)
    if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
        return False
    D = 1.0 / np.sqrt(diagonal)
    scaled = A * D * D[:, None]
    share = 2.0 * (m + p + 20) * UNIT
    found = least_and_solver(scaled, share * p)
    if found is None:
        return False
    least, solve = found
    r, some, total = rows.sums(q), q > 0, q.sum()
    room = np.sqrt(least * q[some])
    distance = np.linalg.norm(D * r) + np.sqrt(2.0 * p * total) * share
    if 1.01 * distance <= 0.5 * room.min():  # t = 0, as at a maximum
        return True
    t = np.zeros(p)
    for _ in range(3):
        t += D * solve(D * r)
        r = rows.sums(q * (1.0 - rows.scores(t)))
    sizes = np.sqrt(2.0 * (total + (np.abs(t) / D).sum() ** 2))
    distance = np.linalg.norm(D * r) + np.sqrt(p) * share * sizes
    reach = (rows.scores(t) + share * rows.sizes(t))[some] + 1.01 * distance / room
    return bool(np.all(reach <= 0.5))


def least_and_solver(scaled: Floats, wrong: float) -> tuple[float, Callable[[Floats], Floats]] | None:
    """A proved lower bound > 0 of the eigenvalues of a matrix that is within ``wrong`` of this, and how to solve by it.

    None where there is none. The matrix has a diagonal of ones.
    """
    p = len(scaled)
    if p <= SMALL:
        least = float(np.linalg.eigvalsh(scaled)[0]) - wrong - 16.0 * p * p * UNIT
        return (least, lambda g: np.asarray(np.linalg.solve(scaled, g))) if least > 0 else None
    linalg = scipy_linalg()
    try:
        factor = interruptible(p**3 / 3, linalg.cho_factor, scaled, lower=True)
    except linalg.LinAlgError:
        return None

    def solve(g: Floats) -> Floats:
        return np.asarray(linalg.cho_solve(factor, g))

    v: Floats = np.ones(p) / np.arange(1, p + 1)
    for _ in range(ROUNDS):  # of inverse iteration
        v = solve(v / np.linalg.norm(v))
    estimate = 1.0 / float(np.linalg.norm(v))
    for share in SHARES:
        least = share * estimate - wrong
        if least > 0 and interruptible(p**3 / 3, least_eigenvalue_above, scaled, share * estimate):
            return least, solve
    return None
