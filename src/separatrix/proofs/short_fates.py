"""Short proofs of coefficients of many columns: weights that nearly add up to a unit vector, and rows that span it.

A coefficient tends to infinity if a positive combination of the rows is the unit vector e_j, or its negative, and some
vector of the cone moves it. The rows of a short proof (short_proof.py) cancel with weights > 0 and span all that is
orthogonal to a face of few dimensions; there a circuit of rows with the unit vector has few digits. The weights of the
short proof take up what the circuit leaves in the other columns, in doubles, and all of them together are proved as one
short proof with one more row, the unit vector itself (docs/certificates.md, L19).
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Indices
from separatrix.proofs.exact_algebra import Row, ratio
from separatrix.proofs.face import Face
from separatrix.proofs.face_decision import Circuit
from separatrix.proofs.facial_reduction import Reduction
from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.short_proof import (
    FEWEST,
    MOST,
    ShortProof,
    UnitRow,
    scaled_table,
    short_proof,
    spanning_rows,
)
from separatrix.proofs.small_null_vectors import part_of

KEPT = 0.5  # the share of a weight that is left at least when the rest of a circuit is taken up
EACH = 2.2  # rows for each column that are tried for their rank


def many_columns(rows: LiftedRows) -> bool:
    """Whether exact combinations of the rows have so many digits that short proofs are tried first."""
    return bool(FEWEST < rows.p <= MOST and rows.p < rows.n)


def pushed(reduction: Reduction, circuit: Circuit, j: int, sign: int) -> ShortProof | None:
    """Weights > 0 that nearly add up to a multiple of sign e_j, by a circuit of -sign e_j and rows on the face."""
    rows, short, face = reduction.rows, reduction.short, reduction.face
    assert short is not None
    assert face is not None
    own = [i for i in circuit.weights if i < rows.n]
    whole, factors = rows.integers(own)
    push, unit = circuit.weights[rows.n], rows.unit[j]  # of the columns as they are in the rows
    mu = np.array([ratio(circuit.weights[i] * m * unit, push) for i, m in zip(own, factors, strict=True)])
    tied, q = np.array(short.ids), np.array([float(v) for v in short.weights])
    with np.errstate(all="ignore"):  # what is not finite is not proved
        table = scaled_table(rows, tied, short.null)
        if table is None or not np.isfinite(mu).all():
            return None
        B, columns, used = table
        rest = mu @ (rows.dense(own) / np.array([float(v) for v in rows.unit]))
        rest[j] -= sign
        rest = np.ldexp(rest[used], np.array(columns))
        Q, R = np.linalg.qr(q[:, None] * B)  # the least change of the weights, beside them, that makes up for the rest
        try:
            change = Q @ np.linalg.solve(R.T, -rest)
        except np.linalg.LinAlgError:
            return None
        share = min(float(q.max() / mu.max()), (1 - KEPT) / max(float(-change.min()), 1e-300))
        weights = np.concatenate([share * mu, q * (1 + share * change)])
    null = vectors_of(part_of(face, whole))
    ids = np.concatenate([np.array(own), tied])
    return short_proof(rows, ids, weights, null, unit=UnitRow(j, -sign, share), first=len(own))


def vectors_of(face: Face) -> dict[int, Row]:
    """A basis, each vector by the column that it has for itself."""
    return dict(zip(face.free, face.basis(), strict=True))


def span_of(rows: LiftedRows, first: list[int], null: dict[int, Row]) -> ShortProof | None:
    """Rows, these first, that span all that is orthogonal to the null vectors, which vanish on all rows."""
    more: Indices = np.setdiff1d(np.random.default_rng(0).permutation(rows.n)[: int(EACH * rows.p)], first)
    return spanning_rows(rows, np.concatenate([np.array(first, dtype=np.int64), more]), null)
