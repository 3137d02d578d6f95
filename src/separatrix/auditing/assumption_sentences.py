"""Question 5 in words: which assumptions does that need, and do they hold?"""

from __future__ import annotations

from separatrix.auditing.conclusion_facts import Answer, AssumptionFacts

MARKS = {"fails": "✗", "look": "!", "unknown": "?", "holds": "✓"}


def assumptions(facts: AssumptionFacts) -> Answer:
    """Question 5."""
    holds, fails, look, unknown = (facts.count(verdict) for verdict in ("holds", "fails", "look", "unknown"))
    parts = [
        f"{holds} hold{'s' * (holds == 1)}" if holds else "",
        f"{fails} fail{'s' * (fails == 1)}" if fails else "",
        f"{look} need{'s' * (look == 1)} a look" if look else "",
        f"{unknown} unknown" if unknown else "",
    ]
    listed = " · ".join(
        f"{mark} {', '.join(line.name for line in facts.lines if line.verdict == verdict)}"
        for verdict, mark in MARKS.items()
        if facts.count(verdict)
    )
    answer = ", ".join(part for part in parts if part)
    return Answer("Which assumptions does that need, and do they hold?", answer, "tested", [listed])
