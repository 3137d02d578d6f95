"""Files that are packed, or are not text: turned into one that the readers take, gone when the process ends.

A packed file is unpacked, a table of a database or of a workbook is written as CSV. Every command reads the result as
it reads any other file. A new format is one more entry here.
"""

from __future__ import annotations

import csv
import importlib
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from separatrix.atomic_write import unnamed_file
from separatrix.data.file_pieces import KEPT
from separatrix.errors import DataError
from separatrix.extras import need

NAMED_TABLE = re.compile(r"(sqlite|duckdb|xlsx):(.+?)(?:#(.*))?\Z", re.DOTALL)
DONE: dict[tuple[str, int, int, str], Path] = {}  # conversions of this process, by the file as it was


def local_file(text: str) -> str:
    """The file to read for a source: itself, or what it was turned into."""
    named = NAMED_TABLE.match(text) if not os.path.isfile(text) else None
    path, kind, table = text, None, ""
    if named is not None:
        kind, path, table = named[1], named[2], named[3] or ""
        if not os.path.isfile(path):
            raise DataError(f"{path} does not exist.")
    if not os.path.isfile(path):
        return text
    kind = kind or _kind(path)
    if kind is None:
        return text
    about = os.stat(path)
    key = (os.path.abspath(path), about.st_size, about.st_mtime_ns, table)
    if key not in DONE:
        made = KEPT.enter_context(unnamed_file())
        CONVERTERS[kind](Path(path), made, table)
        DONE[key] = made
    return str(DONE[key])


def _kind(path: str) -> str | None:
    """What a file is by its first bytes, where it has to be turned into another; arrays of numpy are zip files too."""
    with open(path, "rb") as file:
        start = file.read(16)
    for mark, kind in MARKS.items():
        if start.startswith(mark):
            return kind
    if start[8:12] == b"DUCK":
        return "duckdb"
    if not start.startswith(b"PK\x03\x04") or path.lower().endswith(".npz"):
        return None
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    if "xl/workbook.xml" in names:
        return "xlsx"
    return None if all(name.endswith(".npy") for name in names) else "zip"


def _refused(what: str, how: str) -> Callable[[Path, Path, str], None]:
    def refuse(path: Path, _: Path, __: str) -> None:
        raise DataError(f"{path.name} is {what}, which is not read: convert it with {how}.")

    return refuse


def _unpacked(package: str) -> Callable[[Path, Path, str], None]:
    def unpack(path: Path, out: Path, _: str) -> None:
        try:
            with importlib.import_module(package).open(path, "rb") as file, out.open("wb") as to:
                shutil.copyfileobj(file, to)
        except (OSError, EOFError, ValueError) as broken:
            raise DataError(f"{path.name} is a {package} file that cannot be unpacked: {broken}.") from broken
        except Exception as broken:  # lzma.LZMAError, which is no OSError
            raise DataError(f"{path.name} is a packed file that cannot be unpacked: {broken}.") from broken

    return unpack


def _zip(path: Path, out: Path, _: str) -> None:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise DataError(f"{path.name} holds {len(names)} files: unpack it, and name one or a pattern.")
        try:
            with archive.open(names[0]) as file, out.open("wb") as to:
                shutil.copyfileobj(file, to)
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as broken:
            raise DataError(f"{path.name} is a zip file that cannot be unpacked: {broken}.") from broken


def _zst(path: Path, out: Path, _: str) -> None:
    for package in ("compression.zstd", "zstandard"):
        try:
            opened = importlib.import_module(package).open
        except ImportError:
            continue
        with opened(path, "rb") as file, out.open("wb") as to:
            shutil.copyfileobj(file, to)
        return
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        raise DataError(f"{path.name} is packed with zstd: unpack it with zstd -d, or install zstandard.") from None
    with arrow.input_stream(str(path), compression="zstd") as file, out.open("wb") as to:
        while block := file.read(1 << 20):
            to.write(block)


def _sqlite(path: Path, out: Path, table: str) -> None:
    import sqlite3

    with open(path, "rb"):  # the system's own words where it may not be read
        pass
    con = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        names = [row[0] for row in con.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
        name = _one(path, "sqlite", [own for own in names if not own.startswith("sqlite_")], table)
        found = con.execute(f'SELECT * FROM "{name.replace(chr(34), chr(34) * 2)}"')
        _write(out, [column[0] for column in found.description], found)
    except sqlite3.Error as error:
        raise DataError(f"{path.name} cannot be read: {error}.") from error
    finally:
        con.close()


def _duckdb(path: Path, out: Path, table: str) -> None:
    duckdb = need("duckdb")
    try:
        with duckdb.connect(str(path), read_only=True) as con:
            names = [row[0] for row in con.execute("SELECT table_name FROM information_schema.tables").fetchall()]
            name = _one(path, "duckdb", names, table)
            found = con.execute(f'SELECT * FROM "{name.replace(chr(34), chr(34) * 2)}"')
            _write(out, [column[0] for column in found.description], _fetched(found))
    except duckdb.Error as error:
        raise DataError(f"{path.name} cannot be read: {str(error).splitlines()[0]}.") from error


def _fetched(found: Any) -> Iterator[Any]:
    while rows := found.fetchmany(10_000):
        yield from rows


def _xlsx(path: Path, out: Path, sheet: str) -> None:
    book = need("openpyxl").load_workbook(path, read_only=True, data_only=True)
    name = sheet or (book.sheetnames[0] if book.sheetnames else "")
    rows = iter(book[_one(path, "xlsx", book.sheetnames, name)].iter_rows(values_only=True))
    head = [("" if cell is None else str(cell)) for cell in next(rows, ())]
    _write(out, head, (row for row in rows if any(cell is not None for cell in row)))


def _feather(path: Path, out: Path, _: str) -> None:
    try:
        arrow = importlib.import_module("pyarrow.feather")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise DataError(f"{path.name} is a feather file: install pyarrow, or save it as Parquet.") from None
    parquet.write_table(arrow.read_table(str(path)), str(out))


def _one(path: Path, kind: str, names: list[str], asked: str) -> str:
    """The table that is asked for, or the only one."""
    if asked in names:
        return asked
    listed = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    if asked:
        raise DataError(f"{path.name} has no table {asked!r}; it has {listed or 'none'}.")
    if len(names) != 1:
        raise DataError(f"{path.name} has {len(names)} tables ({listed}): name one, as in {kind}:{path.name}#TABLE.")
    return names[0]


def _write(out: Path, names: list[str], rows: Iterable[Any]) -> None:
    """A table as CSV: numbers by their digits, truth values as words, moments as ISO has them, nothing for none."""
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        for row in rows:
            writer.writerow([_cell(cell) for cell in row])


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    midnight = getattr(value, "hour", None) == 0 and value.isoformat().endswith("T00:00:00")
    return value.date().isoformat() if midnight else value


CONVERTERS: dict[str, Callable[[Path, Path, str], None]] = {
    "zip": _zip,
    "bz2": _unpacked("bz2"),
    "xz": _unpacked("lzma"),
    "zst": _zst,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
    "xlsx": _xlsx,
    "feather": _feather,
    "orc": _refused("an ORC file", "pyarrow or DuckDB into Parquet"),
    "avro": _refused("an Avro file", "DuckDB or pandas into Parquet"),
    "xls": _refused("an old Excel workbook", "Excel into .xlsx or CSV"),
    "hdf5": _refused("an HDF5 file", "pandas into Parquet or CSV"),
}
MARKS = {  # first bytes
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zst",
    b"SQLite format 3\x00": "sqlite",
    b"ARROW1": "feather",
    b"ORC": "orc",
    b"Obj\x01": "avro",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "xls",
    b"\x89HDF\r\n\x1a\n": "hdf5",
}
