"""Odd tables through audit, fit, evaluate, compare and describe: a right answer or one clear sentence, never Python."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from commands import separatrix

rng = np.random.default_rng(5)
AB = rng.choice(["a", "b"], 60)
V = rng.random(60).round(3)

TABLES = {
    "one column": ["y", *AB[:30]],
    "constant target": ["x,y", *(f"{v},a" for v in V)],
    "missing column": ["x,gone,y", *(f"{v},,{c}" for v, c in zip(V, AB, strict=True))],
    "two rows": ["x,y", "1,a", "2,b"],
    "duplicated names": ["x,x,y", *(f"{v},{1 - v:.3f},{c}" for v, c in zip(V, AB, strict=True))],
    "300 classes": ["x,y", *(f"{i % 7},c{i % 300}" for i in range(900))],
    "target is an ID": ["x,y", *(f"{v},ID{i:04}" for i, v in enumerate(V))],
    "huge strings": ["t,x,y", *(f"{'word' * 5000}{i},{v},{AB[i]}" for i, v in enumerate(V))],
    "mixed types": ["v,x,y", *(f"{['1', '2.5', 'abc', ''][i % 4]},{v},{AB[i]}" for i, v in enumerate(V))],
    "infinite": ["v,x,y", *(f"{['1.5', 'inf', '-inf', '3'][i % 4]},{v},{AB[i]}" for i, v in enumerate(V))],
}
REFUSED = {
    "one column": "has no column left to learn from: it has only the target",
    "constant target": "target 'y' is a in every row: there is only one class to predict",
    "300 classes": "target 'y' has 300 different values in 900 rows: most have too few rows to learn from",
    "target is an ID": "target 'y' has 60 different values in 60 rows: it looks like an ID column, not a class",
    "infinite": "'v' in t.csv is inf in row 1 (counted from 0): drop the row or cap the value",
}
SAID = {  # by describe, and under "guessed"
    "one column": ("30 rows · 1 column\n", ""),
    "constant target": ("1 different, such as 'a'", ""),
    "missing column": ("no values   60 missing", "'gone' dropped: it is missing in every row"),
    "two rows": ("2 rows · 2 columns", ""),
    "duplicated names": ("x_1", "another column named 'x' got a number behind its name"),
    "300 classes": ("300 different", ""),
    "target is an ID": ("60 different, such as 'ID0000'", ""),
    "huge strings": ("60 different, such as 'word", "'t' dropped: it looks like an ID column"),
    "mixed types": ("3 different", "'v' as categories (4)"),
    "infinite": ("1.5 … 3, mean 2.25, 4 different   30 infinite", ""),
}
PYTHON = re.compile(r"Traceback|n_samples|stratify|\.confusion|=False|=True|\bNone\b(?! of )|nan\b")


def run(folder, *words):
    done = separatrix(*words, cwd=folder, env={"SEPARATRIX_LEDGER": str(folder / "ledger")})
    assert not PYTHON.search(done.stdout + done.stderr), done.stdout + done.stderr
    return done


@pytest.mark.parametrize("name", TABLES)
def test_odd_tables(name, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(TABLES[name]) + "\n")
    described = run(tmp_path, "describe", "t.csv")
    assert described.returncode == 0
    assert SAID[name][0] in described.stdout
    assert not described.stderr
    commands = {
        "fit": ("fit", "t.csv", "-t", "y", "-o", "m.sepx"),
        "compare": ("compare", "t.csv", "-t", "y", "--repeats", "1"),
        "audit": ("audit", "t.csv", "-t", "y", "--budget", "10"),
    }
    for command, words in commands.items():
        done = run(tmp_path, *words)
        if name in REFUSED:
            assert done.returncode == 2
            assert len(done.stderr.splitlines()) == 1
            assert REFUSED[name] in done.stderr
        elif (name, command) == ("two rows", "compare"):
            assert done.stderr == "error: 2 row(s) cannot make 5 folds: use at most 2.\n"
        else:
            assert done.returncode == 0, done.stderr
            assert SAID[name][1] in " ".join(done.stdout.split()) or command == "compare"
    if name not in REFUSED:
        report = json.loads(run(tmp_path, "evaluate", "m.sepx", "t.csv", "--json").stdout)
        assert report["n"] == len(TABLES[name]) - 1
        assert "accuracy" in run(tmp_path, "evaluate", "m.sepx", "t.csv").stdout


def test_two_rows_have_a_margin_in_any_budget(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,b\n")
    done = run(tmp_path, "audit", "t.csv", "-t", "y", "--budget", "10")
    assert "The maximum margin, 0.5 on each side; it is unique (proved)" in done.stdout
    assert "the margin is 1 standard deviation." in done.stdout
    assert "1 row of the rarest class for 1 column: 1 a column" in (tmp_path / "audit" / "report.html").read_text()


def test_letters_that_matplotlib_has_not_are_drawn_by_the_page(tmp_path):
    rows = [f"{v},{'猫' if label == 'a' else '狗'}" for v, label in zip(V, AB, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["長さ,y", *rows]) + "\n")
    done = run(tmp_path, "audit", "t.csv", "-t", "y", "--budget", "10")
    assert done.returncode == 0
    assert not done.stderr
    assert "猫" in (tmp_path / "audit" / "report.html").read_text()


def test_an_interval_of_a_few_right_rows_is_not_a_point():
    import separatrix as sx

    found = sx.evaluate(np.array(["a", "b"]), np.array(["a", "b"]))
    assert found.mcc.value == pytest.approx(1.0)
    assert found.mcc.low == 0.0  # two rows exclude nearly nothing


def test_many_classes_that_were_never_predicted_are_counted_and_not_listed():
    import separatrix as sx

    truth = np.array([f"c{i}" for i in range(30)])
    found = sx.evaluate(truth, np.full(30, "c0"))
    assert found.precision.reason == "no row was predicted 'c1', 'c10', 'c11', 'c12', 'c13' and 24 more"
