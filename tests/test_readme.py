"""A newcomer who types what the README shows gets what it shows."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("readme")  # one folder, one story after the other
ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What a clock decides: times, and how far the search for the minimum number of mistakes came.
CLOCKED = [(r"\d+(\.\d+)? (µs|ms|s)\b", "TIME"), (r"between \d+ and \d+ \(proved\)", "between N and M (proved)")]


def without_clock(text: str) -> str:
    for pattern, name in CLOCKED:
        text = re.sub(pattern, name, text)
    return text


def shown_commands() -> list[tuple[list[str], str]]:
    """Each command after a dollar sign, and the output below it."""
    blocks = re.findall(r"^```\n(\$ .*?)^```", README, re.MULTILINE | re.DOTALL)
    commands = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    return [(first.split(), rest) for first, _, rest in (command.partition("\n") for command in commands)]


pytestmark = pytest.mark.xdist_group("readme")  # the stories write the files that later ones read


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("newcomer")


def run(arguments, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(folder / "ledger.jsonl"))
    assert arguments[0] == "separatrix"
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout


def test_the_stories_print_what_they_show(folder, monkeypatch):
    """Lines of dots stand for output that is left out."""
    commands = shown_commands()
    assert len(commands) >= 5
    for arguments, shown in commands:
        printed = without_clock(run(arguments, folder, monkeypatch))
        if "unpenalised logistic regression" in printed.partition("left out")[2]:
            pytest.skip("the machine was too busy: the audit compared fewer learners than it does within its budget")
        at = 0
        for part in re.split(r"^\.\.\.\n", without_clock(shown), flags=re.MULTILINE):
            assert part in printed[at:], f"{' '.join(arguments)} does not print:\n{part}\nbut:\n{printed}"
            at = printed.index(part, at) + len(part)


def test_the_proof_of_the_audit_is_accepted_by_the_command_that_it_names(folder, monkeypatch):
    if not (folder / "audit").exists():
        run(["separatrix", "examples", "visits", "-o", "visits.csv"], folder, monkeypatch)
        run(["separatrix", "audit", "visits.csv", "--target", "relapse"], folder, monkeypatch)
    printed = run(["separatrix", "verify", "audit"], folder, monkeypatch)
    assert printed.startswith("proved: no hyperplane")


def test_the_python_examples(folder, monkeypatch):
    run(["separatrix", "examples", "visits", "-o", "visits.csv"], folder, monkeypatch)
    monkeypatch.chdir(folder)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    with pytest.warns(UserWarning, match="'marker' tends to"):
        failed, tried = doctest.testfile(str(ROOT / "README.md"), module_relative=False, optionflags=flags)
    assert failed == 0
    assert tried >= 8


def test_ratios_are_those_of_the_stored_results_and_one_is_a_loss():
    shown = re.findall(r"^\| (.+) \| (.+) \| (.+) \| ([\d.]+) \|$", README, re.MULTILINE)
    cells = json.loads((ROOT / "benchmarks" / "results" / "headlines.json").read_text(encoding="utf-8"))["cells"]
    measured = {(cell["work"], cell["shape"], cell["peer"], f"{cell['ratio']:g}") for cell in cells}
    assert len(shown) == 5
    assert set(shown) <= measured
    assert min(float(ratio) for *_, ratio in shown) < 1


def test_the_page_is_short():
    assert len(README.splitlines()) <= 130
    features = re.findall(r"^- \[.+$", README, re.MULTILINE)
    assert len(features) == 12
    for line in features:
        words = re.sub(r"\]\([^)]*\)", "]", line).split()
        assert len(words) <= 16, line  # the dash, and 15
