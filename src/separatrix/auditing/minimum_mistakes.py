"""The minimum number of mistakes of two classes, bracketed within the budget.

Disjoint witnesses come first, each of which costs a mistake; then, where the table is small enough for it, better
hyperplanes and a tree of cases are searched.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

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
LINES = 0.25  # of it, that the search along lines takes where no tree follows
A_SPARSE_START = 5e-6  # seconds for each number of sparse rows
RESERVED = 0.05  # share of the budget that disjoint witnesses have, whatever earlier questions have used
A_LOOK = 0.05  # seconds between two looks at how far the search is, at least
MOST_NODES = 2000
SWAPS = 150  # sets that are tried in place of the best one found
SWAPPED_CELLS = 2_000_000  # that are looked at for it


@dataclass(frozen=True)
class FoundMistakes:
    """At least ``lower`` rows are wrong for every hyperplane; ``rows`` are wrong for the best one found."""

    rows: NDArray[np.intp]
    labelings: int
    seconds: float
    proof: MistakeBracket
    packed: bool  # whether the lower bound is that of disjoint witnesses alone
    swapped: bool = False  # whether all sets that differ in one row were looked at

    @property
    def lower(self) -> int:
        return self.proof.lower

    @property
    def upper(self) -> int:
        return len(self.rows)


def bracket_mistakes(
    table: AuditTable, session: Session, separation: DecidedSeparation, fitted: FittedLearners
) -> FoundMistakes:
    """Search from the best of all fitted learners; of quasi-separated classes only the tied rows."""
    start = perf_counter()
    found_apart, p, budget = separation.binary, table.d + 1, session.plan.budget
    searched = np.arange(table.n)
    if found_apart is not None and separation.verdict == "quasi":
        searched = found_apart.tied_rows.astype(np.intp)
    share = len(searched) / table.n
    size, cost = len(searched) * float(p) ** 2, A_START * len(searched) * float(p) ** 2
    if table.sparse:
        size, cost = share * table.cells * float(min(p, 200)), A_SPARSE_START * share * table.cells
    first, packed = _start(table, fitted), cost > 0.25 * budget
    found = bracket(
        separation.given,
        [table.positive],
        [1 - table.positive],
        max_nodes=0 if packed else int(np.clip(0.15 * budget / (A_NODE * size), 1, MOST_NODES)),
        time_limit=max(session.clock.part(0.3), RESERVED * session.clock.budget),
        gap=0,
        progress=_stop_after(0.25 * budget, len(searched) * float(p + 20)),
        known=np.append(first.coef, first.intercept),
        decided=None if found_apart is None else found_apart._reduction,
        lines=LINES * cost <= 0.15 * budget,
    ).accepted()
    if packed and found.lower < found.upper:
        why = "the table is large: the lower bound is that of disjoint sets of rows that cannot be separated"
        session.clock.leave_out("a tree of cases for the minimum number of mistakes", why)
    if found.stopped == "time":
        session.clock.leave_out("part of the search for the minimum number of mistakes", "the time budget ended it")
    rows = np.sort(found.wrong).astype(np.intp)
    others, swapped = (0, False)
    if found.lower == found.upper:
        others, swapped = _other_sets(table, separation, rows, searched)
    labelings = max(found.labelings, 1 + others)
    return FoundMistakes(rows, labelings, perf_counter() - start, found, packed, swapped)


def _start(table: AuditTable, fitted: FittedLearners) -> FittedHyperplane:
    """The best hyperplane of a learner, or one with all rows on the side of the common class."""
    sign = 1.0 if 2 * int(table.counts[table.positive]) >= table.n else -1.0
    constant = FittedHyperplane(np.zeros(table.d), sign, np.flatnonzero(table.signs != sign))
    return min([constant, *fitted.hyperplanes.values()], key=lambda own: len(own.wrong))


def _other_sets(
    table: AuditTable, separation: DecidedSeparation, wrong: NDArray[np.intp], searched: NDArray[np.intp]
) -> tuple[int, bool]:
    """How many sets that differ from these mistakes in one row do as well, and whether all were looked at.

    The number is the minimum, so without all mistakes but r the rows cannot be separated: some witness W of theirs
    rules it out, and whatever replaces r is in W. Only a few sets have to be tried, each decided in exact arithmetic.
    Of quasi-separated rows the tied ones alone need as many mistakes, so that no set of so few has another row.
    """
    kept = np.zeros(table.n, dtype=bool)
    kept[searched] = True
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
