"""Which format a stream has: by its name, by what was said, or by its first line."""

from __future__ import annotations

import re

from separatrix.data.vw import BITS
from separatrix.errors import DataError, ParameterError
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
