"""In the dual: the same mistakes as in the primal, what no line separates, and what users bring."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix import kernels
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.maths.dual import Dual, DualRule, Kernel, NativeColumns, norms2
from separatrix.maths.perceptron import LabelledRows

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


def table(seed, n=80, d=3, classes=2):
    rng = np.random.default_rng(seed)
    return np.round(3 * rng.normal(size=(n, d))), rng.integers(0, classes, size=n)


def rbf(A, B):
    A, B = (M.toarray() if sp.issparse(M) else M for M in (A, B))
    return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_linear_kernel_makes_the_perceptrons_mistakes(classes, bias, tie, layout):
    X, y = table(classes, classes=classes)
    dual = sx.KernelPerceptron(kernel="linear", fit_intercept=bias, tie=tie, max_epochs=15).fit(layout(X), y)
    primal = sx.Perceptron(fit_intercept=bias, tie=tie, max_epochs=15).fit(X, y)
    assert dual.epoch_mistakes_.tolist() == primal.epoch_mistakes_.tolist()
    assert dual.errors_ == primal.errors_
    np.testing.assert_array_equal(dual.decision_function(layout(X)), primal.decision_function(X))
    np.testing.assert_array_equal(dual.dual_coef_ @ X[dual.support_], primal.coef_)
    assert np.abs(dual.dual_coef_).sum() == primal.mistakes_  # |a_i| counts the mistakes on row i


@pytest.mark.parametrize("kernel", ["poly", "rbf", rbf])
def test_xor_is_learned(kernel):
    X, y = XOR
    model = sx.KernelPerceptron(kernel=kernel, degree=2, gamma=1.0).fit(X, y)
    assert model.status_ is sx.Status.CONVERGED
    assert model.predict(X).tolist() == y.tolist()
    linear = sx.KernelPerceptron(kernel="linear").fit(X, y)
    assert linear.status_ is sx.Status.MAX_EPOCHS


def test_function_matrix_and_name_are_the_same_kernel():
    X, y = table(7, classes=3)
    named = sx.KernelPerceptron(gamma=0.5, max_epochs=5).fit(X, y)
    function = sx.KernelPerceptron(kernel=rbf, max_epochs=5).fit(X, y)
    matrix = sx.KernelPerceptron(kernel="precomputed", max_epochs=5).fit(rbf(X, X), y)
    fresh, _ = table(8)
    np.testing.assert_allclose(function.decision_function(fresh), named.decision_function(fresh), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        matrix.decision_function(rbf(fresh, X)), named.decision_function(fresh), rtol=1e-9, atol=1e-9
    )
    assert matrix.support_.tolist() == named.support_.tolist()
    with pytest.raises(AttributeError, match="precomputed"):
        _ = matrix.support_vectors_
    np.testing.assert_array_equal(named.support_vectors_, X[named.support_])


def test_the_cache_changes_nothing():
    X, y = table(3, n=150)
    shared = {"max_epochs": 10, "order": "shuffle", "random_state": 0}
    a = sx.KernelPerceptron(cache_mb=0, **shared).fit(X, y)
    b = sx.KernelPerceptron(cache_mb=0.01, **shared).fit(X, y)
    c = sx.KernelPerceptron(**shared).fit(X, y)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    np.testing.assert_array_equal(a.dual_coef_, c.dual_coef_)


@pytest.mark.large
@pytest.mark.parametrize("bound", [np.inf, 40])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_adding_columns_late_changes_nothing(bound, layout):
    """Block by block or column by column: the same weights and scores, to the bit."""
    rng = np.random.default_rng(0)
    X, y = layout(np.round(rng.normal(size=(500, 300)), 1)), rng.integers(0, 2, size=500)
    blocked = sx.KernelPerceptron(max_epochs=3, max_support=bound).fit(X, y)
    rows = kernels.rows(X)
    state = Dual.begin(500)
    rule = DualRule(NativeColumns(rows, Kernel("rbf", 1 / 300, 1.0, 3), norms2(rows)), 1.0, True, bound)
    for _ in range(3):
        rule.step(state, LabelledRows(rows, np.where(y == 1, 1, -1).astype(np.int8)))
    np.testing.assert_array_equal(blocked.dual_coef_[0], state.a[blocked.support_])
    assert blocked.mistakes_ == state.updates
    assert blocked.errors_ == np.count_nonzero((2 * y - 1) * state.scores <= 0)


def test_memory_is_bounded_and_the_lightest_row_is_forgotten():
    X, y = table(4, n=200)
    model = sx.KernelPerceptron(gamma=0.5, max_support=12, max_epochs=4).fit(X, y)
    assert np.count_nonzero(model.dual_coef_) <= 12
    assert model.forgotten_ > 0
    scores = (rbf(X, X[model.support_]) + 1) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    streamed = sx.KernelPerceptron(gamma=0.5, max_support=12).partial_fit(X, y)
    assert np.count_nonzero(streamed.dual_coef_) <= 12
    one_pass = sx.KernelPerceptron(gamma=0.5, max_support=12, max_epochs=1).fit(X, y)
    np.testing.assert_allclose(streamed.decision_function(X), one_pass.decision_function(X), atol=1e-9)
    first = sx.KernelPerceptron(kernel="linear", fit_intercept=False, max_support=1, max_epochs=1)
    first.fit(np.array([[1.0, 0.0], [0.0, 1.0]]), [0, 1])
    assert first.support_.tolist() == [1]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_streams_in_any_chunks(layout):
    X, y = table(5, n=90, classes=3)
    model = sx.KernelPerceptron(gamma=0.2, max_support=25)
    whole = sx.KernelPerceptron(gamma=0.2, max_support=25).partial_fit(layout(X), y)
    for begin in range(0, 90, 7):
        model.partial_fit(layout(X[begin : begin + 7]), y[begin : begin + 7])
    declared = sx.KernelPerceptron(gamma=0.2, max_support=25).partial_fit(layout(X), y, classes=[0, 1, 2])
    for other in (model, declared):
        np.testing.assert_array_equal(whole.decision_function(X), other.decision_function(X))
    single = sx.KernelPerceptron(gamma=0.2, max_support=25)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
    np.testing.assert_allclose(whole.decision_function(X), single.decision_function(X), rtol=1e-12, atol=1e-12)
    assert single.predict_one(X[0]) == single.predict(X[:1])[0]
    fitted = sx.KernelPerceptron(gamma=0.2, max_epochs=1).fit(layout(X), y).partial_fit(layout(X), y)
    twice = sx.KernelPerceptron(gamma=0.2, max_epochs=2).fit(layout(X), y)
    np.testing.assert_allclose(fitted.decision_function(X), twice.decision_function(X), atol=1e-9)


def test_weights_scale_what_a_mistake_adds():
    X, y = table(6)
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=len(y))
    dual = sx.KernelPerceptron(kernel="linear", max_epochs=5).fit(X, y, sample_weight=weight)
    primal = sx.Perceptron(max_epochs=5).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(dual.dual_coef_ @ X[dual.support_], primal.coef_)
    assert dual.errors_ == primal.errors_


def test_what_users_bring_is_checked():
    X, y = table(1)
    bad = {
        "returned shape": lambda A, B: np.ones((3, 3)),
        "returned nan": lambda A, B: np.full((len(A), len(B)), np.nan),
        "did not return numbers": lambda A, B: [["a"] * len(B)] * len(A),
    }
    for message, function in bad.items():
        with pytest.raises(DataError, match=message):
            sx.KernelPerceptron(kernel=function).fit(X, y)
    with pytest.raises(DataTypeError):
        sx.KernelPerceptron(kernel=bad["did not return numbers"]).partial_fit(X, y).partial_fit(X, y)
    with pytest.raises(DataError, match="square"):
        sx.KernelPerceptron(kernel="precomputed").fit(X, y)
    with pytest.raises(ParameterError, match="precomputed"):
        sx.KernelPerceptron(kernel="precomputed").partial_fit(X, y)
    for name, value in (
        ("kernel", "cubic"),
        ("gamma", 0),
        ("gamma", np.inf),
        ("degree", 0),
        ("degree", np.inf),
        ("coef0", "a"),
        ("max_support", 0),
        ("cache_mb", -1),
    ):
        with pytest.raises(ParameterError, match=name):
            sx.KernelPerceptron(**{name: value}).fit(X, y)
    with pytest.raises(DataError, match="row 0 that its squared length overflows"):
        sx.KernelPerceptron().fit(1e200 * (X + 1), y)
    model = sx.KernelPerceptron().partial_fit(X, y)
    with pytest.raises(DataTypeError, match="one type of label"):
        model.partial_fit(X, ["a"] * len(X))
    with pytest.raises(DataError, match="HashingMap"):
        model.learn_one({"a": 1.0}, 0)
