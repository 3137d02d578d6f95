"""What a file is, by its name or its first bytes."""

from __future__ import annotations

import re
from pathlib import Path

from separatrix.data.file_pieces import opened
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
PICKLE = re.compile(rb"\x80[\x02-\x05]")


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
