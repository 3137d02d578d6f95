"""Question 4, first half: candidates compared by cross-validation, and the choice among those that were compared.

Of the learners within one standard error of the best the first in the order of preference is chosen (Breiman,
Friedman, Olshen & Stone 1984). A learner that did not finish every fold is not compared and is never a reason to
recommend another one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import FOLDS, OutOfTime, Session
from separatrix.auditing.candidate_learners import Candidate, in_folds
from separatrix.auditing.phrasing import EstimateFacts, count, short
from separatrix.auditing.prediction_answers import ComparedLearner, NotCompared, PairedDifference
from separatrix.errors import DataError, SeparatrixError
from separatrix.evaluation.cross_validation import CrossValidation, cross_validate
from separatrix.evaluation.fold_assignment import folds_for
from separatrix.evaluation.intervals import Estimate, holm, paired
from separatrix.statistics.distributions import quantile

FEWEST_COMPARED = 500  # rows on which a first comparison is never cut
LEAST_FIT = 0.1  # share of the budget that fitting the choice may always take
IMBALANCED = 0.8  # share of the most common class from which accuracy does not rank learners


@dataclass(frozen=True)
class Metric:
    """What learners are ranked by, and its value for the best constant prediction."""

    name: str
    baseline: float
    label: Any = None  # the class that it refers to, of two
    greater_is_better: bool = True


def metric_for(table: AuditTable) -> Metric:
    """RMSE, accuracy, or for imbalanced classes average precision of the rare one (two) or balanced accuracy."""
    if table.regression:
        return Metric("rmse", float(table.task.y.std()), greater_is_better=False)
    majority = float(table.counts.max() / table.n)
    if majority < IMBALANCED:
        return Metric("accuracy", majority, table.task.positive if table.binary else None)
    if not table.binary:
        return Metric("balanced_accuracy", 1 / len(table.classes))
    rare = int(table.counts.argmin())
    return Metric("average_precision", float(table.counts[rare] / table.n), table.classes[rare])


def estimate_facts(e: Estimate) -> EstimateFacts:
    """An estimate as plain numbers; None where it is undefined."""
    return EstimateFacts(*(float(v) if math.isfinite(v) else None for v in (e.value, e.low, e.high)))


@dataclass(frozen=True)
class LearnerComparison:
    """The cross-validations that ended, the learners that did not, and the choice."""

    metric: Metric
    folds: int
    rows: NDArray[np.intp]
    runs: dict[str, CrossValidation]
    not_compared: list[NotCompared]
    chosen: Candidate
    within_one_error: list[str]


def compare(
    table: AuditTable, session: Session, listed: list[Candidate], rows: NDArray[np.intp], folds: int
) -> LearnerComparison | None:
    """Every candidate on the same folds, the safe choice first; None where none could be fitted.

    If the first one is too slow, all are compared on fewer rows, so that there is an answer in time.
    """
    metric, clock = metric_for(table), session.clock
    runs: dict[str, CrossValidation] = {}
    not_compared = []
    until = clock.spent + clock.part(0.5)
    for candidate in sorted(listed, key=lambda c: not c.safe):
        with clock.stage("compare learners"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if runs:
                    in_time = _until(session, until)
                    runs[candidate.name] = _cross_validated(table, session, candidate, rows, folds, metric, in_time)
                else:
                    rows, runs[candidate.name] = _first(table, session, candidate, rows, folds, metric)
            except SeparatrixError as error:
                not_compared.append(NotCompared(candidate.name, short(str(error), 300)))
    if not runs:
        return None
    chosen, close = _choice(listed, runs, metric)
    return LearnerComparison(metric, folds, rows, runs, not_compared, chosen, close)


InTime = Callable[[int, int], None]


def _until(session: Session, until: float) -> InTime:
    """Stop between two folds when this moment is over; nothing is begun after it."""
    if session.clock.spent > until:
        raise OutOfTime("not started within the time budget")

    def in_time(done: int, total: int) -> None:
        if done < total and session.clock.spent > until:
            raise OutOfTime(f"did not finish within the time budget ({done} of {total} folds)")

    return in_time


def _first(
    table: AuditTable, session: Session, candidate: Candidate, rows: NDArray[np.intp], folds: int, metric: Metric
) -> tuple[NDArray[np.intp], CrossValidation]:
    """The first cross-validation, on fewer rows if its folds take too long; few rows are never cut."""
    clock = session.clock
    began, seconds = clock.spent, clock.part(0.3)
    share = 1.0

    def in_time(done: int, total: int) -> None:
        nonlocal share
        expected = (clock.spent - began) * total / done
        if done < total and expected > 2 * seconds:
            share = seconds / expected
            raise OutOfTime(f"would take {expected:.1f} seconds")

    while (fewest := _fewer(table, session, rows, folds, FEWEST_COMPARED)) is not None:
        try:
            return rows, _cross_validated(table, session, candidate, rows, folds, metric, in_time)
        except OutOfTime:
            fewer = _fewer(table, session, rows, folds, max(FEWEST_COMPARED, int(share * len(rows))))
            rows, began = fewest if fewer is None else fewer, clock.spent
    return rows, _cross_validated(table, session, candidate, rows, folds, metric, None)


def _fewer(
    table: AuditTable, session: Session, rows: NDArray[np.intp], folds: int, most: int
) -> NDArray[np.intp] | None:
    """A sample of the rows that can be split into as many folds; None where there is none."""
    if len(rows) <= most:
        return None
    sample = _sample(table, np.random.default_rng(session.seed), rows, most)
    return sample if 2 * len(sample) <= len(rows) and usable_folds(table, session, sample) == folds else None


def _cross_validated(
    table: AuditTable,
    session: Session,
    candidate: Candidate,
    rows: NDArray[np.intp],
    folds: int,
    metric: Metric,
    in_time: InTime | None,
) -> CrossValidation:
    learner, X = in_folds(table, candidate)
    return cross_validate(
        learner,
        X[rows],
        table.task.y[rows],
        folds=folds,
        positive=metric.label if table.binary else None,
        level=session.level,
        random_state=session.seed,
        progress=in_time,
        **table.split_rule.of(rows),
    )


def _choice(listed: list[Candidate], runs: dict[str, CrossValidation], metric: Metric) -> tuple[Candidate, list[str]]:
    """The first candidate within one standard error of the best, and all that are."""
    sign = 1 if metric.greater_is_better else -1
    compared = [own for own in listed if own.name in runs]
    known = [own for own in compared if runs[own.name][metric.name].defined]
    if not known:
        return compared[0], [own.name for own in compared]
    best = max(known, key=lambda own: sign * runs[own.name][metric.name].value)
    enough = sign * runs[best.name][metric.name].value - standard_error(runs[best.name][metric.name])
    close = [own for own in known if sign * runs[own.name][metric.name].value >= enough]
    return close[0], [own.name for own in close]


def standard_error(e: Estimate) -> float:
    """One standard error, read off the interval."""
    return (e.high - e.low) / (2 * quantile(e.level)) if e.has_interval else 0.0


def rows_to_compare(table: AuditTable, session: Session, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """All rows, or a sample where the budget is short; every row of a rare class stays."""
    most = session.plan.comparison_rows
    return rows if len(rows) <= most else _sample(table, np.random.default_rng(session.seed), rows, most)


def rows_to_learn(
    table: AuditTable, session: Session, found: LearnerComparison, rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """All rows, or a sample where the choice, as slow as it was in its folds, would take too long on all."""
    run, clock = found.runs[found.chosen.name], session.clock
    expected = run.seconds * len(rows) / sum(fold.learned_from for fold in run.results)
    seconds = max(clock.part(0.4), LEAST_FIT * clock.budget)
    if len(found.rows) == len(rows) or expected <= seconds:
        return rows
    most = max(len(found.rows), int(len(rows) * seconds / expected))
    if most >= len(rows):
        return rows
    sample = _sample(table, np.random.default_rng(session.seed), rows, most)
    what = f"{found.chosen.name} was fitted on a sample of {count(len(sample))} of {count(len(rows))} rows"
    clock.leave_out("a fit on all training rows", what)
    return sample


def _sample(table: AuditTable, rng: np.random.Generator, rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """So many rows of every class in proportion, but 500 of each where it has them and room is left."""
    if table.regression:
        return np.sort(rng.choice(rows, most, replace=False))
    codes = table.codes[rows]
    totals = np.bincount(codes, minlength=len(table.classes))
    classes = int(np.count_nonzero(totals))
    least = min(500, max(50, most // classes))
    kept = []
    for k, total in enumerate(totals.tolist()):
        wanted = max(round(most / len(rows) * total), least)
        kept.append(rng.choice(rows[codes == k], min(total, wanted), replace=False))
    return np.sort(np.concatenate(kept))


def usable_folds(table: AuditTable, session: Session, rows: NDArray[np.intp]) -> int | None:
    """Five folds, or as many as classes, groups and moments allow; None for less than two."""
    most = min(FOLDS, len(rows))
    if not table.regression:
        counts = np.bincount(table.codes[rows], minlength=len(table.classes))
        most = min(most, int(counts[counts > 0].min()))
    rule = {"groups": None, "time": None} | table.split_rule.of(rows)
    if table.split_rule.by is None:
        return most if most >= 2 else None
    for folds in range(most, 1, -1):
        try:
            y = table.task.y[rows]
            folds_for(len(rows), folds, 1, y, True, rule["groups"], rule["time"], session.seed, table.regression)
        except DataError:
            continue
        return folds
    return None


def compared_learners(found: LearnerComparison) -> list[ComparedLearner]:
    """The estimates of each learner, the best first."""
    return [
        ComparedLearner(
            name,
            {key: estimate_facts(e) for key, e in found.runs[name].estimates.items()},
            [float(v) if math.isfinite(v) else None for v in found.runs[name].fold_values[found.metric.name]],
            dict(found.runs[name].methods),
            name == found.chosen.name,
        )
        for name in _ranked(found)
    ]


def _ranked(found: LearnerComparison) -> list[str]:
    sign = 1 if found.metric.greater_is_better else -1
    values = {name: sign * run[found.metric.name].value for name, run in found.runs.items()}
    return sorted(values, key=lambda name: (math.isnan(values[name]), -values[name]))


def paired_differences(found: LearnerComparison, level: float) -> list[PairedDifference]:
    """Every pair on the same folds (Nadeau & Bengio 2003), with Holm's correction for all pairs."""
    first = next(iter(found.runs.values()))
    ratio = float(np.mean([len(fold.rows) / fold.learned_from for fold in first.results[: first.folds]]))
    made = []
    for a, b in combinations(_ranked(found), 2):
        gaps = found.runs[a].fold_values[found.metric.name] - found.runs[b].fold_values[found.metric.name]
        made.append((a, b, *paired(gaps, ratio, level)))
    adjusted = holm([p for _, _, _, p in made])

    def known(p: float) -> float | None:
        return float(p) if math.isfinite(p) else None

    return [
        PairedDifference(a, b, estimate_facts(e), known(p), known(q))
        for (a, b, e, p), q in zip(made, adjusted, strict=True)
    ]
