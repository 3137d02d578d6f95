"""Witnesses as a certificate has them (rows, and weights where solving would take a checker long); disjoint ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.proofs.certificate import Certificate, Subject, numbers, scaled
from separatrix.proofs.exact_algebra import integer_row, null_line
from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.proof_cost import FEW, ProofCost
from separatrix.proofs.separability import Given
from separatrix.proofs.short_proof import ShortProof, short_proof

Codes = Sequence[int]  # a row i as i, the row reversed (-z_i) as ~i


def witness_entries(
    witnesses: Sequence[Codes], rows: LiftedRows, subject: Subject, nodes: Sequence[dict[str, Any]] = ()
) -> list[Any]:
    """Rows alone, with small weights near a solution, or with exact ones; ``nodes`` are those of their tree."""
    few = FEW if ProofCost(rows).may_be_plain(witnesses, nodes) else 2
    return [entry_of(codes, rows, subject, few) for codes in witnesses]


def entry_of(codes: Codes, rows: LiftedRows, subject: Subject, few: int) -> Any:
    """A witness of more than a few rows carries weights."""
    if len(codes) <= few:
        return _named(codes, subject)
    if (near := _near(codes, rows)) is not None:
        weights = {"weights": near.weights, "inner": near.inner, "exponents": near.exponents, "floor": near.floor}
        return {"support": _named([codes[k] for k in near.ids], subject), "near": weights}
    whole, factors = rows.integers([max(c, ~c) for c in codes])
    line = null_line([z if c >= 0 else [-v for v in z] for c, z in zip(codes, whole, strict=True)])
    if line is None:
        raise AssertionError("a witness is not the circuit that it was proved to be")
    exact = [t * m for t, m in zip(line, factors, strict=True)]
    divisor = math.gcd(*exact)
    return {"support": _named(codes, subject), "lambda": numbers([t // divisor for t in exact])}


def _named(codes: Codes, subject: Subject) -> list[int]:
    """Row numbers of the table, those of reversed rows as -1 - row."""
    named = [(c, subject.row(max(c, ~c))) for c in codes]
    return [row if c >= 0 else ~row for c, row in named if isinstance(row, int)]  # as rows of two groups are


def _near(codes: Codes, rows: LiftedRows) -> ShortProof | None:
    """Small weights that nearly cancel a circuit whose rows span the space [L18]."""
    if len(codes) != rows.p + 1:
        return None
    ids, forward = np.array([max(c, ~c) for c in codes]), np.array(codes) >= 0
    part = type(rows)(rows.X[ids], np.where(forward, rows.y[ids], -rows.y[ids]), rows.intercept)
    part.unit = rows.unit
    everyone = np.arange(len(codes))
    with np.errstate(all="ignore"):
        Z = part.dense(everyone)
        Z = Z / np.abs(Z).max(axis=0, initial=0.0)
    if not np.isfinite(Z).all():
        return None
    q = np.linalg.svd(Z)[0][:, -1]
    return short_proof(part, everyone, q if q[0] > 0 else -q, in_integers=False)  # as proof_cost estimates it


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
