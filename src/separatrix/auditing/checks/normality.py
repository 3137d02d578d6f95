"""Normal classes with equal covariances: the assumptions of the linear discriminant.

Mardia's (1970) multivariate skewness and kurtosis for each class, Box's (1949) M for equal covariances. Large
tables reject any model, so effect sizes stand beside the p-values, and a sample is tested.
"""

from __future__ import annotations

import math

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.facts import QuantileCurve
from separatrix.auditing.phrasing import number, p_value
from separatrix.auditing.prediction_answers import AssumptionLine

ROWS = 1500  # of each class that are tested
COLUMNS = 60  # up to which covariances are compared
POINTS = 120  # of a quantile plot


def check(table: AuditTable, seed: int) -> tuple[list[AssumptionLine], list[QuantileCurve]]:
    """Normality and equal covariances, with the quantiles for a picture."""
    if table.regression:
        return [], []
    found = varying(table)
    if found is None:
        return [_line(NORMAL, NOT_CHECKED, "unknown"), _line(EQUAL, NOT_CHECKED, "unknown")], []
    X, columns = found
    if not columns:
        return [_line(NORMAL, "not testable: no column varies by more than rounding errors", "unknown")], []
    if X.shape[1] > COLUMNS:
        text = f"not checked: {X.shape[1]} columns are more than {COLUMNS}"
        advice = "Compare the discriminant by cross-validation instead."
        return [_line(NORMAL, text, "unknown", advice), _line(EQUAL, text, "unknown", advice)], []
    groups = [_sample(X[table.codes == k], seed) for k in range(len(table.classes))]
    usable = [g for g in groups if len(g) > X.shape[1] + 2]
    if len(usable) < 2:
        text = "not checked: all classes but one have too few rows for a covariance matrix"
        return [_line(what, text, "unknown", "Prefer logistic regression.") for what in (NORMAL, EQUAL)], []
    return [_normal(table, groups, columns), _equal(usable, len(groups))], _quantiles(table, X)


NORMAL = ("normal classes", "Each class is normally distributed")
EQUAL = ("equal covariances", "The classes have the same covariance matrix")
NOT_CHECKED = "not checked: the rows are sparse, and too many cells to be written out"
LEVEL = 0.01


def _line(
    what: tuple[str, str], evidence: str, verdict: str, advice: str = "", p: float | None = None
) -> AssumptionLine:
    threshold = None if p is None else LEVEL
    return AssumptionLine(*what, "linear discriminant", evidence, verdict, advice, p, threshold)


def varying(table: AuditTable) -> tuple[Floats, list[str]] | None:
    """Standardised columns that vary, without linear combinations of others; None of sparse rows that are too many."""
    from scipy.linalg import qr

    Z = table.dense_standardised
    if Z is None:
        return None
    _, R, order = qr(Z[:: max(1, len(Z) // 5000)], mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    kept = np.sort(order[: int(np.count_nonzero(size > 1e-8 * max(size[0], 1e-300)))])
    X = Z if len(kept) == Z.shape[1] else np.ascontiguousarray(Z[:, kept])
    return X, [table.names[j] for j in kept.tolist()]


def _sample(X: Floats, seed: int) -> Floats:
    if len(X) <= ROWS:
        return X
    return X[np.random.default_rng(seed).choice(len(X), ROWS, replace=False)]


def mardia(X: Floats) -> tuple[float, float]:
    """p-values of skewness and kurtosis under a normal distribution."""
    from scipy.special import chdtrc

    n, d = X.shape
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / n
    products = centred @ np.linalg.pinv(covariance, hermitian=True) @ centred.T
    skewness = n * float((products**3).mean()) / 6
    freedom = d * (d + 1) * (d + 2) / 6
    kurtosis = (float((np.diagonal(products) ** 2).mean()) - d * (d + 2)) / math.sqrt(8 * d * (d + 2) / n)
    return float(chdtrc(freedom, max(skewness, 0.0))), math.erfc(abs(kurtosis) / math.sqrt(2))


def _normal(table: AuditTable, groups: list[Floats], columns: list[str]) -> AssumptionLine:
    few = [name for j, name in enumerate(columns) if max(len(np.unique(g[:, j])) for g in groups) <= 5]
    tested = [(k, mardia(g)) for k, g in enumerate(groups) if len(g) > g.shape[1] + 2]
    worst, (skew, kurt) = min(tested, key=lambda own: min(own[1]))
    p = min(1.0, 2 * len(tested) * min(skew, kurt))  # Bonferroni over classes and both tests
    evidence = f"Mardia's test: {p_value(p)}; the least normal class is '{table.labels[worst]}'"
    if few:
        evidence += f"; {len(few)} of {len(columns)} columns take five values or fewer"
    if p >= LEVEL:
        return _line(NORMAL, evidence, "holds", p=p)
    advice = "The discriminant may still classify well, but do not trust its probabilities."
    return _line(NORMAL, evidence, "fails", advice, p)


def box_m(groups: list[Floats]) -> tuple[float, float]:
    """Box's M with its chi-square approximation: the p-value; and the largest ratio of spreads between classes."""
    from scipy.linalg import eigvalsh
    from scipy.special import chdtrc

    d, k = groups[0].shape[1], len(groups)
    free = np.array([len(g) - 1 for g in groups], dtype=np.float64)
    spreads = [np.atleast_2d(np.cov(g, rowvar=False)) for g in groups]
    spreads = [s + 1e-9 * max(np.trace(s) / d, 1e-12) * np.eye(d) for s in spreads]
    pooled = sum(f * s for f, s in zip(free, spreads, strict=True)) / free.sum()
    logs = np.array([np.linalg.slogdet(s)[1] for s in spreads])
    m = free.sum() * np.linalg.slogdet(pooled)[1] - float(free @ logs)
    c = (2 * d * d + 3 * d - 1) / (6 * (d + 1) * (k - 1)) * (np.sum(1 / free) - 1 / free.sum())
    p = float(chdtrc(d * (d + 1) * (k - 1) / 2, max(m * (1 - c), 0.0))) if c < 1 else math.nan
    ratios = [eigvalsh(s, pooled) for s in spreads]
    return p, float(max(max(r.max(), 1 / max(r.min(), 1e-12)) for r in ratios))


def _equal(groups: list[Floats], classes: int) -> AssumptionLine:
    p, ratio = box_m(groups)
    if math.isnan(p):
        return _line(EQUAL, "too few rows for Box's M", "unknown", "Prefer logistic regression.")
    spread = f"in one direction a class's variance and the pooled one differ by a factor of {number(ratio, 2)}"
    if ratio > 1e6:
        spread = "in one direction a class has no variance at all"
    evidence = f"Box's M: {p_value(p)}; {spread}"
    if len(groups) < classes:
        evidence += f" ({len(groups)} of {classes} classes have enough rows)"
    if p >= LEVEL:
        return _line(EQUAL, evidence, "holds", p=p)
    if ratio <= 2:
        return _line(EQUAL, evidence, "look", "The difference is significant but small.", p)
    return _line(EQUAL, evidence, "fails", "Try the quadratic discriminant, or logistic regression.", p)


def _quantiles(table: AuditTable, X: Floats) -> list[QuantileCurve]:
    """Quantiles of each class along the discriminant direction of the two largest, against normal ones."""
    from scipy.special import ndtri

    means = np.array([X[table.codes == k].mean(axis=0) for k in range(len(table.classes))])
    within = X - means[table.codes]
    covariance = within.T @ within / len(X)
    first, last = np.argsort(table.counts)[-2:]
    w = np.linalg.pinv(covariance, hermitian=True) @ (means[last] - means[first])
    along = X @ (w / max(float(np.linalg.norm(w)), 1e-300))
    curves = []
    for k in np.argsort(-table.counts)[:4].tolist():
        own = along[table.codes == k]
        if len(own) < 3 or own.std() == 0:
            continue
        q = (np.arange(min(POINTS, len(own))) + 0.5) / min(POINTS, len(own))
        scaled = (np.quantile(own, q) - own.mean()) / own.std()
        curves.append(QuantileCurve(table.labels[k], ndtri(q).tolist(), scaled.tolist()))
    return curves
