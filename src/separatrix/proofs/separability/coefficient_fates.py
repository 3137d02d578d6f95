"""What the logistic maximum-likelihood estimate does at each coefficient, proved one by one.

K = {w : z_i.w >= 0}; T the rows on which K vanishes, S the others (facial_reduction.py). Along w in the interior of K
the rows of S reach probability one and those of T do not move; T alone overlaps, so its estimate exists.
For the unit vector e of a coefficient (Albert & Anderson 1984, and CERTIFICATES there worked out):

    e not in the span of the rows              unidentifiable (collinear columns, not separation)
    e in the span of the rows of T             finite, as in the fit on T alone
    e = sum mu_i z_i with mu >= 0              +inf on every maximising sequence (-e: -inf)
    otherwise                                  undetermined: it depends on the path

Of many columns the proofs are short. A coefficient tends to infinity if a positive combination of the rows is the unit
vector e_j, or its negative, and some vector of the cone moves it. The rows of a short proof (short_proof.py) cancel
with weights > 0 and span all that is orthogonal to a face of few dimensions; there a circuit of rows with the unit
vector has few digits. The weights of the short proof take up what the circuit leaves in the other columns, in doubles,
and all of them together are proved as one short proof with one more row, the unit vector itself (docs/certificates.md,
L19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from separatrix.arrays import Indices
from separatrix.errors import CertificateError
from separatrix.proofs.certificate.certificate import Certificate, Subject, numbers, scaled, true_weights
from separatrix.proofs.exact.algebra import Row, Weights, combination, independent, ratio, solve, transpose
from separatrix.proofs.exact.face import Face, solve_in_span
from separatrix.proofs.exact.gordan import Circuit, Fact, Positive, Stage
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import (
    FEWEST,
    MOST,
    ShortProof,
    UnitRow,
    scaled_table,
    short_proof,
    spanning_rows,
)
from separatrix.proofs.separability.circulation import not_vanishing
from separatrix.proofs.separability.facial_reduction import Reduction, reduce
from separatrix.proofs.separability.small_null_vectors import part_of
from separatrix.proofs.separability.verdict_certificate import short_fields

WIDEST = 4_000_000  # rows x columns that are written out in integers
PATIENCE = 3_000_000  # words that the simplex method may work out for one coefficient: seconds
KEPT = 0.5  # the share of a weight that is left at least when the rest of a circuit is taken up
EACH = 2.2  # rows for each column that are tried for their rank


class Fate(str):
    """``"finite"``, ``"+inf"``, ``"-inf"``, ``"undetermined"`` or ``"unidentifiable"``, with its proof."""

    __slots__ = ("_coefficient", "_fields", "_subject")
    _subject: Subject
    _coefficient: int
    _fields: Callable[[], dict[str, Any]]

    def __new__(cls, text: str, subject: Subject, j: int, fields: Callable[[], dict[str, Any]]) -> Fate:
        self = super().__new__(cls, text)
        self._subject, self._coefficient, self._fields = subject, j, fields
        return self

    @property
    def claim(self) -> str:
        """The claim of a certificate that says so."""
        return "coefficient-" + ("infinite" if self in ("+inf", "-inf") else str(self))

    @property
    def certificate(self) -> Certificate:
        """The proof of this one claim."""
        return self._subject.certify(self.claim, coefficient=self._coefficient, **self._fields())

    def accepted(self) -> Fate:
        """This claim, once the checker has accepted it; a BugError where it does not."""
        self._subject.need_accepted(self.claim, {"coefficient": self._coefficient, **self._fields()})
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


class Coefficients(Mapping[str, Fate]):
    """Feature names, and ``"intercept"``, to fates; each is decided when it is first asked for."""

    def __init__(self, names: list[str], reduction: Reduction, subject: Subject) -> None:
        if reduction.verdict == "undecided":
            raise CertificateError("The verdict is undecided, so nothing is known about the coefficients.")
        self._at = {name: j for j, name in enumerate(names)}
        self._reduction, self._subject = reduction, subject
        self._known: dict[str, Fate] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)

    def __getitem__(self, name: str) -> Fate:
        if name not in self._known:
            self._known[name] = self._decide(self._at[name])
        return self._known[name]

    def __repr__(self) -> str:
        return f"Coefficients({dict(self._known)!r}, {len(self) - len(self._known)} not asked for yet)"

    # -- which of the five ------------------------------------------------------------------------

    def _decide(self, j: int) -> Fate:
        short = self._reduction.short
        if short is not None and not any(v[j] for v in short.null.values()):
            # the rows of the short proof are of T and span what is orthogonal to its null vectors
            return self._fate("finite", j, partial(short_fields, short, self._reduction.rows, self._subject))
        if (v := self._null_vector(j)) is not None:
            return self._fate("unidentifiable", j, partial(self._unidentifiable, v))
        if self._face.moving(j) is None:
            return self._fate("finite", j, partial(self._finite, j))
        w = self._reduction.w
        assert w is not None
        up = w if w[j] > 0 else None
        down = w if w[j] < 0 else None
        for sign in (1, -1):
            if (up if sign > 0 else down) is not None or (up is None and down is None):
                answer = self._pushed(j, -sign)
                if not isinstance(answer, Positive):
                    text = "+inf" if sign > 0 else "-inf"
                    return self._fate(text, j, partial(self._infinite, j, sign, answer))
                up, down = (up, answer.w) if sign > 0 else (answer.w, down)
        assert up is not None
        assert down is not None
        return self._fate("undetermined", j, partial(self._undetermined, j, up, down))

    def _pushed(self, j: int, sign: int) -> Fact:
        """A w of K with sign w_j > 0, or the rows that forbid it."""
        rows, face = self._reduction.rows, self._face
        shorten = many_columns(rows) and not face.bound
        extra = [unit(rows.p, j, sign)]
        stage = Stage(rows, face, self._reduction.strict, extra, patience=PATIENCE, shorten=shorten)
        answer = stage.decide()
        if answer is None:
            raise CertificateError(f"Coefficient {j} is undecided; tried {'; '.join(stage.tried)}.")
        return answer

    @property
    def _face(self) -> Face:
        assert self._reduction.face is not None
        return self._reduction.face

    def _null_vector(self, j: int) -> Row | None:
        """A vector that vanishes on all rows and not at j."""
        null, frame = self._frame
        if null is not None:
            return None if (k := null.moving(j)) is None else null.vector(k)
        columns = transpose(self._reduction.rows.integers(frame)[0])
        order = [k for k in range(len(columns)) if k != j]
        chosen = [order[k] for k in independent([columns[k] for k in order])]
        solved = solve([columns[k] for k in chosen], [-t for t in columns[j]])
        if solved is None:
            return None
        v = unit(len(columns), j, solved[1])
        for k, c in zip(chosen, solved[0], strict=True):
            v[k] = c
        return None if self._reduction.rows.signs(v).any() else v

    @cached_property
    def _frame(self) -> tuple[Face | None, list[int]]:
        """The common null space of all rows (when it is small enough), and rows that span them all."""
        rows, face = self._reduction.rows, self._face
        if many_columns(rows) and not face.bound and (short := span_of(rows, [], {})) is not None:
            return Face.zero(rows.p), short.ids
        if rows.wide and self._reduction.short is None:
            if rows.n * rows.p > WIDEST:
                raise CertificateError(
                    f"Coefficients of a table of {rows.n} x {rows.p} are out of reach: ask for fewer columns."
                )
            return None, independent(rows.integers(list(range(rows.n)))[0])
        frame = list(self._reduction.circulation)
        active = self._reduction.strict
        while active.size and face.dimension:  # each round lowers the dimension: no active row vanishes on the face
            some = [int(i) for i in active[:: max(1, len(active) // (2 * face.dimension))]]
            some = [some[k] for k in independent(face.coordinates(rows.integers(some)[0]))]
            frame += some
            face = part_of(face, rows.integers(some)[0])
            active = not_vanishing(rows, face, active)
        return face, frame

    # -- the proofs --------------------------------------------------------------------------------

    def _fate(self, text: str, j: int, fields: Callable[[], dict[str, Any]]) -> Fate:
        return Fate(text, self._subject, j, fields)

    def _outward(self, w: Row) -> Row:
        return self._reduction.rows.outward(w)

    def _combined(self, ids: list[int], j: int) -> tuple[list[Any], list[int]]:
        """Rows and signed weights that add up to a multiple of the j-th unit vector."""
        whole, factors = self._reduction.rows.integers(ids)
        solved = solve_in_span(whole, unit(self._reduction.rows.p, j, 1))
        used = [(self._subject.row(i), c * m) for i, c, m in zip(ids, solved[0], factors, strict=True) if c]
        return [i for i, _ in used], [c for _, c in used]

    def _unidentifiable(self, v: Row) -> dict[str, Any]:
        return {"v": scaled(self._outward(v))}

    def _finite(self, j: int) -> dict[str, Any]:
        rows, c = self._combined(list(self._reduction.circulation), j)
        return {"rows": rows, "c": numbers(c), **true_weights(self._reduction.circulation, self._subject)}

    def _undetermined(self, j: int, up: Row, down: Row) -> dict[str, Any]:
        vectors = {"w1": scaled(self._outward(up)), "w2": scaled(self._outward(down))}
        null, frame = self._frame
        if null is not None and many_columns(rows := self._reduction.rows):
            short = span_of(rows, frame, vectors_of(null))
            if short is not None:
                return {**short_fields(short, rows, self._subject, "rows"), **vectors}
        ids, c = self._combined(frame, j)
        return {"rows": ids, "c": numbers(c), **vectors}

    def _infinite(self, j: int, sign: int, proved: Circuit | ShortProof) -> dict[str, Any]:
        """A circuit through -sign e_j, lifted from the face: by weights that nearly cancel, or that do exactly."""
        rows, w = self._reduction.rows, self._reduction.w
        assert w is not None
        fields: dict[str, Any] = {"sign": sign, "w": scaled(self._outward(w))}
        short = proved if isinstance(proved, ShortProof) else None
        if isinstance(proved, Circuit) and self._reduction.short is not None:
            short = pushed(self._reduction, proved, j, sign)
        if short is not None:
            return {**fields, **short_fields(short, rows, self._subject)}
        assert isinstance(proved, Circuit)
        mu = self._lifted(j, sign, proved)
        return {**fields, "rows": [self._subject.row(i) for i in mu], "mu": numbers(list(mu.values()))}

    @cached_property
    def _exact_circulation(self) -> Weights:
        """Weights that cancel exactly, on rows that span those of T."""
        if self._reduction.short is None:
            return self._reduction.circulation
        exact = reduce(self._reduction.rows, minimal=True)
        if exact.verdict == "undecided":
            raise CertificateError(
                f"The certificate is out of reach: exact weights were not found; tried {'; '.join(exact.tried)}."
            )
        return exact.circulation

    def _lifted(self, j: int, sign: int, circuit: Circuit) -> Weights:
        """Weights of rows that add up to a multiple of sign e_j, exactly."""
        rows = self._reduction.rows
        ids = [i for i in circuit.weights if i < rows.n]
        whole, factors = rows.integers(ids)
        push = circuit.weights[rows.n]
        rest = combination([*whole, unit(rows.p, j, -sign)], [*(circuit.weights[i] for i in ids), push])
        old = self._exact_circulation
        mu: Weights = {i: circuit.weights[i] * m for i, m in zip(ids, factors, strict=True)}
        if any(rest):
            old_rows, old_factors = rows.integers(list(old))
            solved = solve_in_span(old_rows, [-v for v in rest])
            mu = {i: solved[1] * t for i, t in mu.items()}
            c = {i: t * m for i, t, m in zip(old, solved[0], old_factors, strict=True)}
            enough = max([0] + [-c[i] // old[i] + 1 for i in old])
            for i in old:
                mu[i] = mu.get(i, 0) + c[i] + enough * old[i]
        return {i: t for i, t in mu.items() if t}


def unit(p: int, j: int, sign: int) -> Row:
    return [sign if k == j else 0 for k in range(p)]


def infinite_first(coefficients: Coefficients) -> dict[str, list[str]]:
    """Names by fate, for a summary."""
    groups: dict[str, list[str]] = {"+inf": [], "-inf": [], "undetermined": [], "unidentifiable": [], "finite": []}
    for name, fate in coefficients.items():
        groups[str(fate)].append(name)
    return {fate: names for fate, names in groups.items() if names}


# -- short proofs of many columns --


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
