"""The tree of the design page names what is in the package, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
IGNORED = {"__init__.py", "__init__.pyi", "__main__.py", "__pycache__", "py.typed"}


def test_the_tree_is_that_of_the_package():
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    tree = page.split("src/separatrix/\n")[1].split("```")[0]
    named = set(re.findall(r"^  (\w[\w.]*)/? ", tree, flags=re.MULTILINE))
    there = {entry.name for entry in (ROOT / "src" / "separatrix").iterdir() if entry.name not in IGNORED}
    assert named == there
