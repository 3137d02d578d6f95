"""Witnesses as a certificate has them (rows, and weights where solving would take a checker long), and their cost.

A checker counts its work before it is done and refuses what would take too long (docs/certificates.md, Cost): what
takes more than it allows is not claimed. The estimates here are not below what it counts, for witnesses as
``witness_entries`` writes them. What the table itself allows is left to the passes over it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix import checker
from separatrix.proofs.certificate.certificate import Subject, numbers
from separatrix.proofs.exact.algebra import null_line
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import ShortProof, short_proof

Codes = Sequence[int]  # a row i as i, the row reversed (-z_i) as ~i
Nodes = Sequence[dict[str, Any]]
STEP, WORD, HELD = checker.STEP, checker.WORD, checker.HELD
LIMIT = checker.MOST_WORK * 5 // 8  # for all witnesses with weights, and for the tree
PLAIN = checker.MOST_WORK // 8  # for witnesses without weights
FEW = 12  # rows of a witness that may go without


def witness_entries(
    witnesses: Sequence[Codes], rows: LiftedRows, subject: Subject, nodes: Sequence[dict[str, Any]] = ()
) -> list[Any]:
    """Rows alone, with small weights near a solution, or with exact ones; ``nodes`` are those of their tree."""
    few = FEW if ProofCost(rows).may_be_plain(witnesses, nodes) else 2
    return [entry_of(codes, rows, subject, few) for codes in witnesses]


def entry_of(codes: Codes, rows: LiftedRows, subject: Subject, few: int) -> Any:
    """A witness of more than a few rows carries weights."""
    if len(codes) <= few:
        return subject.signed_rows(codes)
    if (near := _near(codes, rows)) is not None:
        weights = {"weights": near.weights, "inner": near.inner, "exponents": near.exponents, "floor": near.floor}
        return {"support": subject.signed_rows([codes[k] for k in near.ids]), "near": weights}
    whole, factors = rows.integers([max(c, ~c) for c in codes])
    line = null_line([z if c >= 0 else [-v for v in z] for c, z in zip(codes, whole, strict=True)])
    if line is None:
        raise AssertionError("a witness is not the circuit that it was proved to be")
    exact = [t * m for t, m in zip(line, factors, strict=True)]
    divisor = math.gcd(*exact)
    return {"support": subject.signed_rows(codes), "lambda": numbers([t // divisor for t in exact])}


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


# -- what a checker allows --


class ProofCost:
    """The steps that proofs about these rows take."""

    def __init__(self, rows: LiftedRows) -> None:
        self.n: int = rows.n
        self.p: int = rows.p
        values = rows.X if isinstance(rows.X, np.ndarray) else rows.X.data
        shares, exponents = np.frexp(np.append(values[values != 0], 1.0))
        digits = np.ldexp(shares.astype(np.float64), 53).astype(np.int64)
        lowest = exponents - 53 + np.frexp((digits & -digits).astype(np.float64))[1] - 1
        spread = int(np.ptp(exponents))
        whole = int(exponents.max() - lowest.min()) if type(rows) is LiftedRows else spread + 64
        self.bits = whole + max(rows.unit).bit_length()  # of a cell, in rows of integers
        self.words = (spread + 128 + self.bits) // 64 + 1  # of a cell as a checker counts it
        doubles = type(rows) is LiftedRows and max(rows.unit) == 1 and spread < 400
        self.rounding = 0 if doubles else 2 * (STEP + WORD * (2 * checker.MOST_BITS // 64 + self.words))  # of a cell
        self.filled: list[int] | None = None  # cells of a row, of sparse rows
        if not isinstance(rows.X, np.ndarray):
            self.filled = (np.diff(rows.X.indptr) + int(rows.intercept)).tolist()
        self._solving: dict[tuple[int, int], int] = {}  # steps by rows and cells: thousands of witnesses have as many

    def plain(self, codes: Codes) -> int:
        """Solving for the weights of a witness, by Bareiss's elimination: entries are minors of the matrix.

        The checker in JavaScript goes on to the reduced echelon form: it allows twice the steps, and half of those that
        it counts stand here where they are more.
        """
        size, cells = len(codes), self._cells(codes)
        if (size, cells) not in self._solving:
            self._solving[size, cells] = self._plain(size, cells)
        return self._solving[size, cells]

    def _plain(self, size: int, cells: int) -> int:
        columns, steps, reduced = min(self.p, cells), 0, 0
        for k in range(size - 1):
            words = self._minor(k + 1) // 64
            steps += 4 * (size - k) * max(0, columns - k) * (STEP + WORD * words * (words + 1))
            reduced += 12 * size * columns * (32 + (words + 1) ** 2)
        return max(steps, reduced // 2) + self._exact(size, cells) + STEP * size * columns

    def weighted(self, size: int, cells: int) -> int:
        """The dearer of the ways in which a witness is written that has more than a few rows."""
        return max(self._near() if size == self.p + 1 else 0, self._exact(size, cells))

    def _exact(self, size: int, cells: int) -> int:
        """Adding up the rows of a witness with exact weights."""
        words = self._minor(size) // 64 + 1
        return cells * (STEP + WORD * (words + self.words) * self.words) + size * (8 * STEP + 2 * HELD * words)

    def _near(self) -> int:
        """A least singular value of p + 1 rows that span the space."""
        p = self.p
        return (p + 1) * p * (1152 + 4 * p + self.rounding) + p * p * (1408 + 6 * p) + 2048 * p

    def _cells(self, codes: Codes) -> int:
        return len(codes) * self.p if self.filled is None else sum(self.filled[max(c, ~c)] for c in codes)

    def _minor(self, order: int) -> int:
        """Bits of a minor, by Hadamard's bound, and of a common factor of its rows."""
        return math.ceil((order + 1) * (self.bits + 1 + math.log2(order + 1) / 2))

    def may_be_plain(self, witnesses: Sequence[Codes], nodes: Nodes) -> bool:
        """Whether a checker has time to solve for the weights of all short witnesses, and for the rest of the proof."""
        short = sum(self.plain(codes) for codes in witnesses if len(codes) <= FEW)
        long = sum(self.weighted(len(codes), self._cells(codes)) for codes in witnesses if len(codes) > FEW)
        return short <= PLAIN or short + long + self._tree(witnesses, nodes) <= LIMIT + PLAIN

    @staticmethod
    def _tree(witnesses: Sequence[Codes], nodes: Nodes) -> int:
        """Going through the nodes."""
        packs = sum(len(witnesses[k]) for node in nodes for k in node.get("pack", ()))
        blocks = sum(len(block["rows"]) for node in nodes for block in node.get("blocks", ()))
        return STEP * (4 * (packs + blocks) + 32 * len(nodes))

    def surely_allows(self, witnesses: int, nodes: int, bound: int) -> bool:
        """Whether a checker takes any proof of a bound by a tree of so many nodes with so many witnesses."""
        size = self.p + 1
        most = max(bound, min(self.n, witnesses))  # witnesses of a leaf: no more with weights than there are rows
        leaves = STEP * nodes * (32 + 4 * most * size)
        letters = witnesses * size * (16 + self._minor(size) // 4) + nodes * (64 + 16 * most)
        return witnesses * self.weighted(size, size * self.p) + leaves <= LIMIT and letters <= checker.MOST_TEXT

    def allows(self, witnesses: Sequence[Codes], nodes: Nodes = ()) -> bool:
        """Whether a checker takes a proof with these witnesses and nodes, in steps and in characters."""
        rows = sum(map(len, witnesses))
        letters = 16 * rows + sum(len(codes) * self._minor(len(codes)) // 4 for codes in witnesses)
        packs = sum(len(node.get("pack", ())) for node in nodes)
        each = (
            self.weighted(len(codes), self._cells(codes)) if len(codes) > 2 else self.plain(codes)
            for codes in witnesses
        )
        work = sum(each) + self._tree(witnesses, nodes)
        more = min(checker.PER_CHARACTER * checker.ROW_TEXT * rows, checker.MOST_FOR_TEXT)
        return work <= LIMIT + more and letters + 64 * len(nodes) + 16 * packs <= checker.MOST_TEXT
