"""Which format a stream has: by its name, an option or its first line; the readers of formats."""

from __future__ import annotations

import re
from dataclasses import replace

from separatrix import kernels
from separatrix.data.file_pieces import NEWLINE
from separatrix.data.sparse_text import BITS
from separatrix.errors import DataError, ParameterError
from separatrix.stream.line_pieces import Piece
from separatrix.stream.sparse_formats import Svmlight, VowpalWabbit
from separatrix.stream.table_formats import Columns, Csv, JsonLines

Format = Svmlight | VowpalWabbit | Csv | JsonLines
ENDINGS = {
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "csv": "csv",
    "tsv": "csv",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "vw": "vw",
}
NAMES = ("csv", "jsonl", "svmlight", "vw")
PAIRS = re.compile(rb"\s*[-+]?[0-9][^\s:|,;]*(\s+(qid:)?\d+:\S+)*\s*(#.*)?\r?$")


def format_of(source: str, line: bytes) -> str:
    """The format of a source, by its ending or by its first line."""
    ending = source.removesuffix(".gz").rpartition(".")[2].lower()
    if ending in ENDINGS:
        return ENDINGS[ending]
    if line.lstrip().startswith(b"{"):
        return "jsonl"
    if PAIRS.match(line) and b":" in line:
        return "svmlight"
    if re.match(rb"[^|,;\t]*\|", line) and not re.match(rb"\w+\|\w+", line):
        return "vw"
    return "csv"


def sparse_format(name: str, most_features: int) -> Format | None:
    """The reader of a format of sparse rows; None for the others, which begin with the first rows."""
    if name not in NAMES:
        raise ParameterError(f"--format is {name!r}: it can be {', '.join(NAMES)}.")
    if name == "svmlight":
        return Svmlight(most_features)
    return VowpalWabbit(BITS) if name == "vw" else None


def begun_table(name: str, head: bytes, whole: bool, source: str, columns: Columns) -> tuple[Format, int]:
    """The reader of a table that begins so, and how many bytes come before its first row."""
    if not columns.target:
        raise DataError("a stream of columns needs --target, the column with the labels.")
    return (Csv if name == "csv" else JsonLines).begun(head, whole, source, columns)


def without_start(piece: Piece, size: int) -> Piece:
    """A piece without its first bytes, which are whole lines."""
    lines = kernels.count_byte(piece.text[:size], NEWLINE)
    return replace(
        piece, text=piece.text[size:], begin=piece.begin + size, line=piece.line + lines, lines=piece.lines - lines
    )
