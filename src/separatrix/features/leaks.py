"""Columns that should not be learned from: ID columns, and columns that leak the target."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Column

PURE = 0.995  # share of rows whose class the column alone tells
FEW_ROWS = 20
SAMPLE = 5000


@dataclass(frozen=True, slots=True)
class Leak:
    """A column that gives the class away, with the evidence.

    ``kind``: its "levels" go with classes, or one "threshold" parts the classes.
    """

    column: str
    evidence: str
    kind: str = field(default="levels", compare=False)

    def to_dict(self) -> dict[str, str]:
        return {"column": self.column, "evidence": self.evidence}


def names_rows(column: Column) -> bool:
    """Whether (nearly) every row has a value of its own."""
    present = column.values[~column.missing].tolist()
    return len(present) >= FEW_ROWS and len(set(present)) > 0.9 * len(present)


def leaks_show(labels: Sequence[Any]) -> bool:
    """Whether rows are many enough, and no class so common, that a column which determines the class stands out."""
    times = Counter(labels)
    common = times.most_common(1)[0][1] / len(labels)
    return len(labels) >= FEW_ROWS and common <= 0.95 and len(times) <= max(2, len(labels) // 10)


def find_leaks(columns: Sequence[Column], y: NDArray[Any], target: str) -> list[Leak]:
    """Columns that determine the class of (nearly) every row by themselves."""
    labels = [str(v) for v in y.tolist()]
    if not leaks_show(labels):
        return []
    found = []
    two = y == y[0] if len(set(labels)) == 2 else None
    few = np.linspace(0, len(labels) - 1, SAMPLE).astype(np.intp) if len(labels) > SAMPLE else None
    for column in columns:
        evidence, kind = None, "levels"
        if few is None or _levels_tell(column.take(few), [labels[i] for i in few], target):
            evidence = _levels_tell(column, labels, target)
        if evidence is None and column.kind != "text":
            evidence, kind = None if two is None else _threshold_tells(column, two, target), "threshold"
        if evidence is not None:
            found.append(Leak(column.name, evidence, kind))
    return found


def _levels_tell(column: Column, labels: list[str], target: str) -> str | None:
    """Whether each of a few values goes with one class only."""
    classes: dict[Any, Counter[str]] = defaultdict(Counter)
    for value, label in zip(column.values.tolist(), labels, strict=True):
        classes[value if value == value else None][label] += 1
        if len(classes) > max(2, len(labels) // 10):
            return None
    right = sum(count.most_common(1)[0][1] for count in classes.values())
    if right < PURE * len(labels) or len({count.most_common(1)[0][0] for count in classes.values()}) < 2:
        return None
    level, count = max(classes.items(), key=lambda item: item[1].most_common(1)[0][1])
    label, times = count.most_common(1)[0]
    return (
        f"its {len(classes)} values determine {target!r} in {right:,} of {len(labels):,} rows "
        f"(of {sum(count.values()):,} rows with {_shown(level)}, {times:,} have {target!r} = {label})"
    )


def _threshold_tells(column: Column, one: NDArray[np.bool_], target: str) -> str | None:
    """Whether one threshold splits two classes, the rows of one and the others, without a mistake."""
    first, second = column.values[one], column.values[~one]
    if np.isnan(first).any() or np.isnan(second).any():
        return None
    if first.max() < second.min() or second.max() < first.min():
        low, high = (first, second) if first.max() < second.min() else (second, first)
        return f"{low.max():g} and below is one class of {target!r}, {high.min():g} and above the other, in every row"
    return None


def _shown(level: Any) -> str:
    if level is None:
        return "a missing value"
    return repr(level) if isinstance(level, str) else f"{level:g}"
