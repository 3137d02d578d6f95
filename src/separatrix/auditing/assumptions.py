"""Question 5: which assumptions does that need, and do they hold on this table?"""

from __future__ import annotations

from typing import Any

from separatrix.auditing.best import Best
from separatrix.auditing.checks import Line, design, independence, labels, normality, odds
from separatrix.auditing.existence import Existence
from separatrix.auditing.new_points import NewPoints
from separatrix.auditing.study import Study

QUESTION = "Which assumptions does that need?"
MARKS = {"holds": "✓", "fails": "✗", "look": "!", "unknown": "?"}


def ask(study: Study, existence: Existence, best: Best, found: NewPoints) -> dict[str, Any]:
    """Every assumption with its evidence, for classes."""
    with study.clock.stage("assumptions"):
        normal, picture = normality.check(study)
        must_go = None if best.mistakes is None else best.content["mistakes"]["rows"]
        suspicion, suspects = labels.check(study, found, must_go)
        lines = [
            _separable(existence),
            *odds.check(study, existence.verdict == "overlap"),
            *normal,
            *design.check(study),
            *independence.check(study, existence.content["contradictions"]["duplicates"]),
            *suspicion,
        ]
    return _answered(lines) | {"quantiles": picture, "suspects": suspects}


def ask_regression(study: Study, residuals: Any, fitted: Any, duplicates: int) -> dict[str, Any]:
    """The same for a quantity."""
    with study.clock.stage("assumptions"):
        lines = [
            *odds.check_regression(study, residuals, fitted),
            *design.check(study),
            *independence.check(study, duplicates),
        ]
    return _answered(lines) | {"quantiles": None, "suspects": None}


def _separable(existence: Existence) -> Line:
    name, needed = "The classes can be separated", "the perceptron's end; a hard margin"
    if existence.verdict == "complete":
        text = "proved, see question 1; for the same reason unpenalised logistic regression has no finite estimate"
        return Line(
            "separable classes", name, needed, text, "holds", "Penalise, or use Firth's correction, for probabilities."
        )
    if existence.verdict == "undecided":
        return Line("separable classes", name, needed, "not decided", "unknown", "")
    text = "proved that they cannot, see question 1"
    if existence.verdict == "quasi":
        text += "; and unpenalised logistic regression has no finite estimate"
    return Line(
        "separable classes",
        name,
        needed,
        text,
        "fails",
        "Use learners that bear mistakes: logistic, averaged, soft margins.",
    )


def _answered(lines: list[Line]) -> dict[str, Any]:
    counts = {verdict: sum(line.verdict == verdict for line in lines) for verdict in MARKS}
    parts = []
    if counts["holds"]:
        parts.append(f"{counts['holds']} hold{'s' * (counts['holds'] == 1)}")
    if counts["fails"]:
        parts.append(f"{counts['fails']} fail{'s' * (counts['fails'] == 1)}")
    if counts["look"]:
        parts.append(f"{counts['look']} to look at")
    if counts["unknown"]:
        parts.append(f"{counts['unknown']} not known")
    order = {"fails": 0, "look": 1, "unknown": 2, "holds": 3}
    ranked = sorted(lines, key=lambda line: order[line.verdict])
    told = " · ".join(
        f"{mark} {', '.join(line.name for line in ranked if line.verdict == verdict)}"
        for verdict, mark in sorted(MARKS.items(), key=lambda own: order[own[0]])
        if counts[verdict]
    )
    return {
        "question": QUESTION,
        "badge": "tested",
        "answer": ", ".join(parts),
        "lines": [told],
        "counts": counts,
        "assumptions": [line.to_dict() for line in ranked],
    }
