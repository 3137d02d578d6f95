"""certify and verify, in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CSV = "x,size,label\n1,0.5,no\n2,0.5,no\n3,1.5,no\n3,1.5,yes\n4,1,yes\n5,2,yes\n"


def separatrix(folder, *arguments):
    code = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False, cwd=folder
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "t.svm").write_text("+1 1:1 3:2\n-1 2:1\n+1 3:1\n")
    return tmp_path


def test_certify_then_verify(folder):
    done = separatrix(folder, "certify", "t.csv", "--target", "label", "--out", "c.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Separability: quasi-complete (proved)\n  4 of 6 rows")
    assert "separatrix verify c.json t.csv --target label" in done.stdout
    for more in ([], ["--target", "label"]):
        checked = separatrix(folder, "verify", "c.json", "t.csv", *more)
        assert (checked.returncode, checked.stdout[:7]) == (0, "proved:")
    (folder / "u.csv").write_text(CSV.replace("0.5", "0.25"))
    other = separatrix(folder, "verify", "c.json", "u.csv")
    assert other.returncode == 1
    assert "other data" in other.stdout


def test_svmlight_json_and_expectation(folder):
    done = separatrix(folder, "certify", "t.svm", "--json", "--expect", "complete")
    assert done.returncode == 0
    assert json.loads(done.stdout)["verdict"] == "complete"
    assert separatrix(folder, "verify", "certificate.json", "t.svm").returncode == 0
    assert separatrix(folder, "certify", "t.svm", "--expect", "overlap").returncode == 1


@pytest.mark.parametrize("kind", ["ovr", "pairs", "kesler"])
def test_many_classes(folder, kind):
    (folder / "m.csv").write_text("x,y\n0,a\n1,b\n2,c\n3,c\n1,a\n")
    assert separatrix(folder, "certify", "m.csv", "--target", "y", "--multiclass", kind).returncode == 0
    assert separatrix(folder, "verify", "certificate.json", "m.csv").returncode == 0
    one = separatrix(folder, "certify", "m.csv", "--target", "y", "--positive", "c", "--reading", "decimal")
    assert "complete" in one.stdout
    assert separatrix(folder, "verify", "certificate.json", "m.csv").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["t.csv", "--target", "lable"], "t.csv has no column 'lable'; did you mean 'label'?"),
        (["t.csv"], "needs a target"),
        (["bad.csv", "--target", "y"], "'x' in bad.csv line 3 is \"n/a\": not a finite number"),
        (["short.csv", "--target", "y"], "short.csv line 2 has 1 fields"),
        (["m.csv", "--target", "y"], "y has 3 classes"),
        (["m.csv", "--target", "y", "--positive", "z"], "which is no class"),
        (["bad.svm"], "bad.svm line 1: the indices of features do not ascend"),
        (["gone.csv", "--target", "y"], "does not exist"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(folder, arguments, says):
    (folder / "bad.csv").write_text("x,y\n1,0\nn/a,1\n")
    (folder / "short.csv").write_text("x,y\n1\n")
    (folder / "m.csv").write_text("x,y\n1,0\n2,1\n3,2\n")
    (folder / "bad.svm").write_text("1 2:1 1:1\n")
    done = separatrix(folder, "certify", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("claim", ["margin", "margin-lifted"])
def test_margins(folder, claim):
    more = ["--exact"] if claim == "margin" else []
    done = separatrix(folder, "certify", "t.svm", "--claim", claim, "--json", *more)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "complete"
    checked = separatrix(folder, "verify", "certificate.json", "t.svm")
    assert (checked.returncode, "margin" in checked.stdout or "half-width" in checked.stdout) == (0, True)
    none = separatrix(folder, "certify", "t.csv", "--target", "label", "--claim", claim, "--expect", "quasi")
    assert none.returncode == 0
    assert "none" in none.stdout
    assert separatrix(folder, "verify", "certificate.json", "t.csv").returncode == 0
    (folder / "m.csv").write_text("x,y\n0,a\n1,b\n2,c\n3,c\n1,a\n")
    one = separatrix(folder, "certify", "m.csv", "--target", "y", "--positive", "c", "--claim", claim, "--no-intercept")
    assert one.returncode == 0
    assert separatrix(folder, "verify", "certificate.json", "m.csv").returncode == 0
    both = separatrix(folder, "certify", "m.csv", "--target", "y", "--multiclass", "ovr", "--claim", claim)
    assert both.returncode == 2
    assert "--positive" in both.stderr


def test_the_fewest_mistakes_are_certified(folder):
    done = separatrix(folder, "certify", "t.csv", "--target", "label", "--claim", "min-errors", "--max-nodes", "50")
    assert done.returncode == 0, done.stderr
    assert "Fewest mistakes: 1 of 6 rows (proved)" in done.stdout
    checked = separatrix(folder, "verify", "certificate.json", "t.csv")
    assert checked.stdout.startswith(
        "proved: every hyperplane gets at least 1 of the 6 rows wrong, and one gets 1 wrong"
    )
    told = separatrix(folder, "certify", "t.svm", "--claim", "min-errors", "--time-limit", "5", "--json")
    assert json.loads(told.stdout)["upper"] == 0
    for more, says in ((["--expect", "overlap"], "--expect"), (["--max-nodes", "-1"], "max-nodes")):
        refused = separatrix(folder, "certify", "t.svm", "--claim", "min-errors", *more)
        assert refused.returncode == 2
        assert says in refused.stderr
        assert "Traceback" not in refused.stderr
