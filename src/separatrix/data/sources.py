"""A source is a file, a glob, ``-``, ``example:NAME`` or SQL over files; all become a Frame, or rows as they are.

Tables (CSV, Parquet, JSON, SQL) are read by DuckDB into a :class:`Frame`; svmlight files and arrays are
rows of numbers already and become a :class:`Matrix`.
"""

from __future__ import annotations

import glob
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.dialect import SAMPLE, Dialect, dialect_of, first_bytes, kind_of
from separatrix.data.duck import Query, quoted
from separatrix.data.frame import Column, Frame, frame_of, join
from separatrix.errors import DataError

LONGEST_LINE = 2_000_000  # bytes, as DuckDB has it
SQL = re.compile(r"\s*(select|from|with)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows that are numbers already: an array or a CSR matrix, with labels where the file has them."""

    X: Any
    y: NDArray[Any] | None
    source: str
    weights: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        return int(self.X.shape[0])


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read where its own habits do not say."""

    na: tuple[str, ...] = ()
    text: tuple[str, ...] = ()  # columns to leave as they are written
    header: bool | None = None


class Source:
    """Something to read from, opened: what it is, and its content whole or in batches."""

    def __init__(
        self,
        name: str,
        *,
        query: Query | None = None,
        matrix: Matrix | None = None,
        frame: Frame | None = None,
        path: Path | None = None,
        lazy: Callable[[], Query] | None = None,
    ) -> None:
        self.name = name
        self.matrix = matrix
        self.frame = frame
        self.path = path  # of a file that may hold nothing but plain numbers
        self._query = query
        self._lazy = lazy

    @property
    def query(self) -> Query | None:
        if self._query is None and self._lazy is not None:
            self._query = self._lazy()
        return self._query

    @property
    def columns(self) -> list[tuple[str, str]]:
        """Names and kinds of a table's columns."""
        if self.frame is not None:
            return [(column.name, column.kind) for column in self.frame.columns]
        return [] if self.query is None else [(name, kind) for name, kind, _ in self.query.columns]

    def frames(
        self, names: Sequence[str] | None = None, originals: bool = False
    ) -> Iterator[tuple[Frame, list[list[str | None]]]]:
        """A table in batches of rows, in the order of the file."""
        if self.frame is not None:
            written = [_cells(column) for column in self.frame.columns] if originals else []
            wanted = self.frame.names if names is None else names
            yield Frame(tuple(self.frame[name] for name in wanted), self.frame.n, self.name), written
            return
        assert self.query is not None
        yield from self.query.frames(names, originals)

    def read(self, names: Sequence[str] | None = None) -> Frame | Matrix:
        """All rows."""
        if self.matrix is not None:
            return self.matrix
        if self.path is not None and names is None:
            from separatrix.data.plain import plain_frame

            self.frame = plain_frame(self.path, self.name)
            self.path = None
        if self.frame is not None and names is None:
            return self.frame
        batches = [frame for frame, _ in self.frames(names)]
        if not batches or not sum(frame.n for frame in batches):
            raise DataError(f"{self.name} has no rows below its header: nothing to learn from.")
        return join(batches)


def _cells(column: Column) -> list[str | None]:
    """The values as text, whole numbers without a point."""
    return [None if v is None or v != v else v if isinstance(v, str) else f"{v:.17g}" for v in column.values.tolist()]


def open_source(text: str, reading: Reading | None = None) -> Source:
    """The source that a command names."""
    reading = reading or Reading()
    if text.startswith("example:"):
        return _example(text.removeprefix("example:"))
    if SQL.match(text):
        shown = text if len(text) <= 40 else text[:37] + "…"
        return Source(shown, query=Query(text.strip().rstrip(";"), shown))
    if text == "-":
        return _from_standard_input(reading)
    paths = _paths(text)
    kind = kind_of(paths[0])
    name = paths[0].name if len(paths) == 1 else text
    if kind in ("npy", "npz"):
        return Source(name, matrix=_arrays(paths[0], name))
    if kind == "svmlight":
        return Source(name, matrix=_svmlight(paths, name))
    if kind == "vw":
        return Source(name, matrix=_vw(paths, name))
    if kind == "csv" and len(paths) == 1 and reading == Reading() and not _gzipped(paths[0]):
        return Source(name, lazy=lambda: _table(paths, kind, name, reading), path=paths[0])
    return Source(name, query=_table(paths, kind, name, reading))


def _paths(text: str) -> list[Path]:
    path = Path(text)
    if path.is_dir():
        raise DataError(f"{text} is a folder: name a file in it, or a pattern such as '{text.rstrip('/')}/*.csv'.")
    if path.exists():
        with path.open("rb"):  # an unreadable file says so now, in the words of the system
            return [path]
    found = sorted(glob.glob(text))
    if not found:
        scheme = re.match(r"[a-z0-9]+://", text)
        reason = "is on the network: copy it here first" if scheme else "does not exist"
        raise DataError(f"{text} {reason}.")
    return [Path(p) for p in found]


def _from_standard_input(reading: Reading) -> Source:
    """Standard input, kept in a file that is gone when the process ends."""
    holder = tempfile.NamedTemporaryFile(prefix="separatrix-", delete=False)  # noqa: SIM115 - read by DuckDB by name
    import atexit

    atexit.register(_forget, holder.name)
    with holder:
        while block := sys.stdin.buffer.read(1 << 20):
            holder.write(block)
    path = Path(holder.name)
    if not path.stat().st_size:
        raise DataError("standard input is empty: pipe rows into it.")
    kind = kind_of(path)
    if kind in ("npy", "npz"):
        return Source("standard input", matrix=_arrays(path, "standard input"))
    if kind == "svmlight":
        return Source("standard input", matrix=_svmlight([path], "standard input"))
    return Source("standard input", query=_table([path], kind, "standard input", reading))


def _forget(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)


def _table(paths: list[Path], kind: str, name: str, reading: Reading) -> Query:
    listed = "[" + ", ".join(quoted(_literal(p)) for p in paths) + "]"
    if kind == "parquet":
        return Query(f"SELECT * FROM read_parquet({listed})", name)
    if kind == "json":
        return Query(f"SELECT * FROM read_json_auto({listed}, maximum_object_size=268435456)", name)
    start = first_bytes(paths[0])
    if not start.strip():
        raise DataError(f"{name} is empty: nothing to learn from.")
    _need_lines(paths[0], start, name)
    options = _csv_options(dialect_of(start), reading)
    if start.startswith(b"\x1f\x8b") or _gzipped(paths[0]):
        options.append("compression='gzip'")
    header = [] if reading.header is None else [f"header={'true' if reading.header else 'false'}"]
    query = _csv_query(listed, [*options, *header], name, reading.text)
    if not header and _header_is_a_row(query):
        header = ["header=false"]
        query = _csv_query(listed, [*options, *header], name, reading.text)
    # yes and no, t and f are words of the file: DuckDB's truth values would lose which
    words = [column for column, kind, _ in query.columns if kind == "boolean"]
    return _csv_query(listed, [*options, *header], name, [*reading.text, *words]) if words else query


def _need_lines(path: Path, start: bytes, name: str) -> None:
    """A line that outgrows what DuckDB takes is refused before it is sniffed again and again."""
    tail = len(start) - 1 - start.rfind(b"\n")
    if len(start) < SAMPLE or tail < SAMPLE // 2 or _gzipped(path):
        return
    with path.open("rb") as file:
        file.seek(len(start))
        if b"\n" not in file.read(LONGEST_LINE - tail):
            line = start.count(b"\n") + 1
            raise DataError(f"{name} line {line} is longer than {LONGEST_LINE // 10**6} MB: is it a table?")


def _csv_query(listed: str, options: list[str], name: str, text: Sequence[str]) -> Query:
    if text:
        options = [*options, "types={" + ", ".join(f"{quoted(column)}: 'VARCHAR'" for column in text) + "}"]
    quick, whole = ", ".join([listed, *options]), ", ".join([listed, *options, "sample_size=-1"])
    return Query(f"SELECT * FROM read_csv({quick})", name, retry=f"SELECT * FROM read_csv({whole})")


def _header_is_a_row(query: Query) -> bool:
    """Whether a table of text alone has no header: a name that turns up again below it is a value."""
    if not query.columns or any(kind != "text" for _, kind, _ in query.columns):
        return False
    first = Query(f"SELECT * FROM ({query.sql}) LIMIT 1000", query.source)
    return any(column.name in column.values.tolist() for frame, _ in first.frames() for column in frame.columns)


def _gzipped(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _literal(path: Path) -> str:
    """A path that DuckDB does not take for a pattern."""
    return re.sub(r"([\[\]*?])", r"[\1]", str(path))


def _csv_options(dialect: Dialect, reading: Reading) -> list[str]:
    options = []
    if dialect.encoding is not None:
        options.append(f"encoding={quoted(dialect.encoding)}")
    if dialect.delimiter is not None:
        options.append(f"delim={quoted(dialect.delimiter)}")
    if dialect.decimal_comma:
        options.append("decimal_separator=','")
    if dialect.literal_quotes:
        options += ["quote=''", "escape=''"]
    if reading.na:
        options.append("nullstr=[" + ", ".join(quoted(token) for token in ("", *reading.na)) + "]")
    return options


def _arrays(path: Path, name: str) -> Matrix:
    """Arrays of numbers: rows of a .npy file, or X and y of a .npz file. Pickled objects are refused."""
    import zipfile

    try:
        with path.open("rb") as file:
            loaded = np.load(file, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                X, y = loaded, None
            elif "X" not in loaded:
                raise DataError(f"{name} has no array named X (it has {', '.join(loaded.files) or 'none'}).")
            else:
                X, y = loaded["X"], loaded.get("y")
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, (DataError, PermissionError)):
            raise
        reason = str(error).splitlines()[0].rstrip(".")
        if "pickle" in reason.lower():
            reason = "it holds Python objects, which only a pickle can carry; those are never loaded"
        raise DataError(f"{name} cannot be read: {reason}.") from error
    if X.ndim != 2 or not X.size or X.dtype.kind not in "biuf":
        raise DataError(f"{name} holds {X.dtype} of shape {X.shape}: rows and columns of numbers are needed.")
    if y is not None and y.shape != (len(X),):
        raise DataError(f"{name} has {len(X)} rows in X and y of shape {y.shape}: pass one label for every row.")
    return Matrix(X, y, name)


def _vw(paths: list[Path], name: str) -> Matrix:
    from separatrix.data.vw import read_vw

    if len(paths) > 1:
        raise DataError(f"{name} names {len(paths)} files in Vowpal Wabbit's format: name one.")
    X, y, weights = read_vw(paths[0])
    return Matrix(X, y, name, None if (weights == 1).all() else weights)


def _svmlight(paths: list[Path], name: str) -> Matrix:
    from separatrix.data.libsvm import read_libsvm

    if len(paths) > 1:
        raise DataError(f"{name} names {len(paths)} svmlight files: name one.")
    X, y = read_libsvm(paths[0])
    return Matrix(X, y, name)


def _example(name: str) -> Source:
    from separatrix.data.examples import load_example

    example = load_example(name)
    return Source(
        f"example:{name}", frame=frame_of(example.names, example.X, f"example:{name}", example.y, example.target)
    )
