"""Rows whose label may be wrong: rejected by every learner that had not seen them, or in the fewest-mistakes set."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.auditing.checks import Line
from separatrix.auditing.excerpt import cells
from separatrix.auditing.new_points import NewPoints
from separatrix.auditing.phrasing import count, share, some
from separatrix.auditing.study import Study

SURE = 0.95  # probability of another class from which a rejection counts as firm


def check(study: Study, found: NewPoints, must_go: list[int] | None) -> tuple[list[Line], dict[str, Any]]:
    """Rows that all learners, each fitted without them, put into another class."""
    name, needed = "The labels are right", "every learner"
    suspects: dict[str, Any] = {"rows": [], "shown": None, "learners": len(found.runs)}
    if study.regression or len(found.runs) < 2:
        return [], suspects
    truth = study.task.y[found.judged]
    wrong = np.zeros(len(found.judged), dtype=np.intp)
    firm = np.zeros(len(found.judged), dtype=bool)
    for run in found.runs.values():
        labels = run.predictions()
        wrong += np.array([own is not None for own in labels]) & (labels != truth)
        for result in run.results[: run.folds]:
            said = result.said
            if said is not None and said.probabilities is not None:
                top = said.probabilities.max(axis=1) if said.probabilities.ndim == 2 else said.probabilities
                firm[result.rows] |= top >= SURE
    everyone = wrong == len(found.runs)
    rows = found.judged[everyone & firm]
    also = set(must_go or [])
    ranked = sorted(rows.tolist(), key=lambda i: (i not in also, i))
    by_all = int(everyone.sum())
    text = f"{count(by_all)} rows ({share(by_all / len(wrong))}) are put elsewhere by all {len(found.runs)} learners, "
    text += "none of which had seen them"
    if ranked:
        text += f"; {count(len(ranked))} of them firmly (rows {some(ranked)})"
    suspects |= {"rows": ranked, "rejected_by_all": by_all, "shown": cells(study, ranked)}
    if not ranked:
        return [Line("right labels", name, needed, text, "holds", "", {"suspects": 0})], suspects
    advice = "Look at these rows first; a wrong label costs more than a lost row."
    return [Line("right labels", name, needed, text, "look", advice, {"suspects": len(ranked)})], suspects
