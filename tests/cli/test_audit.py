"""The command itself, in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest


def separatrix(*arguments, encoding="utf-8"):
    command = [sys.executable, "-m", "separatrix", *arguments]
    return subprocess.run(command, capture_output=True, encoding=encoding, check=False)


def test_the_demo_prints_the_trace_and_the_mistakes_against_the_bound():
    done = separatrix("audit", "example:six-points")
    assert done.returncode == 0
    assert "     4    4     -1   0 → 6                (4, 1), 0" in done.stdout
    assert "separated after 4 mistakes in 2 passes" in done.stdout
    assert "At most 6 were possible, in any order: R² = 6, lifted margin γ = 1, (R/γ)² = 6." in done.stdout


def test_xor_says_that_it_was_not_separated():
    done = separatrix("audit", "example:xor")
    assert done.returncode == 0
    assert "not separated after 4,000 mistakes in 1,000 passes" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("audit", "example:nope"), "there is no example 'nope': choose one of six-points, xor, bias"),
        (("audit", "rows.csv"), "audit reads example:NAME so far"),
        (("audit",), "Missing argument 'SOURCE'"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("audit", "--depth", "3", "example:xor"), "No such option"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, says):
    done = separatrix(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line


def test_without_a_command_the_help_is_shown():
    assert "Commands" in separatrix().stdout


def test_a_wrong_setting_of_the_kernels_is_one_sentence_too(monkeypatch):
    monkeypatch.setenv("SEPARATRIX_ISA", "mmx")
    assert separatrix("--help").returncode == 0
    done = separatrix("audit", "example:xor")
    assert done.returncode == 2
    assert "SEPARATRIX_ISA is 'mmx'" in done.stderr


def test_a_terminal_without_greek_letters(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    done = separatrix("audit", "example:six-points", encoding="latin-1")
    assert done.returncode == 0
    assert "(R/?)² = 6" in done.stdout


def test_help_and_version():
    assert "audit" in separatrix("--help").stdout
    assert "SOURCE" in separatrix("audit", "--help").stdout
    assert separatrix("--version").returncode == 0
