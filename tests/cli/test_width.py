"""What commands print for people fits a screen of 80 columns."""

from __future__ import annotations

import pytest

from commands import separatrix

EXAMPLES = ("spam", "quasi", "curve", "digits")
LONG = ("-l", "quadratic-discriminant", "-l", "logistic-regression")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("width")
    for name in EXAMPLES:
        done = separatrix("fit", f"example:{name}", "-o", f"{name}.sepx", cwd=place, env={"COLUMNS": "80"})
        assert done.returncode == 0, done.stderr
    return place


def commands(name):
    source, model = f"example:{name}", f"{name}.sepx"
    yield "fit", source, "-o", "new.sepx", "--cv", "2"
    yield "evaluate", model, source
    yield "describe", model
    yield "describe", source
    if name != "curve":
        yield "certify", source, "-o", "c.json", *(("--positive", "3") if name == "digits" else ())
    if name == "spam":
        yield "compare", source, *LONG, "--folds", "2", "--repeats", "1"
        yield "verify", "c.json", "c-rows.csv"
        yield "audit", source, "--budget", "2", "-o", "folder"
        yield ("examples",)
        yield ("completion", "--help")
        yield "fit", "--help"


@pytest.mark.parametrize("name", EXAMPLES)
def test_lines_have_at_most_80_characters(folder, name):
    for words in commands(name):
        done = separatrix(*words, cwd=folder, env={"COLUMNS": "80"})
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout, words
        long = [line for line in (done.stdout + done.stderr).splitlines() if len(line) > 80]
        assert not long, (words, long)


def test_a_longer_word_stays_whole(tmp_path):
    target = "a_name_that_is_" + "very_" * 20 + "long"
    (tmp_path / "t.csv").write_text(f"x,{target}\n" + "".join(f"{i},{'ab'[i > 9]}\n" for i in range(20)))
    done = separatrix("fit", "t.csv", "-t", target, cwd=tmp_path, env={"COLUMNS": "80"})
    assert f"{target}:" in done.stdout
