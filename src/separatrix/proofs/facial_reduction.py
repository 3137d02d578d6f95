"""Complete, quasi-complete or overlap: facial reduction, a constructive proof of Tucker's theorem.

K = {w : z_i.w >= 0 for all i}. Tucker (1956): the rows split, in one way only, into S, where some w of K is
positive, and T, where some weights lambda >= 0 with sum lambda_i z_i = 0 are. Every witness found
shows that K vanishes on its rows, so the search goes on in the face of vectors that do; it ends with a w
that is positive on all rows that are left (they are S), or with no rows left.

    S all rows: complete      T all rows: overlap      else: quasi-complete (Albert & Anderson 1984)
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.exact_algebra import Face, Row, Weights, combination, independent, lowest_terms, solve_in_span
from separatrix.proofs.face_decision import Circuit, Positive, Stage
from separatrix.proofs.lifted_rows import LiftedRows


@dataclass
class Reduction:
    """What is proved, and all that proves it. Weights are of the rows z themselves."""

    rows: LiftedRows
    verdict: str = "undecided"
    w: Row | None = None  # in the relative interior of K
    witness: Weights = field(default_factory=dict)  # a circuit: not complete
    circulation: Weights = field(default_factory=dict)  # weights > 0; its rows span those of T
    face: Face | None = None  # where the rows of T vanish
    strict: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    stages: int = 0
    tried: list[str] = field(default_factory=list)


def reduce(rows: LiftedRows) -> Reduction:
    """The verdict on the rows, proved in exact arithmetic."""
    out = Reduction(rows, face=Face.whole(rows.p))
    active: NDArray[np.int64] | None = None
    partner: NDArray[np.int64] | None = None
    if rows.wide:  # contradicted rows first: they are the likely witnesses, and cheap
        partner = rows.opposites()
        if bool((partner >= 0).all()):
            return contradicted(out, partner)
        if bool((partner >= 0).any()):
            i = int(np.flatnonzero(partner >= 0)[0])
            out.witness = {i: 1, int(partner[i]): 1}
            active = vanish_on_opposites(out, np.arange(rows.n), partner)
    while out.face is not None and out.face.dimension and (active is None or len(active)):
        out.stages += 1  # at most p: a circuit has a row that does not vanish on the face, and cuts its dimension
        stage = Stage(rows, out.face, active)
        answer = stage.decide()
        out.tried += [f"stage {out.stages}, {line}" for line in stage.tried]
        if answer is None:
            return out
        if isinstance(answer, Positive):
            out.w, out.verdict = answer.w, "quasi" if out.circulation else "complete"
            out.strict = np.arange(rows.n) if active is None else active
            return out
        add(out, answer)
        if partner is None and out.face.dimension:
            partner = rows.opposites()
        active = not_vanishing(rows, out.face, active)
        if partner is not None:
            active = vanish_on_opposites(out, active, partner)
    out.verdict = "overlap"
    return out


def add(out: Reduction, circuit: Circuit) -> None:
    """The circulation takes in a circuit of the face, lifted to the whole space.

    sum mu_i z_i vanishes on the face, so it is a signed combination of the rows that cut the face
    out; enough of the circulation added makes its weights positive again.
    """
    rows, ids = out.rows, list(circuit.weights)
    whole, factors = rows.integers(ids)
    fresh = {i: t * m for (i, t), m in zip(circuit.weights.items(), factors, strict=True)}
    if not out.circulation:
        out.witness, out.circulation = lowest_terms(fresh), lowest_terms(fresh)
    else:
        old = list(out.circulation)
        old_rows, old_factors = rows.integers(old)
        rest = combination(whole, list(circuit.weights.values()))
        solved = solve_in_span(old_rows, [-v for v in rest])
        c = {i: t * m for i, t, m in zip(old, solved[0], old_factors, strict=True)}
        merged = {i: solved[1] * t for i, t in fresh.items()}
        enough = max([1] + [-c[i] // out.circulation[i] + 1 for i in old])
        for i in old:
            merged[i] = merged.get(i, 0) + c[i] + enough * out.circulation[i]
        out.circulation = lowest_terms(merged)
    if out.face is not None and len(ids) - 1 == out.face.dimension:  # the circuit spans the face
        out.face = Face.zero(rows.p)
    else:
        out.face = Face.of(rows.integers(list(out.circulation))[0], rows.p)


def vanish_on_opposites(out: Reduction, active: NDArray[np.int64], partner: NDArray[np.int64]) -> NDArray[np.int64]:
    """Pairs of equal rows with both labels join the circulation, as many as are independent."""
    rows = out.rows
    while out.face is not None and (both := active[partner[active] >= 0]).size:
        # none of these rows vanishes on the face, so that each round lowers its dimension: at most p rounds
        some = [int(i) for i in both[:: max(1, len(both) // (4 * out.face.dimension))]]
        for k in independent(out.face.coordinates(rows.integers(some)[0])):
            for i in (some[k], int(partner[some[k]])):
                out.circulation[i] = out.circulation.get(i, 0) + 1
        out.face = Face.of(rows.integers(list(out.circulation))[0], rows.p)
        active = not_vanishing(rows, out.face, active)
    return active


def contradicted(out: Reduction, partner: NDArray[np.int64]) -> Reduction:
    """Every row occurs with both labels: weight 1 on each pair."""
    pairs = np.concatenate([np.arange(out.rows.n), partner])
    out.circulation = {int(i): int(t) for i, t in zip(*np.unique(pairs, return_counts=True), strict=True)}
    out.witness, out.face, out.verdict = {0: 1, int(partner[0]): 1}, None, "overlap"
    return out


def not_vanishing(rows: LiftedRows, face: Face, active: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The active rows that are not zero on the whole face, exactly."""
    ids = np.arange(rows.n) if active is None else active
    if not face.dimension:
        return ids[:0]
    chance = np.random.default_rng(0).integers(1, 1 << 20, face.dimension)
    moved = rows.signs(face.lift([int(v) for v in chance]), ids) != 0
    still = ids[~moved]
    if rows.wide:
        for some in np.array_split(still, 1 + len(still) // 256):
            coordinates = face.coordinates(rows.integers(some.tolist())[0])
            still = np.setdiff1d(still, some[[any(row) for row in coordinates]])
    else:
        for v in face.basis():
            still = still[rows.signs(v, still) == 0]
    return np.setdiff1d(ids, still, assume_unique=True)
