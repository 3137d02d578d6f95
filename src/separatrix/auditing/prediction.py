"""Question 4: how well does it predict new rows?

A fifth of the rows is held out. Candidates are compared on the others; the chosen one, fitted on all of those, is
evaluated on the held-out rows once, and the ledger records it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.candidate_learners import Candidate, fit_on
from separatrix.auditing.compared_rows import rows_to_compare
from separatrix.auditing.learner_choice import (
    LearnerComparison,
    Metric,
    compare,
    compared_learners,
    mean_constant,
    metric_for,
    paired_differences,
    rows_to_learn,
)
from separatrix.auditing.paired_tests import estimate_facts
from separatrix.auditing.phrasing import EstimateFacts, count, plural, short
from separatrix.auditing.prediction_answers import (
    AlarmFacts,
    ClassScore,
    ConfusedClasses,
    PredictionFacts,
    SplitFacts,
    TestFacts,
)
from separatrix.errors import DataError, LedgerError
from separatrix.evaluation.holdout import Holdout, holdout
from separatrix.evaluation.results import ClassificationEvaluation

TEST = 0.2
FEWEST = 10  # rows from which learners are compared
LEAST = 40  # rows from which some are held out
PRECISION = 0.5  # share of right alarms at which recall of a rare class is reported


@dataclass(frozen=True)
class Prediction:
    """The facts of question 4, with the comparison, the fitted choice and its evaluation on held-out rows."""

    facts: PredictionFacts
    comparison: LearnerComparison | None = None
    model: Any = None  # fitted on the development rows; predicts by row numbers
    test: Any = None
    learned_from: int = 0  # rows that the choice was fitted on, and the seconds that it took
    seconds: float = 0.0

    @property
    def chosen(self) -> Candidate | None:
        return None if self.comparison is None else self.comparison.chosen


def estimate(table: AuditTable, session: Session, listed: list[Candidate], ledger: Any = None) -> Prediction:
    """Compare, choose, and evaluate the choice on the held-out rows once."""
    metric = metric_for(table)
    rows, why_not = _rows_to_judge(table, session)
    if why_not is not None:
        return Prediction(_no_estimate(table, metric, why_not))
    held = _held_out(table, session, rows, ledger)
    development = rows if held is None else _to_learn_from(table, rows, held)
    compared = rows_to_compare(table, session, development)
    if compared is None:
        why = "a class has a single row among those that may be learned from"
        if table.split_rule.by is not None:
            what = "keeping copies together" if table.split_rule.by == "copies" else f"'{table.split_rule.column}'"
            why = f"{what} leaves no two folds with every class to learn from"
        return Prediction(_no_estimate(table, metric, why))
    found = compare(table, session, listed, compared)
    if found is None:
        return Prediction(_no_estimate(table, metric, "no learner could be fitted on every fold"))
    with session.clock.stage("fit the choice"):
        sample = rows_to_learn(table, session, development)
        learned = development if sample is None else sample.rows
        model, seconds = fit_on(table, found.chosen, learned, None if sample is None else sample.weights)
    test = None if held is None else _evaluate_once(table, session, held, model)
    held_out = 0 if held is None else held.sizes["test"]
    split = SplitFacts(len(development), held_out, table.n - len(development) - held_out)
    if found.compared.sample is not None:
        fitted, judged = count(found.compared.learned_from), count(len(found.rows))
        what = f"learners are fitted on a sample of {fitted} rows and predict {judged} of {count(len(development))}"
        session.clock.leave_out("comparison on all rows", what)
    facts = _facts(table, session, found, split, test)
    return Prediction(facts, found, model, test, len(learned), seconds)


def _no_estimate(table: AuditTable, metric: Metric, why: str) -> PredictionFacts:
    return PredictionFacts(
        metric.name, _metric_class(table, metric), metric.baseline, _majority(table), no_estimate=why
    )


def _majority(table: AuditTable) -> float | None:
    return None if table.regression else float(table.counts.max() / table.n)


def _metric_class(table: AuditTable, metric: Metric) -> str | None:
    return None if metric.label is None else table.labels[_code(table, metric.label)]


def _code(table: AuditTable, label: Any) -> int:
    return int(np.flatnonzero(table.classes == label)[0])


def _facts(
    table: AuditTable, session: Session, found: LearnerComparison, split: SplitFacts, test: Any
) -> PredictionFacts:
    metric = found.metric
    judged = test if test is not None else found.runs[found.chosen.name].pooled
    return PredictionFacts(
        metric.name,
        _metric_class(table, metric),
        mean_constant(table, found),
        _majority(table),
        found.compared.folds,
        len(found.rows),
        found.compared.learned_from,
        compared_learners(found),
        found.not_compared,
        paired_differences(table, found, session.level),
        found.chosen.name,
        found.chosen_by,
        found.within_one_error,
        split,
        None if test is None else _test_facts(test),
        _alarms(table, session, found),
        _class_scores(table, judged, by_number=test is not None),
        _confused(table, judged, by_number=test is not None),
        found.by_metric,
        found.by_ranking,
    )


def _test_facts(test: Any) -> TestFacts:
    openings = test.openings
    earlier = openings.times - int(openings.reread)  # without the first reading of the same predictions
    estimates = {name: estimate_facts(e) for name, e in test.metrics.items()}
    return TestFacts(test.n, estimates, earlier, round(openings.before * openings.rows) if earlier else 0)


def _alarms(table: AuditTable, session: Session, found: LearnerComparison) -> AlarmFacts | None:
    """How many rows of a rare class are found when half of the alarms are right, in the folds."""
    from separatrix.statistics.distributions import wilson

    pooled = found.runs[found.chosen.name].pooled
    if found.metric.name != "average_precision" or not isinstance(pooled, ClassificationEvaluation):
        return None
    curve = pooled.precision_recall_curve()
    total = int(np.count_nonzero(table.codes[found.rows] == _code(table, found.metric.label)))
    recall = float(np.max(curve.recall[curve.precision >= PRECISION], initial=0.0))
    hits = round(recall * total)
    low, high = wilson(hits, total, session.level)
    label = _metric_class(table, found.metric) or ""
    return AlarmFacts(label, PRECISION, hits, total, EstimateFacts(recall, float(low), float(high)))


def _class_scores(table: AuditTable, judged: Any, by_number: bool) -> list[ClassScore]:
    if not isinstance(judged, ClassificationEvaluation):
        return []
    out = []
    for k, label in enumerate(judged.classes.tolist()):
        code = int(label) if by_number else _code(table, label)
        own = judged.per_class[label]
        rows = int(judged.confusion[k].sum())
        scores = estimate_facts(own["precision"]), estimate_facts(own["recall"])
        out.append(ClassScore(table.labels[code], rows, *scores))
    return out


def _confused(table: AuditTable, judged: Any, by_number: bool) -> list[ConfusedClasses]:
    """The two pairs of classes that are confused most often, of more than two."""
    if table.binary or not isinstance(judged, ClassificationEvaluation):
        return []
    codes = [int(own) if by_number else _code(table, own) for own in judged.classes.tolist()]
    wrong = np.array(judged.confusion, dtype=np.int64)
    np.fill_diagonal(wrong, 0)
    out = []
    for flat in np.argsort(-wrong, axis=None, kind="stable")[:2].tolist():
        true, said = divmod(flat, wrong.shape[1])
        if wrong[true, said]:
            out.append(ConfusedClasses(table.labels[codes[true]], table.labels[codes[said]], int(wrong[true, said])))
    return out


def _rows_to_judge(table: AuditTable, session: Session) -> tuple[NDArray[np.intp], str | None]:
    """Rows whose class has at least two of them; and why that is not enough, if so."""
    everyone = np.arange(table.n)
    if table.n < FEWEST:
        return everyone, f"{plural(table.n, 'row')} are too few for cross-validation"
    if table.regression:
        return everyone, None
    lone = np.flatnonzero(table.counts < 2)
    if not len(lone):
        return everyone, None
    kept = np.flatnonzero(~np.isin(table.codes, lone))
    names = ", ".join(table.labels[k] for k in lone[:4].tolist())
    why = "a single row cannot be both learned from and predicted"
    if len(table.classes) - len(lone) < 2:
        return kept, f"class {names} has a single row: {why}"
    session.clock.leave_out("rows of classes with a single row", f"{names}: {why}")
    return kept, None


def _held_out(table: AuditTable, session: Session, rows: NDArray[np.intp], ledger: Any) -> Holdout | None:
    """A fifth of the rows, of copies one; None where there are too few."""
    rule = table.split_rule.of(rows)
    if table.copies is not None:
        rows, rule = rows[np.sort(np.unique(table.copies.groups[rows], return_index=True)[1])], {}
    codes = None if table.regression else table.codes[rows]
    least = len(rows) if codes is None else int(np.bincount(codes)[np.unique(codes)].min())
    if len(rows) < LEAST or least < 5:
        reason = f"{plural(len(rows), 'row')}" if len(rows) < LEAST else f"a class of {plural(least, 'row')}"
        session.clock.leave_out("a held-out test set", f"{reason}: too few to set any aside")
        return None
    try:
        held = holdout(
            rows.reshape(-1, 1),
            table.task.y[rows] if codes is None else codes,
            test=TEST,
            validation=0,
            stratify=not table.regression,
            ids=table.marks[rows].astype(np.float64),
            random_state=session.seed,
            ledger=ledger,
            **rule,
        )
    except DataError as error:
        session.clock.leave_out("a held-out test set", short(str(error), 200))
        return None
    if codes is not None and len(np.unique(held.development[1])) < len(np.unique(codes)):
        session.clock.leave_out("a held-out test set", "one of the classes would be in it alone")
        return None
    return held


def _to_learn_from(table: AuditTable, rows: NDArray[np.intp], held: Holdout) -> NDArray[np.intp]:
    """The rows that were not held out, with their copies, and no copy of one that was."""
    kept = held.development[0][:, 0]
    if table.copies is None:
        return np.asarray(kept)
    groups = table.copies.groups
    return rows[np.isin(groups[rows], groups[kept])]


def _evaluate_once(table: AuditTable, session: Session, held: Holdout, model: Any) -> Any:
    """The chosen model on the held-out rows; None where the ledger cannot record it."""
    with session.clock.stage("evaluate on held-out rows"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return held.open_test(
                model if table.regression else _ClassesByNumber(model, table.classes),
                positive=_code(table, metric_for(table).label) if table.binary else None,
                level=session.level,
                note=f"audit of {short(table.task.source.name, 60)}",
            )
        except LedgerError as error:
            session.clock.leave_out("the held-out test set", f"it stays unused: {short(str(error), 200)}")
            return None


class _ClassesByNumber:
    """A model whose classes are numbers, as the held-out rows have them."""

    def __init__(self, model: Any, classes: NDArray[Any]) -> None:
        self.model, self.classes = model, classes
        self.classes_ = np.searchsorted(classes, model.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(np.searchsorted(self.classes, self.model.predict(X)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)
