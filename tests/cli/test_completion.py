"""What a shell gets when it asks how a command goes on: through the script that click makes for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from separatrix.models.registry import learner_names

CODE = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"


def completed(*words):
    """The completions of the last word, as the script for bash asks for them."""
    asks = {"_SEPARATRIX_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **asks})
    assert "Traceback" not in done.stderr, done.stderr
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


def test_commands_learners_and_their_options():
    assert "predict" in completed("separatrix", "pre")
    assert completed("separatrix", "fit", "rows.csv", "--learner", "") == learner_names()
    assert completed("separatrix", "fit", "rows.csv", "-l", "aver") == ["averaged-perceptron"]
    assert "--max-iter" in completed("separatrix", "fit", "rows.csv", "-l", "perceptron", "--max")
    assert "--no-fit-intercept" in completed("separatrix", "fit", "rows.csv", "-l", "perceptron", "--no-fit")
    assert completed("separatrix", "fit", "rows.csv", "-l", "least-squares", "--max-ep") == []
    assert "--holdout" in completed("separatrix", "fit", "rows.csv", "--hold")
    assert completed("separatrix", "predict", "m.sepx", "example:six") == ["example:six-points"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_of_its_own(shell):
    environment = {**os.environ, "_SEPARATRIX_COMPLETE": f"{shell}_source"}
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, env=environment)
    assert "_SEPARATRIX_COMPLETE" in done.stdout, done.stderr
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=done.stdout, text=True, check=False).returncode == 0
