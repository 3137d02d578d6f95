"""Question 4, first half: candidates compared by cross-validation, and the choice among those that were compared.

Learners that are shown to be better than the best constant prediction come before others, then those that are shown to
rank rows. Of the learners within one standard error of the best of these the first in the order of preference is chosen
(Breiman, Friedman, Olshen & Stone 1984). A learner that did not finish every fold is not compared and is never a reason
to recommend another one.
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
from separatrix.auditing.budget import OutOfTime, Session
from separatrix.auditing.candidate_learners import Candidate, in_folds
from separatrix.auditing.compared_rows import FEWEST_COMPARED, ComparedRows, Sample, draw
from separatrix.auditing.paired_tests import (
    against_constant,
    constant_values,
    difference,
    estimate_facts,
    ranking_metric,
)
from separatrix.auditing.phrasing import count, short
from separatrix.auditing.prediction_answers import (
    LOWER_IS_BETTER,
    AgainstConstant,
    ComparedLearner,
    NotCompared,
    PairedDifference,
)
from separatrix.errors import SeparatrixError
from separatrix.evaluation.cross_validation import CrossValidation, cross_validate
from separatrix.evaluation.intervals import Estimate, holm
from separatrix.statistics.distributions import quantile

IMBALANCED = 0.8  # share of the most common class from which accuracy does not rank learners


@dataclass(frozen=True)
class Metric:
    """What learners are compared by, and its value for the best constant prediction."""

    name: str
    baseline: float
    label: Any = None  # the class that it refers to, of two

    @property
    def sign(self) -> int:
        return -1 if self.name in LOWER_IS_BETTER else 1


def metric_for(table: AuditTable) -> Metric:
    """RMSE, accuracy, or for imbalanced classes average precision of the rare one (two) or balanced accuracy."""
    if table.regression:
        return Metric("rmse", float(table.task.y.std()))
    majority = float(table.counts.max() / table.n)
    if majority < IMBALANCED:
        return Metric("accuracy", majority, table.task.positive if table.binary else None)
    if not table.binary:
        return Metric("balanced_accuracy", 1 / len(table.classes))
    rare = int(table.counts.argmin())
    return Metric("average_precision", float(table.counts[rare] / table.n), table.classes[rare])


@dataclass(frozen=True)
class LearnerComparison:
    """The cross-validations that ended, the learners that did not, and the choice.

    ``by_metric`` and ``by_ranking`` hold every learner against the best constant prediction.
    """

    metric: Metric
    compared: ComparedRows
    runs: dict[str, CrossValidation]
    not_compared: list[NotCompared]
    chosen: Candidate
    chosen_by: str
    within_one_error: list[str]
    by_metric: list[AgainstConstant]
    by_ranking: list[AgainstConstant]

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows that were predicted."""
        return self.compared.rows


def compare(
    table: AuditTable, session: Session, listed: list[Candidate], compared: ComparedRows
) -> LearnerComparison | None:
    """Every candidate on the same folds, the safe choice first; None where none could be fitted.

    If the clock cuts the first one, all are fitted on fewer rows, so that there is an answer in time.
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
                    runs[candidate.name] = _cross_validated(table, session, candidate, compared, metric, in_time)
                else:
                    compared, runs[candidate.name] = _first(table, session, candidate, compared, metric)
            except SeparatrixError as error:
                cut = isinstance(error, OutOfTime)
                not_compared.append(NotCompared(candidate.name, short(str(error).rstrip("."), 300), cut))
    if not runs:
        return None
    code = int(np.flatnonzero(table.classes == metric.label)[0]) if metric.label is not None else None
    tests, ranking = (
        against_constant(table, compared.rows, runs, metric.name, code, session.level),
        ranking_metric(table),
    )
    ranked = [] if ranking is None else against_constant(table, compared.rows, runs, ranking, code, session.level)
    return LearnerComparison(
        metric, compared, runs, not_compared, *_choice(listed, runs, metric, tests, ranked), tests, ranked
    )


InTime = Callable[[int, int], None]


def _until(session: Session, until: float) -> InTime:
    """Stop between two folds when this moment is over; nothing is begun after it."""
    if session.clock.spent > until:
        raise OutOfTime("the clock ended the comparison before it")

    def in_time(done: int, total: int) -> None:
        if done < total and session.clock.spent > until:
            raise OutOfTime(f"the clock cut it after {done} of {total} folds")

    return in_time


def _first(
    table: AuditTable, session: Session, candidate: Candidate, compared: ComparedRows, metric: Metric
) -> tuple[ComparedRows, CrossValidation]:
    """The first cross-validation, fitted on fewer rows if its folds take too long; few rows are never cut."""
    clock = session.clock
    began, seconds = clock.spent, clock.part(0.3)
    share = 1.0

    def in_time(done: int, total: int) -> None:
        nonlocal share
        expected = (clock.spent - began) * total / done
        if done < total and expected > 2 * seconds:
            share = seconds / expected
            raise OutOfTime(f"would take {expected:.1f} seconds")

    while compared.learned_from >= 2 * FEWEST_COMPARED:
        try:
            return compared, _cross_validated(table, session, candidate, compared, metric, in_time)
        except OutOfTime:
            most = max(FEWEST_COMPARED, int(min(share, 0.5) * compared.learned_from))
            fewer, before, began = compared.with_sample(table, session.seed, most), compared.learned_from, clock.spent
            if fewer.learned_from > 0.75 * before:  # classes are many, and each keeps some rows
                break
            compared = fewer
            what = (
                f"the clock cut it: learners are fitted on {count(fewer.learned_from)} rows instead of {count(before)}"
            )
            clock.leave_out("a comparison on the planned rows", what)
    return compared, _cross_validated(table, session, candidate, compared, metric, None)


def _cross_validated(
    table: AuditTable,
    session: Session,
    candidate: Candidate,
    compared: ComparedRows,
    metric: Metric,
    in_time: InTime | None,
) -> CrossValidation:
    learner, X = in_folds(table, candidate)
    return cross_validate(
        learner,
        X[compared.rows],
        table.task.y[compared.rows],
        positive=metric.label if table.binary else None,
        level=session.level,
        random_state=session.seed,
        progress=in_time,
        **compared.arguments(table, session.seed),
    )


def _choice(
    listed: list[Candidate],
    runs: dict[str, CrossValidation],
    metric: Metric,
    tests: list[AgainstConstant],
    ranked: list[AgainstConstant],
) -> tuple[Candidate, str, list[str]]:
    """The first candidate within one standard error of the best of the most trusted ones, by what, and all that are.

    Most trusted are those that are shown to be better than a constant; if there are none, those that rank rows, which
    are then compared by that.
    """
    compared = [candidate for candidate in listed if candidate.name in runs]
    for kind in (tests, ranked):
        shown = {test.learner for test in kind if test.better}
        if shown:
            return _within_one_error([own for own in compared if own.name in shown], runs, kind[0].metric)
    return _within_one_error(compared, runs, metric.name)


def _within_one_error(
    compared: list[Candidate], runs: dict[str, CrossValidation], by: str
) -> tuple[Candidate, str, list[str]]:
    sign = -1 if by in LOWER_IS_BETTER else 1
    known = [own for own in compared if by in runs[own.name].estimates and runs[own.name][by].defined]
    if not known:
        return compared[0], by, [own.name for own in compared]
    best = max(known, key=lambda own: sign * runs[own.name][by].value)
    enough = sign * runs[best.name][by].value - standard_error(runs[best.name][by])
    close = [own for own in known if sign * runs[own.name][by].value >= enough]
    return close[0], by, [own.name for own in close]


def standard_error(e: Estimate) -> float:
    """One standard error, read off the interval."""
    return (e.high - e.low) / (2 * quantile(e.level)) if e.has_interval else 0.0


def rows_to_learn(table: AuditTable, session: Session, rows: NDArray[np.intp]) -> Sample | None:
    """A sample for the fit of the choice where the plan has less than half of the rows; None for all of them."""
    most = session.plan.fitted_rows
    if 2 * most >= len(rows):
        return None
    sample = draw(table, np.random.default_rng(session.seed), rows, most)
    what = f"the choice is fitted on a sample of {count(len(sample.rows))} of {count(len(rows))} rows"
    session.clock.leave_out("a fit on all training rows", what)
    return sample


def mean_constant(table: AuditTable, found: LearnerComparison) -> float:
    """The metric of the best constant prediction, over the folds."""
    metric, run = found.metric, found.runs[found.chosen.name]
    code = int(np.flatnonzero(table.classes == metric.label)[0]) if metric.label is not None else None
    return float(constant_values(table, found.rows, run.results, metric.name, code).mean())


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
    values = {name: found.metric.sign * run[found.metric.name].value for name, run in found.runs.items()}
    return sorted(values, key=lambda name: (math.isnan(values[name]), -values[name]))


def paired_differences(table: AuditTable, found: LearnerComparison, level: float) -> list[PairedDifference]:
    """Pairs of learners by the metric of the choice, with Holm's correction for all."""
    by = found.chosen_by
    pairs = list(combinations([name for name in _ranked(found) if by in found.runs[name].fold_values], 2))
    tests = [difference(table, found.rows, found.runs[a], found.runs[b], by, level) for a, b in pairs]
    adjusted = holm([p for _, p in tests])
    return [
        PairedDifference(*pair, estimate_facts(gap), p, q)
        for pair, (gap, p), q in zip(pairs, tests, adjusted, strict=True)
    ]
