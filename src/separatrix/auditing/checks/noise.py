"""Least squares: a linear mean, noise of constant variance, and normal noise.

Powers of the fit for the mean (Ramsey 1969), Breusch & Pagan (1979) in Koenker's (1981) form for the variance,
Jarque & Bera (1980) for normality.
"""

from __future__ import annotations

import math

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.best_hyperplane import FullFit
from separatrix.auditing.phrasing import number, p_value
from separatrix.auditing.prediction_answers import AssumptionLine

LEVEL = 0.01
MEAN = ("linear mean", "The mean is linear in the columns", "least squares")
VARIANCE = ("constant variance", "The noise has constant variance", "intervals of least squares")
NORMAL = ("normal noise", "The noise is normal", "prediction intervals")


def check(table: AuditTable, full: FullFit) -> list[AssumptionLine]:
    """The three assumptions, for dense rows."""
    residuals, fitted = full.residuals, full.fitted
    if table.sparse or len(residuals) < 12:
        return []
    if full.exact_fit.exact:
        text = "not testable: the hyperplane fits every row within rounding, so that residuals are rounding errors"
        return [AssumptionLine(*what, text, "unknown", "") for what in (MEAN, VARIANCE, NORMAL)]
    Z = np.column_stack([np.ones(len(fitted)), table.standardised])
    rank = int(np.linalg.matrix_rank(Z))
    return [*_linear_mean(Z, rank, residuals, fitted), _constant_variance(Z, rank, residuals), _normal(residuals)]


def ramsey(Z: Floats, rank: int, residuals: Floats, fitted: Floats) -> tuple[float, float] | None:
    """F statistic and p-value of the square and cube of the fit; None with too few rows."""
    from scipy.special import fdtrc

    free = len(residuals) - rank - 2
    if free <= 2:
        return None
    score = (fitted - fitted.mean()) / max(float(fitted.std()), 1e-300)
    wide = np.column_stack([Z, score**2, score**3])
    before = float(residuals @ residuals)
    after = residuals - wide @ np.linalg.lstsq(wide, residuals, rcond=None)[0]
    statistic = (before - float(after @ after)) / 2 / max(float(after @ after) / free, 1e-300)
    return statistic, float(fdtrc(2, free, max(statistic, 0.0)))


def koenker(Z: Floats, rank: int, residuals: Floats) -> tuple[float, float]:
    """The studentised Breusch-Pagan statistic and its p-value."""
    from scipy.special import chdtrc

    square = residuals**2 / max(float((residuals**2).mean()), 1e-300)
    explained = Z @ np.linalg.lstsq(Z, square, rcond=None)[0] - square.mean()
    total = max(float(((square - square.mean()) ** 2).sum()), 1e-300)
    statistic = len(square) * float(explained @ explained) / total
    return statistic, float(chdtrc(max(rank - 1, 1), max(statistic, 0.0)))


def jarque_bera(residuals: Floats) -> tuple[float, float]:
    """The statistic of skewness and kurtosis together, and its p-value: chi-square with two degrees of freedom."""
    centred = residuals - residuals.mean()
    variance = max(float((centred**2).mean()), 1e-300)
    skewness = float((centred**3).mean()) / variance**1.5
    kurtosis = float((centred**4).mean()) / variance**2
    statistic = len(residuals) / 6 * (skewness**2 + (kurtosis - 3) ** 2 / 4)
    return statistic, math.exp(-statistic / 2)


def _linear_mean(Z: Floats, rank: int, residuals: Floats, fitted: Floats) -> list[AssumptionLine]:
    tested = ramsey(Z, rank, residuals, fitted)
    if tested is None:
        return []
    statistic, p = tested
    evidence = f"Ramsey's test with powers of the fit: F = {number(statistic)}, {p_value(p)}"
    fails = p < LEVEL
    advice = "Add squares, splines or products of the columns (--map poly:2)." if fails else ""
    return [AssumptionLine(*MEAN, evidence, "fails" if fails else "holds", advice, p, LEVEL)]


def _constant_variance(Z: Floats, rank: int, residuals: Floats) -> AssumptionLine:
    statistic, p = koenker(Z, rank, residuals)
    evidence = f"Breusch and Pagan's test in Koenker's form: {number(statistic)}, {p_value(p)}"
    fails = p < LEVEL
    advice = "Use robust standard errors (HC3)." if fails else ""
    return AssumptionLine(*VARIANCE, evidence, "fails" if fails else "holds", advice, p, LEVEL)


def _normal(residuals: Floats) -> AssumptionLine:
    statistic, p = jarque_bera(residuals)
    evidence = f"Jarque and Bera's test: {number(statistic)}, {p_value(p)}"
    verdict = "holds" if p >= LEVEL else "look" if len(residuals) >= 200 else "fails"
    advice = "" if p >= LEVEL else "With many rows, intervals of coefficients hold; those of predictions may not."
    return AssumptionLine(*NORMAL, evidence, verdict, advice, p, LEVEL)
