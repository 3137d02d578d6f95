"""The command that audits: its screen, its files, and bad input."""

from __future__ import annotations

import json
import os
from functools import partial

import pytest

import commands


@pytest.fixture
def separatrix(tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger.jsonl"))

    return partial(commands.separatrix, cwd=tmp_path)


def test_the_screen_answers_five_questions_and_says_where_the_report_is(separatrix, tmp_path):
    done = separatrix("audit", "example:spam")
    assert done.returncode == 0, done.stderr
    for number in range(1, 6):
        assert f"\n{number} " in done.stdout
    assert "No (proved)" in done.stdout
    assert "Use logistic regression" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert done.stdout.splitlines()[-2] == "report: audit/report.html"
    assert done.stdout.splitlines()[-1] == "check the proof: separatrix verify audit"
    verified = separatrix("verify", "audit")
    assert verified.returncode == 0
    assert "all of these 5 rows strictly" in verified.stdout  # the number that the screen names
    assert "5 rows are enough" in done.stdout
    assert "overlap" in verified.stdout
    predicted = separatrix("predict", "audit/model.sepx", "example:spam")
    assert predicted.returncode == 0


def test_the_screen_keeps_to_a_narrow_terminal(separatrix, monkeypatch):
    monkeypatch.setenv("COLUMNS", "72")
    lines = separatrix("audit", "example:spam").stdout.splitlines()
    assert max(map(len, lines[:-1])) <= 72
    assert not any(line.endswith((" p", "✓", "✗")) or line.lstrip().startswith("%") for line in lines)


def test_json_for_programs(separatrix, tmp_path):
    done = separatrix("audit", "example:xor", "--json", "--out", "elsewhere")
    content = json.loads(done.stdout)
    assert content["separation"]["verdict"] == "overlap"
    written = json.loads((tmp_path / "elsewhere" / "audit.json").read_text())
    assert written == content
    assert separatrix("audit", "example:xor", "--quiet", "--out", "elsewhere").stdout == ""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("example:nope",), "there is no example 'nope': choose one of visits, six-points, xor, bias"),
        (("rows.csv",), "rows.csv does not exist"),
        ((), "Missing argument 'SOURCE'"),
        (("--depth", "3", "example:xor"), "No such option"),
        (("t.csv", "--target", "knd"), "has no column 'knd'; did you mean 'kind'?"),
        (
            ("t.csv", "--target", "id"),
            "target 'id' has 60 different values in 60 rows: it looks like an ID column, not a class",
        ),
        (("t.csv", "--target", "one"), "target 'one' is 5 in every row"),
        (("t.csv", "--target", "void"), "target 'void' of t.csv is missing in every row"),
        (("t.csv", "--target", "kind", "--positive", "c"), "--positive is 'c', which is not a class of 'kind' (a, b)"),
        (("t.csv", "--target", "kind", "--budget", "0"), "budget is 0.0: it must be a number of seconds above 0"),
        (("t.csv", "--target", "kind", "--level", "2"), "level"),
        (("t.csv", "--target", "kind", "--keep", "agee"), "has no column 'agee'; did you mean 'age'?"),
        (("t.csv", "--target", "kind", "--out", "no/where"), "the folder no does not exist"),
        (
            ("t.csv", "--target", "kind", "--drop", "id", "--drop", "age", "--drop", "one"),
            "no column left to learn from",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(separatrix, tmp_path, arguments, says):
    lines = ["id,age,kind,one,void", *(f"{i},{i % 7},{'ab'[i % 2]},5," for i in range(60))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    done = separatrix("audit", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line
    assert not (tmp_path / "audit").exists()


def test_without_a_command_the_help_is_shown(separatrix):
    assert "Commands" in separatrix().stdout


def test_an_unknown_command(separatrix):
    assert "No such command 'frobnicate'" in separatrix("frobnicate").stderr


def test_a_wrong_setting_of_the_kernels_is_one_sentence_too(tmp_path):
    wrong = {"cwd": tmp_path, "env": {**os.environ, "SEPARATRIX_ISA": "mmx"}}
    assert commands.process("--help", **wrong).returncode == 0
    done = commands.process("audit", "example:xor", **wrong)
    assert done.returncode == 2
    assert "SEPARATRIX_ISA is 'mmx'" in done.stderr


def test_a_terminal_without_greek_letters(tmp_path):
    latin = {"cwd": tmp_path, "env": {**os.environ, "PYTHONIOENCODING": "latin-1"}, "encoding": "latin-1"}
    done = commands.process("audit", "example:bias", **latin)
    assert done.returncode == 0


def test_help_and_version(separatrix):
    assert "audit" in separatrix("--help").stdout
    assert "SOURCE" in separatrix("audit", "--help").stdout
    assert separatrix("--version").returncode == 0
