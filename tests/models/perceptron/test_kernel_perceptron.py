"""In the dual: the same mistakes as in the primal, what no line separates, and what users bring."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import separatrix as sx
from separatrix import kernels
from separatrix.errors import DataError, DataTypeError, ParameterError
from separatrix.models.perceptron.kernel_columns import Kernel, NativeColumns, norms2
from separatrix.models.perceptron.kernel_dual import BlockedDualRule, DualRule, DualState
from separatrix.models.perceptron.passes import LabelledRows, Order
from separatrix.numerics.driver import solve
from separatrix.numerics.status import stop_perceptron

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
    dual = sx.KernelPerceptron(kernel="linear", fit_intercept=bias, tie=tie, max_iter=15).fit(layout(X), y)
    primal = sx.Perceptron(order="cyclic", fit_intercept=bias, tie=tie, max_iter=15).fit(X, y)
    assert dual.epoch_mistakes_.tolist() == primal.epoch_mistakes_.tolist()
    assert dual.errors_ == primal.errors_
    np.testing.assert_array_equal(dual.decision_function(layout(X)), primal.decision_function(X))
    np.testing.assert_array_equal(dual.dual_coef_ @ X[dual.support_], primal.coef_)
    assert np.abs(dual.dual_coef_).sum() == primal.mistakes_  # |a_i| counts the mistakes on row i


@pytest.mark.parametrize("kernel", ["poly", "rbf", rbf])
def test_xor_is_learned(kernel):
    X, y = XOR
    model = sx.KernelPerceptron(kernel=kernel, degree=2, gamma=1.0).fit(X, y)
    assert model.status_ is sx.numerics.Status.CONVERGED
    assert model.predict(X).tolist() == y.tolist()
    linear = sx.KernelPerceptron(kernel="linear").fit(X, y)
    assert linear.status_ is sx.numerics.Status.MAX_ITERATIONS


def test_function_matrix_and_name_are_the_same_kernel():
    X, y = table(7, classes=3)
    named = sx.KernelPerceptron(gamma=0.5, max_iter=5).fit(X, y)
    function = sx.KernelPerceptron(kernel=rbf, max_iter=5).fit(X, y)
    matrix = sx.KernelPerceptron(kernel="precomputed", max_iter=5).fit(rbf(X, X), y)
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
    shared = {"max_iter": 10, "order": "shuffle", "random_state": 0}
    a = sx.KernelPerceptron(cache_mb=0, **shared).fit(X, y)
    b = sx.KernelPerceptron(cache_mb=0.01, **shared).fit(X, y)
    c = sx.KernelPerceptron(**shared).fit(X, y)
    np.testing.assert_array_equal(a.dual_coef_, b.dual_coef_)
    np.testing.assert_array_equal(a.dual_coef_, c.dual_coef_)


@pytest.mark.parametrize("bound", [np.inf, 40])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_adding_columns_late_changes_nothing(bound, layout):
    """Block by block or column by column: the same weights and scores, to the bit."""
    rng = np.random.default_rng(0)
    X, y = layout(np.round(rng.normal(size=(500, 300)), 1)), rng.integers(0, 2, size=500)
    blocked = sx.KernelPerceptron(max_iter=3, max_support=bound).fit(X, y)
    rows = kernels.rows(X)
    state = DualState.begin(500)
    columns = NativeColumns(rows, Kernel("rbf", 1 / 300, 1.0, 3), norms2(rows))
    rule = DualRule(columns, np.zeros(500), 1.0, True, bound, Order(None))
    for _ in range(3):
        rule.step(state, LabelledRows(rows, np.where(y == 1, 1, -1).astype(np.int8)))
    np.testing.assert_array_equal(blocked.dual_coef_[0], state.a[blocked.support_])
    assert blocked.mistakes_ == state.updates
    assert blocked.errors_ == np.count_nonzero((2 * y - 1) * rule.scores <= 0)


def rows_of(kind, rng, n, d):
    X = rng.normal(size=(n, d))
    changed = {
        "scaled": X,
        "integers": np.round(X),
        "duplicates": X[rng.integers(0, max(1, n // 5), size=n)],
        "unscaled": X * np.geomspace(1e-2, 1e5, d),
        "nearly the same": 1 + 1e-7 * X,
        "subnormal": 1e-309 * X,
        "huge": 1e35 * X,
    }
    return changed[kind]


def learned(new_rule, view, y, weight, classes):
    """States and ends of the runs for each class, and the rows that are wrong by the scores in double."""
    states, endings, scores, wrong = [], [], [], 0
    for k in range(classes) if classes > 2 else (1,):
        signs = np.where(y == k, 1, -1).astype(np.int8)
        if weight is not None:
            signs[weight == 0] = 0
        rule = new_rule()
        states.append(DualState.begin(len(y)))
        ended = solve(rule, states[-1], LabelledRows(view, signs, weight), stop_perceptron(0, 4, np.inf))
        wrong = rule.errors(signs)
        separated = ended.status is sx.numerics.Status.MAX_ITERATIONS and wrong == 0
        endings.append(sx.numerics.Status.SEPARATED if separated else ended.status)
        scores.append(rule.exact(np.arange(len(y))))
    if classes > 2:
        mistaken = np.array(scores).argmax(axis=0) != y
        wrong = np.count_nonzero(mistaken if weight is None else mistaken & (weight > 0))
    return states, endings, wrong


KINDS_OF_ROWS = ("scaled", "integers", "duplicates", "unscaled", "nearly the same", "subnormal", "huge")


@pytest.mark.filterwarnings("ignore::separatrix.errors.ScaleWarning")
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2, 250),
    d=st.integers(1, 12),
    rows=st.sampled_from(KINDS_OF_ROWS),
    kernel=st.sampled_from(["rbf", "rbf", "rbf", "linear", "poly"]),
    gamma=st.sampled_from([1e-290, 1e-5, 0.1, 1.0, 30.0, 1e290]),
    bias=st.booleans(),
    tie=st.sampled_from(["mistake", "positive"]),
    bound=st.sampled_from([np.inf, 7]),
    classes=st.sampled_from([2, 3]),
    weighted=st.sampled_from(["no", "mild", "wild", "overflowing"]),
    dtype=st.sampled_from([np.float64, np.float32]),
)
def test_signs_in_single_precision_change_nothing(
    seed, n, d, rows, kernel, gamma, bias, tie, bound, classes, weighted, dtype
):
    """The fit, against scores in double, late or column by column: the same in everything that is reported."""
    rng = np.random.default_rng(seed)
    X = rows_of(rows, rng, n, d).astype(dtype)
    y = np.append(np.arange(classes), rng.integers(0, classes, size=n))[:n]
    if classes > n or not np.isfinite(X).all():
        return
    weight = {
        "no": None,
        "mild": np.append(1.0, rng.choice([0.0, 0.5, 1.0, 3.0], size=n - 1)),
        "wild": 10.0 ** rng.integers(-150, 150, size=n),
        "overflowing": 10.0 ** rng.integers(300, 308, size=n),
    }[weighted]
    model = sx.KernelPerceptron(
        kernel=kernel, gamma=gamma, degree=2, fit_intercept=bias, tie=tie, max_support=bound, max_iter=4
    ).fit(X, y, sample_weight=weight)
    view = kernels.rows(X)
    columns = NativeColumns(view, Kernel(kernel, gamma, 1.0, 2), norms2(view))
    limits = (tie == "mistake", bound)

    def late():
        fixed = (columns.rows, columns.norm2, *columns.kernel.arguments())
        return BlockedDualRule(kernels.LateScores(*fixed, float(bias), False), *limits)

    def by_columns():
        return DualRule(columns, np.zeros(n), float(bias), *limits, Order(None))

    for new_rule in (late, by_columns):
        with np.errstate(over="ignore", invalid="ignore"):
            states, endings, wrong = learned(new_rule, view, y, weight, classes)
        a = np.array([state.a for state in states])
        assert model.support_.tolist() == np.flatnonzero(a.any(axis=0)).tolist()
        assert model.dual_coef_.tobytes() == np.ascontiguousarray(a[:, model.support_]).tobytes()
        assert model.mistakes_ == sum(state.updates for state in states)
        assert model.visits_ == sum(state.visits for state in states)
        assert model.forgotten_ == sum(state.forgotten for state in states)
        assert model.status_ is max(endings, key=list(sx.numerics.Status).index)
        assert model.errors_ == wrong


def test_an_interruption_while_errors_are_counted_keeps_the_model(monkeypatch):
    X, y = table(2)
    whole = sx.KernelPerceptron(max_iter=3).fit(X, y)

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(BlockedDualRule, "errors", interrupted)
    model = sx.KernelPerceptron(max_iter=3)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ is sx.numerics.Status.INTERRUPTED
    assert not hasattr(model, "errors_")
    np.testing.assert_array_equal(model.dual_coef_, whole.dual_coef_)


def test_memory_is_bounded_and_the_lightest_row_is_forgotten():
    X, y = table(4, n=200)
    model = sx.KernelPerceptron(gamma=0.5, max_support=12, max_iter=4).fit(X, y)
    assert np.count_nonzero(model.dual_coef_) <= 12
    assert model.forgotten_ > 0
    scores = (rbf(X, X[model.support_]) + 1) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    streamed = sx.KernelPerceptron(gamma=0.5, max_support=12).partial_fit(X, y)
    assert np.count_nonzero(streamed.dual_coef_) <= 12
    one_pass = sx.KernelPerceptron(gamma=0.5, max_support=12, max_iter=1).fit(X, y)
    np.testing.assert_allclose(streamed.decision_function(X), one_pass.decision_function(X), atol=1e-9)
    first = sx.KernelPerceptron(kernel="linear", fit_intercept=False, max_support=1, max_iter=1)
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
    fitted = sx.KernelPerceptron(gamma=0.2, max_iter=1).fit(layout(X), y).partial_fit(layout(X), y)
    twice = sx.KernelPerceptron(gamma=0.2, max_iter=2).fit(layout(X), y)
    np.testing.assert_allclose(fitted.decision_function(X), twice.decision_function(X), atol=1e-9)


def test_weights_scale_what_a_mistake_adds():
    X, y = table(6)
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], size=len(y))
    dual = sx.KernelPerceptron(kernel="linear", max_iter=5).fit(X, y, sample_weight=weight)
    primal = sx.Perceptron(order="cyclic", max_iter=5).fit(X, y, sample_weight=weight)
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


def test_a_stream_goes_on_from_assigned_weights():
    X, y = table(3)
    model = sx.KernelPerceptron(kernel="linear").partial_fit(X, y)
    model.dual_coef_ = 2 * model.dual_coef_
    before = model.decision_function(X)
    i = int(np.argmax(before * np.where(y == model.classes_[1], 1, -1)))  # a row that moves nothing
    np.testing.assert_array_equal(model.partial_fit(X[[i]], y[[i]]).decision_function(X), before)
    model.dual_coef_ = np.ones((1, 1))
    with pytest.raises(sx.errors.DataError, match="dual_coef_ has shape"):
        model.partial_fit(X, y)
