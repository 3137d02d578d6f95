"""Separability of rows on workers: some rows are decided exactly on the driver, and all rows price the answer.

The working rows are a sample at first. Their verdict comes with vectors: a hyperplane, and a basis of the directions on
which the rows that cannot be separated vanish. Every partition looks for rows of its own that contradict them, by exact
signs, and sends a few; they join the working rows. Where no row contradicts, the verdict holds for all rows:

    complete   every row has z.w > 0;
    quasi      no row has z.w < 0, and those with z.w = 0 vanish on the face of the tied working rows;
    overlap    weights above zero cancel on working rows that span all rows, since every row vanishes on their face.

For the fingerprint, blocks are hashed where their rows are. Blocks are counted from the first row of the source, so
that one may lie in several partitions: the rows at both ends of a partition come to the driver, at most a block of
each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import checker
from separatrix.arrays import Floats
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import HeldPart
from separatrix.data.row_files import stacked
from separatrix.errors import CertificateError
from separatrix.proofs.certificate.certificate import Certificate, CertifiedTable, Subject
from separatrix.proofs.certificate.checkable_rows import class_names, exact_table
from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.separability.facial_reduction import Reduction, reduce
from separatrix.proofs.separability.verdict import PLAIN
from separatrix.proofs.separability.verdict_certificate import certificate_of
from separatrix.validation import Labels, Table

Rows = tuple[Any, Any]  # X, class numbers


def part_digests(part: HeldPart) -> tuple[Rows, list[bytes], Rows, list[int]]:
    """Rows before the first whole block, the digests of whole blocks, the rows behind the last, and the exponents."""
    first = min(-part.first_row % checker.BLOCK, part.n)
    whole = (part.n - first) // checker.BLOCK
    last = first + whole * checker.BLOCK
    starts = range(first, last, checker.BLOCK)
    digests = [digest(part.X[s : s + checker.BLOCK], part.y[s : s + checker.BLOCK], part.first_row + s) for s in starts]
    spread = exact_table(part.X, part.y, (), "binary64").spread()
    return (part.X[:first], part.y[:first]), digests, (part.X[last:], part.y[last:]), spread


def digest(X: Any, codes: NDArray[Any], first: int) -> bytes:
    """The node of the fingerprint above a block of rows that begins at row ``first``."""
    numbers = range(int(codes.max(initial=0)) + 1)
    return checker.block_digest(exact_table(X, codes, (), "binary64"), numbers, first)


def sealed(source: EncodedSource, told: dict[str, Any]) -> dict[str, Any]:
    """The description of a table with what the rows of all parts tell: exponents and fingerprint."""
    out: list[bytes] = []
    waiting: list[Rows] = []
    spreads: list[list[int]] = []

    def close() -> None:
        if waiting:
            X, y = stacked([rows for rows, _ in waiting]), np.concatenate([codes for _, codes in waiting])
            out.append(digest(X, y, len(out) * checker.BLOCK))
            waiting.clear()

    for head, digests, tail, spread in source.rounds.gather("fingerprints", part_digests):
        spreads.append(spread)
        if len(head[1]):
            waiting.append(head)
        if digests or len(tail[1]) or sum(len(codes) for _, codes in waiting) == checker.BLOCK:
            close()
        out += digests
        if len(tail[1]):
            waiting.append(tail)
    close()
    told = {**told, "exponents": [min(low for low, _ in spreads), max(high for _, high in spreads)]}
    return {**told, "sha256": checker.joined_fingerprint(told, out)}


ROUNDS = 1000
FIRST, PER_COLUMN = 400, 10  # rows that are looked at first


@dataclass(frozen=True, slots=True)
class Question:
    """One class against the other, or against all others, with or without an intercept."""

    against: int | None
    intercept: bool

    def signs(self, codes: NDArray[Any]) -> NDArray[np.int8]:
        return np.where(codes == (1 if self.against is None else self.against), 1, -1).astype(np.int8)


@dataclass(frozen=True, slots=True)
class Priced:
    """What a partition says to a proposal: rows on each side, and a few that contradict it."""

    strict: int
    tied: int
    wrong: int
    ids: NDArray[np.int64]  # numbers in the source
    X: Any
    codes: NDArray[Any]


def price(part: HeldPart, question: Question, w: Row | None, face: Sequence[Row], most: int) -> Priced:
    """Hold all rows of a partition against a hyperplane and the face of the tied rows, by exact signs."""
    rows = LiftedRows(part.X, question.signs(part.y), question.intercept)
    signs = np.zeros(part.n, dtype=np.int8) if w is None else rows.signs(w)
    bad = signs < 0
    level = np.flatnonzero(signs == 0)
    if w is not None and not face:
        bad[level] = True
    for vector in face:
        moving = rows.signs(vector, level) != 0
        bad[level[moving]] = True
        level = level[~moving]
    ids = np.flatnonzero(bad)
    chosen = ids if len(ids) <= most else ids[np.linspace(0, len(ids) - 1, most).astype(np.intp)]
    strict = int((signs > 0).sum())
    return Priced(strict, part.n - strict - len(ids), len(ids), chosen + part.first_row, part.X[chosen], part.y[chosen])


@dataclass
class WorkingRows:
    """Rows of the source on the driver, with their numbers in it."""

    ids: NDArray[np.int64]
    X: Any
    codes: NDArray[Any]

    def add(self, found: Sequence[Any]) -> None:
        """More rows, each once, in the order of the source."""
        ids = np.concatenate([self.ids, *(own.ids for own in found)])
        _, first = np.unique(ids, return_index=True)
        self.X = stacked([self.X, *(own.X for own in found)])[first]
        self.codes = np.concatenate([self.codes, *(own.codes for own in found)])[first]
        self.ids = ids[first]

    def lifted(self, question: Question) -> LiftedRows:
        X = np.ascontiguousarray(self.X) if isinstance(self.X, np.ndarray) else self.X
        return LiftedRows(X, question.signs(self.codes), question.intercept)


class RemoteTable(CertifiedTable):
    """The table of a source, known by its shape, its classes and a fingerprint that the workers made."""

    at_hand = False

    def __init__(self, source: EncodedSource) -> None:
        shape = np.broadcast_to(0.0, (source.n, source.d))
        names = None if source.encoder is None else tuple(source.encoder.feature_names())
        codes = np.zeros(0, dtype=np.intp)
        super().__init__(Table(shape, names), Labels(source.classes, codes), (), source.target.name)
        object.__setattr__(self, "rows_elsewhere", source)

    @cached_property
    def data(self) -> dict[str, Any]:
        source: EncodedSource = self.__dict__["rows_elsewhere"]
        named = self.table.names is not None
        return sealed(source, {**self.unsealed, "target": self.target if named else None})


@dataclass(frozen=True)
class SourceSeparability:
    """The verdict on two classes of a source in partitions, proved; ``certificate`` proves it to others.

    Attributes
    ----------
    verdict : {"complete", "quasi", "overlap", "undecided"}
    coef, intercept : array and float, or None
        A hyperplane that separates (complete), or has no row on its wrong side (quasi), rounded.
    witness : array of int
        Numbers, in the source, of rows that no hyperplane has all strictly on their sides; empty for complete.
    strict, tied : int
        How many rows can be, and cannot be, strictly on their side of a hyperplane with no row on its wrong side.
    rounds, working : int
        Rounds of pricing, and rows that came to the driver.
    seconds : float
        Time that it took.
    certificate : Certificate or None
        The proof, for :func:`separatrix.verify` and the stand-alone checker.
    """

    verdict: str
    coef: Floats | None
    intercept: float | None
    witness: NDArray[np.int64]
    strict: int
    tied: int
    rounds: int
    working: int
    seconds: float
    certificate: Certificate | None = field(repr=False, compare=False)

    def __str__(self) -> str:
        proved = "" if self.verdict == "undecided" else " (proved)"
        return (
            f"Separability: {PLAIN[self.verdict]}{proved}\n"
            f"  {self.strict:,} of {self.strict + self.tied:,} rows can be separated strictly\n"
            f"  decided by {self.working:,} rows on the driver and {self.rounds} rounds of pricing"
        )


def first_working(source: EncodedSource) -> WorkingRows:
    """A sample of the rows: a few for each column."""
    stride = max(1, source.n // max(FIRST, PER_COLUMN * (source.d + 1)))
    X, codes, _ = source.sample(stride)
    return WorkingRows(np.arange(0, source.n, stride, dtype=np.int64), X, codes)


def decided(source: EncodedSource, against: int | None, intercept: bool, certify: bool = False) -> SourceSeparability:
    """The verdict on one class against the other, or against the rest."""
    start, question = perf_counter(), Question(against, intercept)
    working = first_working(source)
    most = max(20, 4 * (source.d + 1) // source.rounds.leaves)
    for count in range(1, ROUNDS + 1):
        reduction = reduce(working.lifted(question))
        if reduction.verdict == "undecided" or (reduction.verdict == "overlap" and reduction.face is None):
            return _result("undecided", reduction, working, [], count, start, None)
        face = [] if reduction.verdict == "complete" or reduction.face is None else list(reduction.face.basis())
        answers = source.rounds.gather("pricing", price, question, reduction.w, face, most)
        if not any(own.wrong for own in answers):
            proof = certificate_of(reduction, subject_of(source, working, question), False) if certify else None
            return _result(reduction.verdict, reduction, working, answers, count, start, proof)
        working.add([own for own in answers if own.wrong])
    raise CertificateError(f"nothing was decided in {ROUNDS:,} rounds of pricing.")


def subject_of(source: EncodedSource, working: WorkingRows, question: Question) -> Subject:
    """The working rows as the subject of a certificate about the whole source."""
    names, k = class_names(source.classes), question.against
    other = [names[0]] if k is None else None
    sides = {"positive": [names[1 if k is None else k]], "negative": other}
    table = Table(np.ascontiguousarray(working.X) if isinstance(working.X, np.ndarray) else working.X)
    labels = question.signs(working.codes)
    return Subject(table, labels, working.ids, RemoteTable(source), sides, question.intercept, "binary64")


def _result(
    verdict: str,
    reduction: Reduction,
    working: WorkingRows,
    answers: list[Priced],
    rounds: int,
    start: float,
    proof: Certificate | None,
) -> SourceSeparability:
    coef = intercept = None
    rows = reduction.rows
    if reduction.w is not None:
        shift = max(abs(v) for v in reduction.w).bit_length()
        values = np.array([v / (1 << shift) for v in reduction.w])
        coef, intercept = values[: rows.d], float(values[rows.d]) if rows.intercept else 0.0
    witness = working.ids[np.array(sorted(reduction.witness), dtype=np.int64)]
    strict, tied = sum(own.strict for own in answers), sum(own.tied for own in answers)
    seconds = perf_counter() - start
    return SourceSeparability(verdict, coef, intercept, witness, strict, tied, rounds, len(working.ids), seconds, proof)
