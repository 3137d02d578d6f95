"""The proofs that the second and third answers rest on, cut to the size of the table.

The fewest mistakes of some of the rows are no more than those of all rows, and what is proved of disjoint
parts adds up: so a large table is searched in parts, and the bound is still a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.existence import Existence
from separatrix.auditing.study import Study
from separatrix.proofs.certificate import Source
from separatrix.proofs.fewest_mistakes import MistakeBracket, bracket
from separatrix.proofs.margin import Margin, margin_between
from separatrix.proofs.separability import Given
from separatrix.validation import Labels, Table

A_NODE = 5e-8  # seconds for each row and squared column
A_START = 5e-7
A_SPARSE_START = 5e-6  # seconds for each number of sparse rows
A_LOOK = 0.4  # seconds between two looks at how far the search is
MOST_NODES = 2000
PART = 8  # rows for each column in a part of a large table
PARTS = 500


@dataclass(frozen=True)
class Mistakes:
    """At least ``lower`` and at most ``upper`` rows are wrong, ``rows`` of them at the hyperplane of the upper end."""

    lower: int
    upper: int
    rows: NDArray[np.intp]
    parts: int  # searched apart; 1 for the whole table
    whole: MistakeBracket | None

    @property
    def proved(self) -> bool:
        return self.lower == self.upper


def fewest(study: Study, existence: Existence) -> Mistakes:
    """The fewest mistakes of two classes, bracketed within the budget."""
    n, p, budget = study.n, study.plan.d + 1, study.clock.budget
    size = n * float(p) ** 2
    start = A_START * size
    if study.sparse:
        size = study.plan.cells * float(min(p, 200))
        start = A_SPARSE_START * study.plan.cells
    if start > 0.25 * budget:
        return _in_parts(study, existence)
    found = bracket(
        existence.given,
        [study.positive],
        [1 - study.positive],
        max_nodes=int(np.clip(0.15 * budget / (A_NODE * size), 1, MOST_NODES)),
        time_limit=study.clock.part(0.4),
        gap=0,
        progress=_looks(0.25 * budget, n * float(p + 20)),
    )
    if found.stopped == "time":
        study.clock.leave_out("part of the search for the fewest mistakes", "time ran out")
    return Mistakes(found.lower, found.upper, np.sort(found.wrong).astype(np.intp), 1, found)


def _looks(seconds: float, size: float) -> Callable[[int, int, int], bool]:
    """Ends a search after as many looks as take about so long: a count, so that the same table ends the same way."""
    left = int(max(4, seconds / max(A_LOOK, 3e-8 * size)))

    def go_on(lower: int, upper: int, nodes: int) -> bool:
        nonlocal left
        left -= 1
        return left > 0 or nodes > 1

    return go_on


def _in_parts(study: Study, existence: Existence) -> Mistakes:
    """Each of many small disjoint parts that cannot be separated costs a mistake; the upper end is fitted."""
    rows_each = min(PART * (study.plan.d + 1), 2000)
    parts = min(study.n // rows_each, PARTS)
    order = np.random.default_rng(study.seed).permutation(study.n)
    lower, asked, seconds = 0, 0, study.clock.part(0.3)
    start = perf_counter()
    for k in range(parts):
        if perf_counter() - start > seconds:
            break
        asked += 1
        rows = np.sort(order[k * rows_each : (k + 1) * rows_each])
        if len(np.unique(study.codes[rows])) < 2:
            continue
        labels = Labels(existence.given.labels.classes, study.codes[rows])
        table = Table(study.rows[rows], None)
        given = Given(table, labels, None, Source(table, labels), True, "binary64")
        lower += given.two_groups([1], [0]).verdict in ("quasi", "overlap")
    wrong = _wrong_rows(study)
    late = f"; time ran out before {parts - asked} more were looked at" if asked < parts else ""
    study.clock.leave_out(
        "a sharp bound on the fewest mistakes",
        f"{lower} of {asked} disjoint parts of {rows_each:,} rows cannot be separated, and each costs a mistake{late}",
    )
    return Mistakes(max(lower, 1), max(len(wrong), 1), wrong, max(asked, 1), None)


def _wrong_rows(study: Study) -> NDArray[np.intp]:
    """Rows that a ridge logistic hyperplane does not surely have on their side, rounding allowed for."""
    import warnings

    from separatrix.models.logistic.logistic_regression import LogisticRegression

    X = study.standardised
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=1.0, tol=1e-4).fit(X, study.signs)
    w = np.ravel(model.coef_)
    sizes = np.abs(X) @ np.abs(w) + abs(float(model.intercept_[0]))
    safe = 1e-12 * (X.shape[1] + 2) * np.asarray(sizes)
    return np.flatnonzero(study.signs * model.decision_function(X) <= safe)


def widest(study: Study, existence: Existence) -> Margin:
    """The widest margin of the rows as they are."""
    return margin_between(existence.given, [study.positive], [1 - study.positive], False)
