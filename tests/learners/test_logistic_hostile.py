"""Logistic regression: bad input, extreme values, and what a failed fit leaves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.learners.test_logistic import SEPARATED, overlapping

import separatrix as sx
from separatrix.errors import (
    DataError,
    InferenceError,
    IterationWarning,
    ParameterError,
    SeparationError,
)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": -1.0}, "C is -1"),
        ({"C": float("nan")}, "C is nan"),
        ({"C": "1"}, "C is '1'"),
        ({"C": True}, "C is True"),
        ({"bias_reduction": "jeffreys"}, "bias_reduction"),
        ({"bias_reduction": "firth", "C": 1.0}, "leave C at inf"),
        ({"on_separation": "warn"}, "on_separation"),
        ({"multiclass": "auto"}, "multiclass"),
        ({"weights": "probability"}, "weights"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"flic": True, "fit_intercept": False}, "flic"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        sx.LogisticRegression(**options).fit(*SEPARATED)


def test_offsets_and_weights_that_cannot_be():
    X, y = overlapping(classes=3)
    with pytest.raises(DataError, match=r"offset has shape \(200,\) and needs \(200, 3\)"):
        sx.LogisticRegression().fit(X, y, offset=np.zeros(200))
    with pytest.raises(DataError, match="offset has 2 columns"):
        sx.LogisticRegression().fit(X, y, offset=np.zeros((200, 2)))
    with pytest.raises(DataError, match="offset has 199"):
        sx.LogisticRegression().fit(X, y > 0, offset=np.zeros(199))
    with pytest.raises(DataError, match="offset"):
        sx.LogisticRegression().fit(X, y > 0, offset=np.full(200, np.nan))
    with pytest.raises(DataError, match="class 1 has weight zero in all its rows"):
        sx.LogisticRegression().fit(X, y, sample_weight=y != 1)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = overlapping()
    model = sx.LogisticRegression(on_separation="raise").fit(X, y)
    before = dict(model.__dict__)
    with pytest.raises(SeparationError):
        model.fit(*SEPARATED)
    assert model.__dict__ == before


def test_too_few_iterations_are_told():
    X, y = overlapping()
    with pytest.warns(IterationWarning, match="iterations ran out"):
        model = sx.LogisticRegression(max_iter=1).fit(X, y)
    assert model.status_ is sx.Status.MAX_ITERATIONS


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"C": 1.0}, "shrunk by a penalty"),
        ({"class_weight": "balanced"}, "class weights"),
        ({"multiclass": "ovr"}, "no common likelihood"),
        ({"bias_reduction": "firth", "flic": True}, "flic=False"),
    ],
)
def test_a_summary_that_would_mean_nothing_is_refused(options, reason):
    model = sx.LogisticRegression(**options).fit(*overlapping(classes=3))
    with pytest.raises(InferenceError, match=reason):
        model.summary()


def test_a_stored_model_predicts_but_has_no_rows():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.separation_.verdict == "overlap"
    with pytest.raises(InferenceError, match="fit again"):
        again.summary()
    with pytest.raises(DataError, match="no rows to prove it"):
        _ = again.separation_.certificate


def test_rows_that_changed_since_the_fit_are_noticed():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    X[0] += 1.0
    with pytest.raises(DataError, match="have changed"):
        model.summary()


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = overlapping()
    model = sx.LogisticRegression(C=1.0, warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 1
    with pytest.raises(DataError, match="have changed"):
        model.fit(X[:, 1:], y)


def test_the_table_is_printed():
    text = str(sx.LogisticRegression().fit(*overlapping()).summary())
    assert "coefficient" in text
    assert "McFadden" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_extreme_values_neither_hang_nor_pass_silently():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 2)), rng.integers(0, 2, 50)
    tiny = sx.LogisticRegression().fit(X * 1e-150, y)
    plain = sx.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(tiny.coef_ * 1e-150, plain.coef_, rtol=1e-9)
    huge = sx.LogisticRegression().fit(X * 1e150, y)
    np.testing.assert_allclose(huge.coef_ * 1e150, plain.coef_, rtol=1e-9)
