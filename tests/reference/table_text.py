"""Cells and rows of delimited text, readably: the same arguments and answers as native/separatrix/table_text.hpp."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
FORMS = [(".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " "), (",", "'")]
TIDY = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "\u2212": "-", "\u2019": "'"})
CELL = re.compile(
    r"([+-]?)([^0-9.,' +-]{0,3}) ?([+-]?)((?:[0-9][0-9.,' ]*[0-9]|[0-9])[.,]?|[.,][0-9]+)([eE][+-]?[0-9]+)? ?"
    r"([^0-9.,' +-]{0,3})\Z"
)
PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
BLANK, LONGEST = " \t\r\n\v\f", 60
MOST_LINES, MOST_BYTES, LONGEST_ROW = 1000, 1 << 20, 2_000_000
CELLS, QUOTE, UTF8, NUL, BROKEN, LENGTH = range(1, 7)
FIELDS = {
    "Y": r"(?P<Y>\d{4})", "y": r"(?P<y>\d{2})", "m": r"(?P<m>\d{1,2})", "d": r"(?P<d>\d{1,2})", "H": r"(?P<H>\d{1,2})",
    "I": r"(?P<H>\d{1,2})", "M": r"(?P<M>\d{2})", "S": r"(?P<S>\d{2})", "f": r"(?P<f>\d+)", "p": r"(?P<p>[aApP][mM])",
    "b": r"(?P<b>[A-Za-z]{3,}\.?)", "a": r"(?P<a>[A-Za-z]{3,}\.?)", "%": "%",
    "z": r"(?P<z>Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?)",
}  # fmt: skip
CLOCK = r"(?:[T ](?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2}))?(?:\.(?P<f>\d+))?(?: ?(?P<p>[aApP][mM]))?)?"
ZONE = r"(?: ?(?P<z>Z|UTC|GMT|[+-]\d{2}:?(?:\d{2})?))?"
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def number_forms() -> list[tuple[str, str]]:
    """Decimal marks and thousands separators."""
    return list(FORMS)


def _parts(cell: bytes) -> tuple[str, str, str, str] | None:
    text = cell.decode("utf-8", "replace").translate(TIDY).strip(BLANK)
    match = CELL.match(text) if len(text) <= LONGEST else None
    if match is None:
        return None
    sign, before, inner, body, exponent, behind = match.groups("")
    return None if (before and behind) or (sign and inner) else (sign or inner, before or behind, body, exponent)


def _read_body(body: str, exponent: str, decimal: str, group: str) -> str | None:
    whole, mark, rest = body.partition(decimal)
    if group and group in whole:
        if exponent or not re.fullmatch(rf"[1-9][0-9]{{0,2}}(?:{re.escape(group)}[0-9]{{3}})+", whole):
            return None
        whole = whole.replace(group, "")
    fine = re.fullmatch(r"[0-9]*", whole) and re.fullmatch(r"[0-9]*", rest) and (whole or rest)
    return whole + ("." if mark else "") + rest if fine else None


def cell_forms(cells: Sequence[bytes]) -> list[tuple[int, bool, str]]:
    """For each cell its forms as bits, whether it is zero, and its unit."""
    out = []
    for cell in cells:
        parts = _parts(cell)
        if parts is None:
            out.append((0, True, ""))
            continue
        _, unit, body, exponent = parts
        mask = sum(1 << k for k, form in enumerate(FORMS) if _read_body(body, exponent, *form) is not None)
        out.append((mask, not body.strip("0.,' "), unit))
    return out


def cell_number(cell: bytes, decimal: str, group: str, unit: str) -> float | None:
    """The number of a cell in one form."""
    if (decimal, group) not in FORMS:
        raise ValueError("an unknown form of numbers")
    parts = _parts(cell)
    if parts is None or parts[1] not in ("", unit):
        return None
    sign, own, body, exponent = parts
    digits = _read_body(body, exponent, decimal, group)
    if digits is None or (unit == "%" and not own and body.strip("0.,' ")):
        return None
    return float(sign + digits + exponent)


def cell_dates(cells: Sequence[bytes], format: str) -> list[float]:  # noqa: A002 - the name that the native code has
    """Seconds since 1970 by a format, NaN where a cell is no such date."""
    timed = "%H" in format or "%I" in format
    parts = re.split(r"%(.)", format)
    if any(field not in FIELDS for field in parts[1::2]):
        return [math.nan] * len(cells)
    pattern = "".join(FIELDS[part] if k % 2 else re.escape(part) for k, part in enumerate(parts))
    known = re.compile(pattern + ("" if timed else CLOCK + ZONE), re.ASCII)
    return [_moment(known.fullmatch(cell.decode("utf-8", "replace").strip(BLANK))) for cell in cells]


def _name(text: str, names: list[str]) -> int | None:
    own = text.rstrip(".").lower()
    found = [k for k, name in enumerate(names) if own in (name, name[:3]) or (own == name[:4] == "sept")]
    return found[0] if found else None


def _moment(match: re.Match[str] | None) -> float:
    if match is None:
        return math.nan
    own: dict[str, Any] = {key: value for key, value in match.groupdict().items() if value is not None}
    year = int(own["Y"]) if "Y" in own else int(own.get("y", 70)) + (2000 if int(own.get("y", 70)) < 69 else 1900)
    month = int(own.get("m", 1)) if "b" not in own else (_name(own["b"], MONTHS) or 0) + 1
    if ("b" in own and _name(own["b"], MONTHS) is None) or ("a" in own and _name(own["a"], DAYS) is None):
        return math.nan
    hour = int(own.get("H", 0))
    if "p" in own:
        if not 1 <= hour <= 12:
            return math.nan
        hour = hour % 12 + 12 * (own["p"].lower() == "pm")
    try:
        made = datetime(year, month, int(own.get("d", 1)), hour, int(own.get("M", 0)), int(own.get("S", 0)))
    except ValueError:
        return math.nan
    digits = own.get("f", "")[:9]
    zone, away = own.get("z", "Z"), 0.0
    if zone[0] in "+-":
        away = (3600.0 * int(zone[1:3]) + 60.0 * int(zone[3:].lstrip(":") or 0)) * (-1 if zone[0] == "-" else 1)
    return (made - datetime(1970, 1, 1)).total_seconds() + (int(digits) / 10 ** len(digits) if digits else 0.0) - away


class TableText:
    """Rows of delimited text by a plan of the columns."""

    def __init__(self, delimiter: str, quotes: bool, call_missing: bool, columns: Any, none: Sequence[float]) -> None:
        if len(delimiter) > 1 or any(not 0 <= own[0] <= 3 or (own[1], own[2]) not in FORMS for own in columns):
            raise ValueError("an unknown delimiter, kind or form")
        self.delimiter, self.quotes, self.call_missing = delimiter, quotes, call_missing
        self.columns, self.none = list(columns), list(none)

    def _row(self, text: bytes, at: int) -> tuple[list[bytes], int] | int:
        """The cells of a row and where the next begins; where a quote does not close as it should."""
        cells, mark = [], self.delimiter.encode()
        while True:
            if self.quotes and text[at : at + 1] == b'"':
                found = re.compile(rb'"((?:[^"]|"")*)"(?!")').match(text, at)
                if found is None:
                    return len(text)
                cell, at = found.group(1).replace(b'""', b'"'), found.end()
                if text[at : at + 1] == b"\r" and text[at + 1 : at + 2] in (b"", b"\n"):
                    at += 1
                if text[at : at + 1] not in ((b"", b"\n", mark) if mark else (b"", b"\n")):
                    return at
            else:
                end = re.compile(b"[\n" + re.escape(mark) + b"]|\\Z").search(text, at)
                assert end is not None
                cell, at = text[at : end.start()], end.start()
                cell = cell.removesuffix(b"\r") if text[at : at + 1] in (b"", b"\n") else cell
            cells.append(cell)
            if text[at : at + 1] in (b"", b"\n"):
                return cells, min(at + 1, len(text))
            at += 1

    def _blank(self, text: bytes, at: int) -> int | None:
        end = text.find(b"\n", at) + 1 or len(text)
        line = text[at:end]
        if line.strip(BLANK.replace(self.delimiter, "").encode() if self.delimiter else BLANK.encode()):
            return None
        return None if len(self.columns) == 1 and line.endswith(b"\n") else end

    def _ended(self, text: bytes, at: int, more: int) -> bool:
        return len(text) - at + more > MOST_BYTES or text.count(b"\n", at) >= MOST_LINES

    def _outgrown(self, text: bytes, at: int, end: int) -> bool:
        lines = text.count(b"\n", at, max(at, end - 1))
        return lines >= MOST_LINES or (lines > 0 and end - at > MOST_BYTES)

    def complete(self, text: Bytes, more: int) -> int:
        """How many bytes are whole rows."""
        raw, at = text.tobytes(), 0
        while self.quotes and b'"' in raw and at < len(raw):
            stop = raw.find(b"\n", at) + 1 or len(raw)
            if b'"' in raw[at:stop]:
                row = self._row(raw, at)
                if row == len(raw) and not self._ended(raw, at, more):
                    return at
                if isinstance(row, tuple) and not self._outgrown(raw, at, row[1]):
                    stop = max(stop, row[1])
            at = stop
        return len(raw)

    def cells(self, text: Bytes) -> list[list[str]]:
        """All cells as text."""
        raw, at, out = text.tobytes(), 0, []
        while at < len(raw):
            if (behind := self._blank(raw, at)) is not None:
                at = behind
                continue
            row = self._row(raw, at)
            stop = raw.find(b"\n", at) + 1 or len(raw)
            line = raw[at:stop].rstrip(b"\r\n")
            letters = line.split(self.delimiter.encode()) if self.delimiter else [line]
            cells, at = row if isinstance(row, tuple) else (letters, stop)
            out.append([cell.decode("utf-8", "replace") for cell in cells])
        return out

    def read(self, text: Bytes, more: int, last: bool) -> Any:
        """The rows: numbers, codes, levels, first and last bytes, faults, cells called missing, bytes read."""
        raw, at = text.tobytes(), 0
        kinds = [own[0] for own in self.columns]
        levels: list[dict[bytes, int]] = [{} for kind in kinds if kind == 2]
        numbers: list[list[float]] = []
        codes: list[list[int]] = []
        begins: list[int] = []
        ends: list[int] = []
        faults: list[tuple[int, int, int, int, str]] = []
        broken = [0] * len(kinds)
        while at < len(raw):
            if (behind := self._blank(raw, at)) is not None:
                at = behind
                continue
            row, line = self._row(raw, at), raw.find(b"\n", at) + 1 or len(raw)
            outgrown = isinstance(row, tuple) and self._outgrown(raw, at, row[1])
            if row == len(raw) and not last and not self._ended(raw, at, more):
                break
            if not isinstance(row, tuple) or outgrown:
                faults.append((len(begins), at, QUOTE, 0, ""))
                at = line
                continue
            cells, next_ = row
            own = raw[at:next_]
            why = _wrong(own) if len(cells) == len(kinds) else CELLS
            if why:
                faults.append((len(begins), at, why, len(cells) if why == CELLS else 0, ""))
                at = next_ if why == LENGTH else line
                continue
            values, places, wrong = self._values(cells, levels)
            told = [(len(begins), at, BROKEN, j, cells[j].decode("utf-8", "replace")) for j in wrong]
            if wrong and not self.call_missing:
                faults.append(told[0])
            else:
                for j, fault in zip(wrong, told, strict=True):
                    broken[j] += 1
                    faults += [fault] if broken[j] <= 100 else []
                numbers.append(values)
                codes.append(places)
                begins.append(at)
                ends.append(next_)
            at = next_
        words = [[text.decode() for text, code in own.items() if code >= 0] for own in levels]
        n, numeric = len(begins), sum(kind in (1, 3) for kind in kinds)
        return (
            np.array(numbers, dtype=np.float64).reshape(n, numeric),
            np.array(codes, dtype=np.int32).reshape(n, len(levels)),
            words,
            np.array(begins, dtype=np.int64),
            np.array(ends, dtype=np.int64),
            faults,
            broken,
            at,
        )

    def _values(self, cells: list[bytes], levels: list[dict[bytes, int]]) -> tuple[list[float], list[int], list[int]]:
        values: list[float] = []
        places: list[int] = []
        wrong: list[int] = []
        for j, (cell, (kind, decimal, group, unit, form, words)) in enumerate(zip(cells, self.columns, strict=True)):
            bare = cell.strip(BLANK.encode())
            gone = not bare or bare in words
            if kind == 2:
                own = levels[len(places)]
                places.append(own.setdefault(cell, -1 if gone else sum(code >= 0 for code in own.values())))
            elif kind:
                value: float | None = math.nan
                if not gone and kind == 3:
                    value = cell_dates([bare], form)[0]
                    value = None if math.isnan(value) else value
                elif not gone:
                    value = self._number(bare.decode("utf-8", "replace"), decimal, group, unit)
                wrong += [j] if value is None else []
                values.append(math.nan if value is None or value in self.none else value)
        return values, places, wrong

    def _number(self, text: str, decimal: str, group: str, unit: str) -> float | None:
        if (decimal, group, unit) == (".", "", "") and PLAIN.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        return float(text) if INFINITE.fullmatch(text) else cell_number(text.encode(), decimal, group, unit)


def _wrong(row: bytes) -> int:
    if len(row) > LONGEST_ROW:
        return LENGTH
    if b"\0" in row:
        return NUL
    try:
        row.decode()
    except UnicodeDecodeError:
        return UTF8
    return 0
