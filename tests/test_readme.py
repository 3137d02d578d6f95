"""The README's Python examples print what they say, and its demo is the command's output."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_python_examples():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=flags)
    assert failed == 0
    assert tried >= 10


def test_the_demo_is_shown_as_it_prints():
    code = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", code, "audit", "example:six-points"], capture_output=True, text=True, check=True
    )
    shown = (ROOT / "README.md").read_text().split("$ make demo\n")[1].split("```")[0]
    assert done.stdout == shown
