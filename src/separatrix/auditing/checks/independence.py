"""Hints that rows are not independent draws: duplicates, order, groups, time; and columns that leak the target."""

from __future__ import annotations

import math
import re

import numpy as np

from separatrix.auditing.assumption_answer import AssumptionLine
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.phrasing import count, named, nearly_one, p_value, plural, share, short

GROUPS = re.compile(
    r"(^|[_ .-])(id|patient|subject|user|customer|person|household|family|site|group|batch|session)s?", re.IGNORECASE
)
ORDERED = 0.001  # level of the test of order


def check(table: AuditTable, duplicates: int) -> list[AssumptionLine]:
    """Duplicates, order, groups, time, leaks."""
    return [_duplicates(table, duplicates), _order(table), *_groups(table), *_time(table), _leak(table)]


def _line(
    name: str, assumption: str, evidence: str, verdict: str, advice: str = "", p: float | None = None
) -> AssumptionLine:
    threshold = None if p is None else ORDERED
    return AssumptionLine(name, assumption, "estimates for new rows", evidence, verdict, advice, p, threshold)


def _duplicates(table: AuditTable, duplicates: int) -> AssumptionLine:
    name, assumption = "no duplicates", "No row occurs twice"
    if not duplicates:
        return _line(name, assumption, "all rows differ in their features", "holds")
    text = f"{plural(duplicates, 'row')} repeat the features of an earlier one ({share(duplicates / table.n)})"
    if duplicates < 0.005 * table.n:
        return _line(name, assumption, text, "holds")
    advice = "If they are copies of one observation, drop them: a copy can be in training and test rows at once."
    return _line(name, assumption, text, "look", advice)


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
        return _line(name, assumption, f"{text}, {p_value(p)}", "holds", p=p)
    if not table.regression and runs <= 2 * len(table.classes):
        text = f"the rows are sorted by class ({text})"
        return _line(name, assumption, text, "holds", "Rows were shuffled before they were split.", p)
    if table.split_rule.by == "time":
        return _line(name, assumption, f"{text}; rows were split in time", "holds", p=p)
    advice = "If rows came in time or in batches, split them by time (--time) or by groups (--groups)."
    return _line(name, assumption, f"{text}, {p_value(p)}", "look", advice, p)


def _groups(table: AuditTable) -> list[AssumptionLine]:
    """Columns named like an identifier whose values repeat: perhaps one value for each person or place."""
    rule = table.split_rule
    if rule.by == "groups":
        text = f"no '{rule.column}' ({count(rule.kinds)} groups) appears in both training and test rows"
        return [_line("groups", "Groups of rows are kept together", text, "holds")]
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
    return [_line("no groups", "Rows do not come in groups", text, "look", advice)]


def _time(table: AuditTable) -> list[AssumptionLine]:
    rule = table.split_rule
    if rule.by == "time":
        text = f"later rows are predicted from earlier ones ('{rule.column}', {count(rule.kinds)} moments)"
        return [_line("time", "Later rows are predicted from earlier ones", text, "holds")]
    dates = [] if table.frame is None else [short(c.name) for c in table.frame.columns if c.kind == "date"]
    if not dates:
        return []
    advice = "If new rows will be later ones, split by time (--time): random folds train on the future."
    return [_line("time", "Time does not matter", f"{named(dates)} holds dates", "look", advice)]


def _leak(table: AuditTable) -> AssumptionLine:
    name, assumption = "no leak", "No column gives the target away"
    if table.regression:
        return _regression_leak(table, name, assumption)
    if not table.leaks:
        return _line(name, assumption, "no single column determines the class", "holds")
    listed = "; ".join(f"'{short(leak.column)}': {short(leak.evidence, 160)}" for leak in table.leaks[:4])
    if table.set_aside:
        advice = f"{named([short(name) for name in table.set_aside])} was left out of all answers; use --keep only if "
        return _line(name, assumption, listed, "fails", advice + "its value is known before the target is.")
    return _line(name, assumption, listed, "look", "Is it known before the target is? If not, drop it (--drop).")


def _regression_leak(table: AuditTable, name: str, assumption: str) -> AssumptionLine:
    if table.sparse:
        return _line(name, assumption, "not tested for sparse rows", "unknown")
    Z, y = table.standardised, table.task.y
    spread = float(y.std())
    r = np.abs(Z.T @ (y - y.mean())) / (len(y) * spread) if spread > 0 else np.zeros(Z.shape[1])
    j = int(r.argmax())
    text = f"strongest correlation with the target: '{table.names[j]}' {nearly_one(float(r[j]))}"
    if r[j] > 0.999:
        return _line(name, assumption, text, "look", "Is it the target under another name? Then drop it (--drop).")
    return _line(name, assumption, text, "holds")
