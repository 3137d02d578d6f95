"""Hints that rows are not independent draws: copies, the order of the file, groups, time; and columns that leak."""

from __future__ import annotations

import math
import re

import numpy as np

from separatrix.auditing.checks import Line
from separatrix.auditing.phrasing import count, named, nearly_one, p_value, plural, share, short
from separatrix.auditing.study import Study

GROUPS = re.compile(
    r"(^|[_ .-])(id|patient|subject|user|customer|person|household|family|site|group|batch|session)s?", re.I
)
NEEDED = "every estimate about new rows"


def check(study: Study, duplicates: int) -> list[Line]:
    """Copies, order, groups, time, leaks."""
    return [_copies(study, duplicates), _order(study), *_groups(study), *_times(study), _leaks(study)]


def _copies(study: Study, duplicates: int) -> Line:
    name = "No row is there twice"
    if not duplicates:
        return Line("no copies", name, NEEDED, "all rows differ in their features", "holds", "", {"duplicates": 0})
    text = f"{plural(duplicates, 'row')} repeat the features of an earlier one ({share(duplicates / study.n)})"
    advice = "If they are copies of one observation, drop them: in folds they are learned and judged at once."
    few = duplicates < 0.005 * study.n
    return Line(
        "no copies", name, NEEDED, text, "holds" if few else "look", "" if few else advice, {"duplicates": duplicates}
    )


def _order(study: Study) -> Line:
    """Wald & Wolfowitz's (1940) runs for classes, the first serial correlation for quantities."""
    name = "The order of the rows says nothing"
    y, n = study.task.y, study.n
    if study.regression:
        centred = y - y.mean()
        r = float(centred[1:] @ centred[:-1] / max(float(centred @ centred), 1e-300))
        z, text = r * math.sqrt(n), f"serial correlation of the target {r:.2f}"
    else:
        runs = 1 + int(np.count_nonzero(study.codes[1:] != study.codes[:-1]))
        same = float(((study.counts / n) ** 2).sum())
        mean = 1 + (n - 1) * (1 - same) * n / (n - 1) if n > 1 else 1.0
        cubes = float(((study.counts / n) ** 3).sum())
        variance = max(n * (same + same**2 - 2 * cubes), 1e-9)
        z = (runs - mean) / math.sqrt(variance)
        text = f"{plural(runs, 'run')} of equal classes where {count(mean)} are expected"
    p = math.erfc(abs(z) / math.sqrt(2))
    statistics = {"p": p}
    if p >= 0.001:
        return Line("order of rows", name, NEEDED, f"{text}, {p_value(p)}", "holds", "", statistics)
    sorted_rows = not study.regression and runs <= 2 * len(study.classes)
    if sorted_rows:
        return Line(
            "order of rows",
            name,
            NEEDED,
            f"the rows are sorted by class ({text})",
            "holds",
            "Rows were shuffled before they were dealt.",
            statistics,
        )
    if study.dealing.by == "time":
        return Line("order of rows", name, NEEDED, f"{text}; rows were dealt in time", "holds", "", statistics)
    advice = "If rows came in time or in batches, judge later rows by earlier ones (--time), or others (--groups)."
    return Line("order of rows", name, NEEDED, f"{text}, {p_value(p)}", "look", advice, statistics)


def _groups(study: Study) -> list[Line]:
    """Columns whose values come several times each, in many kinds: perhaps one for each person or place."""
    name, dealing = "Rows do not come in groups", study.dealing
    if dealing.by == "groups":
        text = f"rows of one '{dealing.column}' ({count(dealing.kinds)} groups) never learned from and judged at once"
        return [Line("groups", "Groups of rows are kept together", NEEDED, text, "holds", "")]
    if study.frame is None:
        return []
    found = []
    for column in study.frame.columns:
        if column.kind not in ("text", "integer"):
            continue
        present = column.values[~column.missing].tolist()
        kinds = len(set(present))
        called = GROUPS.search(column.name) is not None
        if called and 10 <= kinds <= len(present) / 1.5 and len(present) > 20:
            found.append((column.name, kinds))
    if not found:
        return []
    listed = named([short(name) for name, _ in found])
    text = f"{listed} may name groups ({count(found[0][1])} values in {count(study.n)} rows)"
    advice = "If rows of a group are alike, keep groups together in folds (--groups), or estimates are too good."
    return [Line("no groups", name, NEEDED, text, "look", advice)]


def _times(study: Study) -> list[Line]:
    if study.dealing.by == "time":
        text = (
            f"later rows were judged by earlier ones ('{study.dealing.column}', {count(study.dealing.kinds)} moments)"
        )
        return [Line("time", "Later rows are judged by earlier ones", NEEDED, text, "holds", "")]
    dates = [] if study.frame is None else [short(c.name) for c in study.frame.columns if c.kind == "date"]
    if not dates:
        return []
    advice = "If new rows will be later ones, judge later rows by earlier ones (--time): random folds see the future."
    return [Line("time", "Time does not matter", NEEDED, f"{named(dates)} holds dates", "look", advice)]


def _leaks(study: Study) -> Line:
    name = "No column gives the target away"
    if study.regression:
        return _regression_leak(study, name)
    if not study.leaks:
        return Line("no leak", name, NEEDED, "no column alone tells the classes apart", "holds", "")
    listed = "; ".join(f"'{short(leak.column)}': {short(leak.evidence, 160)}" for leak in study.leaks[:4])
    if study.aside:
        listed_aside = named([short(name) for name in study.aside])
        advice = f"{listed_aside} was left out of all answers; keep it (--keep) only if it is known in time."
        return Line("no leak", name, NEEDED, listed, "fails", advice)
    advice = "Was it known before the target was? If not, drop it (--drop)."
    return Line("no leak", name, NEEDED, listed, "look", advice)


def _regression_leak(study: Study, name: str) -> Line:
    if study.sparse:
        return Line("no leak", name, NEEDED, "not looked for in sparse rows", "unknown", "")
    Z, y = study.standardised, study.task.y
    spread = float(y.std())
    r = np.abs(Z.T @ (y - y.mean())) / (len(y) * spread) if spread > 0 else np.zeros(Z.shape[1])
    j = int(r.argmax())
    text = f"strongest correlation with the target: '{study.names[j]}' {nearly_one(float(r[j]))}"
    if r[j] > 0.999:
        advice = "Is it the target under another name? Drop it (--drop)."
        return Line("no leak", name, NEEDED, text, "look", advice, {"r": float(r[j])})
    return Line("no leak", name, NEEDED, text, "holds", "", {"r": float(r[j])})
