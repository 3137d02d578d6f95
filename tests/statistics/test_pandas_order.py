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


@pytest.mark.parametrize("fit", [sx.LeastSquares().fit, sx.LogisticRegression().fit, sx.separability, sx.margin])
def test_different_indexes_are_refused(fit):
    data = people()
    y = (data["state"] == "ill").astype(int)
    with pytest.raises(DataError, match=r"different pandas indexes \(at row 0: 0 and 79\)"):
        fit(data[["age"]], y[::-1])
    fit(data[["age"]], y[::-1].to_numpy())


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
