"""The order of categories, the index of rows, and formulas for proofs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import DataError, ParameterError


def people(n=80):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"age": rng.normal(size=n), "ward": rng.choice(list("ab"), n)})
    ill = data["age"] + rng.logistic(size=n) > 0
    data["state"] = pd.Categorical(np.where(ill, "ill", "well"), categories=["well", "ill"])
    return data


def test_the_order_of_categories_is_that_of_the_classes():
    data = people()
    model = sx.LogisticRegression().fit(data[["age"]], data["state"])
    plain = sx.LogisticRegression().fit(data[["age"]], data["state"].astype(str))
    assert model.classes_.tolist() == ["well", "ill"]
    assert plain.classes_.tolist() == ["ill", "well"]
    np.testing.assert_allclose(model.coef_, -plain.coef_, rtol=1e-9)
    assert model.summary().outcome == "log-odds of ill against well"
    assert (model.predict(data[["age"]]) == plain.predict(data[["age"]])).all()
    formula = sx.LogisticRegression.from_formula("state ~ age", data)
    assert formula.coef_[0, 0] == pytest.approx(model.coef_[0, 0], rel=1e-12)


def test_a_proof_for_classes_in_the_order_of_categories_is_checked():
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})
    y = pd.Series(pd.Categorical(["b", "b", "a", "a"], categories=["b", "a"]))
    model = sx.LogisticRegression(on_separation="ignore").fit(X, y)
    assert model.separation_.coefficients["x"] == "+inf"
    assert sx.verify(model.separation_.certificate, X, y)


CLASSIFIERS = [
    sx.LogisticRegression, sx.LinearDiscriminant, sx.QuadraticDiscriminant, sx.LeastSquaresClassifier, sx.MaxMargin,
    sx.Perceptron, sx.AveragedPerceptron, sx.VotedPerceptron, sx.MarginPerceptron, sx.PocketPerceptron, sx.AROW,
    sx.PassiveAggressive, sx.KernelPerceptron, sx.LinearDescent, sx.FewestMistakes,
]  # fmt: skip


def small():
    data = people(12)
    return data[["age"]], data["state"]


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_every_classifier_has_the_order_of_categories(learner):
    X, y = small()
    model = learner().fit(X, y)
    assert model.classes_.tolist() == ["well", "ill"]
    by_name = learner().fit(X, y.cat.rename_categories({"well": "a", "ill": "b"}).astype(str))  # sorted alike
    renamed = np.where(by_name.predict(X) == "b", "ill", "well")
    np.testing.assert_array_equal(model.predict(X), renamed)
    with pytest.raises(DataError, match="different pandas indexes"):
        learner().fit(X, y[::-1])
    with pytest.raises(DataError, match="different pandas indexes"):
        model.score(X, y[::-1])


@pytest.mark.parametrize("learner", [sx.Perceptron, sx.LinearDiscriminant, sx.LinearDescent, sx.KernelPerceptron])
def test_a_stream_goes_on_in_the_order_of_categories(learner):
    X, y = small()
    states = pd.Series(pd.Categorical([*y.tolist()[:-1], "cured"], categories=["well", "ill", "cured"]))
    kesler = {"multiclass": "kesler"} if learner is sx.Perceptron else {}
    model = learner(**kesler).partial_fit(
        X, states, classes=pd.Categorical(["well", "ill", "cured"], ["well", "ill", "cured"])
    )
    assert model.classes_.tolist() == ["well", "ill", "cured"]
    codes = states.cat.codes.to_numpy()
    numbers = learner(**kesler).partial_fit(X, codes, classes=[0, 1, 2])
    np.testing.assert_array_equal(model.predict(X), np.array(["well", "ill", "cured"])[numbers.predict(X)])
    with pytest.raises(DataError, match="different pandas indexes"):
        model.partial_fit(X, states[::-1])


@pytest.mark.parametrize(
    "take",
    [
        sx.LeastSquares().fit, sx.separability, sx.margin, sx.fewest_mistakes, sx.LeastSquares().partial_fit,
        lambda X, y: sx.cross_validate(sx.LinearDiscriminant(), X, y), lambda X, y: sx.audit(X, y, budget=5),
        lambda X, y: sx.compare([sx.LinearDiscriminant(), sx.LogisticRegression()], X, y),
        lambda X, y: sx.holdout(X, y),
    ],
)  # fmt: skip
def test_different_indexes_are_refused(take):
    data = people()
    y = (data["state"] == "ill").astype(int)
    with pytest.raises(DataError, match=r"different pandas indexes \(at row 0: 0 and 79\)"):
        take(data[["age"]], y[::-1])


def test_weights_and_offsets_of_another_index_are_refused():
    data = people()
    beside = pd.Series(np.ones(80), index=range(79, -1, -1))
    for name in ("sample_weight", "offset"):
        for fit in (sx.LogisticRegression().fit, sx.LeastSquares().fit):
            with pytest.raises(DataError, match=f"X and {name} have different pandas indexes"):
                fit(data[["age"]], data["state"] == "ill", **{name: beside})


def test_rows_without_an_index_match_by_position():
    data = people()
    y = (data["state"] == "ill").astype(int)
    assert sx.LeastSquares().fit(data[["age"]], y[::-1].to_numpy()).n_rows_ == 80


def test_the_order_of_an_enum_of_polars():
    polars = pytest.importorskip("polars")
    X, y = small()
    states = polars.Series(y.tolist(), dtype=polars.Enum(["well", "ill"]))
    assert sx.LogisticRegression().fit(X.to_numpy(), states).classes_.tolist() == ["well", "ill"]


def test_proofs_take_formulas_and_the_name_of_models():
    data = people()
    by_hand = pd.get_dummies(data[["age", "ward"]], drop_first=True).astype(float)
    assert sx.separability("state ~ age + ward", data).verdict == sx.separability(by_hand, data["state"]).verdict
    apart = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": [0, 0, 1, 1]})
    assert sx.margin("y ~ x", apart).lower == pytest.approx(0.5)
    assert sx.separability(apart[["x"]], apart["y"], fit_intercept=False).verdict == "overlap"
    assert sx.separability("y ~ 0 + x", apart).verdict == "overlap"
    assert sx.margin(apart[["x"]], apart["y"], fit_intercept=False).upper == 0
    with pytest.raises(ParameterError, match="has no columns"):
        sx.separability("y ~ 1", apart)
