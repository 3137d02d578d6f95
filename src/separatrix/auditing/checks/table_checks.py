"""Checks of the table itself: its columns as a design, and hints that its rows are not independent draws.

Of the columns: rank, collinearity, scale, and enough rows for the number of coefficients. Of the rows: duplicates,
order, groups and time; and columns that leak the target.
"""

from __future__ import annotations

import math
import re

import numpy as np

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import DUPLICATES, AuditTable
from separatrix.auditing.phrasing import count, named, nearly_one, number, p_value, plural, share, short
from separatrix.auditing.prediction_answers import AssumptionLine

WIDEST = 1500  # columns up to which correlations are formed
INFLATED = 10.0
APART = 100.0  # ratio of spreads from which scale matters
GROUPS = re.compile(
    r"(^|[_ .-])(id|patient|subject|user|customer|person|household|family|site|group|batch|session)s?", re.IGNORECASE
)
ORDERED = 0.001  # level of the test of order


def check_columns(table: AuditTable) -> list[AssumptionLine]:
    """Rank with collinearity, scale, number of rows."""
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
        return line(f"not checked: {count(d)} columns are more than {count(WIDEST)}", "unknown", "Use a ridge penalty.")
    if not table.varies.all():
        constant = named([table.names[j] for j in np.flatnonzero(~table.varies).tolist()])
        text = f"{constant} {'is' if np.count_nonzero(~table.varies) == 1 else 'are'} constant within rounding errors"
        return line(f"{text}; the model already has an intercept", "fails", "Subtract a constant, or drop columns.")
    correlation = correlations(table)
    values, vectors = np.linalg.eigh(correlation)
    names = table.names
    tiny = values < 1e-12 * len(values)
    if tiny.any():
        involved = np.flatnonzero((vectors[:, tiny] ** 2).sum(axis=1) > 1e-6)
        listed = named([names[j] for j in involved.tolist()], 6)
        text = f"{listed} are linearly dependent ({int(tiny.sum())} exact relation{'s' if tiny.sum() > 1 else ''})"
        return line(text, "fails", "Drop redundant columns; predictions are not affected.")
    inflation = ((vectors**2) / values).sum(axis=1)
    high = [j for j in np.argsort(-inflation).tolist() if inflation[j] > INFLATED]
    condition = f"condition number {number(float(np.sqrt(values[-1] / values[0])), 2)}"
    if high:
        top = number(float(inflation[high[0]]), 2)
        text = f"variance inflation up to {top} for {named([names[j] for j in high])}; {condition}"
        advice = "Predictions are not affected, but single coefficients are uncertain: drop or combine columns."
        return line(text, "look", advice)
    return line(f"largest variance inflation {number(float(inflation.max()), 2)}, {condition}", "holds", "")


def correlations(table: AuditTable) -> Floats:
    """Of each column with each other one; sparse rows are not written out for it."""
    if not table.sparse:
        Z = table.standardised
        return np.asarray(Z.T @ Z / table.n)
    mean = np.asarray(table.rows.mean(axis=0)).ravel()
    covariance = (table.rows.T @ table.rows).toarray() / table.n - np.outer(mean, mean)
    return np.asarray(covariance / np.outer(table.spreads, table.spreads))


def _scale(table: AuditTable) -> AssumptionLine:
    widest, spread = table.names[int(table.spreads.argmax())], table.spreads[table.varies]
    ratio = float(spread.max() / spread.min()) if len(spread) else 1.0
    text = f"standard deviations differ by a factor of up to {number(ratio, 2)}; the largest is that of '{widest}'"
    look = ratio > APART
    text += "" if look else f" (a factor above {count(APART)} needs a look)"
    advice = "Standardise the columns (--scale standard) for these learners; maximum likelihood does not need it."
    name, needed = "Columns have comparable scales", "perceptrons, penalties, nearest neighbours"
    return AssumptionLine("comparable scales", name, needed, text, "look" if look else "holds", advice if look else "")


def _rows(table: AuditTable) -> AssumptionLine:
    """Rows of the rarest class for each coefficient (Peduzzi et al. 1996)."""
    least = table.n if table.regression else int(table.counts.min())
    each = least / max(table.d, 1)
    rows = plural(least, "row") + ("" if table.regression else " of the rarest class")
    text = f"{rows} for {plural(table.d, 'column')}: {number(each, 2)} a column (at least 10 are usual)"
    verdict = "holds" if each >= 10 else "look" if each >= 3 else "fails"
    advice = "" if each >= 10 else "Use a penalty or fewer columns; unpenalised estimates are biased away from zero."
    return AssumptionLine("enough rows", "Enough rows for the columns", "unpenalised learners", text, verdict, advice)


def check_independence(table: AuditTable, duplicates: int) -> list[AssumptionLine]:
    """Duplicates, order, groups, time, leaks."""
    order = [] if table.split_rule.by == "time" else [_order(table)]
    return [_duplicates(table, duplicates), *order, *_groups(table), *_time(table), _leak(table)]


def _hint(
    name: str, assumption: str, evidence: str, verdict: str, advice: str = "", p: float | None = None
) -> AssumptionLine:
    threshold = None if p is None else ORDERED
    return AssumptionLine(name, assumption, "estimates for new rows", evidence, verdict, advice, p, threshold)


def _duplicates(table: AuditTable, duplicates: int) -> AssumptionLine:
    name, assumption = "few duplicates", f"Few rows occur twice (at most {share(DUPLICATES)})"
    if not duplicates:
        return _hint(name, assumption, "all rows differ in their features", "holds")
    verb = "repeats" if duplicates == 1 else "repeat"
    text = f"{plural(duplicates, 'row')} {verb} the features of an earlier one ({share(duplicates / table.n)})"
    if duplicates < DUPLICATES * table.n:
        return _hint(name, assumption, text, "holds")
    if table.copies is not None:
        text += f", and rows that differ in one column alone are rarer ({p_value(table.copies.p)}): they are copies"
        distinct = count(table.copies.observations)
        return _hint(name, assumption, text, "look", f"Copies were kept in one fold: estimates count {distinct} rows.")
    advice = "If they are copies of one observation, drop them: a copy can be in training and test rows at once."
    return _hint(name, assumption, text, "look", advice)


def _order(table: AuditTable) -> AssumptionLine:
    """Wald & Wolfowitz's (1940) runs for classes, the first serial correlation for quantities."""
    y, n, runs = table.task.y, table.n, 0
    if table.regression:
        centred = y - y.mean()
        r = float(centred[1:] @ centred[:-1] / max(float(centred @ centred), 1e-300))
        z, text = r * math.sqrt(n), f"serial correlation of the target {r:.2f}"
    else:
        runs = 1 + int(np.count_nonzero(table.codes[1:] != table.codes[:-1]))
        same = float(((table.counts / n) ** 2).sum())
        mean = 1 + n * (1 - same)
        cubes = float(((table.counts / n) ** 3).sum())
        variance = max(n * (same + same**2 - 2 * cubes), 1e-9)
        z = (runs - mean) / math.sqrt(variance)
        text = f"{plural(runs, 'run')} of equal classes, {count(mean)} expected"
    p = math.erfc(abs(z) / math.sqrt(2))
    name, assumption = "order of rows", "The order of the rows carries no information"
    if p >= ORDERED:
        return _hint(name, assumption, f"{text}, {p_value(p)}", "holds", p=p)
    if not table.regression and runs <= 2 * len(table.classes):
        advice = "Rows were shuffled before they were split. Shuffle them for learners that see them in turn, too."
        return _hint(name, assumption, f"the rows are sorted by class ({text})", "look", advice, p)
    if (z > 0 and not table.regression) or (z < 0 and table.regression):
        advice = "Rows may have been matched or dealt out in turn: if so, keep those that belong together (--groups)."
        text = f"{text}: neighbours differ more often than by chance, {p_value(p)}"
        return _hint(name, assumption, text, "look", advice, p)
    advice = "If rows came in time or in batches, split them by time (--time) or by groups (--groups)."
    return _hint(name, assumption, f"{text}, {p_value(p)}", "look", advice, p)


def _groups(table: AuditTable) -> list[AssumptionLine]:
    """Columns named like an identifier whose values repeat: perhaps one value for each person or place."""
    rule = table.split_rule
    if rule.by == "groups":
        text = f"no '{rule.column}' ({count(rule.kinds)} groups) appears in both training and test rows"
        return [_hint("groups", "Groups of rows are kept together", text, "holds")]
    if table.frame is None:
        return []
    found = []
    for column in table.frame.columns:
        if column.kind not in ("text", "integer") or GROUPS.search(column.name) is None:
            continue
        present = column.values[~column.missing].tolist()
        different = len(set(present))
        if 10 <= different <= len(present) / 1.5 and len(present) > 20:
            found.append((column.name, different))
    if not found:
        return []
    listed = named([short(name) for name, _ in found])
    text = f"{listed} may identify groups ({count(found[0][1])} values in {count(table.n)} rows)"
    advice = "If rows of a group are alike, keep groups together (--groups); otherwise the estimates are optimistic."
    return [_hint("no groups", "Rows do not come in groups", text, "look", advice)]


def _time(table: AuditTable) -> list[AssumptionLine]:
    rule = table.split_rule
    if rule.by == "time":
        text = f"later rows are predicted from earlier ones ('{rule.column}', {count(rule.kinds)} moments)"
        return [_hint("time", "Later rows are predicted from earlier ones", text, "holds")]
    dates = [] if table.frame is None else [short(c.name) for c in table.frame.columns if c.kind == "date"]
    if not dates:
        return []
    advice = "If new rows will be later ones, split by time (--time): random folds train on the future."
    return [_hint("time", "Time does not matter", f"{named(dates)} holds dates", "look", advice)]


def _leak(table: AuditTable) -> AssumptionLine:
    name, assumption = "no leak", "No column gives the target away"
    if table.regression:
        return _regression_leak(table, name, assumption)
    if not table.leaks and not table.leaks_sought:
        why = "one class has nearly all rows, or there are too few rows"
        why = "the columns have no names" if table.frame is None else why
        return _hint(name, assumption, f"not checked: {why}", "unknown")
    if not table.leaks:
        return _hint(name, assumption, "no single column determines the class", "holds")
    listed = "; ".join(f"'{short(leak.column)}': {short(leak.evidence, 160)}" for leak in table.leaks[:4])
    if table.set_aside:
        advice = f"{named([short(name) for name in table.set_aside])} was left out of all answers; use --keep only if "
        return _hint(name, assumption, listed, "fails", advice + "its value is known before the target is.")
    return _hint(name, assumption, listed, "look", "Is it known before the target is? If not, drop it (--drop).")


def _regression_leak(table: AuditTable, name: str, assumption: str) -> AssumptionLine:
    if table.sparse:
        return _hint(name, assumption, "not tested for sparse rows", "unknown")
    Z, y = table.standardised, table.task.y
    spread = float(y.std())
    r = np.abs(Z.T @ (y - y.mean())) / (len(y) * spread) if spread > 0 else np.zeros(Z.shape[1])
    j = int(r.argmax())
    text = f"strongest correlation with the target: '{table.names[j]}' {nearly_one(float(r[j]))}"
    if r[j] > 0.999:
        return _hint(name, assumption, text, "look", "Is it the target under another name? Then drop it (--drop).")
    return _hint(name, assumption, text, "holds")
