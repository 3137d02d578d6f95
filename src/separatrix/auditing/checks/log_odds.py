"""Linear log-odds: does any square or product of columns improve the logistic model?

Rao's (1948) score test of each square and each product of two columns, with Bonferroni's correction for their
number. The plain model is fitted once; a term costs one weighted projection. Of several classes each is tested against
the most common one, on the rows of the two: where the log-odds of a multinomial model are linear, so are those of each
pair, and where all these pairs are linear, so are all others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.checks.normality import NOT_CHECKED, varying
from separatrix.auditing.phrasing import count, number, p_value, plural
from separatrix.auditing.prediction_answers import AssumptionLine
from separatrix.errors import SeparatrixError
from separatrix.statistics.distributions import chi2_tail

Term = tuple[str, int, int]  # a product of two columns, or of one with itself

ROWS, FEWEST_ROWS = 20_000, 2_000  # tested, of all pairs together and of each pair at least
PAIRS = 30
COLUMNS = 60
LEVEL = 0.01
SMALL = 0.02  # score statistic a row below which a significant term is called small


def check(table: AuditTable, seed: int, estimate_exists: bool) -> list[AssumptionLine]:
    """The strongest square or product, where the maximum-likelihood estimate exists."""
    if not estimate_exists:
        return [_line("not testable: no finite maximum-likelihood estimate exists", "unknown")]
    found = varying(table)
    if found is None:
        return [_line(NOT_CHECKED, "unknown")]
    X, names = found
    if not names:
        return [_line("not testable: no column varies by more than rounding errors", "unknown")]
    if X.shape[1] > COLUMNS:
        return [_line(f"not checked: {count(X.shape[1])} columns are more than {COLUMNS}", "unknown")]
    return [_strongest_term(X, table.codes, names, table.labels, seed)]


def _line(evidence: str, verdict: str, advice: str = "", p: float | None = None) -> AssumptionLine:
    what = ("linear log-odds", "The log-odds are linear in the columns", "logistic regression")
    return AssumptionLine(*what, evidence, verdict, advice, p, None if p is None else LEVEL)


@dataclass(frozen=True, slots=True)
class TestedPair:
    """The strongest term between a class and the reference: its number, Rao's statistic, and the rows of the two."""

    label: int
    term: int
    statistic: float
    rows: int


def _strongest_term(
    X: Floats, codes: NDArray[np.intp], names: list[str], labels: list[str], seed: int
) -> AssumptionLine:
    terms = _term_names(X, names)
    if not terms:
        return _line("no squares or products to test: a single column of two values", "holds")
    order = np.argsort(-np.bincount(codes), kind="stable")
    reference, others = int(order[0]), order[1 : PAIRS + 1].tolist()
    tests, chance = len(terms) * len(others), np.random.default_rng(seed)
    found = list[TestedPair]()
    few = True
    for k in others:
        rows = np.flatnonzero((codes == reference) | (codes == k))
        most = max(FEWEST_ROWS, ROWS // len(others))
        if len(rows) > most:
            rows = np.sort(chance.choice(rows, most, replace=False))
        if tests * chi2_tail(len(rows), 1) >= LEVEL:  # the statistic is at most the number of rows
            continue
        few = False
        pair = _test_pair(X[rows], codes[rows] == k, terms, k)
        if pair is not None:
            found.append(pair)
    if few:
        rows_said = plural(len(X), "row")
        return _line(f"{rows_said} are too few: whatever their labels, no term could be significant", "unknown")
    if not found:
        return _line("not testable: no finite maximum-likelihood estimate on the tested rows", "unknown")
    best = max(found, key=lambda pair: pair.statistic)
    p = min(1.0, tests * chi2_tail(best.statistic, 1))
    name = terms[best.term][0]
    between = f", '{labels[best.label]}' against '{labels[reference]}'" if len(labels) > 2 else ""
    pairs = f" in {len(found)} of {plural(len(labels) - 1, 'pair')} of classes" if len(labels) > 2 else ""
    evidence = (
        f"strongest of {plural(len(terms), 'square and product', 'squares and products')}{pairs}: {name}{between}, "
        f"score test {number(best.statistic)}, {p_value(p)} (Bonferroni)"
    )
    if p >= LEVEL:
        return _line(evidence, "holds", p=p)
    if best.statistic / best.rows < SMALL:
        return _line(evidence, "look", "The term is significant but small.", p)
    return _line(evidence, "fails", f"Add {name} as a column, or use --map poly:2.", p)


def _test_pair(X: Floats, second: NDArray[np.bool_], terms: list[Term], label: int) -> TestedPair | None:
    """The strongest term between two classes; None where their maximum-likelihood estimate is not finite."""
    from separatrix.models.logistic.logistic_regression import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = LogisticRegression(on_separation="raise").fit(X, second.astype(np.intp))
        except SeparatrixError:
            return None
    probability = model.predict_proba(X)[:, 1]
    lifted = np.column_stack([X, np.ones(len(X))])
    made = (X[:, j] * X[:, k] for _, j, k in terms)
    statistics = score_statistics(lifted, second - probability, probability * (1 - probability), made)
    best = int(statistics.argmax())
    return TestedPair(label, best, float(statistics[best]), len(X))


def _term_names(X: Floats, names: list[str]) -> list[Term]:
    """Squares of columns with more than two values, and products of two different columns."""
    d = X.shape[1]
    out = [(f"{names[j]}²", j, j) for j in range(d) if len(np.unique(X[:5000, j])) > 2]
    return out + [(f"{names[j]} × {names[k]}", j, k) for j in range(d) for k in range(j + 1, d)]


def score_statistics(Z: Floats, residual: Floats, weight: Floats, terms: Iterable[Floats]) -> Floats:
    """Rao's statistic of each term added to a fitted logistic model: chi-square with one degree of freedom."""
    ZW = Z * weight[:, None]
    inverse = np.linalg.pinv(Z.T @ ZW, hermitian=True)
    out = []
    for t in terms:
        own = t - Z @ (inverse @ (ZW.T @ t))
        information = float(weight @ own**2)
        known = information <= 1e-10 * float(weight @ t**2)
        out.append(0.0 if known else float(own @ residual) ** 2 / information)
    return np.array(out)
