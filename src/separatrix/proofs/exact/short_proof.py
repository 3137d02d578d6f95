"""Overlap of many columns, proved by small weights that nearly cancel the rows.

The weights of a circuit of p + 1 rows have some 50 p bits each, and finding them takes p^3 operations on numbers of
that size. A proof need not have them. Let q_i > 0 be integers on rows I, r = sum q_i z_i, and J some rows of I of
least singular value s > 0. If |r| < s min_J q_i, the rows J can make up for r by changes of less than q_i: weights
> 0 that cancel the rows exist, and the rows span the space (docs/certificates, L18). With |I| = p + 1 the rows are
a circuit.

What is stated is proved here, in floating point with a bound on every rounding (Rump 2006): products of integers below
2^53 are exact, and Cholesky's factorisation ends only on matrices whose eigenvalues are above a small negative number.
Columns too near to dependent for that are left to integers (ill_conditioned). A checker proves it again in integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix.arrays import Floats, Indices
from separatrix.numerics.interruptible import interruptible
from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.exact.ill_conditioned import hidden_singular_value, proved_in_integers
from separatrix.proofs.exact.lifted_rows import LiftedRows

UNIT = 2.0**-53
EXACT = 2.0**53  # integers below it are doubles
LARGEST = 2.0**26  # entries of rows that are rounded to integers: room for condition numbers of about 10^5
SLOT = 2.0**31  # sums of squares below it fit into the narrowest slots of a checker, which take it half the time
ENTRIES = 2.0**62  # 64-bit integers with room for a sum
FEWEST, MOST = 100, 2500  # columns: with fewer, circuits are short and soon found; with more, checkers take minutes
SHARES = (1.1, 1.3, 2.0, math.inf)  # rows of J for each column
ROOM = 1.15  # times the norm that rounding to integers may change, at least
DOUBLES, NEARLY = 61, 50  # bits of an entry with those below its unit: of doubles, and of what is only near to them
SQUARED, DEPENDENT = 1e-6, 1e-14  # least singular values beside the size, below which squares and doubles lose them
NEARLY_DEPENDENT = 20  # bits from which on more rows do not help


@dataclass(frozen=True)
class ShortProof:
    """Rows with weights, the first ``inner`` of them J, and what a checker needs to bound the singular values of J."""

    ids: list[int]
    weights: list[int]
    inner: int
    exponents: list[int]
    floor: int
    null: dict[int, Row]  # vectors that vanish on the rows, by the free column that each has for itself
    push: int = 0  # the weight of a unit vector beside the rows


class UnitRow(NamedTuple):
    """A row beside those of the table: a unit vector times a sign, and its weight."""

    column: int
    sign: int
    weight: float


def short_proof(
    rows: LiftedRows,
    ids: Indices,
    q: Floats,
    null: dict[int, Row] | None = None,
    in_integers: bool = True,
    hidden: bool = False,
    unit: UnitRow | None = None,
    first: int = 0,
) -> ShortProof | None:
    """Weights near q > 0 that prove overlap, in the columns that are not free; None where these do not.

    The vectors of ``null`` must vanish on the rows, which is not checked here. ``in_integers``: whether numbers beyond
    floating point are tried, which take a checker some times as long. ``hidden``: whether columns that doubles cannot
    tell from dependent are looked at in integers, which takes a second or so. ``unit``: one more row, which is none of
    those that make up for the rest [L19]; the vectors of ``null`` must vanish on it too. ``first``: how many of the
    rows are among those that make up for the rest, whatever their weights.
    """
    null = {} if null is None else null
    if not (np.isfinite(q).all() and q.min() > 0):
        return None
    with np.errstate(all="ignore"):  # what is not finite is not proved
        table = scaled_table(rows, ids, null)
        if table is None:
            return None
        B, columns, used = table
        order = np.argsort(np.concatenate([np.full(first, -np.inf), -q[first:]]), kind="stable")
        inner = _inner_rows(B, order, hidden)
        if inner is None:
            return None
        m, least_bits = inner
        order = np.concatenate([np.sort(order[:m]), np.sort(order[m:])])
        B, q = B[order], q[order]
        if unit is not None:
            at = int(np.searchsorted(used, unit.column))
            alone = np.zeros((1, len(used)))
            alone[0, at] = math.ldexp(unit.sign, columns[at])
            B, q = np.vstack([B, alone]), np.append(q, unit.weight)
        weights, floor, bits = _proved(rows, B, q, m, least_bits, in_integers)
    if floor is None:
        return None
    own, push = (weights, 0) if unit is None else (weights[:-1], weights[-1])
    return ShortProof(ids[order].tolist(), own, m, [e + bits for e in columns], floor, null, push)


def scaled_table(rows: LiftedRows, ids: Indices, null: dict[int, Row]) -> tuple[Floats, list[int], Indices] | None:
    """The rows in the columns that are not free, times powers of two that bring these near 1; the powers; the columns.

    None where there are fewer rows than columns, or a column is zero or beyond the doubles.
    """
    used = np.setdiff1d(np.arange(rows.p), list(null))
    if not 0 < len(used) <= len(ids):
        return None
    Z = (rows.dense(ids) / np.array([float(v) for v in rows.unit]))[:, used]
    size = np.sqrt(np.mean(Z * Z, axis=0))
    if not (np.isfinite(size).all() and size.min() > 1e-280 and size.max() < 1e280):
        return None
    columns = [-round(v) for v in np.log2(size).tolist()]
    return np.ldexp(Z, np.array(columns)), columns, used


def _proved(
    rows: LiftedRows, B: Floats, q: Floats, m: int, least_bits: int, in_integers: bool
) -> tuple[list[int], int | None, int]:
    """Weights near q, a floor that proves overlap by the first m rows, or None, and the bits of rounded entries."""
    for bits in (least_bits, least_bits + 1):
        scaled = np.ldexp(B, bits)
        weights = _whole_weights(scaled, q, m)
        floor = None if weights is None else proved_floor(scaled, weights, m, _digits(rows))
        if weights is not None and floor is not None:
            return weights, floor, bits
    found = proved_in_integers(scaled, q, m) if in_integers and _digits(rows) == DOUBLES else None
    return ([], None, bits) if found is None else (*found, bits)


def _digits(rows: LiftedRows) -> int:
    """Bits that an entry may have with those below its unit: fewer where doubles are only near the numbers meant."""
    return DOUBLES if type(rows) is LiftedRows and max(rows.unit) == 1 else NEARLY


def spanning_rows(rows: LiftedRows, ids: Indices, null: dict[int, Row]) -> ShortProof | None:
    """Some of these rows, the first ones first, that have as many dimensions as the null vectors leave [L19]."""
    with np.errstate(all="ignore"):
        table = scaled_table(rows, ids, null)
        inner = None if table is None else _inner_rows(table[0], np.arange(len(ids)), hidden=False)
        if table is None or inner is None:
            return None
        m, least_bits = inner
        for bits in (least_bits, least_bits + 1):
            floor = floor_above(np.ldexp(table[0][:m], bits), 0.0)
            if floor is not None:
                return ShortProof(ids[:m].tolist(), [], m, [e + bits for e in table[1]], floor, null)
    return None


def _inner_rows(B: Floats, order: Indices, hidden: bool) -> tuple[int, int] | None:
    """How many of the first rows are J, and the power of two that makes their rounding to integers harmless.

    Few rows take a checker less time, and so do short integers, which more rows allow.
    """
    n, p = B.shape
    best: tuple[float, int, int] | None = None
    for m in sorted({min(n, int(min(share * p, n)) + 8) for share in SHARES}):
        inner = B[order[:m]]
        least = least_singular_value(inner) or (hidden_singular_value(inner) if hidden else 0.0)
        if least > 0:
            bits = max(0, math.ceil(math.log2(ROOM * math.sqrt(m * p) / least)))
            short = float(np.max(np.sum(inner * inner, axis=0))) * 4.0**bits < SLOT
            cost = m * (1 if short else 2)
            if best is None or cost < best[0]:
                best = cost, m, bits
            if short or bits > NEARLY_DEPENDENT:
                break
    return None if best is None else best[1:]


def least_singular_value(A: Floats, rounds: int = 8) -> float:
    """An estimate from above, by inverse iteration; 0 where the columns are dependent but for the last digits."""
    size = float(np.linalg.norm(A))
    try:
        inverse = interruptible(A.size * A.shape[1], lambda: np.linalg.inv(A.T @ A))
        v: Floats = np.asarray(np.random.default_rng(0).standard_normal(A.shape[1]))
        for _ in range(rounds):
            v = np.asarray(inverse @ (v / np.linalg.norm(v)))
        length = float(np.linalg.norm(v))
        least = 1 / math.sqrt(length) if 0 < length < math.inf else 0.0
    except np.linalg.LinAlgError:
        least = 0.0
    if least < SQUARED * size:  # the products of the columns have lost it
        least = float(interruptible(A.size * A.shape[1], np.linalg.svd, A, compute_uv=False)[-1])
    return least if least > DEPENDENT * size else 0.0


def _whole_weights(scaled: Floats, q: Floats, m: int) -> list[int] | None:
    """Integers in the proportions of q, as small as leaves the rows J a quarter of what they can make up for."""
    p = scaled.shape[1]
    lost = math.sqrt(float(np.vdot(scaled, scaled)) / 12)  # of the sum, when weights are rounded
    least = max(16.0, 4 * lost / math.sqrt(m * p))
    ratio = q / q[:m].min()
    if not least * float(ratio.max()) < EXACT:
        return None
    return [max(1, int(v)) for v in np.rint(ratio * least)]


def proved_floor(scaled: Floats, weights: list[int], m: int, most: int) -> int | None:
    """A lower bound on the squares of the singular values of the first m rows, rounded, that proves overlap [L18].

    None unless all of it is proved, with room for what a checker that works in fixed point loses. ``most``: bits of an
    entry with those below its unit, 50 where doubles are only near the numbers that are meant.
    """
    top, total, least = float(np.abs(scaled).max()), sum(weights), min(weights[:m])
    guard = (total // least).bit_length() + 8
    if not top < LARGEST or math.log2(top + 1) + guard > most:
        return None
    h = np.floor(np.ldexp(scaled, guard)).astype(np.int64)  # within 1 of the row, and in decimals within 2
    if max(weights) * float(np.abs(h).max()) * len(h) < ENTRIES:
        sums = np.array(weights) @ h
    else:
        sums = np.array(weights, dtype=object) @ h.astype(object)
    squares = sum((abs(int(v)) + 2 * total) ** 2 for v in sums)
    return floor_above(scaled[:m], float(math.isqrt(squares) + 1) / float(least << guard))


def floor_above(scaled: Floats, residual: float) -> int | None:
    """A lower bound on the squares of the singular values of rows, rounded, that shows them above a residual [L18].

    None unless all of it is proved, with room for what a checker that works in fixed point loses.
    """
    m, p = scaled.shape
    if not float(np.abs(scaled).max()) < LARGEST:
        return None
    rounding = (0.5 + 2.0**-20) * (math.sqrt(m * p) + 1)
    enough = (rounding + residual) ** 2 * (1 + 1e-9)
    A = np.rint(scaled)  # within 1/2 + 2^-20 of the row, since its digits beyond 2^-26 can only differ in decimals
    G = A.T @ A  # exact where no sum of squares reaches 2^53, by Cauchy and Schwarz
    if not float(np.diag(G).max()) < EXACT:
        return None
    lost = 4 * (p + 8) * UNIT * float(np.trace(G))  # Cholesky's factor is that of a matrix so near (Demmel 1989)
    floor: int = math.ceil(1.5 * enough + 4 * p + 2 * lost)
    room = floor / 4 + 8 * p + lost  # what a checker in fixed point may lose, and what rounding loses here
    G[np.diag_indices(p)] -= floor + room
    try:
        interruptible(p**3 / 3, np.linalg.cholesky, G)
    except np.linalg.LinAlgError:
        return None
    return floor
