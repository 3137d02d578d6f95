"""Question 3: can it be found efficiently? Learners against the clock, the perceptron, and a lazy method."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.algorithm_facts import AlgorithmFacts, NeighbourFacts
from separatrix.auditing.best_hyperplane import BestHyperplane
from separatrix.auditing.budget import OutOfTime, Session
from separatrix.auditing.candidates import Candidate, FullFits, in_folds, inner
from separatrix.auditing.comparison import estimate_facts
from separatrix.auditing.nearest_neighbour import NearestNeighbour
from separatrix.auditing.perceptron_run import perceptron_runs
from separatrix.auditing.prediction import Prediction
from separatrix.auditing.prediction_facts import EstimateFacts
from separatrix.auditing.table import AuditTable
from separatrix.errors import SeparatrixError

NEIGHBOUR_ROWS = 4000  # that the nearest neighbour keeps, and is compared on


def measure(
    table: AuditTable,
    session: Session,
    best: BestHyperplane | None,
    separable: bool,
    fits: FullFits,
    listed: list[Candidate],
    prediction: Prediction,
) -> AlgorithmFacts:
    """Seconds of each learner on all rows, the perceptron with its bound, and the cost of a lazy method."""
    seconds, mistakes = _fit_times(table, session, fits, listed)
    runs = (None, None) if best is None else perceptron_runs(table, session, best, separable)
    linear = [candidate.name for candidate in listed if candidate.linear]
    return AlgorithmFacts(seconds, mistakes, linear, *runs, _nearest_neighbour(table, session, prediction))


def _fit_times(
    table: AuditTable, session: Session, fits: FullFits, listed: list[Candidate]
) -> tuple[dict[str, float], dict[str, int]]:
    """Seconds that each learner takes on all rows, and the rows that it then misclassifies."""
    seconds: dict[str, float] = {}
    mistakes: dict[str, int] = {}
    everyone = np.arange(table.n).reshape(-1, 1)
    with session.clock.stage("time learners"):
        for candidate in sorted(listed, key=lambda c: not c.safe):
            if seconds and session.clock.late(0.8):
                session.clock.leave_out(f"the time of {candidate.name}", "the time budget was nearly used up")
                continue
            try:
                model, seconds[candidate.name] = fits.of(candidate)
            except SeparatrixError:
                continue  # the comparison has recorded why
            if not table.regression:
                mistakes[candidate.name] = int(np.count_nonzero(model.predict(everyone) != table.task.y))
    return seconds, mistakes


def _nearest_neighbour(table: AuditTable, session: Session, prediction: Prediction) -> NeighbourFacts | None:
    """What one nearest neighbour keeps, costs and achieves, on a sample where rows are many."""
    rows = np.arange(table.n)
    if table.n > NEIGHBOUR_ROWS:
        rows = np.sort(np.random.default_rng(session.seed).choice(table.n, NEIGHBOUR_ROWS, replace=False))
    imbalanced = prediction.facts.metric in ("average_precision", "balanced_accuracy")
    metric = "rmse" if table.regression else "balanced_accuracy" if imbalanced else "accuracy"
    width = table.cells / max(table.n, 1)
    with session.clock.stage("nearest neighbour"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own = None
        try:
            if session.clock.late(0.85):
                raise OutOfTime("the time budget was nearly used up")
            own = _cross_validated(table, session, rows, metric)
        except SeparatrixError as error:
            session.clock.leave_out("nearest neighbour", str(error)[:200])
        mapped = _coefficients_on_a_map(prediction)
        seconds = _one_prediction(table, rows, mapped)
    linear = None
    if prediction.facts.chosen is not None:
        linear = prediction.facts.learner(prediction.facts.chosen).estimates.get(metric)
    return NeighbourFacts(
        numbers_kept=table.cells,
        linear_numbers=((mapped or table.d) + 1) * table.score_vectors,
        multiplications=int(table.n * width),
        linear_multiplications=(mapped or int(width)) * table.score_vectors,
        seconds=seconds[0],
        linear_seconds=seconds[1],
        rows=len(rows),
        metric=metric,
        estimate=own,
        linear_estimate=linear,
    )


def _neighbour(table: AuditTable) -> Candidate:
    learner = NearestNeighbour(table.regression)
    return Candidate("nearest neighbour", learner, "nearest neighbours", encoding="standard")


def _cross_validated(table: AuditTable, session: Session, rows: NDArray[np.intp], metric: str) -> EstimateFacts | None:
    from separatrix.evaluation.cross_validation import cross_validate

    counts = np.array([table.n]) if table.regression else np.bincount(table.codes[rows], minlength=len(table.classes))
    folds = min(5, int(counts.min()))
    if folds < 2 or table.n < 10:
        return None
    learner, X = in_folds(table, _neighbour(table))
    y, rule = table.task.y[rows], table.split_rule.of(rows)
    found = cross_validate(learner, X[rows], y, folds=folds, random_state=session.seed, **rule)
    return estimate_facts(found[metric])


def _coefficients_on_a_map(prediction: Prediction) -> int | None:
    """Coefficients of one score of the choice where it is fitted on a feature map; None where it is not."""
    if prediction.chosen is None or prediction.chosen.linear:
        return None
    return int(np.atleast_2d(inner(prediction.model).coef_).shape[1])


def _one_prediction(table: AuditTable, rows: NDArray[np.intp], mapped: int | None) -> tuple[float, float]:
    """Seconds for one row: by the nearest of those kept, and by one product of so many columns."""
    X: Any = table.standardised[rows] if not table.sparse else table.rows[rows]
    model = _neighbour(table).learner.fit(X, table.task.y[rows])
    some = X[: min(200, len(rows))]
    start = perf_counter()
    model.predict(some)
    nearest = (perf_counter() - start) / some.shape[0]
    some = some if mapped is None else np.ones((some.shape[0], mapped))
    w = np.ones(some.shape[1])
    start = perf_counter()
    for _ in range(20):
        some @ w
    return nearest, (perf_counter() - start) / 20 / some.shape[0]
