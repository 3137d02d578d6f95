"""Learners by moments: the model of one machine, whatever the partitions."""

from __future__ import annotations

import numpy as np
import pytest
from sources import table, write_parts

from separatrix import (
    LeastSquares,
    LeastSquaresClassifier,
    LinearDiscriminant,
    Perceptron,
    QuadraticDiscriminant,
    VotedPerceptron,
    cluster,
    load,
    save,
)
from separatrix.cluster import Choices
from separatrix.data.sources import open_source
from separatrix.errors import DataError, ParameterError, PrecisionWarning
from separatrix.models import moment_learner

STANDARD = Choices(scale="standard", drop=("number",))
REGRESSION = Choices(scale="standard", drop=("label",))
EXACT = [
    (LeastSquares(), "number"),
    (LeastSquares(alpha=2.0), "number"),
    (LeastSquares(fit_intercept=False), "number"),
    (LeastSquaresClassifier(), "label"),
    (LinearDiscriminant(), "label"),
    (QuadraticDiscriminant(shrinkage=0.1), "label"),
    (LeastSquares(positive=True), "number"),  # these need the rows, which are few enough to be brought here
    (LeastSquares(solver="qr"), "number"),
    (LinearDiscriminant(shrinkage="ledoit-wolf"), "label"),
]


def fitted(learner, target, source, **options):
    choices = STANDARD if target == "label" else REGRESSION
    return cluster.fit(learner, source, target=target, choices=choices, address="here", **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exact")
    write_parts(folder, *table())
    return folder


@pytest.mark.parametrize(("learner", "target"), EXACT)
def test_the_model_of_one_machine(folder, learner, target):
    model = fitted(learner, target, f"{folder}/part*.csv")
    frame = open_source(str(folder / "whole.csv")).read()
    X, _ = model.encoder.encode(frame)
    y = frame[target].labels() if target == "label" else frame[target].values
    alone = type(learner)(**learner.get_params()).fit(X, y)
    if isinstance(learner, QuadraticDiscriminant):
        np.testing.assert_allclose(learner.decision_function(X), alone.decision_function(X), rtol=1e-9, atol=1e-9)
    else:
        tight = isinstance(learner, LeastSquares)
        np.testing.assert_allclose(learner.coef_, alone.coef_, rtol=1e-14 if tight else 1e-11, atol=1e-14)
        np.testing.assert_allclose(learner.intercept_, alone.intercept_, rtol=1e-13 if tight else 1e-11, atol=1e-14)
    if isinstance(learner, LeastSquares):
        assert learner.rss_ == pytest.approx(alone.rss_, rel=1e-13)
        if not (learner.alpha or learner.positive):
            assert learner.summary().std_err == pytest.approx(alone.summary().std_err, rel=1e-12)


def test_files_and_byte_ranges_agree(folder):
    parts = fitted(LeastSquares(), "number", f"{folder}/part*.csv").learner
    ranges = fitted(LeastSquares(), "number", folder / "whole.csv", partition_bytes=20_000).learner
    np.testing.assert_allclose(ranges.coef_, parts.coef_, rtol=1e-13, atol=1e-15)


def test_a_path_of_penalties(folder):
    alphas = [0.0, 1.0, 100.0]
    options = {"target": "number", "choices": REGRESSION, "address": "here"}
    coef, intercept = cluster.path(LeastSquares(), f"{folder}/part*.csv", alphas, **options)
    for k, alpha in enumerate(alphas):
        one = fitted(LeastSquares(alpha=alpha), "number", f"{folder}/part*.csv").learner
        np.testing.assert_allclose(coef[k], one.coef_, rtol=1e-12, atol=1e-14)
        assert intercept[k] == pytest.approx(one.intercept_, rel=1e-12)


def test_a_model_file(folder, tmp_path):
    model = fitted(LeastSquares(), "number", f"{folder}/part*.csv")
    save(model, tmp_path / "model.sepx")
    again = load(tmp_path / "model.sepx")
    assert again.learner.coef_.tobytes() == model.learner.coef_.tobytes()
    assert again.about["partitions"] == 8


def test_digits_that_moments_lose_are_found_in_the_rows_or_warned_of(tmp_path, monkeypatch):
    lines = [f"{k // 2 + (k % 3) * 1e-5!r},{k // 2},{k % 7}" for k in range(60)]
    source = write_parts(tmp_path, "nearly,number,target", lines, [0, 20, 40, 60])
    model = cluster.fit(LeastSquares(), source, target="target", address="here")
    X, y = np.array([[k // 2 + (k % 3) * 1e-5, k // 2] for k in range(60)]), np.arange(60.0) % 7
    alone = LeastSquares().fit(X, y)
    assert (model.learner.solver_, model.learner.solver_) == ("qr", alone.solver_)
    np.testing.assert_allclose(model.learner.coef_, alone.coef_, rtol=1e-12)
    monkeypatch.setattr(moment_learner, "BROUGHT", 0)  # as of more rows than are brought here
    with pytest.warns(PrecisionWarning, match="moments keep about"):
        cluster.fit(LeastSquares(), source, target="target", address="here")


def test_few_rows_of_many_columns_are_brought_together(tmp_path):
    rng = np.random.default_rng(0)
    places = np.sort(rng.choice(8999, size=(40, 6), replace=False), axis=1)
    numbers, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    lines = [
        f"{t!r} " + " ".join(f"{j + 1}:{v!r}" for j, v in zip(at, row, strict=True)) + (" 9000:1.0" if k == 0 else "")
        for k, (t, at, row) in enumerate(zip(y.tolist(), places.tolist(), numbers.tolist(), strict=True))
    ]
    for k in range(2):
        (tmp_path / f"part{k}.svm").write_text("\n".join(lines[20 * k : 20 * k + 20]) + "\n")
    found = cluster.fit(LeastSquares(), f"{tmp_path}/part*.svm", address="here").learner
    X = np.zeros((40, 9000))
    X[np.arange(40)[:, None], places] = numbers
    X[0, -1] = 1.0
    alone = LeastSquares().fit(X, y)
    assert found.solver_ == alone.solver_ == "wide"
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=0, atol=1e-12)


def test_a_density_that_does_not_exist_is_an_error(tmp_path):
    lines = [f"{k % 2},{k % 5},{'ab'[k % 2]}" for k in range(60)]
    source = write_parts(tmp_path, "same,other,label", lines, [0, 20, 40, 60])
    with pytest.raises(DataError, match="in a direction in which no class varies"):
        cluster.fit(LinearDiscriminant(), source, target="label", address="here")


def test_a_learner_without_a_distributed_form_is_refused(folder, monkeypatch):
    able = (
        "AROW, AveragedPerceptron, LeastSquares, LeastSquaresClassifier, LinearDiscriminant, LogisticRegression, "
        "PassiveAggressive, Perceptron, QuadraticDiscriminant"
    )
    with pytest.raises(ParameterError, match=f"VotedPerceptron has no distributed form: {able} have one"):
        cluster.fit(VotedPerceptron(), f"{folder}/part*.csv", target="label", address="here")
    monkeypatch.setattr(moment_learner, "BROUGHT", 0)
    with pytest.raises(ParameterError, match="needs all rows in one place"):
        fitted(LinearDiscriminant(shrinkage="ledoit-wolf"), "label", f"{folder}/part*.csv")
    with pytest.raises(ParameterError, match=r"order='worst' has no distributed form"):
        fitted(Perceptron(order="worst"), "label", f"{folder}/part*.csv")


def test_targets_are_checked(folder):
    with pytest.raises(DataError, match="has no column 'labl'; did you mean 'label'"):
        fitted(LinearDiscriminant(), "labl", f"{folder}/part*.csv")
    with pytest.raises(DataError, match="is text: choose a classifier"):
        cluster.fit(LeastSquares(), f"{folder}/part*.csv", target="label", address="here")
    with pytest.raises(DataError, match="holds numbers such as"):
        cluster.fit(LinearDiscriminant(), f"{folder}/part*.csv", target="number", address="here")
    with pytest.raises(DataError, match=r"'s' is missing in 26 rows of part02.csv"):
        cluster.fit(LeastSquares(), f"{folder}/part*.csv", target="s", address="here")
