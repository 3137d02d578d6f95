"""Classes that appear as they come: any chunking, any way of naming them, the same vectors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import separatrix as sx
from separatrix.errors import DataError, DataTypeError, ParameterError

LEARNERS = [
    sx.Perceptron(),
    sx.Perceptron(tie="positive", start="ones", normalize_rows=True),
    sx.AveragedPerceptron(),
    sx.MarginPerceptron(margin=0.2),
    sx.PassiveAggressive(C=0.3),
    sx.AROW(),
    sx.AROW(covariance="full"),
]
SCHEMES = ("ovr", "kesler")


def like(model, scheme):
    return type(model)(**{**model.get_params(), "multiclass": scheme})


def table(seed, n=40, d=3, classes=4):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(n, d)), 1), rng.integers(0, classes, size=n)


def same_model(a, b):
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.intercept_, b.intercept_)
    assert a.mistakes_ == b.mistakes_


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
@given(seed=st.integers(0, 10**6), cuts=st.lists(st.integers(0, 40), max_size=6), classes=st.integers(2, 5))
def test_any_chunking_gives_the_same_bits(scheme, model, seed, cuts, classes):
    X, y = table(seed, classes=classes)
    whole = like(model, scheme).partial_fit(X, y)
    chunked = like(model, scheme)
    edges = sorted({0, 40, *cuts})
    for begin, end in pairwise(edges):
        chunked.partial_fit(X[begin:end], y[begin:end])
    same_model(whole, chunked)
    assert chunked.status_ is sx.numerics.Status.STREAMED


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
@pytest.mark.parametrize("classes", [3, 5])
def test_classes_learned_late_end_where_known_ones_do(scheme, model, classes):
    X, y = table(classes, n=90, classes=classes)
    y = np.sort(y)[::-1].copy()  # the last class first, the first only at the end
    found = like(model, scheme).partial_fit(X, y)
    declared = like(model, scheme).partial_fit(X, y, classes=range(classes))
    fitted = like(model, scheme).set_params(order="cyclic", max_iter=1).fit(X, y)
    same_model(found, declared)
    same_model(found, fitted)


def test_two_open_classes_equal_two_declared_ones():
    X, y = table(1, classes=2)
    for model in LEARNERS:
        found = like(model, "ovr").partial_fit(X, y)
        np.testing.assert_array_equal(found.predict(X), like(model, "ovr").partial_fit(X, y, classes=[0, 1]).predict(X))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_only_classes_seen_compete(scheme):
    """A declared class without a row never takes part in Kesler's rule; against the rest it is all negative."""
    X, y = table(2, classes=2)
    known = sx.Perceptron(multiclass=scheme).partial_fit(X, y, classes=[0, 1, 7])
    assert known.classes_.tolist() == [0, 1, 7]
    assert (known.coef_[2] == 0).all() == (scheme == "kesler")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_a_fit_can_be_gone_on_with(scheme, model):
    X, y = table(5, n=60, classes=3)
    model = like(model, scheme).set_params(order="cyclic", max_iter=1)
    continued = like(model, scheme).fit(X, y).partial_fit(X, y)
    twice = like(model, scheme).set_params(order="cyclic", max_iter=2).fit(X, y)
    np.testing.assert_array_equal(continued.coef_, twice.coef_)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_weights_scale_updates_and_zero_drops_the_row(scheme, model):
    X, y = table(8, n=80, classes=3)
    rng = np.random.default_rng(0)
    weight = rng.choice([0.0, 1.0, 2.5], size=80)
    kept = weight > 0
    a = like(model, scheme).set_params(order="cyclic").fit(X, y, sample_weight=weight)
    b = like(model, scheme).set_params(order="cyclic").fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_array_equal(a.coef_, b.coef_)
    by_class = like(model, scheme).set_params(class_weight={0: 2.0, 2: 0.5}).fit(X, y)
    by_row = like(model, scheme).fit(X, y, sample_weight=np.array([2.0, 1.0, 0.5])[y])
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    streamed = like(model, scheme).set_params(class_weight={0: 2.0, 2: 0.5}).partial_fit(X, y)
    np.testing.assert_array_equal(
        streamed.coef_, like(model, scheme).partial_fit(X, y, sample_weight=np.array([2.0, 1.0, 0.5])[y]).coef_
    )
    like(model, scheme).set_params(class_weight="balanced").fit(X, y)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_sparse_and_single_precision_rows_give_the_dense_model(scheme, model):
    X, y = table(9, n=60, classes=3)
    X = np.round(2 * X)
    dense = like(model, scheme).fit(X, y)
    for other in (sp.csr_array(X), X.astype(np.float32), sp.csc_array(X), np.asfortranarray(X)):
        np.testing.assert_allclose(like(model, scheme).fit(other, y).coef_, dense.coef_, rtol=1e-9, atol=1e-12)


def test_a_failing_chunk_changes_nothing():
    X, y = table(3, classes=3)
    for scheme in SCHEMES:
        model = sx.AveragedPerceptron(multiclass=scheme).partial_fit(X, y)
        before = model.coef_.copy(), model.classes_.copy(), model.mistakes_
        for bad in (["a", "b"] * 20, ["x"] * 40):
            with pytest.raises(DataTypeError, match="one type of label"):
                model.partial_fit(X, bad)
        with pytest.raises(DataError, match="not the same as on the last call"):
            model.partial_fit(X, y, classes=[0, 1])
        broken = X.copy()
        broken[7, 1] = np.nan
        with pytest.raises(DataError, match="NaN at row 7"):
            model.partial_fit(broken, y)
        np.testing.assert_array_equal(before[0], model.coef_)
        np.testing.assert_array_equal(before[1], model.classes_)
        assert before[2] == model.mistakes_


def test_declared_classes_are_closed():
    X, y = table(3, classes=3)
    for scheme in SCHEMES:
        model = sx.Perceptron(multiclass=scheme).partial_fit(X, y, classes=[0, 1, 2])
        with pytest.raises(DataError, match="not one of"):
            model.partial_fit(X, y + 1)


def test_changed_parameters_do_not_mix():
    X, y = table(3, classes=3)
    model = sx.AROW().partial_fit(X, y)
    with pytest.raises(ParameterError, match="changed between calls"):
        model.set_params(covariance="full").partial_fit(X, y)


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (sx.Perceptron(multiclass="pairs"), "multiclass"),
        (sx.Perceptron(multiclass="kesler", trace=True), "kesler"),
        (sx.Perceptron(multiclass="kesler", order="worst"), "kesler"),
        (sx.AveragedPerceptron(order="worst"), "order"),
        (sx.AveragedPerceptron(max_iter=0), "max_iter"),
        (sx.MarginPerceptron(margin=-1), "margin"),
        (sx.MarginPerceptron(margin=np.nan), "margin"),
        (sx.MarginPerceptron(relative="yes"), "relative"),
        (sx.PassiveAggressive(C=0), "C is"),
        (sx.PassiveAggressive(variant="PA3"), "variant"),
        (sx.AROW(r=0), "r is"),
        (sx.AROW(covariance="none"), "covariance"),
        (sx.AROW(r=True), "r is"),
        (sx.AROW(verbose=3), "verbose"),
    ],
)
def test_parameters_that_cannot_be(model, word):
    X, y = table(0)
    with pytest.raises(ParameterError, match=word):
        model.fit(X, y)
    with pytest.raises(ParameterError, match=word):
        model.partial_fit(X, y)
    assert not hasattr(model, "coef_")


def test_a_full_covariance_that_would_not_fit_is_refused():
    with pytest.raises(ParameterError, match="covariance='diagonal'"):
        sx.AROW(covariance="full").fit(sp.csr_array((4, 10**6)), [0, 1, 0, 1])
