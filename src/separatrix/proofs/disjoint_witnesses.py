"""A lower bound on the mistakes of every hyperplane from witnesses that share no row: each costs a mistake."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix.arrays import Floats
from separatrix.proofs.certificate import Certificate, scaled
from separatrix.proofs.exact_algebra import integer_row
from separatrix.proofs.proof_cost import ProofCost
from separatrix.proofs.separability import Given
from separatrix.proofs.witness_entries import witness_entries


def certify_disjoint(
    given: Given,
    positive: list[int],
    negative: list[int] | None,
    witnesses: Sequence[Sequence[int]],
    coef: Floats,
    intercept: float,
) -> Certificate:
    """At least as many mistakes as there are witnesses, at most those of the hyperplane given.

    Each witness is a list of rows that form a circuit: no hyperplane has all of them strictly on their sides. Of very
    many witnesses those are used that a checker has time for.
    """
    subject = given.subject(positive, negative)
    rows = given.rows(subject.table.X, subject.labels, given.intercept)
    cost = ProofCost(rows)
    while not cost.allows(witnesses):
        witnesses = witnesses[: len(witnesses) * 9 // 10]
    w = integer_row([*coef.tolist(), intercept] if given.intercept else coef.tolist())[0]
    wrong = np.flatnonzero(rows.signs(w) <= 0)
    return subject.certify(
        "min-errors",
        lower=len(witnesses),
        upper=len(wrong),
        w=scaled(rows.outward(w)),
        wrong=[subject.row(i) for i in wrong.tolist()],
        witnesses=witness_entries(witnesses, rows, subject),
        nodes=[{"pack": list(range(len(witnesses)))}],
    )
