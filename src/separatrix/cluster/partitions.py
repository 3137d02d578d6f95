"""Partitions of a source: files in sorted order, and fixed pieces of the large ones.

A partition is a file, the lines of a CSV or svmlight file that begin in a range of bytes, or some row groups of a
Parquet file. Partitions follow from the files and ``partition_bytes`` alone, never from the workers: they are the
leaves of every sum.
"""

from __future__ import annotations

import glob
import io
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from separatrix import kernels
from separatrix.data.conversions import local_file
from separatrix.data.delimited_table import DelimitedTable
from separatrix.data.duckdb_reader import connect, quoted
from separatrix.data.file_kinds import first_bytes, kind_of
from separatrix.data.file_pieces import UTF16, gzipped
from separatrix.data.reading_plan import Reading
from separatrix.data.sources import SQL
from separatrix.errors import DataError

PARTITION_BYTES = 64 * 2**20
QUOTE, NEWLINE = 34, 10
LOOK = 1 << 16  # bytes in which the next line end is looked for


@dataclass(frozen=True, slots=True)
class SourcePart:
    """A piece of a source: which file, and which part of it."""

    index: int
    path: str
    kind: str  # csv, parquet, json, svmlight, vw, npy, npz
    size: int  # of the file, in bytes
    begin: int = 0  # bytes of text, rows of Parquet
    end: int | None = None  # None: the whole file
    quoted: bool = False  # whether byte ``begin`` lies between quotes
    end_quoted: bool = False

    @property
    def name(self) -> str:
        """How messages call it."""
        own = Path(self.path).name
        if self.end is None:
            return own
        return f"{own} ({'rows' if self.kind == 'parquet' else 'bytes'} {self.begin:,} to {self.end:,})"

    @property
    def weight(self) -> int:
        """About how much there is to read, in bytes."""
        return self.size if self.end is None or self.kind == "parquet" else self.end - self.begin


def partitions_of(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    reading: Reading | None = None,
    partition_bytes: int = PARTITION_BYTES,
) -> list[SourcePart]:
    """The partitions of a file, of the files of a glob, or of a list of files."""
    found: list[SourcePart] = []
    for path in paths_of(source):
        found += _pieces(path, reading or Reading(), partition_bytes)
    kinds = sorted({part.kind for part in found})
    if len(kinds) > 1:
        raise DataError(f"the files of the source are of several kinds ({', '.join(kinds)}): name files of one kind.")
    return [replace(part, index=k) for k, part in enumerate(found)]


def paths_of(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files of a source in sorted order, as absolute paths."""
    if not isinstance(source, (str, os.PathLike)):
        paths = sorted({os.path.abspath(path) for path in source})
        absent = next((path for path in paths if not os.path.isfile(path)), None)
        if absent is not None or not paths:
            raise DataError(f"{absent} does not exist." if absent else "the list of files is empty: name at least one.")
        return [Path(path) for path in paths]
    text = local_file(os.fspath(source))
    if os.path.isdir(text) and (inside := sorted(Path(text).rglob("*.parquet"))):
        return [path.absolute() for path in inside]
    if os.path.isfile(text):
        return [Path(text).absolute()]
    if text == "-" or text.startswith("example:") or SQL.match(text):
        raise DataError(f"{text[:40]!r} is not a file that workers can read: name files or a glob.")
    found = sorted(path for path in glob.glob(text) if os.path.isfile(path))
    if not found:
        scheme = re.match(r"[a-z0-9]+://", text)
        reason = "is on the network: mount it on every worker" if scheme else "matches no file"
        raise DataError(f"{text} {reason}.")
    return [Path(local_file(path)).absolute() for path in found]


def _pieces(path: Path, reading: Reading, size: int) -> Iterator[SourcePart]:
    kind, whole = kind_of(path) if path.stat().st_size else "csv", path.stat().st_size
    part = SourcePart(0, str(path), kind, whole)
    if kind == "parquet":
        yield from _row_groups(part, size)
    elif whole <= size or kind not in ("csv", "svmlight") or gzipped(path) or _encoded(path, reading):
        yield part
    else:
        step = -(-whole // -(-whole // size))
        for begin in range(0, whole, step):
            yield replace(part, begin=begin, end=min(begin + step, whole))


def _encoded(path: Path, reading: Reading) -> bool:
    """Whether characters have two bytes, so that line ends are not found byte by byte."""
    return first_bytes(path).startswith(UTF16) or (reading.encoding or "").lower().startswith(("utf-16", "utf-32"))


def _row_groups(part: SourcePart, size: int) -> Iterator[SourcePart]:
    """Neighbouring row groups of about ``size`` bytes together, as a range of rows."""
    with connect() as con:
        groups = con.execute(
            "SELECT row_group_id, any_value(row_group_num_rows), sum(total_compressed_size) "
            f"FROM parquet_metadata({quoted(part.path)}) GROUP BY 1 ORDER BY 1"
        ).fetchall()
    if len(groups) < 2 or part.size <= size:
        yield part
        return
    first = end = held = 0
    for k, (_, rows, used) in enumerate(groups):
        end, held = end + int(rows), held + int(used)
        if held >= size or k == len(groups) - 1:
            yield replace(part, begin=first, end=end)
            first, held = end, 0


# -- lines of a range of bytes -------------------------------------------------------------------------


def quotes_in(part: SourcePart, reading: Reading) -> int:
    """How many quote characters a range of bytes has."""
    import numpy as np

    assert part.end is not None
    path = Path(part.path)
    if not DelimitedTable([path], path.name, reading).plan.quotes:
        return 0
    return kernels.count_byte(np.fromfile(part.path, np.uint8, part.end - part.begin, offset=part.begin), QUOTE)


def with_quotes(parts: Sequence[SourcePart], counts: Sequence[int]) -> list[SourcePart]:
    """The partitions, each knowing whether it begins and ends between quotes."""
    out: list[SourcePart] = []
    odd, path = False, ""
    for part, count in zip(parts, counts, strict=True):
        odd = odd if part.path == path else False
        ahead = odd ^ bool(count % 2)
        out.append(replace(part, quoted=odd, end_quoted=ahead))
        odd, path = ahead, part.path
    return out


def text_of(part: SourcePart) -> bytes:
    """The lines that begin in the range of a partition."""
    assert part.end is not None
    with open(part.path, "rb") as file:
        begin = _line_start(file, part.begin, part.quoted)
        end = part.end if part.end >= part.size else _line_start(file, part.end, part.end_quoted)
        file.seek(begin)
        return file.read(max(0, end - begin))


def _line_start(file: io.BufferedReader, at: int, quoted: bool) -> int:
    """Where the first line begins at a byte or behind it; line ends between quotes are none."""
    if at == 0:
        return 0
    file.seek(at - 1)
    inside, place = quoted, at - 1
    first = file.read(1)
    if first == b"\n" and not quoted:
        return at
    place = at
    while chunk := file.read(LOOK):
        for mark in re.finditer(rb'["\n]', chunk):
            if mark.group() == b'"':
                inside = not inside
            elif not inside:
                return place + mark.end()
        place += len(chunk)
    return place
