"""Assumptions held against the table, one file a kind; each line says what, the evidence, the verdict, what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Line:
    """One assumption: ``verdict`` is "holds", "fails", "look" (to be looked at) or "unknown".

    ``name`` is for a list, ``assumption`` says it whole.
    """

    name: str
    assumption: str
    needed_by: str
    evidence: str
    verdict: str
    advice: str
    statistics: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
