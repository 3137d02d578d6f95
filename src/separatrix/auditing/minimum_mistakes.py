"""The minimum number of mistakes of two classes, bracketed within the budget.

The minimum over some of the rows is at most that over all rows, and bounds on disjoint parts add up: a large table is
therefore searched in parts, and its lower bound is certified by one witness from each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.fitted_hyperplanes import FittedHyperplane, FittedLearners
from separatrix.auditing.separation import DecidedSeparation
from separatrix.proofs.certificate.certificate import CertifiedTable
from separatrix.proofs.fewest_mistakes.bracket import MistakeBracket, bracket
from separatrix.proofs.separability.verdict import Given
from separatrix.validation import Labels, Table

A_NODE = 5e-8  # seconds for each row and squared column
A_START = 5e-7
A_SPARSE_START = 5e-6  # seconds for each number of sparse rows
A_LOOK = 0.05  # seconds between two looks at how far the search is, at least
MOST_NODES = 2000
PART = 8  # rows for each column in a part of a large table
PARTS = 500
SWAPS = 150  # sets that are tried in place of the best one found
SWAPPED_CELLS = 2_000_000  # that are looked at for it


@dataclass(frozen=True)
class DisjointWitnesses:
    """Sets of rows, no two of which share a row, that no hyperplane has strictly on their sides."""

    rows: list[NDArray[np.intp]]
    coef: Floats
    intercept: float


@dataclass(frozen=True)
class FoundMistakes:
    """At least ``lower`` rows are wrong for every hyperplane; ``rows`` are wrong for the best one found."""

    lower: int
    rows: NDArray[np.intp]
    parts: int  # searched separately; 1 for the whole table
    labelings: int
    seconds: float
    proof: MistakeBracket | DisjointWitnesses
    swapped: bool = False  # whether all sets that differ in one row were looked at

    @property
    def upper(self) -> int:
        return len(self.rows)


def bracket_mistakes(
    table: AuditTable, session: Session, separation: DecidedSeparation, fitted: FittedLearners
) -> FoundMistakes:
    """Search from the best of all fitted learners: the whole table, or small parts of it where that takes too long."""
    start = perf_counter()
    p, budget = table.d + 1, session.plan.budget
    size, cost = table.n * float(p) ** 2, A_START * table.n * float(p) ** 2
    if table.sparse:
        size, cost = table.cells * float(min(p, 200)), A_SPARSE_START * table.cells
    first = _start(table, fitted)
    if cost > 0.25 * budget:
        return _in_parts(table, session, separation, first, start)
    found = bracket(
        separation.given,
        [table.positive],
        [1 - table.positive],
        max_nodes=int(np.clip(0.15 * budget / (A_NODE * size), 1, MOST_NODES)),
        time_limit=session.clock.part(0.3),
        gap=0,
        progress=_stop_after(0.25 * budget, table.n * float(p + 20)),
        known=np.append(first.coef, first.intercept),
    )
    if found.stopped == "time":
        session.clock.leave_out("part of the search for the minimum number of mistakes", "the time budget ended it")
    rows = np.sort(found.wrong).astype(np.intp)
    others, swapped = _other_sets(table, separation, rows) if found.lower == found.upper else (0, False)
    labelings = max(found.labelings, 1 + others)
    return FoundMistakes(found.lower, rows, 1, labelings, perf_counter() - start, found, swapped)


def _start(table: AuditTable, fitted: FittedLearners) -> FittedHyperplane:
    """The best hyperplane of a learner, or one with all rows on the side of the common class."""
    sign = 1.0 if 2 * int(table.counts[table.positive]) >= table.n else -1.0
    constant = FittedHyperplane(np.zeros(table.d), sign, np.flatnonzero(table.signs != sign))
    return min([constant, *fitted.hyperplanes.values()], key=lambda own: len(own.wrong))


def _other_sets(table: AuditTable, separation: DecidedSeparation, wrong: NDArray[np.intp]) -> tuple[int, bool]:
    """How many sets that differ from these mistakes in one row do as well, and whether all were looked at.

    The number is the minimum, so without all mistakes but r the rows cannot be separated: some witness W of theirs
    rules it out, and whatever replaces r is in W. Only a few sets have to be tried, each decided in exact arithmetic.
    """
    kept = np.ones(table.n, dtype=bool)
    kept[wrong] = False
    found, left = 0, min(SWAPS, SWAPPED_CELLS // table.cells)
    for r in wrong.tolist():
        if left <= 0:
            return found, False
        kept[r] = True
        witness = _decided(table, separation, np.flatnonzero(kept))
        left -= 1 + len(witness)
        for j in witness.tolist():
            if j != r:
                kept[j] = False
                found += not len(_decided(table, separation, np.flatnonzero(kept)))
                kept[j] = True
        kept[r] = False
    return found, True


def _decided(table: AuditTable, separation: DecidedSeparation, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows that rule out a hyperplane for these rows; none where there is one."""
    if len(np.unique(table.codes[rows])) < 2:
        return np.empty(0, dtype=np.intp)
    part = _part(table, separation, rows).two_groups([1], [0], minimal=True)
    return np.empty(0, dtype=np.intp) if part.verdict == "complete" else rows[np.asarray(part.witness, dtype=np.intp)]


def _part(table: AuditTable, separation: DecidedSeparation, rows: NDArray[np.intp]) -> Given:
    """Some of the rows as proofs take them."""
    labels = Labels(separation.given.labels.classes, table.codes[rows])
    source = CertifiedTable(Table(table.rows[rows], None), labels)
    return Given(source.table, labels, None, source, True, "binary64")


def _stop_after(seconds: float, size: float) -> Callable[[int, int, int], bool]:
    """End a search after as many looks as take about so long: a count, so that the same table ends the same way."""
    left = int(max(4, seconds / max(A_LOOK, 3e-8 * size)))

    def go_on(lower: int, upper: int, nodes: int) -> bool:
        nonlocal left
        left -= 1
        return left > 0 or nodes > 1

    return go_on


def _in_parts(
    table: AuditTable, session: Session, separation: DecidedSeparation, first: FittedHyperplane, start: float
) -> FoundMistakes:
    """Each of many small disjoint parts that cannot be separated costs a mistake; learners give the upper bound."""
    rows_each = min(PART * (table.d + 1), 2000)
    parts = min(table.n // rows_each, PARTS)
    order = np.random.default_rng(session.seed).permutation(table.n)
    seconds = session.clock.part(0.2)
    witnesses, looked_at = [], 0
    for k in range(parts):
        if perf_counter() - start > seconds:
            break
        looked_at += 1
        rows = np.sort(order[k * rows_each : (k + 1) * rows_each])
        if len(np.unique(table.codes[rows])) < 2:
            continue
        part = _part(table, separation, rows).two_groups([1], [0], minimal=True)
        if part.verdict in ("quasi", "overlap"):
            witnesses.append(rows[part.witness])
    if not witnesses:  # the whole table has one, since it is not separable
        known = np.asarray(separation.facts.witness, dtype=np.intp)
        circuit = len(known) <= table.d + 2
        witnesses.append(known if circuit else _decided(table, separation, np.arange(table.n)))
    cut = f"; the time budget ended the search before {parts - looked_at} more" if looked_at < parts else ""
    session.clock.leave_out(
        "a sharp bound on the minimum number of mistakes",
        f"the table is large: {len(witnesses)} of {looked_at} disjoint parts of {rows_each:,} rows cannot be separated"
        f", and each costs a mistake{cut}",
    )
    proof = DisjointWitnesses(witnesses, first.coef, first.intercept)
    return FoundMistakes(len(witnesses), first.wrong, max(looked_at, 1), 1, perf_counter() - start, proof)
