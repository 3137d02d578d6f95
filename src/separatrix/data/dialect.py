"""What a file is, from its first bytes: its format, and the habits of its delimiters.

DuckDB sniffs the dialect of delimited text; what it misses is found here: decimal commas, and quote characters
that are letters of the text and not quotes.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

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
UTF16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
SVMLIGHT = re.compile(rb"[+-]?[\d.eE+-]+(\s+qid:\d+)?(\s+\d+:[^\s:]+)+\s*(#.*)?\Z")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*\Z")
PICKLE = re.compile(rb"\x80[\x02-\x05]")


@dataclass(frozen=True, slots=True)
class Dialect:
    """What to tell DuckDB: None leaves the choice to it."""

    delimiter: str | None = None
    decimal_comma: bool = False
    literal_quotes: bool = False


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, unpacked where it is gzipped."""
    with path.open("rb") as file:
        start = file.read(SAMPLE)
    if not start.startswith(b"\x1f\x8b"):
        return start
    try:
        with gzip.open(path, "rb") as unpacked:
            return unpacked.read(SAMPLE)
    except (OSError, EOFError, zlib.error) as broken:
        raise DataError(f"{path.name} begins like a gzip file but cannot be unpacked: {broken}.") from broken


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
    text = start.decode("utf-8-sig", errors="replace")
    whole = len(start) < SAMPLE - 1
    lines = text.splitlines() if whole else text.splitlines()[:-1]
    lines = [line for line in lines[:2000] if line.strip()]
    return Dialect(
        delimiter=";" if _has_decimal_commas(lines, ";") else "\t" if _literal_quotes(lines) else None,
        decimal_comma=_has_decimal_commas(lines, ";") or _has_decimal_commas(lines, "\t"),
        literal_quotes=_literal_quotes(lines),
    )


def _has_decimal_commas(lines: list[str], delimiter: str) -> bool:
    """Whether some column of the rows after the first holds numbers with a comma, and none with a point."""
    rows = [line.split(delimiter) for line in lines[1:]]
    if not rows or len(rows[0]) < 2:
        return False
    for j in range(len(rows[0])):
        cells = [row[j] for row in rows if len(row) > j and row[j].strip()]
        if cells and any("," in c for c in cells) and all(DECIMAL_COMMA.match(c) or c.strip().isdigit() for c in cells):
            return True
    return False


def _literal_quotes(lines: list[str]) -> bool:
    """Whether lines of tab-separated text hold quote characters that do not pair up at the ends of cells."""
    if not lines or any("\t" not in line for line in lines):
        return False
    return any(
        cell.count('"') and not (cell.startswith('"') and cell.endswith('"') and len(cell) > 1)
        for line in lines
        for cell in line.split("\t")
    )
