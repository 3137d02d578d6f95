"""Question 5, the recommendation, what was left out, and an answer in words."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.auditing.table_facts import Excerpt


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


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to use (None: nothing), why, and what not to trust."""

    use: str
    learner: str | None
    why: str
    cautions: list[str]


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that was not done, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What depends on the day and the machine."""

    date: str
    version: str
    seconds: dict[str, float]
    test_use: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A question as printed, its answer in a few words, how it is known, and the sentences below it."""

    question: str
    answer: str
    badge: str
    lines: list[str]
