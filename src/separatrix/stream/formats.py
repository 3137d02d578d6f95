"""Which format a stream has: by its name, an option or its first line; where the rows of a piece begin and end."""

from __future__ import annotations

import re
from copy import deepcopy

from separatrix.data.file_pieces import Bytes
from separatrix.data.sparse_text import BITS
from separatrix.errors import DataError, ParameterError
from separatrix.stream.line_pieces import Piece
from separatrix.stream.sparse_formats import Svmlight, VowpalWabbit
from separatrix.stream.stream_plan import StreamPlan
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


def make_format(name: str, columns: Columns, most_features: int) -> Format:
    """The reader of a format."""
    if name not in NAMES:
        raise ParameterError(f"--format is {name!r}: it can be {', '.join(NAMES)}.")
    tabular = name in ("csv", "jsonl")
    if tabular and not columns.target:
        raise DataError("a stream of columns needs --target, the column with the labels.")
    if name == "svmlight":
        return Svmlight(most_features)
    if name == "vw":
        return VowpalWabbit(BITS)
    return Csv(columns) if name == "csv" else JsonLines(columns)


def end_of_rows(text: Bytes, more: int, last: bool, found: Format | None, name: str | None, plan: StreamPlan) -> int:
    """How many bytes of whole lines are whole rows: all but those of a CSV with line ends between quotes.

    Parameters
    ----------
    text : Bytes
        Whole lines.
    more : int
        Bytes of a line that are known to follow.
    last : bool
        Whether nothing follows.
    found : Format or None
        The format; None before the first line was read, when ``name`` or that line tells.
    name : str or None
        The format that was asked for.
    plan : StreamPlan
        The source and its columns.
    """
    begin = 0
    if found is None:
        raw = text.tobytes()
        begin = len(raw) - len(raw.lstrip())
        line = raw[begin:].partition(b"\n")[0]
        if not line or (name or format_of(plan.source, line)) != "csv":
            return len(text)
        found = make_format("csv", deepcopy(plan.columns), 0)
        assert isinstance(found, Csv)
        found.begin(line, plan.source)
        begin = min(len(text), begin + len(line) + 1)
    if not isinstance(found, Csv) or begin == len(text):
        return len(text)
    return begin + found.complete(text[begin:], more, last)


def without_first_line(piece: Piece, size: int) -> Piece:
    """A piece without its first line, which has so many bytes."""
    return Piece(piece.text[size:], piece.begin + size, piece.line + 1, piece.lines - 1, piece.position, piece.fault)
