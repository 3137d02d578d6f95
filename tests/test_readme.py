"""The README's Python examples print what they say, and its demo is the command's output."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_python_examples():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=flags)
    assert failed == 0
    assert tried >= 10


def without_times(text):
    return re.sub(r"\d+(\.\d+)? (µs|ms|s)\b", "TIME", text)


def test_the_audit_is_shown_as_it_prints(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger.jsonl"))
    command = [sys.executable, "-m", "separatrix", "audit", "example:spam"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    shown = (ROOT / "README.md").read_text().split("$ separatrix audit example:spam\n")[1].split("```")[0]
    assert without_times(done.stdout) == without_times(shown)
