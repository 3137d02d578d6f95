"""Question 2: what is the best hyperplane, and is it unique?

Separable classes: the maximum margin, between proved bounds. Others: the minimum number of mistakes, bracketed by a
proof. And which coefficients of the logistic maximum-likelihood estimate are infinite. A quantity: how well least
squares fits.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.excerpts import excerpt
from separatrix.auditing.fitted_hyperplanes import FittedLearners
from separatrix.auditing.hyperplane_answers import (
    BestFacts,
    ClassMargin,
    CoefficientFates,
    ExactFitFacts,
    InfiniteCoefficient,
    LeastSquaresFacts,
    MarginFacts,
    MistakeFacts,
    ProvedBracket,
)
from separatrix.auditing.minimum_mistakes import FoundMistakes, bracket_mistakes
from separatrix.auditing.separation import DecidedSeparation
from separatrix.errors import CertificateError
from separatrix.proofs.margin.margin import Margin, margin, margin_between

LISTED = 10_000  # row numbers kept
FRAGILE = 0.01  # of a standard deviation: a margin that a change of the next digit could close


@dataclass(frozen=True)
class BestHyperplane:
    """The facts of question 2, with the proofs behind them."""

    facts: BestFacts
    margin: Margin | None = None  # in the units of the columns
    standardised: Margin | None = None
    mistakes: FoundMistakes | None = None


def find(table: AuditTable, session: Session, separation: DecidedSeparation) -> BestHyperplane:
    """The maximum margin of separable classes, and the fate of the logistic estimate."""
    fates = _coefficient_fates(session, separation)
    if not table.binary:
        return _many_classes(table, session, separation, fates)
    if separation.verdict == "complete":
        return _maximum_margin(table, session, separation, fates)
    return BestHyperplane(BestFacts(None, None, fates, [], None))


def with_mistakes(
    table: AuditTable, session: Session, separation: DecidedSeparation, best: BestHyperplane, fitted: FittedLearners
) -> BestHyperplane:
    """The same with the minimum number of mistakes, of two classes that cannot be separated."""
    if not table.binary or separation.verdict == "complete":
        return best
    with session.clock.stage("minimum number of mistakes"):
        found = bracket_mistakes(table, session, separation, fitted)
    rows = found.rows.tolist()
    mistakes = MistakeFacts(
        found.lower,
        found.upper,
        rows[:LISTED],
        excerpt(table, rows, even=True),
        found.packed,
        found.labelings,
        found.seconds,
        found.upper == found.lower == 1 == found.labelings and found.swapped,
        found.swapped,
    )
    return replace(best, facts=replace(best.facts, mistakes=mistakes), mistakes=found)


def _maximum_margin(
    table: AuditTable, session: Session, separation: DecidedSeparation, fates: CoefficientFates
) -> BestHyperplane:
    if not session.plan.margins or session.clock.late(0.6):
        why = "too many rows and columns for this budget" if not session.plan.margins else "too little time was left"
        session.clock.leave_out("the maximum margin", why)
        return BestHyperplane(BestFacts(None, None, fates, [], why))
    with session.clock.stage("maximum margin"):
        raw = margin_between(separation.given, [table.positive], [1 - table.positive], False).accepted()
        scaled = raw if table.sparse else margin(table.standardised, table.signs).accepted()
    support = np.sort(np.asarray(raw.support)).tolist()
    facts = MarginFacts(
        raw.lower,
        raw.upper,
        None if table.sparse else ProvedBracket(scaled.lower, scaled.upper),
        support,
        excerpt(table, support, even=True),
        bool(scaled.upper < FRAGILE) and not table.whole_numbers,
        raw.seconds,
    )
    return BestHyperplane(BestFacts(facts, None, fates, [], None), raw, scaled)


def _coefficient_fates(session: Session, separation: DecidedSeparation) -> CoefficientFates:
    """What the logistic estimate does at each coefficient, decided exactly where that is affordable."""
    found = separation.binary
    if found is None or separation.verdict == "undecided":
        return CoefficientFates(None)
    if separation.verdict == "overlap":
        return CoefficientFates(True)
    what = "which coefficients are infinite"
    if not session.plan.coefficient_fates or session.clock.late(0.5):
        many = not session.plan.coefficient_fates
        session.clock.leave_out(what, "too many to decide one by one" if many else "too little time was left")
        return CoefficientFates(False)
    with session.clock.stage("coefficients"):
        try:
            decided = {name: str(fate) for name, fate in found.coefficients.items()}
            for name in (name for name, fate in decided.items() if fate in ("+inf", "-inf")):
                found.coefficients[name].accepted()
        except CertificateError as error:
            session.clock.leave_out(what, str(error))
            return CoefficientFates(False)
    counts: dict[str, int] = {}
    for fate in decided.values():
        counts[fate] = counts.get(fate, 0) + 1
    infinite = [InfiniteCoefficient(name, fate) for name, fate in decided.items() if fate in ("+inf", "-inf")]
    return CoefficientFates(False, counts, infinite, decided)


def _many_classes(
    table: AuditTable, session: Session, separation: DecidedSeparation, fates: CoefficientFates
) -> BestHyperplane:
    """More than two classes: a margin for every class that one hyperplane separates from the rest."""
    separable = [part.label for part in separation.facts.classes if part.verdict == "complete"]
    margins = []
    if session.plan.allows(len(separable) * 2e-7 * table.cells, 0.2):
        with session.clock.stage("maximum margin"):
            for label in separable:
                found = margin(table.rows, np.where(table.codes == table.labels.index(label), 1, -1))
                margins.append(ClassMargin(label, found.lower, found.upper))
    elif separable:
        session.clock.leave_out("margins of the classes", "too many rows for this budget")
    why = None
    if separation.verdict != "complete":
        why = "the minimum number of mistakes is computed for two classes only"
        session.clock.leave_out("the minimum number of mistakes", "it is computed for two classes only")
    return BestHyperplane(BestFacts(None, None, fates, margins, why))


def standardised_hyperplane(table: AuditTable, coef: Floats, intercept: float) -> tuple[Floats, float]:
    """A hyperplane of the rows as one of standardised rows."""
    mean, deviation = table.rows.mean(axis=0), table.rows.std(axis=0)
    return coef * deviation, float(intercept + coef @ mean)


@dataclass(frozen=True)
class FullFit:
    """Least squares on all rows."""

    exact_fit: ExactFitFacts
    best: LeastSquaresFacts
    residuals: Floats
    fitted: Floats
    duplicates: int


def fit_all_rows(table: AuditTable, session: Session) -> FullFit:
    """The fit, its R², rank and dependent columns."""
    from separatrix.models.least_squares.least_squares import LeastSquares

    with session.clock.stage("least squares"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LeastSquares().fit(table.rows, table.task.y)
    y, fitted = table.task.y, np.asarray(model.predict(table.rows))
    residuals, spread = y - fitted, float(((y - y.mean()) ** 2).sum())
    r2 = 1 - float(residuals @ residuals) / spread if spread > 0 else 1.0
    rank = int(model.rank_)
    exact = ExactFitFacts(rank >= table.n or r2 > 1 - 1e-12, r2, rank)
    dependent = [table.names[j] for j in model.dependent_columns_]
    duplicates = table.n - len(np.unique(table.marks))
    return FullFit(exact, LeastSquaresFacts(rank, dependent), residuals, fitted, duplicates)
