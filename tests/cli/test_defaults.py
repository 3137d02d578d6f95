"""What commands do when nothing is said: the right learner, task and positive class."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix
from separatrix.cli.main import main


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, names, columns):
    rows = zip(*columns, strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")


def test_fit_is_a_ridge_that_suits_the_target(here, capsys):
    main(["fit", "example:iris", "-o", "iris.sepx"])
    model = separatrix.load(here / "iris.sepx")
    assert type(model.learner).__name__ == "LogisticRegression"
    assert model.learner.C == 1
    assert model.encoder.columns[0].scale != 1.0  # standardised
    assert "learner = logistic-regression --C 1, standardised columns" in capsys.readouterr().out
    x = np.linspace(0, 9, 40)
    write(here / "prices.csv", ["area", "price"], [x, 3 * x + np.sin(x)])
    main(["fit", "prices.csv", "-t", "price", "-o", "price.sepx"])
    assert type(separatrix.load(here / "price.sepx").learner).__name__ == "LeastSquares"


def test_options_without_a_learner_are_those_of_the_default(here):
    main(["fit", "example:iris", "--C", "0.5", "--scale", "none", "-o", "m.sepx"])
    model = separatrix.load(here / "m.sepx")
    assert model.learner.C == 0.5
    assert model.encoder.columns[0].scale == 1.0


def test_fit_and_audit_guess_the_same_task(here):
    rng = np.random.default_rng(0)
    weight = rng.permutation([*range(50, 66), 50, 51, 52, 53])
    write(here / "w.csv", ["x", "Weight"], [rng.normal(size=20).round(3), weight])
    main(["fit", "w.csv", "-t", "Weight", "-o", "w.sepx"])
    assert type(separatrix.load(here / "w.sepx").learner).__name__ == "LeastSquares"
    assert separatrix.audit(here / "w.csv", "Weight", budget=5, ledger=here / "l").facts.table.task == "regression"


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(("0", "1"), "1"), (("no", "yes"), "yes"), (("false", "true"), "true"), (("ham", "spam"), "spam")],
)
def test_the_positive_class(here, labels, positive):
    common = 0 if positive == "spam" else 1  # the usual words win over the rarer class
    y = [labels[common]] * 30 + [labels[1 - common]] * 10
    write(here / "t.csv", ["x", "y"], [np.arange(40) % 7, y])
    main(["fit", "t.csv", "-t", "y", "-o", "m.sepx"])
    assert str(separatrix.load(here / "m.sepx").positive).lower() == positive


def test_verify_takes_the_folder_of_an_audit(here, capsys, monkeypatch):
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(here / "ledger"))
    main(["audit", "example:xor", "--budget", "5"])
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["verify", "audit"])
    assert ended.value.code == 0
    assert "proved:" in capsys.readouterr().out
    for arguments in (["audit/certificate.json"], ["audit", "audit/certified.csv"], ["."]):
        with pytest.raises(SystemExit) as ended:
            main(["verify", *arguments])
        assert ended.value.code == 2
