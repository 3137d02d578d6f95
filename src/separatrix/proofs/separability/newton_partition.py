"""Tucker's partition of all rows at once: guessed by Newton's method, proved by one exact solution.

Where a hyperplane separates some rows (S) and no others (T), the logistic likelihood has no maximum, but that of T
alone has one (Albert & Anderson 1984). Newton's steps settle on T and grow on S without limit: then a step d raises
z.d of each row of S by about 1 and leaves the rows of T where they are. So one run shows which rows are which, and d is
a candidate for a w that is positive on S.

The proof for T: among its rows, independent ones J that span it; then weights mu >= 0 with sum mu_i z_i = -sum_J z_j, a
basic solution of a linear programme; rounded, and corrected on J by an exact solution, the weights 1_J + mu are a
circulation, of at most twice as many rows as the rank. Nothing of the guess is believed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.interruptible import interruptible
from separatrix.proofs.exact.algebra import Weights, combination, lowest_terms, solve
from separatrix.proofs.exact.lifted_rows import LiftedRows

STEPS = 60  # of Newton's method: some 15 are enough
STILL, MOVED = 1e-9, 1e-3  # how far a step moves the rows of T at most, and those of S at least, at the end
WORK = 1.5e10  # multiplications of one matrix of second derivatives; beyond, a sample of the rows is taken
EACH = 16  # rows of each sign in each column that the linear programme has to choose from
DIGITS = 40  # bits of the weights before they are corrected
RIDGE = 1e-11  # added to second derivatives of size 1, since columns may be dependent
INDEPENDENT = 1e-8  # how far rows of length 1 are from the span of others that they are independent of
SECONDS = 20.0  # for the linear programme


@dataclass(frozen=True)
class Partition:
    """Rows that seem to be tied, the heaviest first, and a direction that seems to be positive on the others."""

    tied: Indices
    direction: Floats


class PartitionSearch:
    """The rows named, each once, of length 1 and in scaled columns, as doubles."""

    def __init__(self, rows: LiftedRows, ids: Indices) -> None:
        from scipy import sparse

        self.rows = rows
        with np.errstate(all="ignore"):  # what is not finite ends in a guess that is not proved
            Z = rows.table(ids)
            first = np.unique(Z @ np.random.default_rng(0).standard_normal(rows.p), return_index=True)[1]
            each = rows.p if isinstance(Z, np.ndarray) else max(1, Z.nnz // len(ids))
            first = first[:: 1 + int(len(first) * each**2 / WORK)]
            Z = Z[first]
            top = abs(Z).max(axis=0)
            top = (top if isinstance(top, np.ndarray) else top.toarray()).ravel()
            self.columns = np.exp2(np.clip(-np.round(np.log2(np.where(top > 0, top, 1.0))), -1000, 1000))
            Z = Z * self.columns if isinstance(Z, np.ndarray) else Z @ sparse.diags_array(self.columns)
            length = np.sqrt(np.asarray((Z * Z).sum(axis=1)).ravel())
            moved = np.flatnonzero(length > 0)
            self.ids, self.length = ids[first[moved]], length[moved]
            Z = scaled_by_row(Z[moved], 1 / self.length)
            self.used = independent_columns(Z)
            self.Z = np.ascontiguousarray(Z[:, self.used]) if isinstance(Z, np.ndarray) else Z[:, self.used]

    def partition(self) -> Partition | None:
        """Newton's method from zero until each row has settled or moves on."""
        linalg = scipy_linalg()
        from scipy.special import expit

        Z = self.Z
        m, loss, gain, step = np.zeros(Z.shape[0]), np.inf, np.zeros(Z.shape[0]), np.zeros(Z.shape[1])
        for _ in range(STEPS):
            q = expit(-m)
            root = scaled_by_row(Z, np.sqrt(q * (1 - q)))
            H = dense(root.T @ root)  # of the same array, so that BLAS works out one half only
            size = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
            try:
                scaled = H * size[:, None] * size + np.diag(np.full(len(H), RIDGE))
                factor = interruptible(len(H) ** 3 / 3, linalg.cho_factor, scaled)
            except (linalg.LinAlgError, ValueError):  # not positive definite, or not finite
                return None
            step = size * linalg.cho_solve(factor, size * (Z.T @ q))
            gain, share = Z @ step, 1.0
            while (new := float(np.logaddexp(0, -(m + share * gain)).sum())) > loss and share > 1e-3:
                share /= 2
            m, loss = m + share * gain, new
            if not ((gain < -STILL) | ((gain > STILL) & (gain < MOVED))).any():
                break
        tied = np.flatnonzero(np.abs(gain) < math.sqrt(STILL * MOVED))
        direction = np.zeros(self.rows.p)
        with np.errstate(over="ignore"):
            direction[self.used] = step * self.columns[self.used]
        if not np.isfinite(direction).all():
            return None
        return Partition(tied[np.argsort(m[tied], kind="stable")], direction)

    # -- the proof ---------------------------------------------------------------------------------

    def circulation(self, tied: Indices) -> Weights | None:
        """Weights > 0 on some of the tied rows that span them all, proved; of the rows as integers."""
        J = self._spanning(tied)
        balance = self._balance(tied, J) if len(J) else None
        if balance is None:
            return None
        balance[J] += 1
        support = np.flatnonzero(balance)
        number = self.ids[support].tolist()
        whole, factors = self.rows.integers(number)
        sizes = [Fraction(size) * m for size, m in zip(self.length[support].tolist(), factors, strict=True)]
        unit = max(int(size).bit_length() for size in sizes) + DIGITS
        weights = [
            int(Fraction(t) / size * (1 << unit)) for t, size in zip(balance[support].tolist(), sizes, strict=True)
        ]
        basis = np.searchsorted(support, np.sort(J)).tolist()
        rest = combination(whole, weights)
        solved = solve([whole[k] for k in basis], [-v for v in rest], list(range(len(basis))))
        if solved is None:
            return None
        weights = [t * solved[1] for t in weights]
        for k, c in zip(basis, solved[0], strict=True):
            weights[k] += c
        if min(weights) < 0 or any(weights[k] == 0 for k in basis):
            return None
        return lowest_terms({i: t for i, t in zip(number, weights, strict=True) if t})

    def _spanning(self, tied: Indices) -> Indices:
        """Rows that span the tied ones and are far from dependent, heavy rows if they serve."""
        linalg = scipy_linalg()

        J, left = np.empty(0, dtype=np.int64), tied
        N: Floats = np.eye(self.Z.shape[1])  # orthogonal to the rows of J
        while len(left) and N.shape[1]:  # each round adds rows to J, and takes as many columns off N
            some = left[: 6 * self.Z.shape[1]]
            there = np.asarray(self.Z[some] @ N).T
            R, order = interruptible(there.size * len(there), linalg.qr, there, mode="r", pivoting=True)
            rank = int((np.abs(np.diag(R)) > INDEPENDENT).sum())
            if not rank:
                break
            J = np.concatenate([J, some[order[:rank]]])
            full = interruptible(len(N) ** 2 * len(J), linalg.qr, dense(self.Z[J]).T, mode="full")[0]
            N = full[:, len(J) :]
            left = left[np.abs(self.Z[left] @ N).max(axis=1, initial=0.0) > INDEPENDENT]
        return J

    def _balance(self, tied: Indices, J: Indices) -> Floats | None:
        """mu >= 0 with sum mu_i z_i = -sum_J z_j, on few of the tied rows; None when there are none."""
        from scipy import sparse
        from scipy.optimize import linprog

        columns = sparse.csc_array(self.Z[tied])
        target = -np.asarray(self.Z[J].sum(axis=0)).ravel()
        first = [np.arange(min(len(tied), 4 * len(target)))]
        for j in range(len(target)):
            part = slice(columns.indptr[j], columns.indptr[j + 1])
            first += [np.sort(columns.indices[part][columns.data[part] * sign > 0])[:EACH] for sign in (1, -1)]
        chosen = np.unique(np.concatenate(first))
        others = np.setdiff1d(np.arange(len(tied)), chosen)
        while True:  # with four times as many rows each time, up to all
            found = interruptible(
                len(target) ** 2 * len(chosen),
                linprog,
                np.ones(len(chosen)),
                A_eq=sparse.csc_array(columns[chosen].T),
                b_eq=target,
                bounds=(0, None),
                method="highs-ds",
                options={"time_limit": SECONDS},
            )
            if found.x is not None and np.isfinite(found.x).all():
                mu = np.zeros(len(self.ids))
                mu[tied[chosen]] = np.maximum(found.x, 0.0)
                return mu
            if not len(others) or found.status == 1:
                return None
            more = 3 * len(chosen)
            chosen, others = np.concatenate([chosen, others[:more]]), others[more:]


def independent_columns(Z: Any) -> Indices:
    """Columns that span the others, as far as rounding lets one see, and those with few non-zeros if they serve."""
    G = dense(Z.T @ Z)
    size = np.diag(G).copy()
    order = np.argsort((Z != 0).sum(axis=0), kind="stable")
    used = []
    for j in order:  # Cholesky's factorisation, one column after the other
        if G[j, j] > INDEPENDENT * size[j]:
            used.append(int(j))
            column = G[:, j] / math.sqrt(G[j, j])
            G -= np.outer(column, column)
    return np.sort(np.array(used, dtype=np.int64))


def dense(A: Any) -> Floats:
    return np.asarray(A if isinstance(A, np.ndarray) else A.toarray(), dtype=np.float64)


def scaled_by_row(A: Any, factors: Floats) -> Any:
    """Each row times its factor, dense or sparse."""
    if isinstance(A, np.ndarray):
        return A * factors[:, None]
    from scipy import sparse

    return sparse.csr_array(sparse.diags_array(factors) @ A)
