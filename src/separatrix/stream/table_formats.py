"""CSV and JSON lines as rows of cells: plain numbers by the native reader, the rest line by line.

A row is a line; in a CSV it may go on behind a line end that stands between quotes, for a bounded number of lines. The
first line of a CSV names the columns; the first row says which of them are numbers, unless the user does. A cell that
does not fit its column rejects its row.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.data.file_pieces import Bytes
from separatrix.data.frame import unknown_column
from separatrix.data.number_writing import plain_number
from separatrix.data.plain_numbers import Plain
from separatrix.errors import DataError
from separatrix.stream.row_batches import SHOWN, ReadRows, Reject, lines_of

DELIMITERS = ",;\t|"
QUOTE = ord('"')
MOST_LINES, MOST_BYTES = 64, 1 << 16  # of a row with line ends between quotes
HALF = re.compile(r"\\u[dD][89a-fA-F]")  # of a pair of escapes that stand for one character
NO_VALUE = ("", "NA", "NaN", "nan", "null", "NULL", "None")


@dataclass(slots=True)
class Columns:
    """What the columns are; found in the first row, and the same from then on."""

    target: str
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    names: list[str] = field(default_factory=list)  # of a CSV, in order
    delimiter: str = ","
    kinds: dict[str, str] = field(default_factory=dict)  # number or category
    numeric_target: bool | None = None
    settled: bool = False  # whether the first row has been looked at
    plain: bool = False  # it has nothing but numbers: the native reader

    def kind(self, name: str, value: Any) -> str:
        """The kind of a column, settled by the first value that it has."""
        if name not in self.kinds:
            text = isinstance(value, str) and plain_number(value) is None
            said = "category" if name in self.category or (text and name not in self.number) else "number"
            self.kinds[name] = said
        return self.kinds[name]

    def cell(self, name: str, value: Any) -> Any:
        """A number, the name of a level, or None where it is missing; ValueError says what is wrong."""
        if missing(value):
            return None
        if self.kind(name, value) == "category":
            return value if isinstance(value, str) else _written(value)
        number = plain_number(value) if isinstance(value, str) else value
        if isinstance(number, bool) or (isinstance(number, (int, float)) and math.isfinite(number)):
            return float(number)
        raise ValueError(
            f"{name!r} is {str(value)[:40]!r}: not a finite number (--category {name} takes it as a level)"
        )

    def label(self, value: Any) -> tuple[Any, bool]:
        """The label of a row, and whether it has one."""
        if missing(value):
            return (0.0 if self.numeric_target is not False else ""), False
        number = plain_number(value) if isinstance(value, str) else value if isinstance(value, (int, float)) else None
        if self.numeric_target is None:
            self.numeric_target = number is not None
        if not self.numeric_target:
            return str(value).strip() if isinstance(value, str) else _written(value), True
        if number is None or not math.isfinite(number):
            raise ValueError(f"the target {self.target!r} is {str(value)[:40]!r}, and the labels so far are numbers")
        return float(number), True


def missing(value: Any) -> bool:
    """Whether a cell holds no value."""
    return value is None or (isinstance(value, str) and value.strip() in NO_VALUE)


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value:.17g}"
    raise ValueError(f"a value is {str(value)[:40]!r}: not a number or text")


@dataclass(slots=True)
class Csv:
    """Delimited lines below a line of names."""

    columns: Columns

    def begin(self, line: bytes, source: str) -> None:
        """Read the line of names."""
        text = line.decode("utf-8-sig", "replace").rstrip("\r\n")
        own = self.columns
        own.delimiter = max(DELIMITERS, key=text.count)
        own.names = [name.strip() for name in next(csv.reader([text], delimiter=own.delimiter))]
        if len(set(own.names)) < len(own.names) or not all(own.names):
            raise DataError(f"{source} line 1 has a column without a name, or one name twice.")
        for name in (own.target, *own.category, *own.number, *own.drop):
            if name not in own.names:
                raise DataError(unknown_column(name, own.names, source))

    def parse(self, text: Bytes) -> ReadRows:
        if not self.columns.settled:
            self._settle(text)
        if self.columns.plain:
            read = self._plain(text)
            if read is not None:
                return read
        return self._line_by_line(text)

    def complete(self, text: Bytes, more: int = 0, last: bool = True) -> int:
        """How many bytes of whole lines are whole rows, while ``more`` bytes of a line are known to follow."""
        if not kernels.count_byte(text, QUOTE):
            return len(text)
        *_, (_, begin, raw) = self._rows(text, more, last)
        return begin + len(raw) + 1 if raw is not None else begin

    def _rows(self, text: Bytes, more: int = 0, last: bool = True) -> Iterator[tuple[int, int, Any]]:
        """Number of the first line, first byte and bytes of every row; None for one whose end is not known yet.

        A line whose quotes leave it open is joined with those up to the one that closes them, if the row then has as
        many cells as there are columns; else it is a row by itself. Both are known once so many lines or bytes follow.
        """
        lines = list(lines_of(text))
        at = 0
        while at < len(lines):
            number, begin, raw = lines[at]
            taken = 1
            if raw.count(b'"') % 2 and not self._whole(raw):
                quotes, joined = raw.count(b'"'), raw
                for _, place, line in lines[at + 1 : at + MOST_LINES]:
                    if place + len(line) - begin > MOST_BYTES:
                        break
                    joined, quotes, taken = joined + b"\n" + line, quotes + line.count(b'"'), taken + 1
                    if not quotes % 2:
                        break
                followed = len(lines) - at >= MOST_LINES or len(text) + more - begin > MOST_BYTES
                if quotes % 2 and not last and not followed:
                    yield number, begin, None
                    return
                if quotes % 2 or not self._whole(joined):
                    taken = 1
                else:
                    raw = joined
            yield number, begin, raw
            at += taken

    def _whole(self, raw: bytes) -> bool:
        try:
            self._cells(raw)
        except (ValueError, csv.Error):
            return False
        return True

    def _settle(self, text: Bytes) -> None:
        """Whether the first row that has as many cells as there are names has nothing but numbers in them."""
        own = self.columns
        for _, _, raw in self._rows(text):
            try:
                cells = self._cells(raw)
            except (ValueError, csv.Error):
                continue
            own.settled = True
            own.plain = len(cells) > 1 and not own.drop and not own.category
            own.plain = own.plain and all(plain_number(value) is not None for value in cells)
            if own.plain:
                own.numeric_target = True
                own.kinds = dict.fromkeys((name for name in own.names if name != own.target), "number")
            return

    def _plain(self, text: Bytes) -> ReadRows | None:
        """All cells at once where they are nothing but numbers; a missing label or a fault goes the other way."""
        own = self.columns
        read = Plain(tuple(own.names), own.delimiter).rows(text, own.names.index(own.target))
        if read is None:
            return None
        labelled = ~np.isnan(read[1])
        return ReadRows(np.where(labelled, read[1], 0.0), None if labelled.all() else labelled, numbers=read[0])

    def _cells(self, raw: bytes) -> list[str]:
        text = raw.decode("utf-8").rstrip("\r")
        if "\x00" in text:
            raise ValueError("the line has a zero byte")
        cells = next(csv.reader([text], delimiter=self.columns.delimiter, strict=True), [])
        if len(cells) != len(self.columns.names):
            raise ValueError(f"the line has {len(cells)} cells, and there are {len(self.columns.names)} columns")
        return cells

    def _line_by_line(self, text: Bytes) -> ReadRows:
        def row(raw: bytes) -> dict[str, Any]:
            return dict(zip(self.columns.names, self._cells(raw), strict=True))

        made = rows_of(self._rows(text), self.columns, row)
        if self.columns.plain and made.cells is not None:
            inputs = [name for name in self.columns.names if name != self.columns.target]
            cells = [[math.nan if row[name] is None else row[name] for name in inputs] for row in made.cells]
            made.numbers = np.array(cells, dtype=np.float64).reshape(len(cells), len(inputs))
            made.cells = None
        return made


@dataclass(slots=True)
class JsonLines:
    """One object a line; columns may join at any row."""

    columns: Columns

    def parse(self, text: Bytes) -> ReadRows:
        return rows_of(lines_of(text), self.columns, _object)


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


def rows_of(lines: Iterable[tuple[int, int, bytes]], columns: Columns, read: Any) -> ReadRows:
    """Rows one by one; what cannot be read is rejected."""
    labels: list[Any] = []
    labelled: list[bool] = []
    kept: list[dict[str, Any]] = []
    rejects: list[Reject] = []
    for number, begin, raw in lines:
        if not raw.strip():
            continue
        try:
            row = read(raw)
            label, has = columns.label(row.pop(columns.target, None))
            cells = {name: columns.cell(name, value) for name, value in row.items() if name not in columns.drop}
        except (ValueError, csv.Error, RecursionError, TypeError, OverflowError) as wrong:
            rejects.append(Reject(len(kept), begin, number, _reason(wrong), raw[:SHOWN]))
            continue
        labels.append(label)
        labelled.append(has)
        kept.append(cells)
    if columns.numeric_target is False:
        made = np.array(labels, dtype=object)
    else:
        made = np.array(labels, dtype=np.float64)
    return ReadRows(made, None if all(labelled) else np.array(labelled, dtype=np.bool_), cells=kept, rejects=rejects)


def _reason(wrong: Exception) -> str:
    if isinstance(wrong, UnicodeDecodeError):
        return "the line is not UTF-8"
    if isinstance(wrong, json.JSONDecodeError):
        return f"the line is not JSON ({wrong.msg})"
    if isinstance(wrong, csv.Error):
        return f"the line is not CSV ({wrong})"
    return str(wrong) or type(wrong).__name__
