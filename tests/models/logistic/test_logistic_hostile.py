"""Logistic regression: bad input, extreme values, and what a failed fit leaves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.models.logistic.test_logistic import SEPARATED, overlapping

import separatrix as sx
from separatrix.errors import (
    CollinearWarning,
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
        ({"C": 5e-324}, "1/C overflows"),
        ({"bias_reduction": "jeffreys"}, "bias_reduction"),
        ({"bias_reduction": "firth", "C": 1.0}, "leave C at inf"),
        ({"on_separation": "warn"}, "on_separation"),
        ({"multiclass": "auto"}, "multiclass"),
        ({"weights": "probability"}, "weights"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"bias_reduction": "flic", "fit_intercept": False}, "flic"),
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
    with pytest.warns(IterationWarning, match="limit of iterations"):
        model = sx.LogisticRegression(max_iter=1).fit(X, y)
    assert model.status_ is sx.numerics.Status.MAX_ITERATIONS


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"C": 1.0}, "shrunk by a penalty"),
        ({"class_weight": "balanced"}, "class weights"),
        ({"multiclass": "ovr"}, "no common likelihood"),
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
    assert str(again.summary()) == str(model.summary())
    with pytest.raises(InferenceError, match="need the rows of the fit"):
        again.summary(intervals="profile")
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
    with pytest.raises(DataError, match="and they differ"):
        model.fit(X[:, 1:], y)


def test_the_table_is_printed():
    text = str(sx.LogisticRegression().fit(*overlapping()).summary())
    assert "std_err" in text
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


@pytest.mark.parametrize("offset", [1e3, -1e6, 1e300])
@pytest.mark.parametrize("options", [{}, {"C": 1.0}, {"C": 1.0, "l1_ratio": 0.5}, {"bias_reduction": "firth"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_common_offset_only_moves_the_bias(offset, options, classes):
    """However large it is: the search does not begin where every row is certain."""
    X, y = overlapping(classes=classes)
    plain = sx.LogisticRegression(tol=1e-12 if options.get("C") else None, **options).fit(X, y)
    o = np.full(len(y), offset) if classes == 2 else np.tile([offset, 0.0, 0.0], (len(y), 1))
    moved = sx.LogisticRegression(tol=1e-12 if options.get("C") else None, **options).fit(X, y, offset=o)
    assert moved.status_ is sx.numerics.Status.OPTIMAL
    np.testing.assert_allclose(moved.coef_, plain.coef_, rtol=1e-6, atol=1e-8)
    assert moved.loglik_ == pytest.approx(plain.loglik_, rel=1e-9)
    if abs(offset) < 1e10:
        shift = moved.intercept_ - plain.intercept_
        assert (shift[0] if classes == 2 else shift[0] - shift[1]) == pytest.approx(-offset, rel=1e-9)


def test_an_interrupted_or_continued_fit_knows_its_offset():
    X, y = overlapping()
    o = np.linspace(90.0, 110.0, len(y))
    model = sx.LogisticRegression(C=1.0, warm_start=True).fit(X, y, offset=o)
    first = model.coef_.copy()
    assert model.fit(X, y, offset=o).n_iter_ <= 1
    np.testing.assert_allclose(model.coef_, first, rtol=1e-4)  # both are within a gap of 1e-8
    scores = X @ model.coef_[0] + model.intercept_[0] + o
    assert (1 / (1 + np.exp(-scores)) - y).sum() == pytest.approx(0.0, abs=1e-2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1e15, 1e30, 1e300])
def test_hardly_any_ridge_is_maximum_likelihood_with_a_proved_gap(C, classes):
    X, y = overlapping(classes=classes)
    free = sx.LogisticRegression().fit(X, y)
    model = sx.LogisticRegression(C=C).fit(X, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    np.testing.assert_allclose(model.coef_, free.coef_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_a_gap_of_separated_rows_is_no_underflow(ratio):
    """Squares of 1e-300 are zero: the fit must not take that for a proof. More data weight means larger weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] > 0
    fits = [sx.LogisticRegression(C=C, l1_ratio=ratio).fit(X, y) for C in (1e100, 1e200, 1e300)]
    sizes = [float(model.coef_[0, 0]) for model in fits]
    assert all(model.gap_ <= 1e-8 for model in fits)
    assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.02)  # linear in log C


@pytest.mark.parametrize("options", [{}, {"C": 1.0}, {"C": 1.0, "l1_ratio": 1.0}, {"bias_reduction": "firth"}])
def test_squares_that_overflow_are_told(options):
    X, y = overlapping()
    for given in (X * 1e300, X * np.array([1e300] + [1.0] * (X.shape[1] - 1))):
        with pytest.raises(DataError, match="overflow"):
            sx.LogisticRegression(**options).fit(given, y)


@pytest.mark.parametrize("options", [{}, {"C": 1.0}, {"bias_reduction": "firth"}])
def test_huge_frequencies_are_the_limit_of_many_rows(options):
    X, y = overlapping()
    free = sx.LogisticRegression().fit(X, y)
    model = sx.LogisticRegression(**options).fit(X, y, sample_weight=np.full(len(y), 1e300))
    assert model.status_ is sx.numerics.Status.OPTIMAL
    np.testing.assert_allclose(model.coef_, free.coef_, rtol=1e-6, atol=1e-6)


def test_rows_that_say_nothing_have_a_firth_estimate_of_zero():
    with pytest.warns(CollinearWarning):
        model = sx.LogisticRegression(bias_reduction="firth").fit(np.ones((2, 3)), [0, 1])
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert not model.coef_.any()


def test_firth_with_offsets_that_leave_no_information_is_told():
    X, y = overlapping()
    with pytest.warns(IterationWarning, match="overflow"):
        model = sx.LogisticRegression(bias_reduction="firth").fit(
            X, y, offset=np.where(np.arange(len(y)) % 2, 1e5, -1e5)
        )
    assert model.status_ is sx.numerics.Status.NONFINITE
