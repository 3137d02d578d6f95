"""Question 3: can it be found efficiently? Timed learners, the perceptron, and nearest neighbours."""

from __future__ import annotations

import math
import warnings
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.best_hyperplane import BestHyperplane
from separatrix.auditing.budget import OutOfTime, Session
from separatrix.auditing.candidate_learners import Candidate, in_folds, inner
from separatrix.auditing.efficiency_answer import AlgorithmFacts, NeighbourFacts, NovikoffBound, PerceptronRun
from separatrix.auditing.fitted_hyperplanes import FittedLearners
from separatrix.auditing.hyperplane_answers import ProvedBracket
from separatrix.auditing.paired_tests import estimate_facts
from separatrix.auditing.phrasing import EstimateFacts
from separatrix.auditing.prediction import Prediction
from separatrix.errors import SeparatrixError
from separatrix.numerics.status import Status
from separatrix.proofs.margin.margin import Margin
from separatrix.proofs.margin.novikoff import mistake_bound
from separatrix.protocol import Estimator

NEIGHBOUR_ROWS = 4000  # that the nearest neighbour keeps, and is compared on


def measure(
    table: AuditTable,
    session: Session,
    best: BestHyperplane | None,
    separable: bool,
    fitted: FittedLearners,
    listed: list[Candidate],
    prediction: Prediction,
) -> AlgorithmFacts:
    """Seconds and mistakes of each learner on all rows, the perceptron with its bound, the cost of neighbours."""
    runs = (None, None) if best is None else perceptron_runs(table, session, best, separable)
    linear = [candidate.name for candidate in listed if candidate.linear]
    neighbour = _nearest_neighbour(table, session, prediction)
    return AlgorithmFacts(fitted.seconds, fitted.mistakes, linear, *runs, neighbour)


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
    X: Any = table.standardised[rows]
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


BLOCK = 4_000_000  # distances that are held at once


class NearestNeighbour(Estimator):
    """The label, or the number, of the nearest row by Euclidean distance; of equally near rows the first."""

    def __init__(self, regression: bool = False) -> None:
        self.regression = regression

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # as it was asked
        return "regressor" if self.regression else "classifier"

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows."""
        self._rows, self._answers = X, np.asarray(y)
        self._squares = squared_lengths(X)
        self.n_features_in_ = int(X.shape[1])
        if not self.regression:
            self.classes_ = np.unique(self._answers)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer of the nearest row kept."""
        kept, nearest = self._rows.shape[0], np.empty(X.shape[0], dtype=np.intp)
        step = max(1, BLOCK // kept)
        for start in range(0, X.shape[0], step):
            product = X[start : start + step] @ self._rows.T
            inner = product if isinstance(product, np.ndarray) else product.toarray()
            nearest[start : start + step] = np.argmin(self._squares - 2 * inner, axis=1)
        return np.asarray(self._answers[nearest])


def squared_lengths(X: Any) -> Floats:
    """|x|² of each row, dense or sparse."""
    if isinstance(X, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()


FEWEST_PASSES = 3
POINTS = 200  # of the curve
LOOKS = 2e9  # numbers that the perceptron reads, with a budget of a minute
WIDE = 10_000  # columns up to which the margin of (x, 1) is computed by itself
ROUNDED = 1e-9  # more than rounding can have changed


def perceptron_runs(
    table: AuditTable, session: Session, best: BestHyperplane, separable: bool
) -> tuple[PerceptronRun | None, PerceptronRun | None]:
    """Runs on the columns as they are and standardised (dense rows only), for two classes."""
    if not table.binary:
        return None, None
    if session.clock.late(0.9):
        session.clock.leave_out("the perceptron's run", "the time budget was nearly used up")
        return None, None
    with_bound = best.margin is not None and (table.d > WIDE or not session.clock.late(0.7))
    if separable and not with_bound:
        session.clock.leave_out("the perceptron's bound", "the maximum margin, which it needs, would take too long")
    with session.clock.stage("perceptron"):
        as_given = _run(table, session, table.rows, best.margin if with_bound else None, separable)
        if table.sparse:
            return as_given, None
        if session.clock.late(0.9):
            session.clock.leave_out("the perceptron on standardised columns", "the time budget was nearly used up")
            return as_given, None
        scaled = best.standardised if with_bound else None
        return as_given, _run(table, session, table.standardised, scaled, separable)


def _run(table: AuditTable, session: Session, X: Any, margin: Margin | None, separable: bool) -> PerceptronRun:
    """From zero in the order of the rows."""
    from separatrix.models.perceptron.perceptron import Perceptron

    reads = LOOKS * min(1.0, session.plan.budget / 60) * (1.0 if separable else 0.1)  # it would never converge
    passes = int(np.clip(reads // max(table.cells, 1), FEWEST_PASSES, 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Perceptron(order="cyclic", max_iter=passes).fit(X, table.signs)
    so_far = np.cumsum(model.epoch_mistakes_)
    at = np.unique(np.linspace(0, len(so_far) - 1, min(POINTS, len(so_far))).astype(int))
    return PerceptronRun(
        int(model.mistakes_),
        int(model.n_iter_),
        model.status_ in (Status.CONVERGED, Status.SETTLED),
        int(model.errors_),
        (at + 1).tolist(),
        so_far[at].tolist(),
        None if margin is None else _bound(table, X, margin),
    )


def _bound(table: AuditTable, X: Any, margin: Margin) -> NovikoffBound:
    """(R / margin)^2 in the space of (x, 1): its own margin, or with many columns the one that the gap implies.

    A hyperplane at least m away from every row, with |w| = 1, has the margin m / sqrt(1 + b^2) as (w, b) of length 1.
    """
    if table.d <= WIDE:
        found = mistake_bound(X, table.signs).accepted()
        return NovikoffBound(found.radius, ProvedBracket(*found.margin), found.bound)
    squares = X.multiply(X).sum(axis=1) if table.sparse else (X**2).sum(axis=1)
    radius = math.sqrt(1 + float(np.max(squares))) * (1 + ROUNDED)
    lower = margin.lower / math.hypot(1.0, margin.intercept or 0.0) * (1 - ROUNDED)
    return NovikoffBound(radius, ProvedBracket(lower, margin.upper), (radius / lower) ** 2 * (1 + ROUNDED))
