"""Inference after a model was saved or pickled, and columns whose names look like the intercept's."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ModelFileError
from separatrix.models.least_squares import normal_factor
from separatrix.models.least_squares.covariance import coefficient_covariance
from separatrix.models.least_squares.influence import influence, variance_inflation
from separatrix.models.least_squares.least_squares_summary import linear_hypothesis


def example(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2
    return X, X @ np.arange(1.0, d + 1) + rng.normal(size=n)


def through_a_file(model, tmp_path):
    return sx.load(sx.save(model, tmp_path / "model.sepx"))


def through_a_pickle(model, tmp_path):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize("again", [through_a_file, through_a_pickle])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"solver": "qr"}, {"solver": "moments"}])
def test_inference_is_the_same_after_saving(again, options, tmp_path):
    X, y = example()
    c = np.random.default_rng(1).integers(0, 4, len(y)) / 2
    model = sx.LeastSquares(**options).fit(X, y, sample_weight=c)
    twin = again(model, tmp_path)
    assert str(twin.summary()) == str(model.summary())
    for kind in ("HC0", "HC3"):
        assert str(twin.summary(X, y, sample_weight=c, covariance=kind)) == str(
            model.summary(X, y, sample_weight=c, covariance=kind)
        )
    assert np.array_equal(variance_inflation(twin), variance_inflation(model))
    assert np.array_equal(twin.predict_interval(X), model.predict_interval(X))
    assert np.array_equal(coefficient_covariance(twin).matrix, coefficient_covariance(model).matrix)
    assert linear_hypothesis(twin, np.eye(4)[:2]) == linear_hypothesis(model, np.eye(4)[:2])
    one, two = influence(twin, X, y, sample_weight=c), influence(model, X, y, sample_weight=c)
    assert np.array_equal(one.cooks_distance, two.cooks_distance, equal_nan=True)


def test_what_a_file_does_not_carry_is_said(tmp_path, monkeypatch):
    X, y = example()
    model = sx.LeastSquares().fit(X, y)
    twin = through_a_file(model, tmp_path)
    with pytest.raises(DataError, match="stored without the state"):
        twin.partial_fit(X, y)
    with pytest.raises(AttributeError, match="stored models carry none"):
        _ = twin.normal_matrix_
    ridge = through_a_file(sx.LeastSquares(1.0).fit(X, y), tmp_path)
    with pytest.raises(AttributeError, match="stored models carry none"):
        _ = ridge.effective_rank_
    with pytest.raises(InferenceError, match="penalised"):
        ridge.summary()
    monkeypatch.setattr(normal_factor, "MOST_COLUMNS", 3)
    large = through_a_file(model, tmp_path)
    assert np.array_equal(large.predict(X), model.predict(X))
    with pytest.raises(InferenceError, match=r"the model file carried no factor .* fit again"):
        large.summary()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("triangle", np.eye(4)),
        ("triangle", np.zeros((5, 5))),
        ("triangle", np.full((5, 5), np.nan)),
        ("scale", np.ones(4)),
        ("scale", np.zeros(5)),
        ("squares", np.ones((4, 1))),
        ("spread", np.inf),
        ("spread", "wide"),
        ("extra", 1.0),
    ],
)
def test_factors_that_do_not_fit_are_refused(name, value, tmp_path, monkeypatch):
    X, y = example()
    model = sx.LeastSquares().fit(X, y)
    kept = {**model._kept(), name: value}
    monkeypatch.setattr(sx.LeastSquares, "_kept", lambda self: kept)
    with pytest.raises(ModelFileError, match="its state is not that of a LeastSquares"):
        sx.save(model, tmp_path / "model.sepx")


def test_columns_may_be_named_like_the_intercept(tmp_path):
    X, y = example()
    names = ["intercept", "(intercept)", "((intercept))", "x"]
    frame = pd.DataFrame(X, columns=names)
    model, plain = sx.LeastSquares().fit(frame, y), sx.LeastSquares().fit(X, y)
    for fitted in (model, through_a_file(model, tmp_path), copy.deepcopy(model)):
        found = fitted.summary(frame, y, covariance="HC1")
        wanted = plain.summary(X, y, covariance="HC1")
        assert found.names == (*names, "(((intercept)))")
        assert found.has_intercept
        for column in ("coef", "std_err", "stat", "p", "low", "high"):
            assert np.array_equal(getattr(found, column), getattr(wanted, column))
        table = found.to_frame()
        assert table.index.is_unique
        assert table.loc["intercept", "coef"] == plain.coef_[0]
        assert table.loc["(((intercept)))", "coef"] == plain.intercept_
        assert found.to_dict()["coefficients"][3]["coef"] == plain.coef_[3]
        for j, name in enumerate(names):
            assert linear_hypothesis(fitted, [name]) == linear_hypothesis(plain, np.eye(5)[[j]])
    assert not sx.LeastSquares(fit_intercept=False).fit(frame, y).summary().has_intercept


def test_a_row_of_leverage_one_is_the_most_influential():
    X, y = example()
    X = np.column_stack([X, np.zeros(len(X))])
    X[7, -1] = 3.0
    model = sx.LeastSquares().fit(X, y)
    found = influence(model, X, y)
    assert found.leverage[7] == 1
    assert found.cooks_distance[7] == np.inf
    assert np.isnan(found.studentized[7])
    assert np.isnan(found.studentized_outside[7])
    others = np.delete(np.arange(len(y)), 7)
    rest = influence(sx.LeastSquares().fit(X[others, :4], y[others]), X[others, :4], y[others])
    np.testing.assert_allclose(found.leverage[others], rest.leverage, rtol=1e-10)
    np.testing.assert_allclose(found.studentized[others], rest.studentized, rtol=1e-10)
    assert np.isfinite(found.cooks_distance[others]).all()


def test_weights_of_rows_are_analytic():
    """Any weights may be given: they compare rows, and do not count them."""
    X, y = example()
    c = np.random.default_rng(2).uniform(0.1, 3.0, len(y))
    one = sx.LeastSquares().fit(X, y, sample_weight=c).summary()
    two = sx.LeastSquares().fit(X, y, sample_weight=10 * c).summary()
    np.testing.assert_allclose(one.std_err, two.std_err, rtol=1e-12)
    assert one.freedom == two.freedom == 55
