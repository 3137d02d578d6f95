"""What commands say with --json is what the published schemas say it is."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from separatrix.cli.main import main
from separatrix.cli.schema import schemas
from separatrix.data.examples import EXAMPLES
from separatrix.models.registry import learner_names

MIXED = "age,ward,seen,note,ok\n" + "".join(
    f"{20 + i * 7 % 50 if i % 9 else ''},{'ABC'[i % 3]},2024-0{1 + i % 9}-11,"
    f"the patient number {i} feels {'well and rested' if i % 2 else 'ill'} today,{'yes' if i % 2 else 'no'}\n"
    for i in range(80)
)


@pytest.fixture
def said(capsys, tmp_path, monkeypatch):
    """A function that runs a command and gives its JSON, checked against the schema of the command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger"))
    (tmp_path / "rows.csv").write_text(MIXED)

    def run(command, *arguments, code=0):
        ended = 0
        try:
            main([command, *map(str, arguments), "--json"])
        except SystemExit as stop:
            ended = stop.code
        out, err = capsys.readouterr()
        assert ended == code, err
        (line,) = out.splitlines()
        content = json.loads(line)
        Draft202012Validator(json.loads(schemas()[command])).validate(content)
        return content

    return run


def test_every_schema_is_one_and_refuses_what_is_none():
    for name, text in schemas().items():
        schema = json.loads(text)
        Draft202012Validator.check_schema(schema)
        assert name in schema["title"]
        assert list(Draft202012Validator(schema).iter_errors({"surprise": 1}))


def test_the_schema_command(capsys):
    main(["schema"])
    assert capsys.readouterr().out.split() == list(schemas())
    main(["schema", "fit"])
    assert json.loads(capsys.readouterr().out)["title"] == "separatrix fit --json"
    with pytest.raises(SystemExit):
        main(["schema", "fits"])
    assert "there is no schema for 'fits'" in capsys.readouterr().err


def test_fit_evaluate_compare_describe_and_examples(said, tmp_path):
    fitted = said("fit", "rows.csv", "-t", "ok", "--cv", 3, "--holdout", 0.25, "-o", "m.sepx")
    assert fitted["rows"] == 60
    assert fitted["holdout"]["rows"] == 20
    assert fitted["cross_validation"]["n"] == 60
    assert said("evaluate", "m.sepx", "rows.csv")["n"] == 80
    assert said("describe", "m.sepx")["features"] > 2**18
    assert said("describe", "rows.csv")["columns"][2]["kind"] == "date"
    assert said("describe", "example:six-points")["rows"] == 6
    (tmp_path / "t.svm").write_text("1 1:1\n-1 2:1\n")
    assert said("describe", "t.svm")["sparse"]
    compared = said("compare", "rows.csv", "-t", "ok", "-l", "perceptron", "-l", "arow", "--folds", 2, "--drop", "note")
    assert set(compared["learners"]) == {"perceptron", "arow"}
    assert len(said("examples")) == len(EXAMPLES)


def test_regression(said):
    assert said("fit", "example:curve", "-t", "y", "-l", "least-squares", "--cv", 3)["classes"] is None
    assert said("evaluate", "model.sepx", "example:curve")["task"] == "regression"


def test_certify_and_verify(said, tmp_path):
    (tmp_path / "t.csv").write_text("x,z,y\n1,0,0\n2,1,0\n3,0,1\n4,2,1\n5,1,2\n6,7,2\n")
    assert said("certify", "t.csv", "--target", "y", "--positive", "2")["verdict"] == "complete"
    assert said("verify", "certificate.json", "t.csv")["proved"]
    (tmp_path / "u.csv").write_text("x,z,y\n1,0,0\n2,1,0\n3,0,1\n4,2,1\n5,1,2\n6,8,2\n")
    assert not said("verify", "certificate.json", "u.csv", code=1)["proved"]
    for claim in ("margin", "margin-lifted", "min-errors"):
        for positive in "12":  # separable, and not
            said("certify", "t.csv", "--target", "y", "--positive", positive, "--claim", claim)
    for kind in ("ovr", "pairs", "kesler"):
        assert said("certify", "t.csv", "--target", "y", "--multiclass", kind)["kind"] == kind


@pytest.mark.parametrize("name", learner_names())
def test_every_public_learner_fits_from_the_command_line(name, said, tmp_path):
    """The list is that of the public names: a new learner is here by itself, with its options as flags."""
    from separatrix.models.registry import learner_class
    from separatrix.parameters import defaults

    rows = "".join(f"{i % 7 - 3},{i % 5 - 2},{int(2 * (i % 7 - 3) + (i % 5 - 2) > 0)}\n" for i in range(35))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    defaults = defaults(learner_class(name))
    flags = []
    if "fit_intercept" in defaults:
        flags.append("--fit-intercept")
    if "verbose" in defaults:
        flags.append("--no-verbose")
    report = said("fit", "t.csv", "-t", "y", "-l", name, *flags, "-o", f"{name}.sepx")
    assert report["rows"] == 35
    assert said("describe", f"{name}.sepx")["learner"].startswith(learner_class(name).__name__)
