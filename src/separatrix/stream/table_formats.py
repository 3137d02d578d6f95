"""CSV and JSON lines as rows of cells, by the reader and the plan of a table that is fitted at once.

A row is a line; in a CSV it may go on behind a line end that stands between quotes. The first rows settle the plan,
which is then kept, in checkpoints as well. A row that breaks it is rejected, or its cell called missing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.data.column_guesses import guess, settled
from separatrix.data.date_writing import moment
from separatrix.data.delimited_table import OF_CELL, Fault, broken_cell, read_rows, reason
from separatrix.data.file_pieces import NEWLINE, Bytes
from separatrix.data.frame import unknown_column
from separatrix.data.number_writing import NO_VALUE, Writing
from separatrix.data.reading_plan import ColumnPlan, Reading, TablePlan
from separatrix.data.sniffer import header_of, table_plan
from separatrix.errors import DataError
from separatrix.features.column_encoders import SECONDS
from separatrix.stream.row_batches import SHOWN, ReadRows, Reject, lines_of

HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a pair of escapes that stand for one character
CELL = 40  # letters of a cell in a message


@dataclass(slots=True)
class Columns:
    """What is asked of the columns of a stream."""

    target: str
    drop: tuple[str, ...] = ()
    reading: Reading = field(default_factory=lambda: Reading(broken="skip"))

    def need(self, names: Sequence[str], source: str) -> None:
        """Refuse columns that are not there."""
        for name in (self.target, *dict(self.reading.columns), *self.drop):
            if name not in names:
                raise DataError(unknown_column(name, list(names), source))


@dataclass(slots=True)
class Csv:
    """Delimited lines, read by a plan."""

    columns: Columns
    plan: TablePlan
    missing: dict[str, int] = field(default_factory=dict)  # cells called missing, by column

    @classmethod
    def begun(cls, head: bytes, whole: bool, source: str, columns: Columns) -> tuple[Csv, int]:
        """The format of a stream that begins so, and how many bytes its line of names has."""
        plan = table_plan(head, whole, source, columns.reading)
        columns.need(plan.names, source)
        return cls(columns, replace(plan, notes=())), header_of(head, plan)

    @property
    def plans(self) -> dict[str, ColumnPlan]:
        return dict(zip(self.plan.names, self.plan.columns, strict=True))

    @property
    def inputs(self) -> list[str]:
        gone = (self.columns.target, *self.columns.drop)
        return [name for name in self.plan.names if name not in gone]

    def _reader(self) -> Any:
        return self.plan.reader([*self.inputs, self.columns.target])

    def complete(self, text: Bytes, more: int = 0) -> int:
        """How many bytes of whole lines are whole rows, while ``more`` bytes of a line are known to follow."""
        return int(self._reader().complete(text, more))

    def parse(self, text: Bytes) -> ReadRows:
        own, target = self.plans, self.columns.target
        rows = read_rows(self.plan, self._reader(), [*self.inputs, target], text)
        if rows.broken:
            for name, many in rows.broken.items():
                self.missing[name] = self.missing.get(name, 0) + many
        numeric = [name for name in rows.names if own[name].kind != "text"]
        words = [name for name in rows.names if own[name].kind == "text"]
        days = [j for j, name in enumerate(numeric) if own[name].kind == "date"]
        if days:
            rows.numbers[:, days] /= SECONDS
        if target in numeric:
            at = numeric.index(target)
            labels = rows.numbers[:, at].copy()
            labelled = ~np.isnan(labels)
            numbers, codes, levels = np.delete(rows.numbers, at, axis=1), rows.codes, rows.levels
        else:
            at = words.index(target)
            codes, levels = np.delete(rows.codes, at, axis=1), [*rows.levels[:at], *rows.levels[at + 1 :]]
            labelled, numbers = rows.codes[:, at] >= 0, rows.numbers
            table = np.array([*rows.levels[at], ""], dtype=object)
            labels = table[rows.codes[:, at]]
        labels[~labelled] = 0.0 if target in numeric else ""
        made = ReadRows(labels, None if labelled.all() else labelled, np.ascontiguousarray(numbers))
        if codes.shape[1]:
            made.codes, made.levels = codes, levels
        made.numeric = [name for name in numeric if name != target]
        made.words = [name for name in words if name != target]
        made.order = self.inputs
        made.rejects = [self._reject(own, text) for own in rows.faults if not self._called_missing(own)]
        return made

    def _called_missing(self, fault: Fault) -> bool:
        return self.plan.broken == "missing" and fault.why == OF_CELL

    def _reject(self, fault: Fault, text: Bytes) -> Reject:
        line = kernels.count_byte(text[: fault.byte], NEWLINE)
        shown = text[fault.byte : fault.byte + SHOWN].tobytes().partition(b"\n")[0]
        said = reason(fault, self.plan)
        said = said if said.startswith(("'", "a quote")) else f"the line {said.removeprefix('it ')}"
        return Reject(fault.rows_before, fault.byte, line, said, shown)


@dataclass(slots=True)
class JsonLines:
    """One object a line; columns may join at any row, and are what their first value is."""

    columns: Columns
    plans: dict[str, ColumnPlan] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)
    numeric_target: bool | None = None

    @classmethod
    def begun(cls, head: bytes, whole: bool, source: str, columns: Columns) -> tuple[JsonLines, int]:
        """The format of a stream that begins so."""
        lines = head.split(b"\n")
        cells: dict[str, dict[Any, None]] = {}
        for line in lines if whole else lines[:-1]:
            try:
                row = _object(line)
            except (ValueError, RecursionError):
                continue
            for name, value in row.items():
                if value is not None and not isinstance(value, (dict, list)):
                    cells.setdefault(name, {})[value] = None
        made = cls(columns)
        known = columns.reading.known
        texts = {
            name: guess([str(v) for v in own if v not in columns.reading.missing], True, _kind(known.get(name)))
            for name, own in cells.items()
            if any(isinstance(v, str) for v in own)
        }
        made.plans = settled(texts, columns.reading)[0]
        for name, own in cells.items():
            made.plans.setdefault(name, known.get(name) or _of_value(next(iter(own))))
        return made, 0

    def parse(self, text: Bytes) -> ReadRows:
        labels: list[Any] = []
        labelled: list[bool] = []
        kept: list[dict[str, Any]] = []
        rejects: list[Reject] = []
        for number, begin, raw in lines_of(text):
            if not raw.strip():
                continue
            try:
                row = _object(raw)
                label, has = self._label(row.pop(self.columns.target, None))
                cells = {name: self._cell(name, value) for name, value in row.items() if name not in self.columns.drop}
            except (ValueError, RecursionError, TypeError, OverflowError) as wrong:
                rejects.append(Reject(len(kept), begin, number, _reason(wrong), raw[:SHOWN]))
                continue
            labels.append(label)
            labelled.append(has)
            kept.append(cells)
        dtype = object if self.numeric_target is False else np.float64
        known = None if all(labelled) else np.array(labelled, dtype=np.bool_)
        return ReadRows(np.array(labels, dtype=dtype), known, cells=kept, rejects=rejects)

    def _plan(self, name: str, value: Any) -> ColumnPlan:
        if name not in self.plans:
            known = self.columns.reading.known.get(name)
            self.plans[name] = known or _of_value(value)
        return self.plans[name]

    def _cell(self, name: str, value: Any) -> Any:
        """A number, the name of a level, or None where it is missing; ValueError says what is wrong."""
        if self._is_missing(value):
            return None
        plan = self._plan(name, value)
        if plan.kind == "text":
            return value.strip() if isinstance(value, str) else _written(value)
        number = self._number(value, plan)
        if number is not None and math.isfinite(number):
            return number / SECONDS if plan.kind == "date" else number
        if number is not None and math.isnan(number):
            return None
        if self.columns.reading.broken == "missing":
            self.missing[name] = self.missing.get(name, 0) + 1
            return None
        raise ValueError(broken_cell(name, str(value), plan, False))

    def _number(self, value: Any, plan: ColumnPlan) -> float | None:
        if isinstance(value, (bool, int, float)):
            gone = value in self.columns.reading.missing_numbers and not isinstance(value, bool)
            return math.nan if gone else float(value)
        if not isinstance(value, str):
            return None
        if value.strip() in NO_VALUE:
            return math.nan
        return moment(value, plan.format) if plan.kind == "date" else (plan.writing or Writing()).number(value)

    def _is_missing(self, value: Any) -> bool:
        return value is None or (isinstance(value, str) and value.strip() in ("", *self.columns.reading.missing))

    def _label(self, value: Any) -> tuple[Any, bool]:
        """The label of a row, and whether it has one."""
        if self._is_missing(value):
            return (0.0 if self.numeric_target is not False else ""), False
        plan = self._plan(self.columns.target, value)
        if self.numeric_target is None:
            self.numeric_target = plan.kind != "text"
        if not self.numeric_target:
            return value.strip() if isinstance(value, str) else _written(value), True
        number = self._number(value, plan)
        if number is None or not math.isfinite(number):
            raise ValueError(f"the target {self.columns.target!r} is {str(value)[:CELL]!r}, and the labels are numbers")
        return float(number), True


def _kind(plan: ColumnPlan | None) -> str | None:
    return None if plan is None else plan.kind


def _of_value(value: Any) -> ColumnPlan:
    """What a column is whose first value is this one."""
    if not isinstance(value, str):
        return ColumnPlan("number", Writing())
    return settled({"": guess([value], True)}, Reading())[0][""]


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:.17g}"
    raise ValueError(f"a value is {str(value)[:CELL]!r}: not a number or text")


def _object(raw: bytes) -> dict[str, Any]:
    text = raw.decode("utf-8")
    row = json.loads(text)
    if not isinstance(row, dict):
        raise ValueError("the line is not a JSON object")
    if HALF.search(text):
        try:
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeEncodeError as half:
            raise ValueError(f"\\u{ord(half.object[half.start]):04x} is half of a character, not text") from half
    return row


def _reason(wrong: Exception) -> str:
    if isinstance(wrong, UnicodeDecodeError):
        return "the line is not UTF-8"
    if isinstance(wrong, json.JSONDecodeError):
        return f"the line is not JSON ({wrong.msg})"
    return str(wrong) or type(wrong).__name__
