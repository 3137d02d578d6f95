"""Messages of commands are in the words of the command line: no Python, and features by their names."""

from __future__ import annotations

import re

import pytest

from commands import separatrix
from separatrix.cli.messages import in_flags, learner_in_flags, with_names

PYTHON = re.compile(r"\w+=['\"]|\w_\b(?!\.)|=True|=False|=None|\(\)|\bx\d+\b|[a-z]+_[a-z]+=")


@pytest.mark.parametrize(
    ("python", "flags"),
    [
        ("multiclass='kesler' goes with order=\"cyclic\"", "--multiclass kesler goes with --order cyclic"),
        ("set batch_size=None.", "add --batch-size none."),
        ("fit_intercept=False and warm_start=True", "--no-fit-intercept and --warm-start"),
        ("raise max_iter, or tol=1e-9", "raise --max-iter, or --tol 1e-9"),
        ("class_weight is 'foo'", "--class-weight is 'foo'"),
        ("LinearDescent() is not LinearDiscriminant", "linear-descent is not linear-discriminant"),
        ("instead; see separation_, or choose on_separation.", "instead; --on-separation chooses another answer."),
        ("a=5 in 'file_a=1.csv' stays, and so does x=1", "a=5 in 'file_a=1.csv' stays, and so does x=1"),
        ("choose one with positive=, for instance positive='a'", "choose one, for instance with --positive a"),
        ("t.csv needs target=, the column to learn.", "t.csv needs --target, the column to learn."),
        ("feature_map='poly:2' needs numbers (drop=).", "--map poly:2 needs numbers (--drop)."),
        ("add na='about ten', or category='v'", "add --na 'about ten', or --category v"),
        ("positive is 'c', which is not a class", "--positive is 'c', which is not a class"),
        (
            "target 'y' is missing: drop those rows.",
            "target 'y' is missing: --skip-missing-target leaves those rows out.",
        ),
    ],
)
def test_parameters_become_flags(python, flags):
    assert in_flags(python) == flags


def test_features_by_name():
    names = [f"f{j}" for j in range(22)] + ["alive=yes"]
    assert with_names("'x22' tends to +∞, x1 and x99 not, ax1 and x1y stay", names) == (
        "'alive=yes' tends to +∞, 'f1' and x99 not, ax1 and x1y stay"
    )


def test_learners_as_they_are_typed():
    assert learner_in_flags("LogisticRegression(C=1, fitted by ridge)") == "logistic-regression --C 1 (fitted by ridge)"
    assert learner_in_flags("Perceptron(order='shuffle', trace=True)") == "perceptron --order shuffle --keep-trace"
    assert learner_in_flags("Unknown(a=1)") == "Unknown(a=1)"


def test_a_separated_level_is_named(tmp_path):
    rows = "".join(f"{i % 7},{'yes' if i % 2 else 'no'},{'late' if i % 2 else 'soon'}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("age,alive,y\n" + rows)
    done = separatrix("fit", "t.csv", "-t", "y", "-l", "logistic-regression", cwd=tmp_path)
    said = " ".join(done.stdout.split())
    assert "'alive=yes' tends to" in said
    assert "--on-separation" in said
    assert not PYTHON.search(said), said


@pytest.mark.parametrize(
    "words",
    [
        ("-l", "perceptron", "--multiclass", "kesler", "--order", "worst"),
        ("-l", "linear-descent", "--schedule", "line-search"),
        ("-l", "perceptron", "--class-weight", "foo"),
        ("-l", "perceptron", "--max-iter", "1"),
        ("-l", "logistic-regression", "--trace"),
        ("-l", "perceptron", "--stop", "streak", "--order", "shuffle"),
        ("--trace",),
    ],
    ids=" ".join,
)
def test_nothing_is_said_in_python(tmp_path, words):
    done = separatrix("fit", "example:gaussians", *words, cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode in (0, 2)
    assert "Traceback" not in said
    found = PYTHON.search(said)
    assert found is None, (found, said)


def test_recipes_and_steps(tmp_path):
    done = separatrix("fit", "example:six-points", "--recipe", "online", "--trace", "-o", "m.sepx", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split() == ["pass", "row", "label", "score", "predicted", "mistake", "w", "b"]
    assert [line.split()[:6] for line in lines[3:9]] == [
        ["1", "0", "-1", "0", "1", "yes"],
        ["1", "1", "1", "1", "1", "-"],
        ["1", "2", "1", "-1", "-1", "yes"],
        ["1", "3", "-1", "-2", "-1", "-"],
        ["1", "4", "-1", "0", "1", "yes"],
        ["1", "5", "1", "2", "1", "-"],
    ]
    assert lines[8].endswith("(3, 1)  0")
    assert "perceptron --order cyclic --tie positive --no-fit-intercept --max-iter 1" in done.stdout
    done = separatrix("fit", "example:gaussians", "--trace", "--positive", "1", "--max-iter", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--recipe", "none"), "recipe is 'none': it can be rosenblatt"),
        (("--recipe", "online", "-l", "arow"), "--recipe names a kind of perceptron"),
        (("--trace", "--json"), "--trace prints a table for people"),
    ],
)
def test_recipes_and_steps_that_cannot_be(tmp_path, words, says):
    done = separatrix("fit", "example:six-points", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "model.sepx").exists()


def test_audit_on_a_feature_map(tmp_path):
    done = separatrix("audit", "example:xor", "--map", "poly:2", "--budget", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "features = poly:2 of the columns" in said
    assert "Yes (proved)" in said
    assert separatrix("verify", "audit", cwd=tmp_path).returncode == 0
    assert separatrix("audit", "example:xor", "--map", "cubes", cwd=tmp_path).returncode == 2


def test_unscaled_and_sorted_rows_of_an_online_learner_name_the_flag(tmp_path):
    rows = [(i % 17 - 8, 10_000 * (i % 5), int(i % 17 + i % 3 > 8)) for i in range(200)]
    (tmp_path / "unscaled.csv").write_text("a,b,y\n" + "".join(f"{a},{b},{y}\n" for a, b, y in rows))
    rows.sort(key=lambda row: row[2])
    (tmp_path / "sorted.csv").write_text("a,b,y\n" + "".join(f"{a},{b / 10_000},{y}\n" for a, b, y in rows))
    for name, learner, advice in (
        ("unscaled.csv", "averaged-perceptron", "standardise them (--scale standard)"),
        ("unscaled.csv", "passive-aggressive", "standardise them (--scale standard)"),
        ("sorted.csv", "perceptron --order cyclic", "rows are sorted by class; shuffle them (--order shuffle)"),
    ):
        done = separatrix("fit", name, "-t", "y", "-l", *learner.split(), cwd=tmp_path)
        said = " ".join((done.stdout + done.stderr).split())
        assert advice in said, said
    done = separatrix("fit", "unscaled.csv", "-t", "y", "-l", "passive-aggressive", "--scale", "standard", cwd=tmp_path)
    assert "differ in scale" not in done.stdout + done.stderr
