"""What a stream is to do, and what a checkpoint must have in common with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from separatrix.stream.line_pieces import LIMIT
from separatrix.stream.table_formats import Columns

MOST_FEATURES = 1 << 22


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """What is to be done; checked before anything is read."""

    source: str
    out: Path | None = None
    columns: Columns = field(default_factory=lambda: Columns(""))
    format: str | None = None
    classes: Sequence[Any] | None = None
    standard: bool = False
    window: int = 1000
    alarm: float = 0.01
    scores: bool = False
    block: int | None = None
    features: int | None = None
    rejects: Path | None = None
    strict: bool = False
    checkpoint: Path | None = None
    checkpoint_rows: int | None = None
    checkpoint_seconds: float | None = None
    resume: bool = False
    follow: bool = False
    longest_line: int = LIMIT
    quiet: bool = True

    def identity(self, learner: Any) -> dict[str, Any]:
        """What a checkpoint must have in common with the stream that goes on from it."""
        columns = self.columns
        return {
            "learner": repr(learner),
            "target": columns.target,
            "columns": [repr(columns.reading), list(columns.drop)],
            "classes": None if self.classes is None else list(self.classes),
            "standardised": self.standard,
            "window and alarm": [self.window, self.alarm],
            "scores": self.scores,
            "block": self.block,
            "features": self.features,
            "longest line": self.longest_line,
        }
