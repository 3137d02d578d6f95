"""The columns as a design: rank, collinearity, scale, and enough rows for the number of coefficients."""

from __future__ import annotations

import numpy as np

from separatrix.auditing.checks import Line
from separatrix.auditing.phrasing import count, named, number
from separatrix.auditing.study import Study

WIDEST = 1500  # columns up to which correlations are formed
INFLATED = 10.0
APART = 1000.0  # ratio of spreads from which scale matters


def check(study: Study) -> list[Line]:
    """Rank and collinearity together, scale, rows."""
    out = [_rank(study)] if not study.sparse else _sparse_rank(study)
    if not study.sparse:
        out.append(_scale(study))
    return [*out, _rows(study)]


def _rank(study: Study) -> Line:
    name, needed = "No column is determined by the others", "coefficients one by one"
    d, n = study.rows.shape[1], study.n
    if d >= n:
        text = f"{count(d)} columns and {count(n)} rows: the columns determine each other"
        return Line(
            "rank", name, needed, text, "fails", "Penalise (ridge), or drop columns; do not read single coefficients."
        )
    if d > WIDEST:
        return Line("rank", name, needed, f"{count(d)} columns are too many to look at", "unknown", "Penalise.")
    Z = study.standardised
    correlation = Z.T @ Z / n
    varies = np.diagonal(correlation) > 0.5
    values, vectors = np.linalg.eigh(correlation[np.ix_(varies, varies)])
    names = [own for own, v in zip(study.names, varies.tolist(), strict=True) if v]
    tiny = values < 1e-12 * len(values)
    if tiny.any():
        involved = np.flatnonzero((vectors[:, tiny] ** 2).sum(axis=1) > 1e-6)
        listed = named([names[j] for j in involved.tolist()], 6)
        text = f"{int(tiny.sum())} exact dependence{'s' if tiny.sum() > 1 else ''} among {listed}"
        statistics = {"dependencies": int(tiny.sum()), "columns": [names[j] for j in involved.tolist()]}
        advice = "Drop columns until none is left over; predictions do not suffer."
        return Line("rank", name, needed, text, "fails", advice, statistics)
    inflation = ((vectors**2) / values).sum(axis=1)
    high = np.argsort(-inflation)
    above = [j for j in high.tolist() if inflation[j] > INFLATED]
    condition = float(np.sqrt(values[-1] / values[0]))
    statistics = {
        "condition": condition,
        "inflation": [{"name": names[j], "factor": float(inflation[j])} for j in high[:10].tolist()],
    }
    if above:
        text = (
            f"variance of {named([names[j] for j in above])} inflated up to {number(float(inflation[above[0]]), 2)} "
            f"times; condition {number(condition, 2)}"
        )
        advice = "Predictions do not suffer; single coefficients are uncertain. Drop or combine columns to read them."
        return Line("rank", name, needed, text, "look", advice, statistics)
    text = f"largest variance inflation {number(float(inflation.max()), 2)}, condition {number(condition, 2)}"
    return Line("rank", name, needed, text, "holds", "", statistics)


def _sparse_rank(study: Study) -> list[Line]:
    d, n = study.plan.d, study.n
    if d < n:
        return []
    text = f"{count(d)} columns in use and {count(n)} rows: any labelling of distinct rows may be separable"
    advice = "Penalise; do not read single coefficients, and do not take separability for evidence."
    return [Line("more rows than columns", "More rows than columns", "unpenalised learners", text, "fails", advice)]


def _scale(study: Study) -> Line:
    spread = study.rows.std(axis=0)
    spread = spread[spread > 0]
    ratio = float(spread.max() / spread.min()) if len(spread) else 1.0
    widest = study.names[int(study.rows.std(axis=0).argmax())]
    text = f"spreads differ up to {number(ratio, 2)} times; widest is '{widest}'"
    needed = "perceptrons, penalties, nearest neighbours"
    if ratio > APART:
        advice = "Standardise the columns (--scale standard) for these learners; likelihoods do not mind."
        return Line("scale", "The columns have like scales", needed, text, "look", advice, {"ratio": ratio})
    return Line("scale", "The columns have like scales", needed, text, "holds", "", {"ratio": ratio})


def _rows(study: Study) -> Line:
    """Rows of the rarer class for each coefficient (Peduzzi et al. 1996)."""
    d = study.plan.d
    least = study.n if study.regression else int(study.counts.min())
    each = least / max(d, 1)
    what = "rows" if study.regression else "rows of the rarest class"
    text = f"{count(least)} {what} for {count(d)} columns: {number(each, 2)} for each"
    if each >= 10:
        return Line(
            "enough rows", "Enough rows for the columns", "unpenalised learners", text, "holds", "", {"each": each}
        )
    verdict = "look" if each >= 3 else "fails"
    advice = "Penalise or use fewer columns; estimates without a penalty are biased away from zero."
    return Line(
        "enough rows", "Enough rows for the columns", "unpenalised learners", text, verdict, advice, {"each": each}
    )
