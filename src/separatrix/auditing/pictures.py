"""The numbers behind the figures, gathered from what was found."""

from __future__ import annotations

from separatrix.auditing.best_hyperplane import BestHyperplane, standardised_hyperplane
from separatrix.auditing.budget import Session
from separatrix.auditing.candidates import Candidate, FullFits, inner
from separatrix.auditing.coefficients import coefficient_table, in_units
from separatrix.auditing.learning_curve import curve_of
from separatrix.auditing.picture_facts import CoefficientTable, Pictures, Projection, QuantileCurve
from separatrix.auditing.prediction import Prediction
from separatrix.auditing.projection import DrawnHyperplane, project
from separatrix.auditing.regression import FullFit
from separatrix.auditing.score_pictures import predicted_scatter, scatter, score_pictures
from separatrix.auditing.separation import DecidedSeparation
from separatrix.auditing.table import AuditTable

FITTED = 2000  # points of the fitted values


def make_pictures(
    table: AuditTable,
    session: Session,
    fits: FullFits,
    listed: list[Candidate],
    predicted: Prediction,
    separation: DecidedSeparation | None = None,
    best: BestHyperplane | None = None,
    quantiles: list[QuantileCurve] | None = None,
    full_fit: FullFit | None = None,
) -> Pictures:
    """What the report draws, for classes or for a quantity."""
    fates = {} if best is None else best.facts.coefficients.fates
    coefficients = _coefficients(table, session, fits, listed, predicted, fates)
    projection = None
    if separation is not None and best is not None:
        with session.clock.stage("pictures"):
            projection = _projection(table, session, predicted, separation, best)
    curve = None
    if predicted.comparison is not None:
        curve = curve_of(table, session, predicted.comparison, listed)
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
        quantiles or [],
    )


def _coefficients(
    table: AuditTable,
    session: Session,
    fits: FullFits,
    listed: list[Candidate],
    predicted: Prediction,
    fates: dict[str, str],
) -> CoefficientTable | None:
    """Those of the chosen learner; of the first candidate where none was chosen."""
    chosen = predicted.chosen or (listed[0] if listed else None)
    if chosen is None or table.score_vectors > 1:
        return None
    return coefficient_table(table, session, fits, chosen, fates)


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
