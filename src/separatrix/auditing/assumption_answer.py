"""Question 5: the assumptions with their verdicts, and the sentences made of them."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.auditing.phrasing import Answer
from separatrix.auditing.table_facts import Excerpt

MARKS = {"fails": "✗", "look": "!", "unknown": "?", "holds": "✓"}


@dataclass(frozen=True, slots=True)
class AssumptionLine:
    """One assumption: ``verdict`` is "holds", "fails", "look" (needs a look) or "unknown".

    ``name`` is for a list, ``assumption`` says it whole. ``threshold`` is the level of a test, where there is one.
    """

    name: str
    assumption: str
    needed_by: str
    evidence: str
    verdict: str
    advice: str
    p: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class SuspectRows:
    """Rows that every learner, fitted without them, puts firmly into another class."""

    rows: list[int]
    rejected_by_all: int
    learners: int
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class AssumptionFacts:
    """Question 5."""

    lines: list[AssumptionLine]
    suspects: SuspectRows | None

    def count(self, verdict: str) -> int:
        return sum(line.verdict == verdict for line in self.lines)


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
