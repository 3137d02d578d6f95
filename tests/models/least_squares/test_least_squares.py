"""Least squares: certified references, oracles, optimality by other code, theorems, and bad input."""

from __future__ import annotations

import copy
from fractions import Fraction

import numpy as np
import pytest
from exact_fit import exact_fit
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, Ridge

import separatrix as sx
from separatrix.errors import CollinearWarning, DataError, ParameterError, PrecisionWarning


def table(path):
    rows = np.array([[float(v) for v in line.split(",")] for line in path.read_text().split()[1:]])
    return rows[:, :-1], rows[:, -1]


def right_digits(got, want):
    want = Fraction(want)
    error = abs(Fraction(float(got)) - want) / abs(want)
    return 17.0 if error == 0 else -float(np.log10(float(error)))


@pytest.mark.parametrize(("name", "solver"), [("longley", "refined"), ("norris", "refined")])
def test_nist_coefficients_to_thirteen_digits(real_data, name, solver):
    X, y = table(real_data(f"nist_{name}.csv"))
    exact, model = exact_fit(X, y), sx.LeastSquares().fit(X, y)
    for got, want in zip([*model.coef_, model.intercept_], exact.weights, strict=True):
        assert right_digits(got, want) >= 13
    assert model.solver_ == solver
    assert right_digits(model.rss_, exact.rss) >= 12


@pytest.mark.parametrize("name", ["diabetes", "nist_longley"])
def test_ridge_references_to_twelve_digits(real_data, name):
    X, y = table(real_data(f"{name}.csv"))
    alphas = [0.01, 1.0, 100.0]
    coefs, intercepts = sx.LeastSquares().path(X, y, alphas)
    for alpha, coef, intercept in zip(alphas, coefs, intercepts, strict=True):
        model, wanted = sx.LeastSquares(alpha).fit(X, y), exact_fit(X, y, alpha).weights
        for got, want in zip([*model.coef_, model.intercept_], wanted, strict=True):
            assert right_digits(got, want) >= 12
        for got, want in zip([*coef, intercept], wanted, strict=True):
            assert right_digits(got, want) >= 12


def problem(n, d, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d) + rng.normal(size=d)
    y = X @ rng.normal(size=d) + rng.normal(size=n) + 3
    return X, y, rng.integers(0, 4, n) / 2 if weighted else None


def gradient(model, X, y, c):
    """Optimality by independent code: X'C(y - Xw - b) - alpha w, and the same for b."""
    c = np.ones(len(y)) if c is None else c
    left = c * (y - X @ model.coef_ - model.intercept_)
    w = X.T @ left - model.alpha * model.coef_
    b = left.sum() - (model.alpha * model.intercept_ if model.penalize_intercept else 0.0)
    return w, b if model.fit_intercept else 0.0


SHAPES = [(30, 1), (50, 7), (200, 30), (8, 7), (9, 8), (5, 12), (3, 40), (2, 1), (2, 3)]


def problem_with_two_rows(n, d, weighted):
    X, y, c = problem(n, d, seed=n + d, weighted=weighted)
    if c is not None and np.count_nonzero(c) < 2:
        c[:2] = 1.0
    return X, y, c


def solvers_of(n, d, alpha, weighted):
    """Every solver; without a penalty, squares of wide rows keep half the digits only, and qr hands over to svd."""
    c = problem_with_two_rows(n, d, weighted)[2]
    tall = (n if c is None else np.count_nonzero(c)) > d + 1
    return ["auto", "moments", "qr", "svd"] if tall or alpha else ["auto", "svd"]


CASES = [
    (n, d, alpha, weighted, solver)
    for n, d in SHAPES
    for alpha in (0.0, 0.7)
    for weighted in (False, True)
    for solver in solvers_of(n, d, alpha, weighted)
]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d", "alpha", "weighted", "solver"), CASES)
def test_scikit_learn_agrees(n, d, alpha, fit_intercept, weighted, solver):
    X, y, c = problem_with_two_rows(n, d, weighted)
    model = sx.LeastSquares(alpha, fit_intercept=fit_intercept, solver=solver).fit(X, y, sample_weight=c)
    theirs = (
        Ridge(alpha, fit_intercept=fit_intercept, solver="svd")
        if alpha
        else LinearRegression(fit_intercept=fit_intercept, tol=1e-10)
    )
    theirs.fit(X, y, sample_weight=c)
    scale = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-10, atol=1e-10 * scale)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-10 * np.abs(y).max())
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-9)
    w, b = gradient(model, X, y, c)
    size = np.abs(X).T @ np.abs(y) + 1
    assert np.all(np.abs(w) <= 1e-10 * size)
    assert abs(b) <= 1e-10 * np.abs(y).sum()


@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_penalised_intercept_is_the_textbook(alpha):
    X, y, _ = problem(40, 5)
    lifted = np.column_stack([X, np.ones(40)])
    M = lifted.T @ lifted + alpha * np.eye(6)
    model = sx.LeastSquares(alpha, penalize_intercept=True).fit(X, y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], np.linalg.solve(M, lifted.T @ y), rtol=1e-9)
    np.testing.assert_allclose(model.normal_matrix_, M, rtol=1e-12)
    np.testing.assert_allclose(model.moment_vector_, lifted.T @ y, rtol=1e-12)
    free = sx.LeastSquares(alpha).fit(X, y)
    M[-1, -1] -= alpha
    np.testing.assert_allclose(free.normal_matrix_, M, rtol=1e-12)
    np.testing.assert_allclose(M @ [*free.coef_, free.intercept_], free.moment_vector_, rtol=1e-10)


@pytest.mark.parametrize("penalize", [False, True])
@pytest.mark.parametrize(("n", "d"), [(6, 15), (30, 5), (4, 4)])
def test_ridge_tends_to_the_minimum_norm(n, d, penalize):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n) + 2
    if n > d:
        X[:, -1] = X[:, 0] - 2 * X[:, 1]  # dependent columns
        with pytest.warns(CollinearWarning, match="column 0, column 1 and column 4 are linearly dependent"):
            limit = sx.LeastSquares(penalize_intercept=penalize).fit(X, y)
        assert limit.solver_ == "svd"
        assert limit.rank_ == d
    else:
        limit = sx.LeastSquares(penalize_intercept=penalize).fit(X, y)
        np.testing.assert_allclose(limit.predict(X), y, atol=1e-12)
        assert limit.solver_ == "wide"
        assert limit.rank_ == n
    steps = []
    for alpha in (1e-2, 1e-3, 1e-4):
        near = sx.LeastSquares(alpha, penalize_intercept=penalize).fit(X, y)
        steps.append(np.abs(np.append(near.coef_ - limit.coef_, near.intercept_ - limit.intercept_)).max())
    assert steps[1] < 0.2 * steps[0]
    assert steps[2] < 0.2 * steps[1]
    A = np.column_stack([X, np.ones(n)]) if penalize else X - X.mean(axis=0)
    shortest = np.linalg.pinv(A) @ (y if penalize else y - y.mean())
    np.testing.assert_allclose(limit.coef_, shortest[:d], rtol=1e-9, atol=1e-12)


def test_columns_of_very_different_scale_keep_their_rank():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    y = X @ [1.0, 2.0, 3.0, 0.5] + 0.1 * rng.normal(size=60)
    with pytest.warns(CollinearWarning):
        scaled = sx.LeastSquares().fit(X * [1.0, 1.0, 1e-14, 1.0], y)
    assert scaled.rank_ == 4  # three columns and the bias
    with pytest.warns(CollinearWarning):
        plain = sx.LeastSquares().fit(X, y)
    np.testing.assert_allclose(scaled.coef_[2] * 1e-14, plain.coef_[2], rtol=1e-10)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=6), st.sampled_from([0.0, 0.5]))
def test_partial_fit_has_the_same_bits_for_any_chunking(sizes, alpha):
    n = sum(sizes) + 6
    X, y, _ = problem(n, 4, seed=n)
    whole = sx.LeastSquares(alpha).partial_fit(X, y)
    parts, begin = sx.LeastSquares(alpha), 0
    for size in (6, *sizes):
        parts.partial_fit(X[begin : begin + size], y[begin : begin + size])
        begin += size
    assert np.array_equal(whole.coef_, parts.coef_)
    assert whole.intercept_ == parts.intercept_
    at_once = sx.LeastSquares(alpha, solver="moments").fit(X, y)
    assert np.array_equal(whole.coef_, at_once.coef_)


def test_partial_fit_goes_on_after_fit():
    X, y, _ = problem(300, 6)
    model = sx.LeastSquares().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(model.coef_, sx.LeastSquares().fit(X, y).coef_, rtol=1e-11)
    assert model.n_rows_ == 300


def test_partial_fit_says_when_digits_are_lost():
    x = np.linspace(2, 3, 50)
    X = x[:, None] ** np.arange(1, 6)
    with pytest.warns(PrecisionWarning, match="digits: fit all rows at once"):
        sx.LeastSquares().partial_fit(X, x)


def test_weight_two_is_the_row_twice():
    X, y, _ = problem(80, 5)
    c = np.ones(80)
    c[::3] = 2
    twice = np.repeat(np.arange(80), c.astype(int))
    one, two = sx.LeastSquares(0.3).fit(X, y, sample_weight=c), sx.LeastSquares(0.3).fit(X[twice], y[twice])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-13)
    np.testing.assert_allclose(one.rss_, two.rss_, rtol=1e-12)


def test_a_path_is_the_fits_one_by_one():
    X, y, c = problem(90, 6, weighted=True)
    alphas = np.logspace(-3, 3, 7)
    coefs, intercepts = sx.LeastSquares().path(X, y, alphas, sample_weight=c)
    for alpha, coef, intercept in zip(alphas, coefs, intercepts, strict=True):
        one = sx.LeastSquares(alpha).fit(X, y, sample_weight=c)
        np.testing.assert_allclose(coef, one.coef_, rtol=1e-12)
        np.testing.assert_allclose(intercept, one.intercept_, rtol=1e-11)


def test_large_problems_are_solved_by_moments_and_refined_by_need():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 30))
    y = X @ rng.normal(size=30) + rng.normal(size=60_000) + 1
    model = sx.LeastSquares().fit(X, y)
    assert model.solver_ == "moments"
    qr = sx.LeastSquares(solver="qr").fit(X, y)
    np.testing.assert_allclose(model.coef_, qr.coef_, rtol=1e-12)
    np.testing.assert_allclose(model.rss_, qr.rss_, rtol=1e-12)
    coefs, _ = sx.LeastSquares().path(X, y, [0.0, 10.0])
    np.testing.assert_allclose(coefs[0], qr.coef_, rtol=1e-12)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    model, qr = sx.LeastSquares().fit(X, y), sx.LeastSquares(solver="qr").fit(X, y)
    assert model.solver_ == "refined"
    np.testing.assert_allclose(model.coef_, qr.coef_, rtol=1e-13)
    exact = sx.LeastSquares().fit(X, X @ np.arange(30.0) + 5)  # nothing is left over
    assert exact.rss_ < 1e-15 * 60_000


def test_constant_columns_and_one_row():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=20), np.full(20, 0.1)])
    with pytest.warns(CollinearWarning, match="column 1 is constant, and the model already has an intercept"):
        model = sx.LeastSquares().fit(X, X[:, 0])
    assert model.coef_[1] == 0
    assert model.rank_ == 2
    one = sx.LeastSquares().fit([[1.0, 2.0]], [3.0])
    assert one.predict([[1.0, 2.0]]) == pytest.approx([3.0])
    assert list(one.coef_) == [0, 0]


def test_a_penalty_below_rounding_gives_the_minimum_norm():
    X, y, _ = problem(30, 3)
    twice = np.column_stack([X, X])
    with pytest.warns(CollinearWarning):
        limit = sx.LeastSquares().fit(twice, y)
    np.testing.assert_allclose(sx.LeastSquares(1e-300).fit(twice, y).coef_, limit.coef_, rtol=1e-9)


def test_names_of_collinear_columns_are_given():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(20, 3)), columns=["age", "height", "sum"])
    frame["sum"] = frame["age"] + frame["height"]
    with pytest.warns(CollinearWarning, match=r"'age'.*'height'.*'sum'.* are linearly dependent \(rank 3\)"):
        sx.LeastSquares().fit(frame, rng.normal(size=20))


@pytest.mark.parametrize("alpha", [-1.0, np.inf, np.nan, "much", None, True])
def test_penalties_that_are_none(alpha):
    X, y, _ = problem(9, 2)
    model = sx.LeastSquares(alpha)
    with pytest.raises(ParameterError, match="alpha is"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    with pytest.raises(ParameterError, match="alphas"):
        sx.LeastSquares().path(X, y, [1.0, -1.0])


def test_bad_input_leaves_the_model_as_it_was():
    X, y, _ = problem(30, 3)
    model = sx.LeastSquares().fit(X, y)
    before = model.coef_.copy()
    for bad_X, bad_y in [(X, y[:-1]), (X * np.nan, y), (X[:, :2], y), (X * 1e200, y), (X, ["a"] * 30)]:
        with pytest.raises(DataError):
            model.partial_fit(bad_X, bad_y)
        assert np.array_equal(model.coef_, before)
        assert model.n_rows_ == 30
    with pytest.raises(DataError, match="overflow"):
        model.fit(X * 1e200, y)
    assert np.array_equal(model.coef_, before)
    again = copy.deepcopy(model)
    np.testing.assert_array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


def test_inputs_are_not_modified():
    X, y, c = problem(30, 3, weighted=True)
    kept = X.copy(), y.copy(), c.copy()
    for solver in ("auto", "moments", "qr", "svd"):
        sx.LeastSquares(0.1, solver=solver).fit(X, y, sample_weight=c)
    for a, b in zip((X, y, c), kept, strict=True):
        assert np.array_equal(a, b)
