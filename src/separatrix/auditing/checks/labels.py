"""Possibly mislabelled rows: misclassified by every learner that was fitted without them, with high probability."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.comparison import LearnerComparison
from separatrix.auditing.conclusion_facts import AssumptionLine, SuspectRows
from separatrix.auditing.excerpt import excerpt
from separatrix.auditing.phrasing import count, share, some
from separatrix.auditing.table import AuditTable

SURE = 0.95  # probability of another class from which a row counts as suspect


def check(
    table: AuditTable, found: LearnerComparison | None, best_misses: list[int]
) -> tuple[list[AssumptionLine], SuspectRows | None]:
    """Rows that all learners put into another class; those that the best hyperplane misses too come first."""
    if table.regression or found is None or len(found.runs) < 2:
        return [], None
    truth = table.task.y[found.rows]
    wrong = np.zeros(len(found.rows), dtype=np.intp)
    firm = np.zeros(len(found.rows), dtype=bool)
    shares = np.bincount(table.codes[found.rows], minlength=len(table.classes)) / len(found.rows)
    for run in found.runs.values():
        labels = run.predictions()
        wrong += np.array([own is not None for own in labels]) & (labels != truth)
        for result in run.results[: run.folds]:
            said = result.said
            if said is not None and said.probabilities is not None and said.classes is not None:
                known = np.searchsorted(table.classes, said.classes)
                firm[result.rows] |= _firm(said.probabilities, table.codes[found.rows[result.rows]], known, shares)
    by_all = wrong == len(found.runs)
    also = set(best_misses)
    rows = sorted(found.rows[by_all & firm].tolist(), key=lambda i: (i not in also, i))
    rejected = int(by_all.sum())
    text = f"{count(rejected)} rows ({share(rejected / len(wrong))}) are misclassified by all {len(found.runs)} "
    text += "learners, each fitted without them"
    if rows:
        text += f"; {count(len(rows))} of them with a probability of at least {share(SURE)} (rows {some(rows)})"
    verdict = "look" if rows else "holds"
    advice = "Check these rows first: they may be mislabelled." if rows else ""
    line = AssumptionLine("correct labels", "The labels are correct", "every learner", text, verdict, advice)
    return [line], SuspectRows(rows, rejected, len(found.runs), excerpt(table, rows))


def _firm(p: Floats, codes: NDArray[np.intp], known: NDArray[np.intp], shares: Floats) -> NDArray[np.bool_]:
    """Rows that are put into another class with a high probability, and not because that class is common.

    Every row of a rare class has a low probability of its class. The odds against the label must therefore exceed
    those of the classes' shares as clearly as they must exceed one for two equal classes.
    """
    full = np.zeros((len(p), len(shares)))
    full[:, known] = p
    top, every = full.argmax(axis=1), np.arange(len(p))
    ratio = full[every, top] * shares[codes]
    other = full[every, codes] * shares[top] * SURE / (1 - SURE)
    return np.asarray((full[every, top] >= SURE) & (ratio >= other) & (top != codes))
