"""Question 5: which assumptions does that need, and do they hold on this table?

Rows are possibly mislabelled where every learner, fitted without them, misclassifies them with high probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.best_hyperplane import BestHyperplane, FullFit
from separatrix.auditing.budget import Session
from separatrix.auditing.checks import log_odds, noise, normality
from separatrix.auditing.checks.table_checks import check_columns, check_independence
from separatrix.auditing.excerpts import excerpt
from separatrix.auditing.facts import QuantileCurve
from separatrix.auditing.learner_choice import LearnerComparison
from separatrix.auditing.phrasing import count, numbered, share
from separatrix.auditing.prediction import Prediction
from separatrix.auditing.prediction_answers import AssumptionFacts, AssumptionLine, SuspectRows
from separatrix.auditing.separation import DecidedSeparation

ORDER = {"fails": 0, "look": 1, "unknown": 2, "holds": 3}


def check(
    table: AuditTable,
    session: Session,
    prediction: Prediction,
    separation: DecidedSeparation | None,
    best: BestHyperplane | None,
    full: FullFit | None,
) -> tuple[AssumptionFacts, list[QuantileCurve]]:
    """Every assumption with its evidence, failures first, and the quantiles of the classes."""
    lines, quantiles, suspects, duplicates = list[AssumptionLine](), list[QuantileCurve](), None, 0
    with session.clock.stage("assumptions"):
        if full is not None:
            lines, duplicates = noise.check(table, full), full.duplicates
        elif separation is not None and best is not None:
            lines, duplicates = [_separable(separation.verdict)], separation.facts.contradictions.duplicates
            if _in_time(session, "normal classes"):
                normal, quantiles = normality.check(table, session.seed)
                lines += normal
            misses = [] if best.facts.mistakes is None else best.facts.mistakes.rows
            suspicion, suspects = suspect_labels(table, prediction.comparison, misses)
            lines += suspicion
            if _in_time(session, "linear log-odds"):
                lines += log_odds.check(table, session.seed, separation.verdict == "overlap")
        if _in_time(session, "full rank and equal scales"):
            lines += check_columns(table)
        if _in_time(session, "independent rows"):
            lines += check_independence(table, duplicates)
    return AssumptionFacts(sorted(lines, key=lambda line: ORDER[line.verdict]), suspects), quantiles


def _in_time(session: Session, what: str) -> bool:
    """Whether there is time left for this check; records it where there is none."""
    if not session.clock.late(1.0):
        return True
    session.clock.leave_out(f"check of the assumption: {what}", "the time budget was used up")
    return False


def _separable(verdict: str) -> AssumptionLine:
    what = ("separable classes", "A hyperplane separates the classes", "convergence of the perceptron; a hard margin")
    if verdict == "complete":
        text = "proved, see question 1; so the logistic maximum-likelihood estimate is not finite"
        return AssumptionLine(*what, text, "holds", "Use a penalty or Firth's correction for probabilities.")
    if verdict == "undecided":
        return AssumptionLine(*what, "not decided", "unknown", "")
    text = "proved that none does, see question 1"
    if verdict == "quasi":
        text += "; the logistic maximum-likelihood estimate is not finite"
    advice = "Use learners that tolerate misclassified rows: logistic regression, averaged perceptron, soft margins."
    return AssumptionLine(*what, text, "fails", advice)


SURE = 0.95  # probability of another class from which a row counts as suspect


def suspect_labels(
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
        text += f"; {count(len(rows))} of them with a probability of at least {share(SURE)} ({numbered(rows)})"
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
