"""Normal classes with one covariance: what the linear discriminant assumes.

Mardia's (1970) multivariate skewness and kurtosis for each class, Box's (1949) M for equal covariances. Large
tables reject any model, so sizes stand beside the p-values, and a sample is tested.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.checks import Line
from separatrix.auditing.phrasing import number, p_value
from separatrix.auditing.study import Study

ROWS = 1500  # of each class that are tested
COLUMNS = 60  # up to which covariances are compared
POINTS = 120  # of a quantile plot


def check(study: Study) -> tuple[list[Line], dict[str, Any] | None]:
    """The two lines of the discriminant, and its picture."""
    if study.regression or study.sparse:
        return [], None
    X, columns = varying(study)
    if X.shape[1] > COLUMNS:
        text = f"{X.shape[1]} columns are too many to test together"
        return [
            Line("normal classes", NORMAL, LEARNERS, text, "unknown", "Compare the discriminant by its folds instead.")
        ], None
    groups = [_some(X[study.codes == k], study.seed) for k in range(len(study.classes))]
    usable = [g for g in groups if len(g) > X.shape[1] + 2]
    if len(usable) < 2:
        text = "a class has too few rows for its own covariance"
        return [Line("normal classes", NORMAL, LEARNERS, text, "unknown", "Prefer logistic regression.")], None
    return [_normal(study, groups, columns), _equal(study, usable, len(groups))], _picture(study, X)


NORMAL = "Each class is normal"
EQUAL = "The classes have one covariance"
LEARNERS = "linear discriminant"


def varying(study: Study) -> tuple[Floats, list[str]]:
    """Standardised columns that vary, without those that others determine."""
    from scipy.linalg import qr

    Z = study.standardised
    _, R, order = qr(Z[:: max(1, len(Z) // 5000)], mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    kept = np.sort(order[: int(np.count_nonzero(size > 1e-8 * max(size[0], 1e-300)))])
    return np.ascontiguousarray(Z[:, kept]), [study.names[j] for j in kept.tolist()]


def _some(X: Floats, seed: int) -> Floats:
    if len(X) <= ROWS:
        return X
    return X[np.random.default_rng(seed).choice(len(X), ROWS, replace=False)]


def mardia(X: Floats) -> tuple[float, float]:
    """p-values of skewness and kurtosis under a normal distribution."""
    from scipy.stats import chi2

    n, d = X.shape
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / n
    products = centred @ np.linalg.pinv(covariance, hermitian=True) @ centred.T
    skewness = n * float((products**3).mean()) / 6
    freedom = d * (d + 1) * (d + 2) / 6
    kurtosis = (float((np.diagonal(products) ** 2).mean()) - d * (d + 2)) / math.sqrt(8 * d * (d + 2) / n)
    return float(chi2.sf(skewness, freedom)), math.erfc(abs(kurtosis) / math.sqrt(2))


def _normal(study: Study, groups: list[Floats], columns: list[str]) -> Line:
    few = [name for j, name in enumerate(columns) if max(len(np.unique(g[:, j])) for g in groups) <= 5]
    tested = [(k, mardia(g)) for k, g in enumerate(groups) if len(g) > g.shape[1] + 2]
    worst, (skew, kurt) = min(tested, key=lambda own: min(own[1]))
    p = min(1.0, 2 * len(tested) * min(skew, kurt))  # Bonferroni over classes and both tests
    evidence = f"Mardia's test: {p_value(p)}, least normal is class '{study.labels[worst]}'"
    if few:
        evidence += f"; {len(few)} of {len(columns)} columns take five values or fewer"
    statistics = {"p": p, "skewness_p": skew, "kurtosis_p": kurt, "class": study.labels[worst], "discrete": len(few)}
    if p < 0.01:
        advice = "The discriminant may still rank well; do not trust its probabilities."
        return Line("normal classes", NORMAL, LEARNERS, evidence, "fails", advice, statistics)
    return Line("normal classes", NORMAL, LEARNERS, evidence, "holds", "", statistics)


def box_m(groups: list[Floats]) -> tuple[float, float]:
    """Box's M with its chi-square approximation: the p-value; and the largest ratio of spreads between classes."""
    from scipy.linalg import eigvalsh
    from scipy.stats import chi2

    d, k = groups[0].shape[1], len(groups)
    free = np.array([len(g) - 1 for g in groups], dtype=np.float64)
    spreads = [np.atleast_2d(np.cov(g, rowvar=False)) for g in groups]
    spreads = [s + 1e-9 * max(np.trace(s) / d, 1e-12) * np.eye(d) for s in spreads]
    pooled = sum(f * s for f, s in zip(free, spreads, strict=True)) / free.sum()
    logs = np.array([np.linalg.slogdet(s)[1] for s in spreads])
    m = free.sum() * np.linalg.slogdet(pooled)[1] - float(free @ logs)
    c = (2 * d * d + 3 * d - 1) / (6 * (d + 1) * (k - 1)) * (np.sum(1 / free) - 1 / free.sum())
    p = float(chi2.sf(m * (1 - c), d * (d + 1) * (k - 1) / 2)) if c < 1 else math.nan
    ratios = [eigvalsh(s, pooled) for s in spreads]
    return p, float(max(max(r.max(), 1 / max(r.min(), 1e-12)) for r in ratios))


def _equal(study: Study, groups: list[Floats], classes: int) -> Line:
    p, ratio = box_m(groups)
    wide = f"along one direction the spread of a class and that of all differ {number(ratio, 2)} times"
    if ratio > 1e6:
        wide = "along one direction a class does not spread at all"
    evidence = f"Box's M: {p_value(p)}; {wide}"
    if len(groups) < classes:
        evidence += f" ({len(groups)} of {classes} classes have enough rows)"
    statistics = {"p": p, "largest_ratio": ratio}
    if math.isnan(p):
        return Line(
            "equal covariances",
            EQUAL,
            LEARNERS,
            "too few rows for Box's M",
            "unknown",
            "Prefer logistic regression.",
            None,
        )
    if p < 0.01 and ratio > 2:
        advice = "Try the quadratic discriminant, or logistic regression, which does not ask for it."
        return Line("equal covariances", EQUAL, LEARNERS, evidence, "fails", advice, statistics)
    verdict = "look" if p < 0.01 else "holds"
    advice = "The difference is certain but small." if p < 0.01 else ""
    return Line("equal covariances", EQUAL, LEARNERS, evidence, verdict, advice, statistics)


def _picture(study: Study, X: Floats) -> dict[str, Any]:
    """Quantiles of each class along the direction that tells classes apart best, against normal ones."""
    from scipy.special import ndtri

    means = np.array([X[study.codes == k].mean(axis=0) for k in range(len(study.classes))])
    within = X - means[study.codes]
    covariance = within.T @ within / len(X)
    first, last = np.argsort(study.counts)[-2:]
    w = np.linalg.pinv(covariance, hermitian=True) @ (means[last] - means[first])
    along = X @ (w / max(float(np.linalg.norm(w)), 1e-300))
    curves = []
    for k in np.argsort(-study.counts)[:4].tolist():
        own = along[study.codes == k]
        if len(own) < 3 or own.std() == 0:
            continue
        q = (np.arange(min(POINTS, len(own))) + 0.5) / min(POINTS, len(own))
        scaled = (np.quantile(own, q) - own.mean()) / own.std()
        curves.append({"class": study.labels[k], "normal": ndtri(q).tolist(), "seen": scaled.tolist()})
    return {"curves": curves}
