"""``separatrix fit --cluster``: the same model file, and errors in terms of flags."""

from __future__ import annotations

import json

import pytest

from commands import separatrix as run
from separatrix import load


@pytest.fixture
def parts(tmp_path):
    for k in range(3):
        rows = "".join(f"{0.5 * k + 1.5 * i},{(k + i) % 5},{'yes' if (k + 2 * i) % 4 else 'no'}\n" for i in range(40))
        (tmp_path / f"part{k}.csv").write_text("a,b,label\n" + rows)
    return tmp_path


def test_a_fit_in_partitions(parts):
    done = run("fit", f"{parts}/part*.csv", "--cluster", "here", "-l", "linear-discriminant", "-o", f"{parts}/m.sepx")
    assert done.returncode == 0, done.stderr
    assert "120 rows in 3 partitions → 2 features" in " ".join(done.stdout.split())
    assert load(parts / "m.sepx").learner.classes_.tolist() == ["no", "yes"]


def test_json(parts):
    done = run("fit", f"{parts}/part*.csv", "--cluster", "here", "-l", "perceptron", "-o", f"{parts}/m.sepx", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["rows"], found["columns"], found["target"]) == (120, 3, "label")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cluster", "here"], "--cluster needs --learner"),
        (["--cluster", "here", "-l", "perceptron", "--cv", "5"], "--cv needs all rows in one place"),
        (
            ["--cluster", "here", "-l", "voted-perceptron"],
            "voted-perceptron has no distributed form: arow",
        ),
        (["--cluster", "nowhere", "-l", "perceptron"], "write auto, HOST:PORT or ray://HOST:PORT"),
        (["--cluster", "127.0.0.1:1", "-l", "perceptron"], "no Ray cluster answers at '127.0.0.1:1'"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_two(parts, words, said):
    if "no" in said[:2] or "write" in said:
        pytest.importorskip("ray", reason="Ray is not installed")
    done = run("fit", f"{parts}/part*.csv", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
