"""Question 5: which assumptions does that need, and do they hold on this table?"""

from __future__ import annotations

from separatrix.arrays import Floats
from separatrix.auditing.best_hyperplane import BestHyperplane
from separatrix.auditing.budget import Session
from separatrix.auditing.checks import design, independence, labels, log_odds, noise, normality
from separatrix.auditing.conclusion_facts import AssumptionFacts, AssumptionLine
from separatrix.auditing.picture_facts import QuantileCurve
from separatrix.auditing.prediction import Prediction
from separatrix.auditing.separation import DecidedSeparation
from separatrix.auditing.table import AuditTable

ORDER = {"fails": 0, "look": 1, "unknown": 2, "holds": 3}


def check_classification(
    table: AuditTable,
    session: Session,
    separation: DecidedSeparation,
    best: BestHyperplane,
    prediction: Prediction,
) -> tuple[AssumptionFacts, list[QuantileCurve]]:
    """Every assumption with its evidence, and the quantiles of the classes."""
    with session.clock.stage("assumptions"):
        normal, quantiles = normality.check(table, session.seed) if _in_time(session, "normal classes") else ([], [])
        misses = [] if best.facts.mistakes is None else best.facts.mistakes.rows
        suspicion, suspects = labels.check(table, prediction.comparison, misses)
        lines = [
            _separable(separation.verdict),
            *normal,
            *suspicion,
        ]
        if _in_time(session, "linear log-odds"):
            lines += log_odds.check(table, session.seed, separation.verdict == "overlap")
        if _in_time(session, "full rank and equal scales"):
            lines += design.check(table)
        if _in_time(session, "independent rows"):
            lines += independence.check(table, separation.facts.contradictions.duplicates)
    return AssumptionFacts(_sorted(lines), suspects), quantiles


def check_regression(
    table: AuditTable, session: Session, residuals: Floats, fitted: Floats, duplicates: int
) -> AssumptionFacts:
    """The same for a quantity."""
    with session.clock.stage("assumptions"):
        lines = noise.check(table, residuals, fitted)
        if _in_time(session, "full rank and equal scales"):
            lines += design.check(table)
        if _in_time(session, "independent rows"):
            lines += independence.check(table, duplicates)
    return AssumptionFacts(_sorted(lines), None)


def _in_time(session: Session, what: str) -> bool:
    """Whether there is time left for this check; records it where there is none."""
    if not session.clock.late(1.0):
        return True
    session.clock.leave_out(f"check of the assumption: {what}", "the time budget was used up")
    return False


def _sorted(lines: list[AssumptionLine]) -> list[AssumptionLine]:
    """Failures first."""
    return sorted(lines, key=lambda line: ORDER[line.verdict])


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
