"""The numbers behind the figures: what was found, curves of scores, and error as rows are added."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.best_hyperplane import BestHyperplane, FullFit, standardised_hyperplane
from separatrix.auditing.budget import OutOfTime, Session
from separatrix.auditing.candidate_learners import Candidate, FullFits, in_folds, inner
from separatrix.auditing.drawn_model import DrawnHyperplane, coefficient_table, in_units, project
from separatrix.auditing.facts import (
    Band,
    CalibrationPicture,
    CostChoice,
    LearningCurve,
    Pictures,
    Projection,
    QuantileCurve,
    ScatterPicture,
    ScorePictures,
    ThresholdPicture,
)
from separatrix.auditing.learner_choice import LearnerComparison
from separatrix.auditing.paired_tests import estimate_facts
from separatrix.auditing.phrasing import EstimateFacts
from separatrix.auditing.prediction import Prediction
from separatrix.auditing.separation import DecidedSeparation
from separatrix.errors import SeparatrixError
from separatrix.evaluation.results import ClassificationEvaluation

FITTED = 2000  # points of the fitted values


def make_pictures(
    table: AuditTable,
    session: Session,
    fits: FullFits,
    listed: list[Candidate],
    predicted: Prediction,
    separation: DecidedSeparation | None,
    best: BestHyperplane | None,
    quantiles: list[QuantileCurve],
    full_fit: FullFit | None,
) -> Pictures:
    """What the report draws, for classes or for a quantity."""
    fates = {} if best is None else best.facts.coefficients.fates
    chosen = predicted.chosen or (listed[0] if listed else None)  # the first candidate where none was chosen
    coefficients = None
    if chosen is not None and table.score_vectors == 1:
        coefficients = coefficient_table(table, session, fits, chosen, fates)
    projection = None
    if separation is not None and best is not None:
        with session.clock.stage("pictures"):
            projection = _projection(table, session, predicted, separation, best)
    curve = None
    if predicted.comparison is not None:
        curve = curve_of(table, session, predicted.comparison)
    fitted = None
    if full_fit is not None:
        truth = full_fit.fitted + full_fit.residuals
        fitted = scatter("all rows", truth, full_fit.fitted, FITTED, session.seed)
    return Pictures(
        projection,
        coefficients,
        curve,
        None if table.regression else score_pictures(table, predicted, session.level),
        fitted,
        predicted_scatter(predicted, session.seed) if table.regression else None,
        quantiles,
    )


def _projection(
    table: AuditTable,
    session: Session,
    predicted: Prediction,
    separation: DecidedSeparation,
    best: BestHyperplane,
) -> Projection | None:
    """Along the hyperplane of the maximum margin where there is one, else along that of the chosen learner."""
    seed, witness = session.seed, [] if separation.facts.separable else separation.facts.witness
    as_given = table.sparse or table.rows.shape[1] == 2
    margin = best.margin if as_given else best.standardised
    if margin is not None and margin.coef is not None and best.facts.margin is not None:
        name = "the hyperplane of the maximum margin"
        hyperplane = DrawnHyperplane(margin.coef, float(margin.intercept or 0.0), margin.lower, name)
        return project(table, seed, hyperplane, [], best.facts.margin.support)
    linear = predicted.chosen is not None and predicted.chosen.linear and table.choices.map is None
    if table.binary and linear and hasattr(inner(predicted.model), "coef_"):
        coef, b = in_units(predicted.model)
        if len(coef) == table.X.shape[1]:
            flip = -1.0 if table.positive == 0 else 1.0
            coef, b = flip * coef[table.used], flip * b
            if not as_given:
                coef, b = standardised_hyperplane(table, coef, b)
            name = f"the hyperplane of {predicted.facts.chosen}"
            return project(table, seed, DrawnHyperplane(coef, b, None, name), witness, [])
    return None if table.sparse else project(table, seed, None, witness, [])


STEPS = 6
ROWS = 20_000  # at most


def curve_of(table: AuditTable, session: Session, found: LearnerComparison) -> LearningCurve | None:
    """The curve of the chosen learner; None where time is short."""
    from separatrix.evaluation.learning_curves import learning_curve

    candidate, rows, clock = found.chosen, found.rows, session.clock
    if len(rows) > ROWS:
        rows = np.sort(np.random.default_rng(session.seed).choice(rows, ROWS, replace=False))
    if clock.left < 0.25 * clock.budget:
        clock.leave_out("learning curve", "the time budget was nearly used up")
        return None
    learner, X = in_folds(table, candidate)
    until = clock.spent + clock.part(0.3)

    def in_time(done: int, total: int) -> None:
        if done < total and clock.spent > until:
            raise OutOfTime(f"did not finish within the time budget ({done} of {total} folds)")

    metric = "rmse" if table.regression else "error"
    reason = ""
    with clock.stage("learning curve"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for least in (0.1, 0.3, 0.6):
            try:
                curve = learning_curve(
                    learner,
                    X[rows],
                    table.task.y[rows],
                    sizes=np.unique(np.geomspace(least, 1.0, STEPS)),
                    metric=metric,
                    folds=found.compared.folds,
                    random_state=session.seed,
                    progress=in_time,
                    **table.split_rule.of(rows),
                )
            except SeparatrixError as error:
                reason = str(error)
                if isinstance(error, OutOfTime):
                    break
                continue
            values = curve.to_dict()
            sides = [np.array(values[k]) for k in ("train", "validation")]
            means = [np.mean(v, axis=0).tolist() for v in sides]
            errors = [(np.std(v, axis=0, ddof=1) / np.sqrt(found.compared.folds)).tolist() for v in sides]
            return LearningCurve(candidate.name, metric, values["steps"], *means, *errors)
    clock.leave_out("learning curve", reason[:200])
    return None


POINTS = 160
SCATTERED = 1000
HELD_OUT, IN_FOLDS = "the held-out test rows", "rows predicted in cross-validation"
COSTS = ((1.0, 1.0), (1.0, 5.0), (5.0, 1.0))  # of a false alarm, of a missed row


def score_pictures(table: AuditTable, found: Prediction, level: float) -> ScorePictures | None:
    """On the held-out rows, or without any on rows predicted in folds."""
    result, where = _result(found)
    if not isinstance(result, ClassificationEvaluation):
        return None
    by_number = found.test is not None
    labels = [
        table.labels[int(c) if by_number else int(np.flatnonzero(table.classes == c)[0])]
        for c in result.classes.tolist()
    ]
    made = ScorePictures(where, labels, result.confusion.tolist(), None, None, None, None)
    if not table.binary or not result.roc_auc.defined:
        return made
    roc, pr = result.roc_curve(), result.precision_recall_curve()
    calibration = None
    if result.outcomes.probabilities is not None:
        c = result.calibration_curve()
        counts = [int(n) for n in c.counts]
        calibration = CalibrationPicture(c.said.tolist(), c.happened.tolist(), c.low.tolist(), c.high.tolist(), counts)
    return replace(
        made,
        roc=_band(roc.fpr, roc.tpr, roc.low, roc.high, estimate_facts(result.roc_auc), 0.5),
        precision_recall=_band(
            pr.recall, pr.precision, pr.low, pr.high, estimate_facts(result.average_precision), pr.prevalence
        ),
        calibration=calibration,
        threshold=_thresholds(found, level),
    )


def _result(found: Prediction) -> tuple[Any, str]:
    if found.test is not None:
        return found.test, HELD_OUT
    if found.comparison is None:
        return None, IN_FOLDS
    return found.comparison.runs[found.comparison.chosen.name].pooled, IN_FOLDS


def _band(x: Any, y: Any, low: Any, high: Any, estimate: EstimateFacts, baseline: float) -> Band:
    at = np.unique(np.linspace(0, len(x) - 1, min(len(x), POINTS)).astype(int))
    return Band(x[at].tolist(), y[at].tolist(), low[at].tolist(), high[at].tolist(), estimate, float(baseline))


def _thresholds(found: Prediction, level: float) -> ThresholdPicture | None:
    """The cheapest threshold for equal and for unequal costs, chosen in folds and not on the held-out rows."""
    from separatrix.evaluation.thresholds import threshold_by_cost

    assert found.comparison is not None  # there are scores, so learners were compared
    pooled = found.comparison.runs[found.comparison.chosen.name].pooled
    if not isinstance(pooled, ClassificationEvaluation) or not pooled.roc_auc.defined:
        return None
    outcomes = pooled.outcomes
    kind = "score" if outcomes.probabilities is None else "probability"
    if outcomes.probabilities is not None:
        outcomes = replace(outcomes, scores=None)  # a threshold on the probability, which people can read
    choices = []
    for false_positive, false_negative in COSTS:
        best = threshold_by_cost(outcomes, level, false_positive, false_negative)
        figures = estimate_facts(best.precision), estimate_facts(best.recall)
        choices.append(CostChoice(false_positive, false_negative, best.threshold, *figures))
    return ThresholdPicture(kind, choices)


def predicted_scatter(found: Prediction, seed: int) -> ScatterPicture | None:
    """Predicted against true values of a quantity."""
    result, where = _result(found)
    return None if result is None else scatter(where, result.truth, result.predicted, SCATTERED, seed)


def scatter(where: str, truth: NDArray[Any], predicted: NDArray[Any], most: int, seed: int) -> ScatterPicture:
    """At most ``most`` of the rows."""
    at = np.arange(len(truth))
    if len(at) > most:
        at = np.sort(np.random.default_rng(seed).choice(at, most, replace=False))
    return ScatterPicture(where, truth[at].tolist(), predicted[at].tolist(), len(truth))
