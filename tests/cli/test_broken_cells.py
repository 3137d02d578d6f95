"""One option for rows and cells that do not fit the plan, in every command: refused, left out, or called missing."""

from __future__ import annotations

import json

import pytest

from commands import refused, separatrix

ROWS = [f"{i % 17}.5,{'ab'[i % 2]},{'yes' if i % 17 > 8 else 'no'}" for i in range(60)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.csv").write_text("\n".join(["x,w,ok", *ROWS]) + "\n")
    bad = [*ROWS[:7], "unknown,a,no", *ROWS[7:20], "1.5,b", *ROWS[20:]]
    (tmp_path / "bad.csv").write_text("\n".join(["x,w,ok", *bad]) + "\n")
    assert separatrix("fit", "good.csv", "-t", "ok", "-o", "m.sepx", cwd=tmp_path).returncode == 0
    return tmp_path


def test_refused_by_default_with_its_place(folder):
    for words in (("fit", "bad.csv", "-t", "ok"), ("describe", "bad.csv"), ("predict", "m.sepx", "bad.csv"),
                  ("evaluate", "m.sepx", "bad.csv")):  # fmt: skip
        refused(separatrix(*words, cwd=folder), "bad.csv line 9: 'x' is 'unknown', not a number")
    words = ("stream", "bad.csv", "--target", "ok", "--out", "p", "--broken", "refuse")
    refused(separatrix(*words, cwd=folder), "bad.csv line 9: 'x' is 'unknown', not a number")


def test_left_out_or_called_missing_and_counted(folder):
    for broken, rows in (("skip", 60), ("missing", 61)):
        words = ("fit", "bad.csv", "-t", "ok", "-o", "n.sepx", "--broken", broken, "--json")
        report = json.loads(separatrix(*words, cwd=folder).stdout)
        assert report["rows"] == rows
        told = " ".join(report["guesses"])
        assert f"{62 - rows} row{'s' * (rows == 60)} left out (line 9: 'x' is 'unknown'" in told
        assert ("1 of 'x'" in told) == (broken == "missing")
        done = separatrix("predict", "m.sepx", "bad.csv", "--only", "--broken", broken, cwd=folder)
        assert done.stdout.count("\n") == rows + 1
        assert "line 9: 'x' is 'unknown'" in done.stderr
        words = ("stream", "bad.csv", "--target", "ok", "--out", "p", "--broken", broken, "--json")
        report = json.loads(separatrix(*words, cwd=folder).stdout)
        assert (report["rows"], report["rejected"]) == (rows, 62 - rows)
        assert ("cells called missing: 1 of 'x'" in report["notes"]) == (broken == "missing")
