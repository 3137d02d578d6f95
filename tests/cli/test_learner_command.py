"""The options of learners: named in the help as they are in the class, and taken wherever they stand."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from separatrix.cli.fit import command
from separatrix.cli.learner_command import options, summaries
from separatrix.cli.main import main
from separatrix.models.registry import learner_class, learner_names
from separatrix.parameters import defaults
from separatrix.persistence import load


def test_the_help_knows_every_learner():
    assert [name for name, _ in summaries()] == learner_names()
    assert all(text.endswith(".") for _, text in summaries())


@pytest.mark.parametrize("name", learner_names())
def test_the_docstring_has_every_parameter_with_its_default(name):
    known = defaults(learner_class(name))
    found = options(name)
    assert [option.name for option in found] == list(known)
    assert {option.name: option.default.replace('"', "'") for option in found} == {k: repr(v) for k, v in known.items()}
    assert [option.name for option in found if option.switch] == [k for k, v in known.items() if isinstance(v, bool)]
    assert all(option.text.endswith(".") for option in found)
    own = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    assert own.isdisjoint(flag for option in found for flag in option.flag.split(" / "))


def test_positive_weights_are_not_the_positive_class(tmp_path, capsys):
    rows = "\n".join(f"{x},{-2 * x + 1}" for x in range(9))
    (tmp_path / "t.csv").write_text(f"x,y\n{rows}\n")
    words = [str(tmp_path / "t.csv"), "--target", "y", "--learner", "least-squares", "--positive-weights"]
    main(["fit", *words, "--out", str(tmp_path / "m.sepx")])
    capsys.readouterr()
    model = load(tmp_path / "m.sepx").learner
    assert model.positive is True
    assert model.coef_.tolist() == [0.0]


@pytest.mark.parametrize(
    "words", [("--learner", "perceptron", "--help"), ("-h", "-lperceptron"), ("-h", "--learner=perceptron")]
)
def test_the_help_of_a_learner(words, capsys):
    main(["fit", *words])
    said = " ".join(capsys.readouterr().out.split())
    assert "Options of perceptron:" in said
    assert (
        '--max-iter Limit on passes, for the orders "cyclic", "shuffle" and "blocks". int or inf [default: 100]' in said
    )
    assert "--fit-intercept / --no-fit-intercept Whether there is an intercept b. [default: True]" in said


def test_the_help_of_streams_lists_the_learners_that_learn_row_by_row(capsys):
    main(["stream", "--help"])
    said = capsys.readouterr().out
    assert "\n  averaged-perceptron " in said
    assert "\n  least-squares " in said
    assert "\n  logistic-regression " not in said
    assert "\n  max-margin " not in said


def test_the_help_names_the_learners_without_importing_them():
    code = "import sys; from separatrix.cli.main import main; main(sys.argv[1:]); print('numpy' in sys.modules)"
    for more in ((), ("-l", "arow")):
        words = [sys.executable, "-c", code, "fit", *more, "--help"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "False"
    done = subprocess.run([*words[:4], "-l", "perceptrom", "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "did you mean 'perceptron'?" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("example:bias", "--max-iter", "7", "--no-fit-intercept"),
        ("--max-iter", "7", "--no-fit-intercept", "example:bias"),
        ("--max-iter=7", "--fit-intercept", "False", "example:bias"),
        ("--no-fit-intercept", "--max-iter", "7", "--", "example:bias"),
    ],
)
def test_options_stand_anywhere(words, capsys, tmp_path):
    main(["fit", "-l", "perceptron", "-t", "label", "-o", str(tmp_path / "m.sepx"), "--json", *words])
    assert json.loads(capsys.readouterr().out)["learner"] == "Perceptron(fit_intercept=False, max_iter=7)"


def test_a_second_source_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "example:bias", "example:xor"])
    assert "'example:xor' is a second; a pattern in quotes" in capsys.readouterr().err
