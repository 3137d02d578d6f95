"""Certificates of small sets by weights that nearly cancel, which the package writes for many columns only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.proofs.exact.algebra import ratio
from separatrix.proofs.exact.face import Face
from separatrix.proofs.exact.gordan import Positive
from separatrix.proofs.exact.short_proof import UnitRow, short_proof
from separatrix.proofs.separability.balanced_weights import balanced_weights
from separatrix.proofs.separability.coefficient_fates import pushed, span_of, vectors_of
from separatrix.proofs.separability.small_null_vectors import part_of, small_null_vectors
from separatrix.proofs.separability.verdict_certificate import short_fields


def shortened(result, rng):
    """The same by weights that nearly cancel, where they prove it: overlap, and a coefficient that is finite."""
    rows, subject = result._reduction.rows, result._subject
    weights = balanced_weights(rows, whitened=rng.random() < 0.5)
    short = None if weights is None else short_proof(rows, *weights)
    if short is None:
        return []
    out = []
    for found in (short, longer(short, rng.choice([2, 9, 20, 50, 200]))):
        fields = short_fields(found, rows, subject)
        out.append(subject.certify("overlap", **fields))
        out.append(subject.certify("coefficient-finite", coefficient=0, **fields))
    return out


def shortened_in_a_face(result, rng):
    """Weights that nearly cancel some rows, and null vectors of these: not separable, quasi-complete, or overlap."""
    reduction, subject = result._reduction, result._subject
    if reduction.verdict == "complete" or "kesler" in subject.sides:
        return []
    rows = reduction.rows
    tied = np.setdiff1d(np.arange(rows.n), reduction.strict)
    null = small_null_vectors(rows, tied)
    part = type(rows)(rows.X[tied], rows.y[tied], rows.intercept)
    weights = balanced_weights(part, whitened=rng.random() < 0.5)
    if weights is None or not null:
        return []
    short = short_proof(rows, tied[weights[0]], weights[1], null)
    if short is None:
        return []
    fields = short_fields(short, rows, subject)
    out = [subject.certify("not-complete", **fields)]
    fixed = [j for j in range(rows.p) if not any(v[j] for v in null.values())]
    out += [subject.certify("coefficient-finite", coefficient=j, **fields) for j in fixed[:1]]
    if reduction.verdict == "quasi":
        return [*out, subject.certify("quasi", w=result.certificate.content["w"], **fields)]
    vanish = not any(rows.signs(v, np.arange(rows.n)).any() for v in null.values())
    return [*out, subject.certify("overlap", **fields)] if vanish else out


def longer(short, bits):
    """The same proof in integers with so many more bits, as columns that are nearly dependent need them."""
    return replace(
        short,
        weights=[v << bits for v in short.weights],
        exponents=[e + bits for e in short.exponents],
        floor=short.floor << 2 * bits,
        push=short.push << bits,
    )


def near_fates(result, rng):
    """Coefficients that are infinite, or undetermined, by weights that nearly add up, or by rows that span."""
    fates, subject, rows = result.coefficients, result._subject, result._reduction.rows
    out = []
    for j, (name, fate) in enumerate(fates.items()):
        claim = {"coefficient": j}
        if fate == "undetermined":
            null, frame = fates._frame
            short = None if null is None else span_of(rows, frame, vectors_of(null))
            if short is not None:
                content = fates[name].certificate.content
                fields = short_fields(short, rows, subject, "rows")
                out.append(subject.certify("coefficient-undetermined", **claim, **fields, **both(content)))
        elif fate in ("+inf", "-inf"):
            sign = 1 if fate == "+inf" else -1
            short = infinite(result, fates._pushed(j, -sign), j, sign)
            if short is not None:
                short = longer(short, rng.choice([0, 0, 3, 20, 60]))
                w = fates[name].certificate.content["w"]
                fields = short_fields(short, rows, subject)
                out.append(subject.certify("coefficient-infinite", **claim, sign=sign, w=w, **fields))
    return out


def both(content):
    return {name: content[name] for name in ("w1", "w2")}


def infinite(result, circuit, j, sign):
    """A short proof that coefficient j is infinite, from an exact circuit; None where these weights prove nothing."""
    reduction, rows = result._reduction, result._reduction.rows
    assert not isinstance(circuit, Positive)
    if reduction.verdict == "complete":
        own = [i for i in circuit.weights if i < rows.n]
        whole, factors = rows.integers(own)
        push = circuit.weights[rows.n]
        q = np.array([ratio(circuit.weights[i] * m * rows.unit[j], push) for i, m in zip(own, factors, strict=True)])
        null = vectors_of(part_of(Face.whole(rows.p), whole))
        return short_proof(rows, np.array(own), q, null, unit=UnitRow(j, -sign, 1.0))
    tied = np.setdiff1d(np.arange(rows.n), reduction.strict)
    null = small_null_vectors(rows, tied)
    part = type(rows)(rows.X[tied], rows.y[tied], rows.intercept)
    weights = balanced_weights(part)
    if weights is None or len(null) != reduction.face.dimension or "kesler" in result._subject.sides:
        return None
    short = short_proof(rows, tied[weights[0]], weights[1], null)
    return None if short is None else pushed(replace(reduction, short=short), circuit, j, sign)
