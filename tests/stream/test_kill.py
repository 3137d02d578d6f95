"""A stream that is killed with SIGKILL, again and again, ends as if nothing had happened."""

from __future__ import annotations

import random
import signal
import subprocess
import time

import pytest
from tests.stream.stream_files import csv_text, size_of, started, stream, svmlight_lines, table_rows

LONG = 60.0  # seconds that a process may take to come as far as it is to be killed


def killed_and_resumed(folder, arguments, kills, seed):
    """Kill the command at random places of its output, resume it each time, and let it end; how often it was hit."""
    rng = random.Random(seed)
    whole = size_of(folder / "once.out")
    hit = 0
    for k in range(kills):
        process = started(*arguments, "--resume", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        place = rng.randrange(whole) if k % 5 else 0  # every fifth early: while it starts or resumes
        begun, patience = time.monotonic(), rng.uniform(0.0, 1.0) if not k % 5 else LONG
        while process.poll() is None and time.monotonic() - begun < patience:
            if place and size_of(folder / "killed.out") >= place:
                break
            time.sleep(0.002)
        hit += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    ended = stream(*arguments, "--resume")
    assert ended.returncode == 0, ended.stderr.decode()
    return hit


def arguments_of(folder, source, name, *more):
    return [
        folder / source,
        "--model", folder / f"{name}.sepx",
        "--out", folder / f"{name}.out",
        "--rejects", folder / f"{name}.rejects",
        *more,
    ]  # fmt: skip


def survives(folder, source, more, kills, seed):
    once = stream(*arguments_of(folder, source, "once", *more))
    assert once.returncode == 0, once.stderr.decode()
    checkpoints = ("--checkpoint", folder / "state", "--checkpoint-seconds", 0.02)
    hit = killed_and_resumed(folder, [*arguments_of(folder, source, "killed", *more), *checkpoints], kills, seed)
    for ending in ("out", "rejects", "sepx"):
        assert (folder / f"killed.{ending}").read_bytes() == (folder / f"once.{ending}").read_bytes(), ending
    return hit


def write_svmlight(folder, rows):
    (folder / "rows.svm").write_text("".join(f"{line}\n" for line in svmlight_lines(rows, bad_every=997)))


def test_five_kills_leave_the_same_model_and_output(tmp_path):
    write_svmlight(tmp_path, 200_000)
    assert survives(tmp_path, "rows.svm", ["--learner", "averaged-perceptron"], kills=5, seed=1) >= 2


@pytest.mark.slow
def test_kills_of_a_table_with_categories_and_a_running_standardiser(tmp_path):
    (tmp_path / "rows.csv").write_text(csv_text(list(table_rows(30_000))))
    more = ["--target", "relapse", "--learner", "arow", "--scale", "standard", "--scores"]
    survives(tmp_path, "rows.csv", more, kills=2, seed=2)


@pytest.mark.slow
def test_fifty_kills(tmp_path):
    write_svmlight(tmp_path, 400_000)
    more = ["--learner", "passive-aggressive", "--multiclass", "kesler"]
    assert survives(tmp_path, "rows.svm", more, kills=50, seed=3) >= 25


@pytest.mark.slow
def test_fifty_kills_of_a_table(tmp_path):
    (tmp_path / "rows.csv").write_text(csv_text(list(table_rows(200_000))))
    more = ["--target", "relapse", "--scale", "standard", "--scores"]
    assert survives(tmp_path, "rows.csv", more, kills=50, seed=4) >= 25
