"""Packed files, databases and workbooks are read as any other file, by every command; others are refused."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sqlite3
import zipfile
from datetime import datetime

import duckdb
import pytest
from tests.commands import refused, separatrix

from separatrix.cluster.partitions import paths_of
from separatrix.data.sources import open_source
from separatrix.errors import DataError

ROWS = [
    (i % 9, i * 0.5, ("a", "b", None)[i % 3], f"2020-01-{i % 28 + 1:02}", ("no", "yes")[i % 9 > 4]) for i in range(60)
]
TEXT = "n,x,w,day,ok\n" + "".join(",".join("" if v is None else str(v) for v in row) + "\n" for row in ROWS)


def values(path):
    frame = open_source(str(path)).read()
    return [(c.name, c.kind, ["" if v is None or v != v else v for v in c.values.tolist()]) for c in frame.columns]


@pytest.fixture
def expected(tmp_path):
    (tmp_path / "plain.csv").write_text(TEXT)
    return values(tmp_path / "plain.csv")


def write_sqlite(path):
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE visits (n INTEGER, x REAL, w TEXT, day TEXT, ok TEXT)")
        con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", ROWS)
    con.close()


def write_duckdb(path):
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE visits (n INTEGER, x DOUBLE, w VARCHAR, day DATE, ok VARCHAR)")
        con.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", ROWS)


def write_xlsx(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["n", "x", "w", "day", "ok"])
    for n, x, w, day, ok in ROWS:
        book.active.append([n, x, w, datetime.fromisoformat(day), ok])
    book.save(path)


def write_feather(path):
    arrow, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    feather.write_feather(
        arrow.table(dict(zip(TEXT.split("\n")[0].split(","), zip(*ROWS, strict=True), strict=True))), path
    )


def write_zst(path):
    arrow = pytest.importorskip("pyarrow")
    with arrow.output_stream(str(path), compression="zstd") as file:
        file.write(TEXT.encode())


def write_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inside.csv", TEXT)


WRITERS = {
    "t.csv.gz": lambda path: path.write_bytes(gzip.compress(TEXT.encode())),
    "t.csv.bz2": lambda path: path.write_bytes(bz2.compress(TEXT.encode())),
    "t.csv.xz": lambda path: path.write_bytes(lzma.compress(TEXT.encode())),
    "t.csv.zst": write_zst,
    "t.zip": write_zip,
    "t.sqlite": write_sqlite,
    "t.duckdb": write_duckdb,
    "t.xlsx": write_xlsx,
    "t.feather": write_feather,
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_packed_or_stored_otherwise_is_the_same_table(name, tmp_path, expected):
    WRITERS[name](tmp_path / name)
    assert values(tmp_path / name) == expected
    assert len(paths_of(str(tmp_path / name))) == 1


@pytest.mark.parametrize("how", [(), ("--memory", "64MB"), ("--cluster", "here")])
def test_a_table_of_a_database_is_fitted_streamed_and_predicted(how, tmp_path):
    write_sqlite(tmp_path / "t.db")
    with sqlite3.connect(tmp_path / "t.db") as con:
        con.execute("CREATE TABLE other (a)")
    con.close()
    source = f"sqlite:{tmp_path / 't.db'}#visits"
    words = ("-t", "ok", "-l", "logistic-regression", "--C", "1", "-o", "m.sepx", *how)
    assert separatrix("fit", source, *words, cwd=tmp_path).returncode == 0
    done = separatrix("predict", "m.sepx", source, "--only", cwd=tmp_path)
    assert done.stdout.count("\n") == 61, done.stderr
    done = separatrix("stream", source, "--target", "ok", "--out", "p", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "p").read_text().count("\n") == 60
    refused(separatrix("fit", tmp_path / "t.db", "-t", "ok", cwd=tmp_path), "name one, as in sqlite:t.db#TABLE")
    refused(separatrix("fit", f"sqlite:{tmp_path / 't.db'}#no", "-t", "ok", cwd=tmp_path), "has no table 'no'")


def test_a_folder_of_parquet_with_keys_in_its_names(tmp_path, expected):
    for ok in ("no", "yes"):
        (tmp_path / "t" / f"ok={ok}").mkdir(parents=True)
        rows = f"SELECT n, x FROM read_csv('{tmp_path / 'plain.csv'}', all_varchar=false) WHERE ok = '{ok}'"
        duckdb.execute(f"COPY ({rows}) TO '{tmp_path / 't' / f'ok={ok}' / 'part.parquet'}'")
    frame = open_source(str(tmp_path / "t")).read()
    assert frame.names == ["n", "x", "ok"]
    assert sorted(set(frame["ok"].values.tolist())) == ["no", "yes"]
    assert frame.n == 60


@pytest.mark.parametrize(
    ("start", "says"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook, which is not read: convert it with Excel"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file, which is not read: convert it with pandas"),
        (b"ORC\x01", "an ORC file, which is not read"),
        (b"BZh9broken", "cannot be unpacked"),
        (b"\xfd7zXZ\x00broken", "cannot be unpacked"),
    ],
)
def test_what_is_not_read_says_what_to_do(start, says, tmp_path):
    (tmp_path / "t.bin").write_bytes(start + bytes(100))
    with pytest.raises(DataError, match=says):
        open_source(str(tmp_path / "t.bin")).read()
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", TEXT)
        archive.writestr("b.csv", TEXT)
    with pytest.raises(DataError, match=r"two\.zip holds 2 files: unpack it"):
        open_source(str(tmp_path / "two.zip")).read()
