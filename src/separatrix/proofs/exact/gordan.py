"""One decision on one face, proved: a vector of the face positive on the rows, or a circuit among them.

The search works in floating point and is never believed. A hyperplane is proved by the exact sign of
every row; a witness only lends its row numbers, and its weights are solved for in integers. When
one way of preparing the numbers does not lead to a proof the next one is tried; the last is the simplex
method in integers, which needs no luck.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separatrix.numerics.exact_signs import dot, integer_row
from separatrix.numerics.interruptible import interruptible
from separatrix.proofs.exact.algebra import Row, lowest_terms, null_line, solve, transpose
from separatrix.proofs.exact.coordinates import ExactBasis
from separatrix.proofs.exact.face import Face
from separatrix.proofs.exact.lifted_rows import LiftedRows, Proposal
from separatrix.proofs.exact.short_proof import ShortProof, UnitRow, short_proof
from separatrix.proofs.exact.simplex import Patience, alternative

AT_ONCE = 1024  # rows of a sample that are factorised at once
LARGE = 100_000_000  # multiplications of integers that a change of coordinates may take; else a sample serves


@dataclass(frozen=True)
class Positive:
    """w in the face, z.w > 0 on every active and extra row, z.w = 0 on the rows that vanish there."""

    w: Row
    signs: NDArray[np.int8]


@dataclass(frozen=True)
class Circuit:
    """Weights > 0 on rows (n and beyond: extra ones) that sum to zero as functions on the face.

    They belong to the integer rows: z_i times a power of two.
    """

    weights: dict[int, int]


Fact = Positive | Circuit | ShortProof


@dataclass
class Stage:
    """The question: is some w of the face positive on the active rows and on the extra ones?"""

    rows: LiftedRows
    face: Face
    active: NDArray[np.int64] | None = None
    extra: list[Row] = field(default_factory=list)
    tried: list[str] = field(default_factory=list)
    seen: list[Proposal] = field(default_factory=list)
    patience: int | None = None  # words that the simplex method may work out; None: its own limit
    shorten: bool = False  # whether a short proof does, where it takes the place of a circuit of all columns

    def decide(self) -> Fact | None:
        """The proved answer; None when every way failed, and ``tried`` says which."""
        return next((answer for answer in self.searched() if answer is not None), None) or self.last_resort()

    def searched(self) -> Iterator[Fact | None]:
        """What each search in floating point leads to."""
        for name, candidate in self._wide_candidates() if self.rows.wide else self._candidates():
            self.seen.append(candidate)
            answer = self.proved(candidate)
            self.tried.append(f"{name}: {candidate.status}, {'proved' if answer else 'not proved'}")
            yield answer
        if not self.rows.wide:
            yield self._in_exact_basis()

    def last_resort(self) -> Fact | None:
        """What exact arithmetic alone leads to."""
        name, last = ("interpolation", self._interpolated) if self.rows.wide else ("simplex", self._simplex)
        answer = last()
        self.tried.append(f"{name} in integers: {'proved' if answer else 'out of reach'}")
        return answer

    # -- floating point --------------------------------------------------------------------------

    def _extra_floats(self) -> NDArray[np.float64] | None:
        if not self.extra:
            return None
        scale = [max(map(abs, row)) or 1 for row in self.extra]
        return np.array([[v / s for v in row] for row, s in zip(self.extra, scale, strict=True)])

    def _candidates(self) -> Iterator[tuple[str, Proposal]]:
        for name, basis in self._preparations():
            yield name, self.rows.search(self.active, self._extra_floats(), basis)

    def _wide_candidates(self) -> Iterator[tuple[str, Proposal]]:
        """With p in the thousands: the perceptron first, then the search on the rows written out."""
        whole = self.active is None and not self.face.bound and not self.extra
        ids = np.arange(self.rows.n) if self.active is None else self.active
        table = self.rows if whole else self.rows.reduced(self.face, ids, self.extra)
        number = [*ids.tolist(), *(self.rows.n + k for k in range(len(self.extra)))]
        for name in ("perceptron", "columns scaled by powers of two"):
            found = table.perceptron() if name == "perceptron" else table.search()
            if found is not None:
                w = np.zeros(self.rows.p)
                w[self.face.free] = found.w
                support = [number[i] for i in found.support]
                yield name, Proposal(found.status, w, support, found.weights, found.rounds, found.scanned)

    def _preparations(self) -> Iterator[tuple[str, NDArray[np.float64] | None]]:
        """Bases of the face in which the search may go well; overflow only spoils a candidate."""
        if not self.face.bound:
            yield "columns scaled by powers of two", None
        with np.errstate(all="ignore"):
            N = self.face.matrix() if self.face.bound else np.eye(self.rows.p)
            scaled = np.ascontiguousarray(N * self._spread(N))
        if self.face.bound and np.isfinite(scaled).all():
            yield "columns scaled by powers of two", scaled
        with np.errstate(all="ignore"):
            whitened = np.ascontiguousarray(scaled @ self._whitening(scaled))
        if np.isfinite(whitened).all():
            yield "whitened columns", whitened

    def _sample(self, size: int) -> NDArray[np.int64]:
        ids = np.arange(self.rows.n) if self.active is None else self.active
        return ids[:: max(1, len(ids) // max(size, 1))][:size]

    def _spread(self, N: NDArray[np.float64]) -> NDArray[np.float64]:
        """Powers of two that bring the columns of Z N near root mean square 1."""
        A = self.rows.dense(self._sample(10 * N.shape[1])) @ N
        top = np.abs(A).max(axis=0, initial=0.0)
        top = np.where(np.isfinite(top) & (top > 0), top, 1.0)
        rms = np.log2(top) + 0.5 * np.log2(np.maximum(np.mean((A / top) ** 2, axis=0), 1e-300))
        return np.asarray(np.exp2(np.clip(-np.round(rms), -1000, 1000)))

    def _whitening(self, N: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coordinates in which a sample of the rows, each of length 1, has singular values 1."""
        rows = self._sample(50 * N.shape[1])  # in parts: Ctrl-C is heard between them
        R: NDArray[np.float64] = np.empty((0, N.shape[1]))
        parts = np.array_split(rows, max(1, len(rows) // AT_ONCE))
        for some in parts:
            A = self.rows.dense(some) @ N
            A = A / np.maximum(np.abs(A).max(axis=1, keepdims=True), 1e-300)
            A = A / np.maximum(np.linalg.norm(A, axis=1, keepdims=True), 1e-300)
            if not np.isfinite(A).all():
                return np.full((N.shape[1], 1), np.nan)
            R = A if len(parts) == 1 else np.asarray(np.linalg.qr(np.vstack([R, A]), mode="r"))
        _, s, Vt = interruptible(R.size * R.shape[1], np.linalg.svd, R, full_matrices=False)
        return np.asarray(Vt.T / np.maximum(s, s[0] * 1e-14) * s[0])

    def _in_exact_basis(self) -> Fact | None:
        """The search where columns are linearly dependent but for the last digits."""
        n, q = self.rows.n, self.face.dimension
        ids = [*(range(n) if self.active is None else self.active.tolist()), *range(n, n + len(self.extra))]
        ids = ids[:: 1 + len(ids) * q**2 // LARGE]
        basis = ExactBasis.of(self._coordinates(ids))
        if basis is None:
            return None
        found = LiftedRows(basis.table, np.ones(len(ids), dtype=np.int8), False).search()
        answer: Fact | None = None
        if found.status != "witness" and np.isfinite(found.w).all() and found.w.any():
            answer = self.positive(self.face.lift(basis.vector(found.w)))
        if answer is None and found.status in ("witness", "stalled"):
            answer = self.circuit([ids[k] for k in found.support], found.weights)
        self.tried.append(f"columns combined in integers: {found.status}, {'proved' if answer else 'not proved'}")
        return answer

    # -- proofs ----------------------------------------------------------------------------------

    def proved(self, candidate: Proposal) -> Fact | None:
        answer: Fact | None = None
        if candidate.status != "witness" and np.isfinite(candidate.w).all() and candidate.w.any():
            u, _ = integer_row(candidate.w[self.face.free].tolist())
            answer = self.positive(self.face.lift(u))
        if answer is None and candidate.status in ("witness", "stalled"):
            answer = self._short(candidate) or self.circuit(candidate.support, candidate.weights)
        return answer

    def _short(self, candidate: Proposal) -> ShortProof | None:
        """The same for a circuit of all columns by weights that nearly cancel; an extra row must be a unit vector."""
        rows, support = self.rows, np.array(candidate.support)
        own, unit = support < rows.n, None
        if not self.shorten or len(support) != rows.p + 1 or int(own.sum()) != len(support) - len(self.extra):
            return None
        if self.extra:
            j = next(j for j, v in enumerate(self.extra[0]) if v)
            unit = UnitRow(j, self.extra[0][j], float(candidate.weights[~own][0]) / rows.unit[j])
        return short_proof(rows, support[own], candidate.weights[own], unit=unit)

    def positive(self, w: Row) -> Positive | None:
        if any(dot(z, w) <= 0 for z in self.extra):
            return None
        signs = self.rows.signs(w)
        chosen = signs if self.active is None else signs[self.active]
        return Positive(w, signs) if bool((chosen > 0).all()) else None

    def circuit(self, support: list[int], weights: NDArray[np.float64]) -> Circuit | None:
        """The exact weights; rows of doubtful weight are left out step by step."""
        if not support:
            return None
        coordinates = dict(zip(support, self._coordinates(support), strict=True))
        weights = np.nan_to_num(weights, nan=0.0, posinf=1e300)
        before = None
        for smallest in (0.0, 1e-13, 1e-10, 1e-7):
            ids = [i for i, t in zip(support, weights, strict=True) if t > smallest * weights.max()]
            if not ids or ids == before:
                continue
            before = ids
            exact = null_line([coordinates[i] for i in ids])
            if exact is not None:
                return Circuit(dict(zip(ids, exact, strict=True)))
        return None

    def _coordinates(self, ids: list[int]) -> list[Row]:
        n = self.rows.n
        own = iter(self.rows.integers([i for i in ids if i < n])[0])
        return self.face.coordinates([next(own) if i < n else self.extra[i - n] for i in ids])

    # -- the last resort -------------------------------------------------------------------------

    def _interpolated(self) -> Positive | None:
        """Independent rows take any values, so all ones: however small the margin, they are separable."""
        ids = list(range(self.rows.n)) if self.active is None else self.active.tolist()
        count = len(ids) + len(self.extra)
        if count > min(1000, self.face.dimension) or count * self.rows.p > 4_000_000:
            return None
        columns = transpose(self._coordinates([*ids, *range(self.rows.n, self.rows.n + len(self.extra))]))
        solved = solve(columns, [1] * count)
        return None if solved is None else self.positive(self.face.lift(solved[0]))

    def _simplex(self, rounds: int = 200) -> Fact | None:
        """The simplex method on a few rows, and on those that its answer gets wrong, until none is."""
        q = self.face.dimension
        ids = np.arange(self.rows.n) if self.active is None else self.active
        if q > 60 or not len(ids):
            return None
        working = {i for candidate in self.seen for i in candidate.support}
        working |= {int(i) for i in ids[:: max(1, len(ids) // (3 * q))]}
        working |= {self.rows.n + k for k in range(len(self.extra))}
        patience = Patience() if self.patience is None else Patience(self.patience)
        for _ in range(rounds):
            order = sorted(working)
            weights, u = alternative(self._coordinates(order), patience)
            if weights is not None:
                return Circuit(lowest_terms({order[i]: t for i, t in weights.items()}))
            if u is None:
                return None
            w = self.face.lift(u)
            signs = self.rows.signs(w)
            wrong = ids[signs[ids] <= 0]
            if not len(wrong):
                return Positive(w, signs)
            working |= {int(i) for i in wrong[:: max(1, len(wrong) // (4 * q))]}
        return None
