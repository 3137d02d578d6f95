"""Linear log-odds, and for quantities a linear mean with even, normal noise: does adding curvature help?

Squares of the columns, or of the score (Pregibon 1980), are added and the gain is tested: by the likelihood
ratio for classes, by F for quantities (Ramsey 1969). Breusch & Pagan (1979) for even noise, Jarque & Bera (1980)
for its normality.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.checks import Line
from separatrix.auditing.phrasing import number, p_value
from separatrix.auditing.study import Study
from separatrix.errors import SeparatrixError

ROWS = 20_000
COLUMNS = 60
SQUARED = 12  # columns up to which each is squared
SMALL = 0.02  # gain in log-likelihood a row (times two) below which a bend is small
LINEAR = "The log-odds are linear in the columns"


def check(study: Study, exists: bool) -> list[Line]:
    """Lack of fit of the logistic model of two classes."""
    needed = "logistic regression"
    if not study.binary or study.sparse:
        return []
    if not exists:
        text = "not testable: no finite maximum-likelihood fit exists"
        return [Line("linear log-odds", LINEAR, needed, text, "unknown", "Look at the calibration curve instead.")]
    X, names = _columns(study)
    if X is None:
        return [
            Line(
                "linear log-odds",
                LINEAR,
                needed,
                f"{study.plan.d} columns are too many",
                "unknown",
                "Look at the calibration curve.",
            )
        ]
    codes = study.codes
    if study.n > ROWS:
        rows = np.sort(np.random.default_rng(study.seed).choice(study.n, ROWS, replace=False))
        X, codes = X[rows], codes[rows]
    squares = [j for j in range(X.shape[1]) if len(np.unique(X[:5000, j])) > 2]
    if not squares:
        return [Line("linear log-odds", LINEAR, needed, "every column takes two values: nothing can bend", "holds", "")]
    return [_gain(X, codes, squares, names, needed)]


def _columns(study: Study) -> tuple[Floats | None, list[str]]:
    from separatrix.auditing.checks.normality import varying

    X, names = varying(study)
    return (None, names) if X.shape[1] > COLUMNS else (X, names)


def _gain(X: Floats, codes: NDArray[np.intp], squares: list[int], names: list[str], needed: str) -> Line:
    """The likelihood ratio of the squares of all columns, or of the squared score where columns are many."""
    from separatrix.models.logistic.logistic_regression import LogisticRegression
    from separatrix.models.logistic.summary import chi2_tail

    few = X.shape[1] <= SQUARED
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain = LogisticRegression(on_separation="raise").fit(X, codes)
            score = plain.decision_function(X)
            added = X[:, squares] ** 2 if few else (score**2)[:, None]
            wide = np.column_stack([X if few else score, added])
            bent = LogisticRegression(on_separation="raise").fit(wide, codes)
        except SeparatrixError:
            text = "not testable: with squares of the columns the classes would be separated"
            return Line("linear log-odds", LINEAR, needed, text, "unknown", "Look at the calibration curve instead.")
    gain = 2 * (float(bent.loglik_ or 0) - float(plain.loglik_ or 0))
    p = chi2_tail(max(gain, 0.0), added.shape[1])
    what = f"{added.shape[1]} squares of columns" if few else "the square of the score (Pregibon's link test)"
    evidence = f"adding {what}: likelihood ratio {number(gain)}, {p_value(p)}"
    statistics = {"likelihood_ratio": gain, "freedom": added.shape[1], "p": p}
    if p >= 0.01:
        return Line("linear log-odds", LINEAR, needed, evidence, "holds", "", statistics)
    if gain / len(codes) < SMALL:
        advice = "The bend is certain but small."
        return Line("linear log-odds", LINEAR, needed, evidence, "look", advice, statistics)
    advice = "Add squares or splines of columns (SplineMap)."
    if few:
        weights = np.abs(np.ravel(bent.coef_)[X.shape[1] :]) * added.std(axis=0)
        advice = f"Add squares or splines (SplineMap), first of '{names[squares[int(weights.argmax())]]}'."
    return Line("linear log-odds", LINEAR, needed, evidence, "fails", advice, statistics)


def check_regression(study: Study, residuals: Floats, fitted: Floats) -> list[Line]:
    """Curvature, uneven noise and its shape, for least squares."""
    if study.sparse or len(residuals) < 12:
        return []
    from scipy.stats import chi2, f

    Z = np.column_stack([np.ones(len(fitted)), study.standardised])
    n = len(residuals)
    out = []
    rank = int(np.linalg.matrix_rank(Z))
    bends = np.column_stack([_scaled(fitted) ** 2, _scaled(fitted) ** 3])
    free = n - rank - 2
    if free > 2:
        before = float(residuals @ residuals)
        wide = np.column_stack([Z, bends])
        after = residuals - wide @ np.linalg.lstsq(wide, residuals, rcond=None)[0]
        statistic = (before - float(after @ after)) / 2 / (float(after @ after) / free)
        p = float(f.sf(max(statistic, 0.0), 2, free))
        evidence = f"Ramsey's test with powers of the fit: F = {number(statistic)}, {p_value(p)}"
        advice = "" if p >= 0.01 else "Add squares, splines or interactions of the columns."
        verdict = "holds" if p >= 0.01 else "fails"
        out.append(
            Line(
                "linear mean",
                "The mean is linear",
                "least squares",
                evidence,
                verdict,
                advice,
                {"F": statistic, "p": p},
            )
        )
    square = residuals**2 / max(float((residuals**2).mean()), 1e-300)
    explained = Z @ np.linalg.lstsq(Z, square, rcond=None)[0] - square.mean()
    koenker = n * float(explained @ explained) / max(float(((square - square.mean()) ** 2).sum()), 1e-300)
    p = float(chi2.sf(koenker, max(rank - 1, 1)))
    evidence = f"Breusch and Pagan's test (Koenker's form): {number(koenker)}, {p_value(p)}"
    advice = "" if p >= 0.01 else "Use robust standard errors (covariance='HC3')."
    verdict = "holds" if p >= 0.01 else "fails"
    out.append(
        Line("even noise", "The noise is even", "intervals of least squares", evidence, verdict, advice, {"p": p})
    )
    return [*out, _bell(residuals)]


def _scaled(v: Floats) -> Floats:
    return np.asarray((v - v.mean()) / max(float(v.std()), 1e-300))


def _bell(residuals: Floats) -> Line:
    from scipy.stats import jarque_bera

    found = jarque_bera(residuals)
    p = float(found.pvalue)
    evidence = f"Jarque and Bera's test: {number(float(found.statistic))}, {p_value(p)}"
    many = len(residuals) >= 200
    verdict = "holds" if p >= 0.01 else "look" if many else "fails"
    advice = "" if p >= 0.01 else "Intervals of coefficients hold with many rows; those of single predictions do not."
    return Line("normal noise", "The noise is normal", "prediction intervals", evidence, verdict, advice, {"p": p})
