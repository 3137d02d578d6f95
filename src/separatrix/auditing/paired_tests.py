"""Paired tests: each learner against the best constant prediction and against the others, by the metric or by ranking.

Where a metric is a mean over rows, losses are paired on rows, with the variance of Bayle, Bayle, Janson & Mackey
(2020); otherwise they are paired on folds, with that of Nadeau & Bengio (2003): as the intervals beside them. Holm's
correction (1979) tests all learners together. (On five folds alone nearly nothing is shown: an RMSE of 55.7
[51.8, 59.3] against 77.0 on 353 rows has p = 0.03, and 0.14 for one of four learners.) The constant is what the
training rows of a fold suggest. A learner that labels no better may still rank rows: that is a question of its own,
answered by the area under the ROC curve of two classes, and by the log loss of more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.phrasing import EstimateFacts
from separatrix.auditing.prediction_answers import AgainstConstant
from separatrix.evaluation.cross_validation import CrossValidation
from separatrix.evaluation.fold_estimates import Judgements, training_ratio
from separatrix.evaluation.fold_runs import FoldResult
from separatrix.evaluation.intervals import Estimate, holm, paired, scaled
from separatrix.evaluation.metrics import row_losses
from separatrix.evaluation.predictions import outcomes_of
from separatrix.statistics.distributions import quantile, two_sided

MEANS_OVER_ROWS = ("accuracy", "rmse", "log_loss")


def estimate_facts(e: Estimate) -> EstimateFacts:
    """An estimate as plain numbers; None where it is undefined."""
    return EstimateFacts(*(float(v) if math.isfinite(v) else None for v in (e.value, e.low, e.high)))


def ranking_metric(table: AuditTable) -> str | None:
    """What shows that rows are ranked, whatever their labels."""
    return None if table.regression else "roc_auc" if table.binary else "log_loss"


def constant_values(
    table: AuditTable, rows: NDArray[np.intp], folds: Sequence[FoldResult], metric: str, label: int | None
) -> Floats:
    """The metric of the best constant prediction in each fold, by the rows that the fold may learn from."""
    return np.array(
        [_constant(table, rows[fold.rows], _others(table, rows, fold.rows), metric, label) for fold in folds]
    )


def _others(table: AuditTable, rows: NDArray[np.intp], test: NDArray[np.intp]) -> NDArray[np.intp]:
    rule = table.split_rule
    if rule.by == "time" and rule.marks is not None:
        return np.asarray(rows[rule.marks[rows] < rule.marks[rows[test]].min()])
    return np.delete(rows, test)


def _constant(
    table: AuditTable, test: NDArray[np.intp], others: NDArray[np.intp], metric: str, label: int | None
) -> float:
    if table.regression:
        y = table.task.y
        return float(np.sqrt(np.mean((y[test] - y[others].mean()) ** 2)))
    if metric == "roc_auc":
        return 0.5
    here, there = (np.bincount(table.codes[part], minlength=len(table.classes)) for part in (test, others))
    if metric == "balanced_accuracy":
        return 1 / int(np.count_nonzero(here))
    if metric == "average_precision" and label is not None:
        return random_order(len(test), int(here[label]))
    if metric == "accuracy":
        return float(here[there.argmax()] / len(test))
    return float(-(here @ np.log(np.maximum(there, 1) / len(others))) / len(test))


def random_order(n: int, positives: int) -> float:
    """The expected average precision of n rows in random order: above the share of positives where rows are few.

    A positive row lies at each place i with equal probability, and the expected precision there is 1/i for itself and
    (m - 1)/(n - 1) for every place before it.
    """
    if n < 2:
        return float(positives)
    first = float((1 / np.arange(1, n + 1)).sum()) / n
    return first + (positives - 1) / (n - 1) * (1 - first)


def against_constant(
    table: AuditTable,
    rows: NDArray[np.intp],
    runs: dict[str, CrossValidation],
    metric: str,
    label: int | None,
    level: float,
) -> list[AgainstConstant]:
    """Every learner that has this metric, tested together."""
    known = {name: run for name, run in runs.items() if metric in run.fold_values}
    tests = []
    for run in known.values():
        if metric in MEANS_OVER_ROWS:
            constant = [_constant_losses(table, rows, fold, metric) for fold in run.results]
            tests.append(_on_rows(table, rows, run, constant, _losses(table, rows, run, metric), level))
        else:
            gaps = run.fold_values[metric] - constant_values(table, rows, run.results, metric, label)
            tests.append(_on_folds(table, rows, run, gaps, level))
    shown = [p if gain.value > 0 else 1.0 for gain, p in tests]  # a worse learner is not shown to be better
    return [
        AgainstConstant(name, metric, p, q, q <= 1 - level)
        for name, p, q in zip(known, shown, holm(shown), strict=True)
    ]


def difference(
    table: AuditTable,
    rows: NDArray[np.intp],
    first: CrossValidation,
    second: CrossValidation,
    metric: str,
    level: float,
) -> tuple[Estimate, float]:
    """The metric of the first learner less that of the second, and its p-value."""
    if metric not in MEANS_OVER_ROWS:
        return _on_folds(table, rows, first, first.fold_values[metric] - second.fold_values[metric], level)
    losses = _losses(table, rows, first, metric), _losses(table, rows, second, metric)
    if metric == "accuracy":
        return _on_rows(table, rows, first, losses[1], losses[0], level)
    mean, p = _on_rows(table, rows, first, losses[0], losses[1], level)
    if metric == "rmse":  # a - b = (a² - b²) / (a + b)
        by = first[metric].value + second[metric].value
        mean = scaled(mean, 1 / by) if by > 0 else mean
    return mean, p


def _on_folds(
    table: AuditTable, rows: NDArray[np.intp], run: CrossValidation, gaps: Floats, level: float
) -> tuple[Estimate, float]:
    mean, p = paired(gaps, training_ratio(run.results, table.split_rule.by != "time"), level)
    if mean.defined and not mean.has_interval and mean.value:
        # Every fold has the same gain: as surprising as that the rows of the rarest class are all won by chance.
        rarest = int(np.bincount(table.codes[rows])[np.unique(table.codes[rows])].min())
        p = min(1.0, 2.0 ** (1 - rarest))
    return mean, p if mean.defined and math.isfinite(p) else 1.0


def _on_rows(
    table: AuditTable,
    rows: NDArray[np.intp],
    run: CrossValidation,
    first: Sequence[Floats],
    second: Sequence[Floats],
    level: float,
) -> tuple[Estimate, float]:
    """The mean of a row's first loss less its second; by groups where rows come in groups."""
    groups = table.split_rule.of(rows).get("groups")
    judged = Judgements([fold.rows for fold in run.results], None, groups)
    mean = judged.bayle([a - b for a, b in zip(first, second, strict=True)], level)
    if not mean.has_interval:
        return mean, 1.0
    freedom = math.inf if groups is None else judged.units - 1
    half = mean.high - mean.value
    p = float(two_sided(np.array(mean.value / (half / quantile(level, freedom))), freedom))
    return replace(mean, low=mean.value - half), p  # a difference has no bound at 0


def _losses(table: AuditTable, rows: NDArray[np.intp], run: CrossValidation, metric: str) -> list[Floats]:
    """The loss of each row, fold by fold."""
    losses = []
    for fold in run.results:
        truth = table.task.y[rows[fold.rows]]
        assert fold.said is not None  # a learner that failed in a fold is not compared
        if metric == "rmse":
            losses.append(np.asarray((truth - fold.said.labels) ** 2))
        elif metric == "accuracy":
            losses.append(np.asarray(truth != fold.said.labels, dtype=np.float64))
        else:
            losses.append(row_losses(outcomes_of(truth, fold.said, None)[0])[metric])
    return losses


def _constant_losses(table: AuditTable, rows: NDArray[np.intp], fold: FoldResult, metric: str) -> Floats:
    """The same for the constant that the fold's training rows suggest."""
    test, others, y = rows[fold.rows], _others(table, rows, fold.rows), table.task.y
    if metric == "rmse":
        return np.asarray((y[test] - y[others].mean()) ** 2)
    counts = np.bincount(table.codes[others], minlength=len(table.classes))
    if metric == "accuracy":
        return np.asarray(table.codes[test] != counts.argmax(), dtype=np.float64)
    return np.asarray(-np.log(np.maximum(counts, 1) / len(others))[table.codes[test]])
