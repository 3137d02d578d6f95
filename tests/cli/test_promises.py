"""What a command does by itself is said, and nothing of the user's is replaced without a word."""

from __future__ import annotations

import json
import os

import pytest
from tests.commands import separatrix
from tests.stream.stream_files import stream

from separatrix import load

ROWS = "".join(f"{k % 9},{1000 * (k % 4)},{'ABC'[k % 3]},{'yes' if k % 9 + k % 2 > 4 else 'no'}\n" for k in range(90))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(f"x,dose,ward,ok\n{ROWS}")
    return tmp_path


def test_named_learners_are_compared_on_standardised_columns_and_this_is_said(folder):
    words = ("compare", "t.csv", "-t", "ok", "-l", "perceptron", "-l", "linear-discriminant", "--repeats", "1")
    by_default = separatrix(*words, cwd=folder)
    assert "standardised columns" in by_default.stdout
    scores = [
        json.loads(separatrix(*words, *more, "--json", cwd=folder).stdout)["learners"]
        for more in ((), ("--scale", "standard"), ("--scale", "none"))
    ]
    values = [[entry["value"] for entry in own.values()] for own in scores]
    assert values[0] == values[1] != values[2]
    assert "standardised" not in separatrix(*words, "--scale", "none", cwd=folder).stdout


def test_the_task_can_be_named(folder):
    (folder / "n.csv").write_text("x,y\n" + "".join(f"{k},{k % 30}\n" for k in range(90)))
    tasks = {}
    for asked in ("classification", "regression"):
        done = separatrix("fit", "n.csv", "-t", "y", "--task", asked, "-o", "m.sepx", "--json", cwd=folder)
        tasks[asked] = json.loads(done.stdout)["classes"]
    assert tasks["regression"] is None
    assert len(tasks["classification"]) == 30
    done = separatrix("fit", "n.csv", "-t", "y", "-l", "perceptron", "--task", "regression", cwd=folder)
    assert (done.returncode, "perceptron is a classifier: leave one out" in done.stderr) == (2, True)
    disk = ("fit", "n.csv", "-t", "y", "--task", "classification", "--memory", "64MB", "-o", "m.sepx", "--json")
    assert len(json.loads(separatrix(*disk, cwd=folder).stdout)["classes"]) == 30


def test_a_stream_does_not_replace_a_model_of_another_kind(folder):
    assert separatrix("fit", "t.csv", "-t", "ok", "-o", "m.sepx", cwd=folder).returncode == 0
    before = (folder / "m.sepx").read_bytes()
    words = (folder / "t.csv", "-t", "ok", "--out", folder / "p", "--model", folder / "m.sepx")
    done = stream(*words)
    assert done.returncode == 2
    assert b"a logistic-regression, of the target 'ok', that this stream would replace" in done.stderr
    assert (folder / "m.sepx").read_bytes() == before
    os.unlink(folder / "m.sepx")
    assert stream(*words).returncode == 0
    assert stream(*words).returncode == 0  # its own model, made again
    assert stream(*words, "--learner", "arow").returncode == 2


def test_a_model_with_an_encoder_predicts_frames(folder):
    import pandas as pd

    assert separatrix("fit", "t.csv", "-t", "ok", "-o", "m.sepx", cwd=folder).returncode == 0
    assert separatrix("predict", "m.sepx", "t.csv", "-o", "p.csv", cwd=folder).returncode == 0
    model, table = load(folder / "m.sepx"), pd.read_csv(folder / "t.csv")
    expected = pd.read_csv(folder / "p.csv")["prediction"].tolist()
    assert model.predict(table)["prediction"].tolist() == expected
    assert model.predict(table[["x", "dose", "ward"]].to_dict("list"))["prediction"].tolist() == expected


def test_a_stream_reads_the_standard_input_of_a_shell_that_has_removed_its_file(folder):
    with (folder / "t.csv").open("rb") as file:
        os.unlink(folder / "t.csv")
        done = stream("-", "-t", "ok", "--out", folder / "p", "--json", stdin=file)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 90
    (folder / "u.csv").write_text(f"# a note\nx,dose,ward,ok\n{ROWS}")
    with (folder / "u.csv").open("rb", buffering=0) as file:
        file.read(9)  # as another command before it in the shell
        done = stream("-", "-t", "ok", "--out", folder / "q", "--json", stdin=file)
    assert json.loads(done.stdout)["rows"] == 90, done.stderr
    assert (folder / "q").read_bytes() == (folder / "p").read_bytes()
