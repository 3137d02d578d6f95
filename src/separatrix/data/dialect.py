"""What a file is, from its first bytes: its format, and the habits of its delimiters.

DuckDB sniffs the dialect of delimited text; what it misses is found here: decimal commas, and quote characters
that are letters of the text and not quotes. Encodings are recognised in file_pieces.py.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, replace
from pathlib import Path

from separatrix.data.file_pieces import opened
from separatrix.data.number_writing import MISSING, NO_VALUE, Writing, writings
from separatrix.errors import DataError

SAMPLE = 1 << 18
BY_SUFFIX = {
    ".csv": "csv",
    ".tsv": "csv",
    ".tab": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".npy": "npy",
    ".npz": "npz",
    ".vw": "vw",
}
SVMLIGHT = re.compile(rb"[+-]?[\d.eE+-]+(\s+qid:\d+)?(\s+\d+:[^\s:]+)+\s*(#.*)?\Z")
DELIMITERS = ",;\t|"
ALIKE = 0.9  # share of lines with as many cells as the first, from which a delimiter is one
PICKLE = re.compile(rb"\x80[\x02-\x05]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What to tell DuckDB: None leaves the choice to it."""

    delimiter: str | None = None
    decimal_comma: bool = False
    literal_quotes: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read where its own habits do not say."""

    na: tuple[str, ...] = ()
    text: tuple[str, ...] = ()  # columns to leave as they are written
    header: bool | None = None
    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    as_written: tuple[str, ...] = ()  # columns in whose text no numbers or dates are looked for
    numbers: tuple[tuple[str, Writing], ...] = ()  # columns whose writing is known

    @property
    def is_default(self) -> bool:
        """Whether plain numbers are read as ever."""
        return replace(self, as_written=()) == Reading()

    def with_text(self, columns: tuple[str, ...]) -> Reading:
        """The same, with these columns left as they are written."""
        return replace(self, text=(*self.text, *columns)) if columns else self


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, unpacked where it is gzipped."""
    with opened(path) as file:
        start: bytes = file.read(SAMPLE)
        return start


def kind_of(path: Path) -> str:
    """The format of a file by its name, or by its first bytes where the name does not say."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in BY_SUFFIX:
        return BY_SUFFIX[suffixes[-1]]
    return kind_of_bytes(first_bytes(path), path.name)


def kind_of_bytes(start: bytes, name: str) -> str:
    """The format by content."""
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"\x93NUMPY"):
        return "npy"
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if PICKLE.match(start):
        raise DataError(f"{name} is a pickle: reading one can run any code, so it is refused; save the rows as text.")
    text = start.lstrip()
    if text[:1] in (b"{", b"["):
        return "json"
    line = text.split(b"\n", 1)[0].strip()
    return "svmlight" if SVMLIGHT.match(line) else "csv"


def dialect_of(start: bytes) -> Dialect:
    """The habits of delimited text that begins like this."""
    lines = first_lines(start)
    delimiter = next((mark for mark in ";\t" if _has_decimal_commas(lines, mark)), None)
    return Dialect(
        delimiter=";" if delimiter == ";" else "\t" if _literal_quotes(lines) else None,
        decimal_comma=delimiter is not None,
        literal_quotes=_literal_quotes(lines),
    )


def first_lines(start: bytes) -> list[str]:
    """The first whole lines that are not empty."""
    text = start.decode("utf-8-sig", errors="replace")
    whole = len(start) < SAMPLE - 1
    lines = text.splitlines() if whole else text.splitlines()[:-1]
    return [line for line in lines[:2000] if line.strip()]


def delimiter_of(lines: list[str]) -> str | None:
    """The delimiter that makes the most cells of the first line, and as many of all other lines or nearly all."""
    best, most = None, 1
    for mark in DELIMITERS:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=mark)]
        except csv.Error:
            continue
        if counts and counts[0] > most:
            alike = counts.count(counts[0])
            if alike >= ALIKE * len(counts) or alike >= max(2, len(counts) - 1):
                best, most = mark, counts[0]
    return best


def cells_of(line: str, delimiter: str) -> list[str]:
    """The cells of one line."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _has_decimal_commas(lines: list[str], delimiter: str) -> bool:
    """Whether columns of the rows after the first have decimal commas, and none has decimal points.

    Cells such as 1,234 decide where the delimiter is a semicolon: it is used where commas are decimal marks.
    """
    rows = [line.split(delimiter) for line in lines[1:]]
    if not rows or len(rows[0]) < 2:
        return False
    marks: set[str] = set()
    open_to_both = False
    for j in range(len(rows[0])):
        cells = {row[j].strip().strip('"') for row in rows if len(row) > j} - NO_VALUE - {"", *MISSING}
        found = writings(cells) if cells else {}
        marks |= set(found) if len(found) == 1 else set()
        open_to_both |= len(found) == 2 and found["."].group == ","
    return marks == {","} or (not marks and open_to_both and delimiter == ";")


def _literal_quotes(lines: list[str]) -> bool:
    """Whether lines of tab-separated text hold quote characters that do not pair up at the ends of cells."""
    if not lines or any("\t" not in line for line in lines):
        return False
    return any(
        cell.count('"') and not (cell.startswith('"') and cell.endswith('"') and len(cell) > 1)
        for line in lines
        for cell in line.split("\t")
    )
