"""Least squares on classes: as scikit-learn's RidgeClassifier, exact in chunks, open to new classes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import RidgeClassifier

import separatrix as sx
from separatrix.errors import DataError, ParameterError


def example(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, d)) + 1.5 * rng.normal(size=(k, d))[y], np.array(["x", "y", "z", "w"])[y]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"x": 3.0}])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_ridge_classifier_agrees(k, class_weight, fit_intercept):
    X, y = example(120, 5, k)
    options = {"fit_intercept": fit_intercept, "class_weight": class_weight}
    ours = sx.LeastSquaresClassifier(1.5, **options).fit(X, y)
    theirs = RidgeClassifier(1.5, solver="svd", **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-10)
    assert np.array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("solver", ["auto", "moments", "qr", "svd"])
@pytest.mark.parametrize("k", [2, 3])
def test_each_vector_is_a_regression(k, solver, alpha):
    X, y = example(150, 4, k)
    c = np.random.default_rng(1).integers(0, 3, 150).astype(float)
    ours = sx.LeastSquaresClassifier(alpha, solver=solver).fit(X, y, sample_weight=c)
    for row, label in enumerate(ours.classes_[1:] if k == 2 else ours.classes_):
        one = sx.LeastSquares(alpha).fit(X, np.where(y == label, 1.0, -1.0), sample_weight=c)
        np.testing.assert_allclose(ours.coef_[row], one.coef_, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(ours.intercept_[row], one.intercept_, rtol=1e-11)
        np.testing.assert_allclose(np.atleast_2d(ours.moment_vector_.T)[row], one.moment_vector_, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(ours.normal_matrix_, one.normal_matrix_, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 4])
def test_chunks_give_the_same_bits_and_classes_may_come_late(k):
    X, y = example(600, 6, k)
    order = np.argsort(y, kind="stable")  # one class after the other
    X, y = X[order], y[order]
    whole, parts = sx.LeastSquaresClassifier().partial_fit(X, y), sx.LeastSquaresClassifier()
    for chunk in np.array_split(np.arange(600), 17):
        parts.partial_fit(X[chunk], y[chunk])
    assert np.array_equal(whole.coef_, parts.coef_)
    assert np.array_equal(whole.intercept_, parts.intercept_)
    at_once = sx.LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(whole.coef_, at_once.coef_, rtol=1e-12)
    assert np.array_equal(whole.predict(X), at_once.predict(X))


def test_declared_classes_are_closed():
    X, y = example(60, 3, 3)
    model = sx.LeastSquaresClassifier().partial_fit(X[y != "z"], y[y != "z"], classes=["x", "y"])
    before = model.coef_.copy()
    with pytest.raises(DataError, match="'z', which is not one of"):
        model.partial_fit(X, y)
    with pytest.raises(DataError, match="not the same as on the last call"):
        model.partial_fit(X, y, classes=["x", "y", "z"])
    with pytest.raises(DataError, match="use one type of label"):
        sx.LeastSquaresClassifier().partial_fit(X, y).partial_fit(X[:2], [1, 2])
    assert np.array_equal(model.coef_, before)


def test_sparse_text_is_separated(real_data):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(real_data("rcv1_small.svm")))
    model = sx.LeastSquaresClassifier().fit(X, y)
    assert model.solver_ == "wide"
    assert model.score(X, y) == 1.0  # the rows are independent: any labels can be met
    np.testing.assert_allclose(model.decision_function(X), y, atol=1e-9)


def test_rank_deficient_dummies():
    levels = np.random.default_rng(0).integers(0, 4, (3000, 6))
    X = sp.csr_array(np.equal.outer(levels, np.arange(4)).reshape(3000, 24).astype(float))
    y = np.where((levels[:, 0] < 2) ^ (levels[:, 1] == 3) & (levels[:, 2] == 0), 1, -1)
    with pytest.warns(sx.errors.CollinearWarning, match=r"rank 19"):  # levels of a factor add up to the constant
        model = sx.LeastSquaresClassifier().fit(X, y)
    assert model.rank_ == 19
    assert model.score(X, y) > 0.9


def test_bad_options():
    X, y = example(30, 2, 2)
    with pytest.raises(ParameterError, match="balanced"):
        sx.LeastSquaresClassifier(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(ParameterError, match="boundary"):
        sx.LeastSquaresClassifier(boundary="odd").fit(X, y)
    with pytest.raises(DataError, match="one class only"):
        sx.LeastSquaresClassifier().fit(X, ["x"] * 30)
    sparse = sx.LeastSquaresClassifier(1.0).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, sx.LeastSquaresClassifier(1.0).fit(X, y).coef_, rtol=1e-12)
