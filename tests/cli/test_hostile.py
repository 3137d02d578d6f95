"""The command in an unfriendly world: odd files, closed folders, full disks, Ctrl-C."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from commands import CODE, process, refused, separatrix

DROP, RIGHTS = 24, (1, 2)  # PR_CAPBSET_DROP; CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
ROWS = "x,ward,ok\n" + "".join(f"{i * 7 % 20},{'AB'[i % 2]},{'yes' if i * 7 % 20 > 9 else 'no'}\n" for i in range(60))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    (folder / "rows.csv").write_text(ROWS)
    assert separatrix("fit", folder / "rows.csv", "-t", "ok", "-o", folder / "m.sepx").returncode == 0
    return folder / "m.sepx"


WIDE = ",".join(f"c{j}" for j in range(10_000)) + ",ok\n"
WIDE += "".join(",".join(str((i * i + j * (i % 5)) % 7) for j in range(10_000)) + f",{i % 2}\n" for i in range(30))
TABLES = {
    "plain": ROWS.encode(),
    "bom": ROWS.encode("utf-8-sig"),
    "utf-16": ROWS.encode("utf-16"),
    "utf-16, other order": b"\xfe\xff" + ROWS.encode("utf-16-be"),
    "crlf": ROWS.replace("\n", "\r\n").encode(),
    "semicolons": ROWS.replace(",", ";").encode(),
    "tabs": ROWS.replace(",", "\t").encode(),
    "decimal commas": ROWS.replace(",", ";").replace("\n1;", "\n1,25;").replace("\n2;", "\n2,5;").encode(),
    "repeated and empty names": ROWS.replace("x,ward", "x,").replace("\n", ",3\n").replace("ok,3", "ok,x").encode(),
    "quotes": ROWS.replace("A", '"A, or ""a"""').encode(),
    "gzip": gzip.compress(ROWS.encode()),
    "ten thousand columns": WIDE.encode(),
    "a thousand classes": ("x,ok\n" + "".join(f"{i},c{i % 1000}\n" for i in range(12_000))).encode(),
}


@pytest.mark.parametrize("habit", TABLES)
def test_odd_tables_are_learned_and_predicted_in_order(habit, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(TABLES[habit])
    done = separatrix("fit", path, "-t", "ok", "-o", tmp_path / "m.sepx", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rows"] == {"ten thousand columns": 30, "a thousand classes": 12_000}.get(habit, 60)
    if habit == "a thousand classes":  # as many scores a row
        path.write_bytes(b"\n".join(TABLES[habit].split(b"\n")[:61]))
    lines = separatrix("predict", tmp_path / "m.sepx", path, "--format", "jsonl").stdout.splitlines()
    assert len(lines) == min(report["rows"], 60)
    if report["rows"] == 60:
        expected = [i * 7 % 20 for i in range(60)]
        expected = [{1: 1.25, 2: 2.5}.get(x, x) for x in expected] if habit == "decimal commas" else expected
        assert [json.loads(line)["x"] for line in lines] == expected


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"x,ok\n", "has no rows"),
        (b"x,ok\n1,yes\n", "is yes in every row"),
        (b"ok\nyes\nno\n", "only the target"),
        (b"x,ok\n,\n,\n,\n", "missing in every row"),
        (b"x,ok\n,yes\n,no\n", "'x' is missing in every row"),
        (b"x,ok\n1,yes\n2,n\x00o\n", "line 3 holds a NUL byte"),
        (b"x,ok\n1,yes\n2," + b"z" * 200_000_000 + b"\n", "line 3 is longer than 2 MB"),
        (b"z" * 200_000_000, "line 1 is longer than 2 MB"),
    ],
    ids=["empty", "0 rows", "1 row", "1 column", "all missing", "no input", "NUL", "200 MB cell", "200 MB line"],
)
def test_hopeless_tables_are_one_sentence(content, says, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    refused(separatrix("fit", "t.csv", "-t", "ok", cwd=tmp_path), says)
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.slow
def test_a_line_of_200_megabytes_of_pairs(tmp_path):
    pairs = b"".join(b" %d:1" % j for j in range(1, 200_001))
    line = pairs.replace(b":1", b":" + b"1" * 990)
    (tmp_path / "t.svm").write_bytes(b"1 1:1\n-1" + line + b"\n1 2:1\n")
    assert (tmp_path / "t.svm").stat().st_size > 190_000_000
    done = separatrix("fit", "t.svm", cwd=tmp_path)
    refused(done, "line 2: the value of a feature is not a finite number")
    (tmp_path / "t.svm").write_bytes(b"1 1:1\n-1" + pairs + b" # " + b"z" * 200_000_000 + b"\n1 2:1\n")
    assert json.loads(separatrix("fit", "t.svm", "--json", cwd=tmp_path).stdout)["features"] == 200_000


def without_rights():
    """Even the superuser is then held by the modes of files."""
    import ctypes

    for right in RIGHTS:
        if ctypes.CDLL(None).prctl(DROP, right, 0, 0, 0):
            raise OSError("a right cannot be dropped")


@pytest.fixture
def somebody():
    """Options for a process that may not read and write everything."""
    return {} if os.geteuid() else {"preexec_fn": without_rights}


def test_a_read_only_folder_and_an_unreadable_file(somebody, model, tmp_path):
    options, folder = somebody, tmp_path
    (folder / "rows.csv").write_text(ROWS)
    (folder / "m.sepx").write_bytes(model.read_bytes())
    (folder / "secret.csv").write_text(ROWS)
    (folder / "secret.csv").chmod(0)
    closed = folder / "closed"
    closed.mkdir(mode=0o555)
    before = sorted(p.name for p in folder.iterdir())
    refused(process("fit", folder / "rows.csv", "-t", "ok", "-o", closed / "m.sepx", **options), "Permission denied")
    refused(process("predict", folder / "m.sepx", folder / "rows.csv", "-o", closed / "p.csv", **options), "denied")
    where = ("certify", folder / "rows.csv", "--target", "x", "--out", closed / "c.json")
    assert process(*where, **options).returncode == 2
    refused(process("fit", folder / "secret.csv", "-t", "ok", "-o", folder / "n.sepx", **options), "Permission denied")
    assert list(closed.iterdir()) == []
    assert sorted(p.name for p in folder.iterdir()) == before


def test_full_disks_leave_nothing_behind(tmp_path, model):
    (tmp_path / "rows.csv").write_text(ROWS)
    refused(separatrix("predict", model, "rows.csv", "-o", "/dev/full", cwd=tmp_path), "No space left on device")
    refused(separatrix("export", model, "-o", "/dev/full", "--format", "sql", cwd=tmp_path), "No space left")

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))

    words = [("fit", "rows.csv", "-t", "ok"), ("predict", model, "rows.csv", "-o", "p.csv")]
    words += [("predict", model, "rows.csv", "-o", "p.jsonl"), ("predict", model, "rows.csv", "-o", "p.parquet")]
    for arguments in words:
        refused(process(*arguments, cwd=tmp_path, preexec_fn=small), "File too large")
        assert [p.name for p in tmp_path.iterdir()] == ["rows.csv"]


def test_pipes_in_and_out_and_a_reader_that_goes_away(tmp_path, model):
    done = separatrix("predict", model, "-", input=ROWS)
    assert done.stdout.splitlines()[0] == "x,ward,ok,prediction,score,probability_no,probability_yes"
    assert len(done.stdout.splitlines()) == 61
    (tmp_path / "t.svm").write_text("1 1:1\n-1 2:1\n" * 50)
    assert separatrix("fit", "-", "-o", tmp_path / "s.sepx", input="1 1:1\n-1 2:1\n" * 5).returncode == 0
    assert len(separatrix("predict", tmp_path / "s.sepx", "-", input="1 1:1\n-1 2:1\n").stdout.splitlines()) == 3
    refused(separatrix("predict", model, "-", input=""), "standard input is empty")
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-c", CODE, "predict", str(model), "-", "-o", str(tmp_path / "pipe")]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, text=True)
    running.stdin.write(ROWS)
    running.stdin.close()
    with open(tmp_path / "pipe") as pipe:
        assert len(pipe.read().splitlines()) == 61
    assert running.wait(timeout=60) == 0


def test_progress_with_the_time_left_is_for_terminals_only(tmp_path, model):
    import pty

    (tmp_path / "long.csv").write_text(ROWS + ROWS.split("\n", 1)[1] * 10_000)
    words = ("predict", model, "long.csv", "-o", "p.csv")
    done = separatrix(*words, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", CODE, *map(str, words)]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    running = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    said = b""
    try:
        while block := os.read(ours, 65536):
            said += block
    except OSError:  # how Linux says that the other side is closed
        pass
    os.close(ours)
    assert running.communicate()[0] == b""
    assert running.returncode == 0
    assert b"predicting long.csv" in said
    assert b"left" in said
    assert b"%" in said
    assert b"rows" in said


LIMIT = 400 * 1024  # kilobytes


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "mixed", "svm", "jsonl", "parquet", "npy"])
def test_two_gigabytes_are_predicted_in_400_megabytes(form, tmp_path):
    """The memory does not grow with the file, and the last row is the last row."""
    target = 2_000_000_000
    rng = np.random.default_rng(0)
    if form == "svm":
        body = "".join(
            f"{label} " + " ".join(f"{j}:{v:.4f}" for j, v in zip(range(1, 31), row, strict=True)) + "\n"
            for label, row in zip(rng.integers(0, 2, 20_000) * 2 - 1, rng.normal(size=(20_000, 30)), strict=True)
        )
        head, name = "", "t.svm"
    else:
        word = ",a word" if form == "mixed" else ""
        body = "".join(
            ",".join(f"{v:.5f}" for v in row) + f"{word},{int(row[0] > 0)}\n" for row in rng.normal(size=(20_000, 20))
        )
        head = ",".join(f"x{j}" for j in range(20)) + (",w" if word else "") + ",y\n"
        name = "t.csv"
    small, large = tmp_path / f"small-{name}", tmp_path / name
    small.write_text(head + body)
    share = 10 if form in ("jsonl", "parquet") else 1  # their way out is slow: a tenth shows as much
    with large.open("w") as file:
        file.write(head)
        for _ in range(target // share // len(body)):
            file.write(body)
    words = ["fit", small, "-o", tmp_path / "m.sepx", "-q"] + ([] if form == "svm" else ["-t", "y"])
    if form == "npy":
        large.unlink()
        small, large = tmp_path / "small.npz", tmp_path / "t.npy"
        X = rng.normal(size=(1000, 25))
        np.savez(small, X=X, y=(X[:, 0] > 0).astype(int))
        block = np.lib.format.open_memmap(large, "w+", np.float64, (10_000_000, 25))
        for begin in range(0, len(block), 100_000):
            block[begin : begin + 100_000] = X[rng.integers(0, 1000, 100_000)]
        del block
        words = ["fit", small, "-o", tmp_path / "m.sepx", "-q"]
    assert separatrix(*words).returncode == 0
    out = tmp_path / f"p.{form if form in ('jsonl', 'parquet') else 'csv'}"
    code = f"{CODE}; print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"  # not that of its parent
    done = process("predict", tmp_path / "m.sepx", large, "-o", out, "-q", code=code, timeout=3000)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < LIMIT


def test_a_file_that_is_not_a_ledger_is_not_written_to(tmp_path):
    table = "x,y\n" + "".join(f"{k / 7},{'no' if k % 3 else 'yes'}\n" for k in range(60))
    (tmp_path / "t.csv").write_text(table)
    done = separatrix("fit", "t.csv", "--holdout", "0.2", "--ledger", "t.csv", "-o", "m.sepx", cwd=tmp_path)
    assert done.returncode == 2
    assert "holds something else than a ledger: choose another file with --ledger" in " ".join(done.stderr.split())
    assert (tmp_path / "t.csv").read_text() == table
    assert not (tmp_path / "m.sepx").exists()


@pytest.mark.parametrize(
    ("flag", "value", "says"),
    [
        ("--threads", "x", "'x' is not a whole number."),
        ("--cv", "2.5", "'2.5' is not a whole number."),
        ("--holdout", "half", "'half' is not a number."),
        ("--threads", "0", "0 is not in the range x>=1."),
    ],
)
def test_numbers_that_are_none(flag, value, says, tmp_path):
    done = separatrix("fit", "example:spam", flag, value, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"error: Invalid value for '{flag}': {says}\n")


def test_rows_that_are_missing_are_said_without_a_purpose(tmp_path):
    separatrix("fit", "example:spam", "-o", "m.sepx", cwd=tmp_path)
    (tmp_path / "t.csv").write_text("words,links,exclamations,length,kind\n")
    done = separatrix("evaluate", "m.sepx", "t.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "error: t.csv has no rows.\n")


def test_numbers_whose_squares_are_not_doubles(tmp_path):
    """They are standardised like others; an audit, which needs their squares, names the column."""
    found = {}
    for power in (0, 300, -310):
        rows = "".join(f"{k}e{power},{'yes' if k in (3, 5, 7, 8) else 'no'}\n" for k in range(1, 9))
        (tmp_path / "t.csv").write_text(f"x,y\n{rows}")
        assert separatrix("fit", "t.csv", "-o", f"m{power}.sepx", cwd=tmp_path).returncode == 0
        done = separatrix("predict", f"m{power}.sepx", "t.csv", "--only", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found[power] = [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
        assert found[power] == pytest.approx(found[0], rel=1e-6)
        if power:
            done = separatrix("audit", "t.csv", "-o", "a", "--budget", "5", cwd=tmp_path)
            assert done.returncode == 2
            assert "column 'x' holds numbers up to 8e" in done.stderr
            assert not (tmp_path / "a").exists()


def test_a_failed_fold_names_the_learner(tmp_path):
    rows = "".join(f"{'one' if k % 2 else 'two'},{'a' if k % 2 else 'b'}\n" for k in range(8))
    (tmp_path / "t.csv").write_text(f"k,y\n{rows}")
    done = separatrix("compare", "t.csv", "--folds", "2", cwd=tmp_path)
    assert done.returncode == 2
    assert "linear-discriminant failed in fold 0" in done.stderr
