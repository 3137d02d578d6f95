"""Linear log-odds: does any square or product of columns improve the logistic model of two classes?

Rao's (1948) score test of each square and each product of two columns, with Bonferroni's correction for their
number. The plain model is fitted once; a term costs one weighted projection.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.checks.normality import varying
from separatrix.auditing.conclusion_facts import AssumptionLine
from separatrix.auditing.phrasing import count, number, p_value, plural
from separatrix.auditing.table import AuditTable
from separatrix.errors import SeparatrixError

ROWS = 20_000
COLUMNS = 60
LEVEL = 0.01
SMALL = 0.02  # score statistic a row below which a significant term is called small


def check(table: AuditTable, seed: int, estimate_exists: bool) -> list[AssumptionLine]:
    """The strongest square or product, where the maximum-likelihood estimate exists."""
    if not table.binary or table.sparse:
        return []
    if not estimate_exists:
        return [_line("not testable: no finite maximum-likelihood estimate exists", "unknown")]
    X, names = varying(table)
    if X.shape[1] > COLUMNS:
        return [_line(f"{count(X.shape[1])} columns are too many to test", "unknown")]
    codes = table.codes
    if table.n > ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(table.n, ROWS, replace=False))
        X, codes = X[rows], codes[rows]
    return [_strongest_term(X, codes, names)]


def _line(evidence: str, verdict: str, advice: str = "", p: float | None = None) -> AssumptionLine:
    what = ("linear log-odds", "The log-odds are linear in the columns", "logistic regression")
    return AssumptionLine(*what, evidence, verdict, advice, p, None if p is None else LEVEL)


def _strongest_term(X: Floats, codes: NDArray[np.intp], names: list[str]) -> AssumptionLine:
    from separatrix.models.logistic.logistic_regression import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = LogisticRegression(on_separation="raise").fit(X, codes)
        except SeparatrixError:
            return _line("not testable: no finite maximum-likelihood estimate on the tested rows", "unknown")
    probability = model.predict_proba(X)[:, 1]
    terms = _terms(X, names)
    if not terms:
        return _line("no squares or products to test: a single column of two values", "holds")
    if len(terms) * chi2_1_tail(len(X)) >= LEVEL:  # the statistic is at most the number of rows
        few = f"{plural(len(X), 'row')} are too few: whatever their labels, no term could be significant"
        return _line(few, "unknown")
    lifted = np.column_stack([X, np.ones(len(X))])
    statistics = score_statistics(lifted, codes - probability, probability * (1 - probability), [t for _, t in terms])
    best = int(statistics.argmax())
    gain = float(statistics[best])
    p = min(1.0, len(terms) * chi2_1_tail(gain))
    evidence = (
        f"strongest of {plural(len(terms), 'square and product', 'squares and products')}: {terms[best][0]}, "
        f"score test {number(gain)}, {p_value(p)} (Bonferroni)"
    )
    if p >= LEVEL:
        return _line(evidence, "holds", p=p)
    if gain / len(codes) < SMALL:
        return _line(evidence, "look", "The term is significant but small.", p)
    return _line(evidence, "fails", f"Add {terms[best][0]} as a column, or use --map poly:2.", p)


def _terms(X: Floats, names: list[str]) -> list[tuple[str, Floats]]:
    """Squares of columns with more than two values, and products of two different columns."""
    out = [(f"{names[j]}²", X[:, j] ** 2) for j in range(X.shape[1]) if len(np.unique(X[:5000, j])) > 2]
    for j in range(X.shape[1]):
        out += [(f"{names[j]} × {names[k]}", X[:, j] * X[:, k]) for k in range(j + 1, X.shape[1])]
    return out


def score_statistics(Z: Floats, residual: Floats, weight: Floats, terms: list[Floats]) -> Floats:
    """Rao's statistic of each term added to a fitted logistic model: chi-square with one degree of freedom."""
    ZW = Z * weight[:, None]
    inverse = np.linalg.pinv(Z.T @ ZW, hermitian=True)
    out = np.zeros(len(terms))
    for k, t in enumerate(terms):
        own = t - Z @ (inverse @ (ZW.T @ t))
        information = float(weight @ own**2)
        if information > 1e-10 * float(weight @ t**2):
            out[k] = float(own @ residual) ** 2 / information
    return out


def chi2_1_tail(x: float) -> float:
    """P(chi-square with one degree of freedom > x)."""
    import math

    return math.erfc(math.sqrt(max(x, 0.0) / 2))
