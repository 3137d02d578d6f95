"""The columns as a design: rank, collinearity, scale, and enough rows for the number of coefficients."""

from __future__ import annotations

import numpy as np

from separatrix.auditing.assumption_answer import AssumptionLine
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.phrasing import count, named, number

WIDEST = 1500  # columns up to which correlations are formed
INFLATED = 10.0
APART = 1000.0  # ratio of spreads from which scale matters


def check(table: AuditTable) -> list[AssumptionLine]:
    """Rank with collinearity, scale, number of rows."""
    if table.sparse:
        return [*_sparse_rank(table), _rows(table)]
    return [_rank(table), _scale(table), _rows(table)]


def _rank(table: AuditTable) -> AssumptionLine:
    d, n = table.rows.shape[1], table.n

    def line(evidence: str, verdict: str, advice: str) -> AssumptionLine:
        name = "No column is a linear combination of the others"
        return AssumptionLine("full rank", name, "single coefficients", evidence, verdict, advice)

    if d >= n:
        text = f"{count(d)} columns and {count(n)} rows: the columns are linearly dependent"
        return line(text, "fails", "Use a ridge penalty, or drop columns; do not interpret single coefficients.")
    if d > WIDEST:
        return line(f"{count(d)} columns are too many to test", "unknown", "Use a ridge penalty.")
    Z = table.standardised
    correlation = Z.T @ Z / n
    varies = np.diagonal(correlation) > 0.5
    values, vectors = np.linalg.eigh(correlation[np.ix_(varies, varies)])
    names = [own for own, v in zip(table.names, varies.tolist(), strict=True) if v]
    tiny = values < 1e-12 * len(values)
    if tiny.any():
        involved = np.flatnonzero((vectors[:, tiny] ** 2).sum(axis=1) > 1e-6)
        listed = named([names[j] for j in involved.tolist()], 6)
        text = f"{listed} are linearly dependent ({int(tiny.sum())} exact relation{'s' if tiny.sum() > 1 else ''})"
        return line(text, "fails", "Drop columns until none is redundant; predictions do not suffer.")
    inflation = ((vectors**2) / values).sum(axis=1)
    high = [j for j in np.argsort(-inflation).tolist() if inflation[j] > INFLATED]
    condition = f"condition number {number(float(np.sqrt(values[-1] / values[0])), 2)}"
    if high:
        top = number(float(inflation[high[0]]), 2)
        text = f"variance inflation up to {top} for {named([names[j] for j in high])}; {condition}"
        advice = "Predictions do not suffer, but single coefficients are uncertain: drop or combine columns."
        return line(text, "look", advice)
    return line(f"largest variance inflation {number(float(inflation.max()), 2)}, {condition}", "holds", "")


def _sparse_rank(table: AuditTable) -> list[AssumptionLine]:
    if table.d < table.n:
        return []
    text = f"{count(table.d)} columns in use and {count(table.n)} rows: nearly any labels would be separable"
    advice = "Use a ridge penalty; do not interpret single coefficients, nor separability."
    name = "more rows than columns"
    return [AssumptionLine(name, "More rows than columns", "unpenalised learners", text, "fails", advice)]


def _scale(table: AuditTable) -> AssumptionLine:
    spread = table.rows.std(axis=0)
    widest = table.names[int(spread.argmax())]
    spread = spread[spread > 0]
    ratio = float(spread.max() / spread.min()) if len(spread) else 1.0
    text = f"standard deviations differ by a factor of up to {number(ratio, 2)}; the largest is that of '{widest}'"
    look = ratio > APART
    advice = "Standardise the columns (--scale standard) for these learners; maximum likelihood does not need it."
    name, needed = "Columns have comparable scales", "perceptrons, penalties, nearest neighbours"
    return AssumptionLine("comparable scales", name, needed, text, "look" if look else "holds", advice if look else "")


def _rows(table: AuditTable) -> AssumptionLine:
    """Rows of the rarest class for each coefficient (Peduzzi et al. 1996)."""
    least = table.n if table.regression else int(table.counts.min())
    each = least / max(table.d, 1)
    what = "rows" if table.regression else "rows of the rarest class"
    text = f"{count(least)} {what} for {count(table.d)} columns: {number(each, 2)} a column (at least 10 are usual)"
    verdict = "holds" if each >= 10 else "look" if each >= 3 else "fails"
    advice = "" if each >= 10 else "Use a penalty or fewer columns; unpenalised estimates are biased away from zero."
    return AssumptionLine("enough rows", "Enough rows for the columns", "unpenalised learners", text, verdict, advice)
