"""Question 1: can a hyperplane separate the classes? The verdict, its proof, and the rows that decide it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import PROOFS, Session
from separatrix.auditing.excerpts import excerpt
from separatrix.auditing.facts import Contradictions, LabelledRow
from separatrix.auditing.hyperplane_answers import ClassVerdict, HyperplaneFacts, NamedCoefficient, SeparationFacts
from separatrix.auditing.phrasing import plural
from separatrix.proofs.separability.multiclass import MulticlassSeparability, multiclass_separability
from separatrix.proofs.separability.verdict import Given, Separability, counted

KESLER_ROWS = 100_000  # rows times other classes, up to which all classes are decided at once
CONTRADICTIONS = 8  # groups of equal rows shown
STRONGEST = 12  # coefficients shown of a hyperplane
LEAK_CELLS = 20_000_000  # up to which the table is decided again with the columns set aside


@dataclass(frozen=True)
class DecidedSeparation:
    """The facts of question 1, with the proofs that later questions build on."""

    facts: SeparationFacts
    given: Given
    binary: Separability | None = None
    each: MulticlassSeparability | None = None
    together: Separability | None = None

    @property
    def verdict(self) -> str:
        return self.facts.verdict


def given_rows(table: AuditTable, X: Any = None, names: list[str] | None = None) -> Given:
    """The rows as proofs take them."""
    called = None if names is None else tuple(names)
    rows, labels, origin, source = counted(table.rows if X is None else X, table.codes, None, called)
    return Given(rows, labels, origin, source, True, "binary64")


def decide(table: AuditTable, session: Session) -> DecidedSeparation:
    """Decide and prove."""
    given = given_rows(table, names=table.names)
    if not table.binary:
        return _many_classes(table, session, given)
    found = given.two_groups([table.positive], [1 - table.positive]).accepted()
    facts = SeparationFacts(
        verdict=found.verdict,
        witness=found.witness.tolist(),
        witness_class=None,
        excerpt=excerpt(table, found.witness.tolist(), even=True),
        strict_rows=len(found.strict_rows),
        tied_rows=len(found.tied_rows),
        hyperplane=_hyperplane(table, found.coef, found.intercept),
        classes=[],
        jointly=False,
        contradictions=_contradictions(table),
        with_leaks=_with_leaks(table),
        tried=list(found.tried),
    )
    return DecidedSeparation(facts, given, binary=found)


def _hyperplane(table: AuditTable, coef: Floats | None, intercept: float | None) -> HyperplaneFacts | None:
    """The coefficients with the largest effect of one standard deviation."""
    if coef is None or intercept is None:
        return None
    effect = np.abs(coef) * table.spreads
    order = np.argsort(-effect, kind="stable")[: min(STRONGEST, int(np.count_nonzero(effect)))]
    features = [NamedCoefficient(table.names[j], float(coef[j]), float(effect[j])) for j in order.tolist()]
    return HyperplaneFacts(features, float(intercept), int(np.count_nonzero(coef)))


def _contradictions(table: AuditTable) -> Contradictions:
    """Rows that are equal in every feature but not in the target."""
    _, group = np.unique(table.marks, return_inverse=True)
    times = np.bincount(group)
    first = np.full(len(times), len(table.classes))
    np.minimum.at(first, group, table.codes)
    last = np.zeros(len(times), dtype=np.intp)
    np.maximum.at(last, group, table.codes)
    mixed = np.flatnonzero(first != last)
    rows = np.flatnonzero(np.isin(group, mixed))
    by_group: dict[int, list[int]] = {}
    for i in rows.tolist():
        by_group.setdefault(int(group[i]), []).append(i)
    listed = sorted(by_group.values())[:CONTRADICTIONS]
    shown = [[LabelledRow(i, table.labels[int(table.codes[i])]) for i in members[:8]] for members in listed]
    return Contradictions(len(mixed), len(rows), int(table.n - len(times)), shown)


def _with_leaks(table: AuditTable) -> str | None:
    """The verdict with the columns that were set aside; None where there are none, or too many cells."""
    if not table.set_aside or table.frame is None or table.n * len(table.frame.columns) > LEAK_CELLS:
        return None
    from separatrix.features.encoder import Encoder

    dropped = tuple(name for name in table.choices.drop if name not in table.set_aside)
    encoder = Encoder.fitted(table.frame, replace(table.choices, drop=dropped))
    given = given_rows(table, encoder.encode(table.frame)[0])
    return given.two_groups([table.positive], [1 - table.positive]).accepted().verdict


def _many_classes(table: AuditTable, session: Session, given: Given) -> DecidedSeparation:
    """More than two classes: each against the rest, and all at once, as far as their share of the budget allows."""
    parts = _each_class(table, session, given)
    verdicts = []
    for label, name, rows in zip(table.classes.tolist(), table.labels, table.counts.tolist(), strict=True):
        part = parts.get(label)
        found = ("undecided", [], 0) if part is None else (part.verdict, part.witness.tolist(), len(part.strict_rows))
        verdicts.append(ClassVerdict(name, rows, *found))
    each = MulticlassSeparability("ovr", parts)
    together, k = None, len(table.classes)
    why = None
    if table.n * (k - 1) > KESLER_ROWS or not session.plan.classes_together(k):
        why = "too many rows and classes for this budget; each class was compared with the rest"
    elif session.clock.late(PROOFS):
        why = "the clock cut it; each class was compared with the rest"
    if why is None:
        together = multiclass_separability(given, "kesler").accepted().parts["all"]
    else:
        session.clock.leave_out("separating all classes at once", why)
    inseparable = next((part for part in verdicts if part.verdict in ("quasi", "overlap")), None)
    witness = [] if inseparable is None else inseparable.witness
    facts = SeparationFacts(
        verdict=_verdict_of(verdicts) if together is None else together.verdict,
        witness=witness,
        witness_class=None if inseparable is None else inseparable.label,
        excerpt=excerpt(table, witness, even=True),
        strict_rows=None if together is None else len(together.strict_rows),
        tied_rows=None if together is None else len(together.tied_rows),
        hyperplane=None,
        classes=verdicts,
        jointly=together is not None,
        contradictions=_contradictions(table),
        with_leaks=None,
        tried=[],
    )
    return DecidedSeparation(facts, given, each=each, together=together)


def _each_class(table: AuditTable, session: Session, given: Given) -> dict[Any, Separability]:
    """Each class against the rest, in their order: all of them, or the first ones that proofs have time for."""
    classes, parts = table.classes.tolist(), dict[Any, Separability]()
    planned = session.plan.classes_apart(len(classes))
    for k, label in enumerate(classes):
        if k >= planned or (k and session.clock.late(PROOFS)):
            why = "too many rows and classes for this budget" if k >= planned else "the clock cut it"
            what = f"separating {plural(len(classes) - k, 'class', 'classes')} of {len(classes)} from the rest"
            session.clock.leave_out(what, why)
            break
        parts[label] = given.two_groups([k], None).accepted()
    return parts


def _verdict_of(verdicts: list[ClassVerdict]) -> str:
    """The weakest verdict of the classes: one that overlaps decides it, whatever the undecided ones are."""
    found = {part.verdict for part in verdicts}
    return next(verdict for verdict in ("overlap", "undecided", "quasi", "complete") if verdict in found)
