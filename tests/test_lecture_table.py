"""Every cell of the table from the lecture to a command runs."""

from __future__ import annotations

import re
import shlex
import shutil
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from commands import separatrix
from separatrix.errors import SeparatrixWarning

PAGE = (Path(__file__).parent.parent / "docs" / "lecture-table.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| ---", "| subject"))
]
COMMANDS = sorted({row[2].strip("`") for row in ROWS} - {"–"})
mpl.use("agg")


@pytest.fixture(scope="module")
def names():
    """What the page defines before its tables."""
    found: dict = {}
    exec(PAGE.split("```python\n")[1].split("```")[0], found)
    return found


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The model that some commands read."""
    path = tmp_path_factory.mktemp("commands") / "model.sepx"
    separatrix("fit", "example:six-points", "-l", "logistic-regression", "-o", "model.sepx", cwd=path.parent)
    return path


@pytest.fixture
def folder(model, tmp_path):
    """A folder of its own for each command: some of them write a model of the same name."""
    shutil.copy(model, tmp_path)
    return tmp_path


def test_the_table_is_read():
    assert len(ROWS) >= 60
    assert all(len(row) == 4 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_python(row, names, tmp_path, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger.jsonl"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        eval(row[1].strip("`"), names)
    plt.close("all")


@pytest.mark.parametrize("command", COMMANDS)
def test_command(command, folder, tmp_path):
    words = shlex.split(command)
    assert words[0] == "separatrix"
    done = separatrix(*words[1:], cwd=folder, env={"SEPARATRIX_LEDGER": str(tmp_path / "ledger.jsonl")})
    assert done.returncode == 0, done.stderr
