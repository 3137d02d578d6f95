"""What nobody means and somebody types: every command ends with one sentence and exit code 2, and writes nothing."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest

from commands import CODE, separatrix

ROWS = "x,ward,ok\n" + "".join(f"{i * 7 % 20},{'AB'[i % 2]},{'yes' if i * 7 % 20 > 9 else 'no'}\n" for i in range(60))
FIT = ("fit", "rows.csv", "-t", "ok")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("hostile")
    (place / "rows.csv").write_text(ROWS)
    assert separatrix(*FIT, "-o", "m.sepx", "-q", cwd=place).returncode == 0
    packed = gzip.compress(ROWS.encode() * 50)
    contents = {
        "cut.csv.gz": packed[: len(packed) // 2],
        "latin.csv": b"x,who,ok\n1,M\x81ller,a\n2,Jos\xe9,b\n",
        "empty.json": b"[]",
        "cut.json": b'[{"a": 1,',
        "deep.json": b"[" * 100_000,
        "bytes.parquet": b"PAR1" + b"\x80\xff" * 200,
        "pairs.vw": b"1 |f a:b:c\n",
        "bare.vw": b"1 f a\n",
        "word.vw": b"x |f a\n1 |f b\n",
        "twice.svm": b"1 1:1 1:2\n",
        "junk.npy": b"\x93NUMPY\xff\xff" + b"z" * 100,
        "junk.npz": b"PK\x03\x04zz",
        "file": b"x",
        "nested.json": json.dumps({"data": {}}).encode(),
        "deep-certificate.json": b"[" * 50_000,
        "no-certificate.json": b"{}",
    }
    for name, content in contents.items():
        (place / name).write_bytes(content)
    np.save(place / "objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    np.savez(place / "short.npz", X=np.zeros((5, 2)), y=np.zeros(4))
    (place / "inside").mkdir()
    return place


WORDS = [
    (("fit", ""), "SOURCE is empty"),
    (("fit", "inside", "-t", "ok"), "inside is a folder"),
    (("fit", "nothing*.csv", "-t", "ok"), "nothing*.csv matches no file"),
    (("fit", "nothing.csv", "-t", "ok"), "nothing.csv does not exist"),
    (("fit", "rows.csv", "m.sepx"), "'m.sepx' is a second"),
    (("fit", "rows.csv"), "needs --target"),
    (("stream", "rows.csv"), "needs --target"),
    ((*FIT, "--positive", "maybe"), "not a class of 'ok' (no, yes)"),
    ((*FIT, "--drop", "ok"), "--drop names the target 'ok'"),
    ((*FIT, "--drop", "nope"), "has no column 'nope'"),
    ((*FIT, "--text", "nope"), "has no column 'nope'"),
    ((*FIT, "-o", "file/m.sepx"), "--out is file/m.sepx, but file is not a folder"),
    ((*FIT, "-o", "nowhere/m.sepx"), "--out is nowhere/m.sepx, but nowhere does not exist"),
    ((*FIT, "-o", "inside"), "'inside' is a directory"),
    ((*FIT, "-l", "perceptron", "--class-weight", "[1,2"), "--class-weight is '[1,2'"),
    ((*FIT, "--seed", "-1"), "is not in the range x>=0"),
    ((*FIT, "--certificate", "rows.csv"), "is not the JSON of a certificate"),
    (("fit", "SELECT * FROM nowhere", "-t", "ok"), "Table with name nowhere does not exist"),
    (("fit", "SELECT 1; DROP TABLE x", "-t", "ok"), "syntax error"),
    (("fit", "SELECT * FROM 'rows.csv' LIMIT 0", "-t", "ok"), "has no rows"),
    (("fit", "COPY (SELECT 1) TO 'evil.csv'", "-t", "ok"), "does not exist"),
    (("fit", "FROM 'https://example.org/a.csv'", "-t", "ok"), "copy the file here first"),
    (("fit", "cut.csv.gz", "-t", "ok"), "cannot be unpacked"),
    (("fit", "latin.csv", "-t", "ok"), "is not in UTF-8, and its bytes are not text in cp1252 or latin-1"),
    (("fit", "empty.json", "-t", "ok"), "empty.json has no rows"),
    (("fit", "cut.json", "-t", "ok"), "Malformed JSON"),
    (("fit", "deep.json", "-t", "ok"), "Malformed JSON"),
    (("fit", "bytes.parquet", "-t", "ok"), "bytes.parquet cannot be read"),
    (("fit", "pairs.vw"), "line 1: the value of a feature is 'c'"),
    (("fit", "bare.vw"), "line 1: there is no |"),
    (("fit", "word.vw"), "line 1: the label is 'x'"),
    (("fit", "twice.svm"), "line 1: the indices of features do not ascend"),
    (("fit", "junk.npy"), "junk.npy cannot be read"),
    (("fit", "junk.npz"), "junk.npz cannot be read"),
    (("fit", "objects.npy"), "only a pickle can carry"),
    (("fit", "short.npz"), "5 rows in X and y of shape (4,)"),
    (("predict", "rows.csv", "rows.csv"), "is not a model file"),
    (("predict", "m.sepx", "m.sepx"), "holds a NUL byte"),
    (("predict", "-", "-"), "File '-' does not exist"),
    (("predict", "m.sepx", "rows.csv", "-o", "file/p.csv"), "--out is file/p.csv, but file is not a folder"),
    (("evaluate", "m.sepx", "rows.csv", "-t", "x"), "'x', which the model learned from: its target is 'ok'"),
    (("evaluate", "m.sepx", "rows.csv", "--positive", "q"), "not a class of the model"),
    (("compare", "rows.csv", "-t", "ok", "-l", "arow", "-l", "arow"), "arow is named twice"),
    (("certify", "latin.csv", "--target", "ok"), "is not in UTF-8, and its bytes are not text"),
    (("certify", "bytes.parquet", "--target", "ok"), "bytes.parquet cannot be read"),
    (("certify", "rows.csv", "--target", "ok", "--out", "file/c.json"), "but file is not a folder"),
    (("certify", "rows.csv", "--target", "ok", "--out", "inside"), "'inside' is a directory"),
    (("verify", "no-certificate.json", "rows.csv"), "it is not a certificate of the format"),
    (("verify", "deep-certificate.json", "rows.csv"), "nested too deeply"),
    (("verify", "rows.csv", "rows.csv"), "cannot be checked against rows.csv"),
    (("export", "m.sepx", "-o", "file/m.py"), "--out is file/m.py, but file is not a folder"),
    (("export", "m.sepx", "-o", "m.txt"), "the output format is not known"),
    (("audit", "rows.csv", "-t", "ok", "-o", "file"), "file exists and is not a folder"),
    (("describe", "inside"), "inside is a folder"),
]


@pytest.mark.parametrize(("words", "says"), WORDS, ids=[" ".join(words) for words, _ in WORDS])
def test_one_sentence_and_nothing_written(words, says, folder):
    before = sorted(path.name for path in folder.rglob("*"))
    done = separatrix(*words, cwd=folder)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line, line
    assert done.stdout == ""
    assert sorted(path.name for path in folder.rglob("*")) == before


@pytest.mark.parametrize("name", ["--target", "a 'b' \"c\"\n[d]*?.csv", "größe ✓ 病.csv", "-"])
def test_names_of_files_and_columns_that_look_like_something_else(name, folder):
    own = folder / name
    own.write_text(ROWS.replace("ok", "--out", 1).replace("ward", "ward ✓", 1))
    done = separatrix("fit", "--target", "--out", "-o", "odd.sepx", "--json", "--", f"./{name}", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["target"] == "--out"
    scored = separatrix("predict", "odd.sepx", f"./{name}", cwd=folder).stdout.splitlines()
    assert scored[0].startswith("x,ward ✓,--out,prediction,score,")
    assert len(scored) == 61
    own.unlink()
    (folder / "odd.sepx").unlink()


def test_types_that_only_parquet_has(folder):
    import duckdb

    kinds = """(i / 3)::DECIMAL(38, 10) AS price, TIMESTAMPTZ '2024-01-01 00:00:00+02' + INTERVAL (i) DAY AS seen,
        [i, i + 1] AS many, {'a': i} AS within, ('w' || (i % 3))::ENUM('w0', 'w1', 'w2') AS ward, i % 2 = 0 AS ok,
        uuid() AS id, INTERVAL (i) DAY AS lasts, TIME '10:00:00' AS clock, i::HUGEINT * 10::HUGEINT ** 21 AS large,
        'ab'::BLOB AS raw, MAP {'k': i} AS by_name"""
    path = folder / "kinds.parquet"
    duckdb.sql(f"COPY (SELECT {kinds} FROM range(40) AS r(i)) TO '{path}'")
    done = separatrix("fit", path, "-t", "ok", "-o", "kinds.sepx", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["classes"] == [False, True]
    for form in ("csv", "jsonl", "parquet"):
        done = separatrix("predict", "kinds.sepx", path, "-o", f"kinds-out.{form}", "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == 40


@pytest.mark.parametrize(
    ("closed", "words", "code"),
    [
        ("<&-", "fit - -t ok", 2),
        (">&-", "predict m.sepx rows.csv", 0),
        (">&-", "examples --json", 0),
        ("2>&-", "fit nothing.csv -t ok", 2),
        ("2>&-", "predict m.sepx rows.csv -o closed.csv", 0),
    ],
)
def test_streams_that_are_closed(closed, words, code, folder):
    command = [sys.executable, "-c", f"'{CODE}'", words, closed]
    done = subprocess.run(["sh", "-c", " ".join(command)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert done.stderr == ("error: standard input is empty: pipe rows into it.\n" if closed == "<&-" else "")


def test_a_reader_that_has_seen_enough(folder):
    body = ROWS.split("\n", 1)[1]
    (folder / "long.csv").write_text(ROWS + body * 3000)
    command = [sys.executable, "-c", CODE, "predict", "m.sepx", "long.csv"]
    running = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with running:
        assert running.stdout.readline().startswith("x,ward,ok,prediction,score")
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 141
