"""The certificate of a verdict: a hyperplane, a witness, or one after the other."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.errors import CertificateError
from separatrix.proofs.certificate.certificate import (
    INDEX_ONLY,
    Certificate,
    Subject,
    quotient,
    scaled,
    true_weights,
)
from separatrix.proofs.exact.face import solve_in_span
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import ShortProof
from separatrix.proofs.separability.facial_reduction import Reduction

NULL_CHECKS = 2_000_000  # entries of rows times null vectors that a checker has to multiply: seconds


def certificate_of(reduction: Reduction, subject: Subject, of_all_rows: bool = True) -> Certificate:
    """The verdict with the numbers that prove it; rows that are not all of a table show no weights on every row."""
    if reduction.verdict == "undecided":
        raise CertificateError(f"Nothing was proved; tried {'; '.join(reduction.tried)}.")
    return subject.certify(reduction.verdict, **verdict_fields(reduction, subject, of_all_rows))


def need_accepted_verdict(reduction: Reduction, subject: Subject) -> None:
    """Have the checker accept the verdict, or of an overlap that is dear to check in full the witness alone."""
    if reduction.verdict == "overlap" and costly(reduction):
        subject.need_accepted("not-complete", witness_fields(reduction.witness, subject))
    elif reduction.verdict != "undecided":
        subject.need_accepted(reduction.verdict, verdict_fields(reduction, subject))


def costly(reduction: Reduction) -> bool:
    """Whether null vectors cost a checker more than weights on every row."""
    rows = reduction.rows
    free = reduction.face.dimension if reduction.face else rows.p
    entries = rows.n * rows.p if isinstance(rows.X, np.ndarray) else rows.X.nnz + rows.n
    return reduction.short is None and (free * rows.p > 4 * rows.n or free * entries > NULL_CHECKS)


def verdict_fields(reduction: Reduction, subject: Subject, of_all_rows: bool = True) -> dict[str, Any]:
    """The numbers that prove a verdict, as a certificate has them."""
    rows = reduction.rows
    fields: dict[str, Any] = {}
    if reduction.w is not None:
        fields["w"] = scaled(rows.outward(reduction.w))
    if reduction.short is not None:
        fields |= short_fields(reduction.short, rows, subject)
    elif reduction.verdict == "quasi":
        fields |= witness_fields(reduction.witness, subject)
    elif reduction.verdict == "overlap":
        if of_all_rows and costly(reduction):
            weights = spread_out(reduction)
            fields["support"] = [subject.row(i) for i in weights]
            fields["lambda"] = [quotient(q) for q in weights.values()]
        else:
            null = [scaled(rows.outward(v)) for v in (reduction.face.basis() if reduction.face else [])]
            alone = reduction.circulation == reduction.witness
            fields |= (witness_fields if alone else true_weights)(reduction.circulation, subject)
            fields |= {"null": null} if null else {}
        if len(fields["support"]) > len(reduction.witness):
            fields["witness"] = witness_fields(reduction.witness, subject)
    return fields


def witness_fields(witness: dict[int, int], subject: Subject) -> dict[str, Any]:
    """A circuit: its weights follow from its rows, and are given only when that would take long."""
    fields = true_weights(witness, subject)
    return fields if len(witness) > INDEX_ONLY else {"support": fields["support"]}


def short_fields(short: ShortProof, rows: LiftedRows, subject: Subject, name: str = "support") -> dict[str, Any]:
    """Weights that nearly cancel the rows, and what a checker needs to see that others do exactly."""
    near: dict[str, Any] = {"weights": short.weights, "inner": short.inner} if short.weights else {}
    near |= {"push": short.push} if short.push else {}
    near |= {"exponents": short.exponents, "floor": short.floor}
    fields: dict[str, Any] = {name: [subject.row(i) for i in short.ids], "near": near}
    if short.null:
        near["free"] = list(short.null)
        fields["null"] = [scaled(rows.outward(v)) for v in short.null.values()]
    return fields


def spread_out(reduction: Reduction) -> dict[int, Fraction]:
    """Stiemke (1915): weights > 0 on all rows, from a circulation whose rows span them; 1 on those outside it."""
    rows, old = reduction.rows, reduction.circulation
    others = np.setdiff1d(np.arange(rows.n), list(old))
    rest, m = rows.total(others)  # m times the sum of the z_i
    old_rows, factors = rows.integers(list(old))
    c, scale = solve_in_span(old_rows, [-v for v in rest])
    share = [Fraction(t * factor, scale * m) for t, factor in zip(c, factors, strict=True)]
    enough = max(1, *(math.floor(-q / t) + 1 for q, t in zip(share, old.values(), strict=True)))
    weights = {i: q + enough * t for (i, t), q in zip(old.items(), share, strict=True)}
    return weights | dict.fromkeys(others.tolist(), Fraction(1))
