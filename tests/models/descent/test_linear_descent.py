"""LinearDescent: the minimiser by other code, kernels against each other, chunks, traces, statuses, bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

import reference
import separatrix as sx
from separatrix import kernels
from separatrix.errors import DataError, IterationWarning, ParameterError
from separatrix.models.descent.descent_state import KINDS
from separatrix.numerics import Status
from separatrix.numerics.losses import loss_of

NATIVE = kernels.native_modules()
LOSSES = list(KINDS)


def example(n=120, d=4, k=2, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, d)) + 1.2 * rng.normal(size=(k, d))[y], np.array(["x", "y", "z"])[y]


def objective(loss, X, y, lifted, l2, l1):
    s = X @ lifted[:-1] + lifted[-1]
    value = (y - s) ** 2 if loss == "squared_error" else loss_of(loss).value(y * s)
    return np.mean(value) + l2 / 2 * lifted[:-1] @ lifted[:-1] + l1 * np.abs(lifted[:-1]).sum()


@pytest.mark.parametrize("batch_size", [None, 1, 16])
@pytest.mark.parametrize("loss", LOSSES)
def test_it_ends_near_the_least_value_of_j(loss, batch_size):
    X, labels = example()
    y = np.where(labels == "y", 1.0, -1.0)
    target = y if loss == "squared_error" else labels
    model = sx.LinearDescent(
        loss, alpha=0.1, batch_size=batch_size, max_iter=3000 if batch_size is None else 400, tol=0.0,
        schedule="constant" if batch_size is None else "root", average=batch_size is not None, random_state=0,
    ).fit(X, target)  # fmt: skip
    lifted = np.append(model.coef_, model.intercept_)
    best = min(
        minimize(lambda t: objective(loss, X, y, t, 0.1, 0.0), start, method="Powell", tol=1e-10).fun
        for start in (np.zeros(5), lifted)
    )
    assert objective(loss, X, y, lifted, 0.1, 0.0) <= best * 1.1 + 0.003


def test_whole_gradients_reach_the_minimiser():
    X, labels = example()
    y = np.where(labels == "y", 1.0, -1.0)
    for schedule in ("constant", "line-search"):
        squared = sx.LinearDescent("squared", alpha=0.2, batch_size=None, schedule=schedule, max_iter=10**5,
                                   tol=1e-13).fit(X, labels)  # fmt: skip
        exact = sx.LeastSquaresClassifier(0.1 * len(X)).fit(X, labels)  # alpha n/2
        np.testing.assert_allclose(squared.coef_, exact.coef_, atol=1e-8)
        assert squared.status_ is Status.STATIONARY
    error = sx.LinearDescent("squared_error", alpha=0.2, batch_size=None, schedule="line-search", max_iter=10**5,
                             tol=1e-13).fit(X, 3 * y + 1)  # fmt: skip
    np.testing.assert_allclose(error.coef_, sx.LeastSquares(12.0).fit(X, 3 * y + 1).coef_, atol=1e-8)
    assert error.score(X, 3 * y + 1) == pytest.approx(sx.LeastSquares(12.0).fit(X, 3 * y + 1).score(X, 3 * y + 1))


@pytest.mark.parametrize("schedule", ["constant", "line-search"])
def test_l1_gives_zeros_where_the_optimality_conditions_say(schedule):
    X, labels = example(d=8)
    y = np.where(labels == "y", 1.0, -1.0)
    model = sx.LinearDescent("logistic", alpha=0.1, l1_ratio=1.0, batch_size=None, schedule=schedule,
                             max_iter=10**5, tol=1e-12).fit(X, labels)  # fmt: skip
    w = model.coef_[0]
    m = y * (X @ w + model.intercept_[0])
    g = X.T @ (loss_of("logistic").slope(m) * y) / len(X)
    assert 0 < np.count_nonzero(w) < 8
    np.testing.assert_allclose(g[w != 0], -0.1 * np.sign(w[w != 0]), atol=1e-8)
    assert np.all(np.abs(g[w == 0]) <= 0.1)


def run(module, X, y, weights, order, loss, options, sparse):
    n, d = X.shape
    if sparse:
        csr = sp.csr_array(X)
        rows = module.Rows.csr(csr.data, csr.indices, csr.indptr, d)
    else:
        rows = module.Rows.dense(X)
    rng = np.random.default_rng(1)
    lifted = rng.normal(size=d + 1)
    arrays = {
        "lifted": lifted,
        "factor": np.ones(1),
        "velocity": np.zeros(d + 1) if options["momentum"] else None,
        "average": np.zeros(d + 1) if options.pop("average") else None,
        "gradient": np.zeros(d + 1),
        "counts": np.zeros(2, dtype=np.int64),
        "sums": np.zeros(2),
        "reach": np.zeros(1) if options.pop("automatic") else None,
        "columns": rng.uniform(0.5, 2.0, d) if options.pop("scaled") else None,
    }
    alpha = 0.3 / np.sqrt(np.arange(1, n + 3))
    module.descent_pass(rows, y, weights, order, alpha, 1, n, loss, *arrays.values(), **options)
    g = np.empty(d + 1)
    value = module.mean_loss(rows, y, weights, loss, lifted, g)
    return np.concatenate([lifted, arrays["factor"], arrays["gradient"], arrays["sums"], [value], g])


@given(
    st.integers(0, 999),
    st.sampled_from(list(KINDS.values())),
    st.booleans(),
    st.sampled_from([1, 3]),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from([0.0, 0.05]),
    st.sampled_from([0.0, 0.9]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_kernels_agree(seed, loss, sparse, batch, l2, l1, momentum, average, automatic, scaled):
    rng = np.random.default_rng(seed)
    n, d = 25, int(rng.integers(1, 80 if scaled else 12))
    X = np.round(rng.normal(size=(n, d)), 1)
    y = rng.choice([-1.0, 1.0], n)
    weights = rng.integers(0, 3, n).astype(float) if seed % 2 else None
    order = rng.permutation(n) if seed % 3 else None
    results = []
    for module in [*NATIVE, reference]:
        options = {"batch": batch, "l2": l2, "l1": l1, "momentum": momentum, "bias": bool(seed % 5),
                   "average": average, "automatic": automatic, "scaled": scaled}  # fmt: skip
        results.append(run(module, X, y, weights, order, loss, options, sparse))
    for other in results[:-1]:
        if loss == KINDS["logistic"]:
            np.testing.assert_allclose(other, results[-1], rtol=1e-12, atol=1e-13)  # exp is the library's
        else:
            assert np.array_equal(other, results[-1])


@given(st.lists(st.integers(1, 40), min_size=1, max_size=8), st.sampled_from([1, 7]), st.booleans())
def test_partial_fit_has_the_same_bits_for_any_chunking(sizes, batch_size, average):
    n = sum(sizes)
    X, y = example(n, k=3, seed=n)
    options = {"batch_size": batch_size, "average": average, "alpha": 0.01, "momentum": 0.3 * average}
    whole, parts, begin = sx.LinearDescent(**options).partial_fit(X, y), sx.LinearDescent(**options), 0
    for size in sizes:
        parts.partial_fit(X[begin : begin + size], y[begin : begin + size])
        begin += size
    assert np.array_equal(whole.classes_, parts.classes_)
    assert np.array_equal(whole.coef_, parts.coef_)
    assert np.array_equal(whole.intercept_, parts.intercept_)


def test_partial_fit_of_a_regressor_and_after_a_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = X @ [1.0, 2.0, 3.0] + 1
    model = sx.LinearDescent("squared_error", alpha=0.0)
    for chunk in np.array_split(np.arange(3000), 7):
        model.partial_fit(X[chunk], y[chunk])
    assert model.score(X, y) > 0.9
    assert model.status_ is Status.STREAMED
    assert not hasattr(model, "decision_function")
    model = sx.LinearDescent(random_state=0, tol=0.1).fit(*example())
    before = model.coef_.copy()
    model.partial_fit(*example(seed=1))
    assert not np.array_equal(model.coef_, before)
    with pytest.raises(DataError, match="not one of"):
        model.partial_fit(*example(k=3, seed=4))


def test_traces_and_statuses():
    X, y = example()
    model = sx.LinearDescent(batch_size=None, schedule="constant", max_iter=5, tol=0.0).fit(X, y)
    assert (model.status_, model.n_iter_, len(model.trace_)) == (Status.MAX_ITERATIONS, 5, 5)
    assert np.all(np.diff(model.trace_.value) < 0)
    assert model.trace_.value[0] == pytest.approx(np.log(2))
    stochastic = sx.LinearDescent(random_state=3, max_iter=30, tol=0.0).fit(X, y)
    assert stochastic.trace_.value[-1] < stochastic.trace_.value[0]
    assert np.all(np.diff(stochastic.trace_.alpha) < 0)
    again = sx.LinearDescent(random_state=3, max_iter=30, tol=0.0).fit(X, y)
    assert np.array_equal(again.coef_, stochastic.coef_)
    with pytest.warns(IterationWarning, match="overflowed"):
        wild = sx.LinearDescent("squared", step=1e6, schedule="constant", random_state=0).fit(X, y)
    assert wild.status_ is Status.NONFINITE
    three = sx.LinearDescent(random_state=0, max_iter=3, tol=0.0).fit(*example(k=3))
    assert len(three.trace_) == 3
    assert three.predict_proba(example(k=3)[0]).sum(axis=1) == pytest.approx(1.0)
    assert not hasattr(sx.LinearDescent("hinge"), "predict_proba")


def test_an_interruption_leaves_the_partial_model(monkeypatch):
    X, y = example()
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return kernels._kernels.descent_pass(*arguments)

    monkeypatch.setattr(kernels, "descent_pass", interrupted)
    model = sx.LinearDescent(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ is Status.INTERRUPTED
    assert model.predict(X).shape == y.shape


def test_sparse_rows_are_as_dense_ones():
    X, y = example()
    X[np.abs(X) < 0.5] = 0.0
    for options in ({}, {"batch_size": 10}, {"batch_size": None, "max_iter": 20}):
        options |= {"random_state": 0, "tol": 0.0, "step": 0.1}
        dense, sparse = sx.LinearDescent(**options).fit(X, y), sx.LinearDescent(**options).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-9)


def test_sparse_rows_have_the_minimum_of_dense_ones_in_columns_of_any_scale():
    X, y = example()
    X[np.abs(X) < 0.5] = 0.0
    X *= [1e-3, 1.0, 30.0, 1e4]
    for options in ({}, {"loss": "squared", "alpha": 0.1}, {"alpha": 0.01, "l1_ratio": 0.5}):
        options |= {"batch_size": None, "schedule": "constant", "tol": 1e-9, "max_iter": 10**5}
        dense, sparse = sx.LinearDescent(**options).fit(X, y), sx.LinearDescent(**options).fit(sp.csr_array(X), y)
        np.testing.assert_allclose(dense.decision_function(X), sparse.decision_function(X), atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "absolute"},
        {"alpha": -1.0},
        {"alpha": np.inf},
        {"l1_ratio": 2.0},
        {"schedule": "odd"},
        {"schedule": "line-search"},
        {"step": "much"},
        {"step": 0.0},
        {"batch_size": 0},
        {"momentum": 1.0},
        {"average": 1},
        {"max_iter": 0},
        {"tol": -1.0},
        {"boundary": "odd"},
    ],
)
def test_bad_options(options):
    X, y = example()
    model = sx.LinearDescent(**options)
    with pytest.raises(ParameterError):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_bad_calls():
    X, y = example()
    with pytest.raises(ParameterError, match="batch_size=None"):
        sx.LinearDescent(batch_size=None).partial_fit(X, y)
    with pytest.raises(ParameterError, match="balanced"):
        sx.LinearDescent(class_weight="balanced").partial_fit(X, y)
    with pytest.raises(DataError, match="one class only"):
        sx.LinearDescent().fit(X, np.full(len(X), "x"))
    model = sx.LinearDescent().partial_fit(X, y, classes=["x", "y"])
    with pytest.raises(DataError, match="not the same"):
        model.partial_fit(X, y, classes=["x", "y", "z"])
    with pytest.raises(DataError):
        model.partial_fit(X * np.nan, y)
    with pytest.raises(DataError, match="overflow at row"):
        sx.LinearDescent().fit(X * 1e200, y)


@pytest.mark.parametrize("loss", ["logistic", "squared_error"])
def test_partial_fit_goes_on_from_assigned_weights(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = X.sum(axis=1) if loss == "squared_error" else np.where(X[:, 0] > 0, "a", "b")
    options = {"loss": loss, "step": 0.01, "schedule": "constant"}
    model = sx.LinearDescent(**options).partial_fit(X, y).partial_fit(X, y)
    moved = sx.LinearDescent(**options).partial_fit(X, y)
    given = np.array([5.0, -5.0, 1.0])
    moved.coef_ = given if loss == "squared_error" else given[None]
    moved.intercept_ = 0.5 if loss == "squared_error" else np.array([0.5])
    moved.partial_fit(X[:1], y[:1])
    assert np.abs(moved.coef_ - given).max() < 0.5
    again = sx.LinearDescent(**options).partial_fit(X, y)
    again.coef_ = again.coef_.copy()  # the same numbers: nothing was changed
    assert np.array_equal(again.partial_fit(X, y).coef_, model.coef_)


def standardised_gradient(model, X, y):
    """|grad J| at a model, in columns of mean 0 and spread sqrt(s^2 + l2/c), computed without the package."""
    l2, curvature = model.alpha, {"logistic": 0.25, "squared": 2.0}[model.loss]
    spread = np.sqrt(X.var(axis=0) + l2 / curvature)
    Z, w = (X - X.mean(axis=0)) / spread, model.coef_[0]
    m = y * (X @ w + model.intercept_[0])
    slope = -y / (1 + np.exp(np.minimum(m, 700))) if model.loss == "logistic" else -2 * (1 - m) * y
    return float(np.linalg.norm(np.append(Z.T @ slope / len(y) + l2 * w / spread, slope.mean())))


@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize(
    "options", [{}, {"average": True}, {"momentum": 0.9}, {"batch_size": 16}, {"batch_size": None}]
)
@pytest.mark.parametrize("scale", [1.0, np.array([1e-4, 1.0, 1e3, 1e6])], ids=["alike", "apart"])
def test_converged_means_that_the_gradient_is_short_and_anything_else_is_said(loss, options, scale):
    X, labels = example(400)
    X, y = (X + 3.0) * scale, np.where(labels == "y", 1.0, -1.0)
    for tolerance in (0.1, 0.01, 1e-4):
        model = sx.LinearDescent(loss, tol=tolerance, random_state=0, **options)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model.fit(X, labels)
        length = standardised_gradient(model, X, y)
        if model.status_ is Status.STATIONARY:
            assert length <= tolerance * (1 + 1e-6) + 1e-9
            assert not warned
        else:
            assert model.status_ is Status.MAX_ITERATIONS
            assert length > tolerance
            assert f"gradient has length {length:.2g}" in str(warned[0].message)


@pytest.mark.parametrize("loss", ["logistic", "squared", "perceptron", "hinge"])
def test_columns_as_they_come_are_learned_from(loss):
    """Means of hundreds, scales from 0.003 to 600: breast cancer, of which 62.7% are benign."""
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IterationWarning)
        model = sx.LinearDescent(loss, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95


def test_the_scale_of_columns_and_of_real_targets_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 5.0
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=200)
    options = {"alpha": 0.0, "random_state": 0, "tol": 0.0}
    plain = sx.LinearDescent("squared_error", **options).fit(X, y)
    scales = np.array([1e-150, 1e5, 1e140])
    scaled = sx.LinearDescent("squared_error", **options).fit(X * scales, 1e9 * y - 1e12)
    assert plain.score(X, y) > 0.8
    np.testing.assert_allclose(scaled.predict(X * scales), 1e9 * plain.predict(X) - 1e12, rtol=1e-9)
    constant = sx.LinearDescent("squared_error").fit(np.full((9, 2), 7.0), np.full(9, 3.0))
    assert constant.predict([[7.0, 7.0], [8.0, 8.0]]).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("options", [{}, {"batch_size": 7}, {"batch_size": None}, {"step": 0.05}, {"average": True}])
def test_rows_of_weight_zero_are_as_though_they_were_not_there(options):
    X, y = example(60)
    options |= {"random_state": 0, "tol": 0.0, "max_iter": 10}
    weights = np.tile([1.0, 0.0, 2.0], 20)
    X[weights == 0] *= 1e6
    with_them = sx.LinearDescent(**options).fit(X, y, weights)
    without = sx.LinearDescent(**options).fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    assert np.array_equal(with_them.coef_, without.coef_)
    if options.get("batch_size", 1) is not None:
        streamed = sx.LinearDescent(**options).partial_fit(X, y, ["x", "y"], weights)
        shorter = sx.LinearDescent(**options).partial_fit(
            X[weights > 0], y[weights > 0], ["x", "y"], weights[weights > 0]
        )
        assert np.array_equal(streamed.coef_, shorter.coef_)


def test_weights_of_classes_are_those_of_their_rows_and_large_ones_do_no_harm():
    X, y = example(300, d=2)
    quiet = {"random_state": 0, "tol": 0.0}
    by_class = sx.LinearDescent(class_weight={"x": 1000.0, "y": 1.0}, **quiet).fit(X, y)
    by_row = sx.LinearDescent(**quiet).fit(X, y, np.where(y == "x", 1000.0, 1.0))
    assert np.array_equal(by_class.coef_, by_row.coef_)
    assert (by_class.predict(X)[y == "x"] == "x").mean() > 0.99
    balanced = sx.LinearDescent(class_weight="balanced", **quiet).fit(X[60:], y[60:])
    assert balanced.score(X, y) > 0.6
    streamed = sx.LinearDescent(class_weight={"x": 1000.0}).partial_fit(X, y)
    assert np.abs(streamed.coef_).max() < 10
    with pytest.raises(DataError, match="weight above zero"):
        sx.LinearDescent(class_weight={"x": 0.0}).fit(X, y)


@pytest.mark.parametrize("options", [{"batch_size": None, "max_iter": 20}, {"max_iter": 2}, {"batch_size": 16}])
def test_steps_that_are_too_long_end_as_diverged_or_overflowed(options):
    X, y = example()
    model = sx.LinearDescent("squared", step=3.0, schedule="constant", random_state=0, **options)
    with pytest.warns(IterationWarning, match="diverged|overflowed"):
        model.fit(X, y)
    assert model.status_ in (Status.DIVERGED, Status.NONFINITE)
