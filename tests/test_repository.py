"""Files of the repository that repeat what stands elsewhere agree with it."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import separatrix

ROOT = Path(__file__).parents[1]
# What tells people to run something.
GUIDES = ["README.md", "CONTRIBUTING.md", ".github/workflows/checks.yml", ".github/pull_request_template.md", ".ci/run"]


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert separatrix.__version__ == project == cited[1]


def test_every_command_that_guides_name_exists():
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for guide in GUIDES:
        text = (ROOT / guide).read_text()
        named = re.findall(r"(?:`|run: |^)make ((?:[a-z-]+ ?)+)", text, re.MULTILINE)
        assert {target for line in named for target in line.split()} <= targets, guide
        for script in re.findall(r"\.ci/\w+", text):
            assert os.access(ROOT / script, os.X_OK), f"{guide} names {script}"


def test_every_target_is_phony():
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))
