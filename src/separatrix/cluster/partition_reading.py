"""The rows of a partition, read where the worker is: the same readers as on one machine."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np

from separatrix.atomic_write import unnamed_file
from separatrix.cluster.partitions import SourcePart, text_of
from separatrix.data.dialect import Reading
from separatrix.data.duckdb_reader import Query, few_threads, quoted
from separatrix.data.frame import Frame
from separatrix.data.libsvm import FAULTS, Part, parse
from separatrix.data.row_files import Matrix
from separatrix.data.sources import Source, open_files
from separatrix.data.table_queries import without_missing_words
from separatrix.errors import DataError


def need_file(part: SourcePart) -> None:
    """Refuse a file that this process does not see, or sees otherwise than the driver does."""
    try:
        size = os.path.getsize(part.path)
    except OSError:
        raise DataError(
            f"{part.path} is not there on the worker {os.uname().nodename}: put the files on storage that every worker "
            "sees under the same path."
        ) from None
    if size != part.size:
        raise DataError(f"{part.path} has {size:,} bytes on a worker and {part.size:,} on the driver: it has changed.")


def read_partition(part: SourcePart, reading: Reading) -> Frame | Matrix | Part | None:
    """The rows: columns, an array, parsed svmlight lines; None where there are none."""
    with nullcontext() if part.end is None else few_threads():
        return _read(part, reading)


def _read(part: SourcePart, reading: Reading) -> Frame | Matrix | Part | None:
    need_file(part)
    if part.kind == "svmlight":
        return _svmlight(part)
    if part.kind == "parquet":
        return _parquet(part, reading)
    if part.kind == "csv" and part.end is not None:
        return _lines(part, reading)
    if part.kind == "csv" and _is_empty(Path(part.path), reading):
        return None
    return open_files([Path(part.path)], part.name, reading).read()


def _is_empty(path: Path, reading: Reading) -> bool:
    """Whether a text has no line, or only the one that names the columns."""
    with path.open("rb") as file:
        first = file.readline()
        rest = file.read(1 << 16)
    return not rest.strip() and (reading.header is not False or not first.strip())


def _lines(part: SourcePart, reading: Reading) -> Frame | Matrix | None:
    """Some lines of a large CSV file, as a file of their own with the same first line."""
    text = text_of(part)
    head = b""
    if part.begin and part.header:
        head = f"{part.header}\n".encode()
    own = text if head or not part.header else text.partition(b"\n")[2]
    if not own.strip():
        return None
    with unnamed_file() as path:
        with path.open("wb") as file:
            file.write(head)
            file.write(text)
        known = reading if part.header else replace(reading, header=False)
        return open_files([path], part.name, known).read()


def _parquet(part: SourcePart, reading: Reading) -> Frame | Matrix | None:
    listed = f"[{quoted(part.path)}]"
    if part.end is None:
        sql = f"SELECT * FROM read_parquet({listed})"
    else:
        sql = (
            f"SELECT * EXCLUDE (file_row_number) FROM read_parquet({listed}, file_row_number=true) "
            f"WHERE file_row_number >= {part.begin} AND file_row_number < {part.end}"
        )
    source = Source(part.name, query=without_missing_words(Query(sql, part.name, lean=True), reading), reading=reading)
    if not sum(frame.n for frame, _ in source.frames([])):
        return None
    return source.read()


def _svmlight(part: SourcePart) -> Part | None:
    """Parsed lines, with features counted from 1: whether 0 occurs is known once all partitions are read."""
    text = Path(part.path).read_bytes() if part.end is None else text_of(part)
    if text.startswith(b"\x1f\x8b"):
        import gzip

        text = gzip.decompress(text)
    if not text.strip():
        return None
    found = parse(np.frombuffer(text, dtype=np.uint8), 1)
    if found.fault is not None:
        line = text[: found.fault[1]].count(b"\n") + 1
        raise DataError(f"{part.name} line {line} of these: {FAULTS[found.fault[0]]}.")
    return found
