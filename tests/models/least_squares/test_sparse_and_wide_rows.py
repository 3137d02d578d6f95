"""Least squares on sparse rows, and on more columns than rows: every way agrees with another."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from test_least_squares import gradient

import separatrix as sx
from separatrix.errors import DataError


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_rows_are_as_good_as_dense_ones(alpha, fit_intercept):
    rng = np.random.default_rng(1)
    X = sp.random_array((200, 30), density=0.2, rng=rng, format="csr")
    y = rng.normal(size=200)
    options = {"alpha": alpha, "fit_intercept": fit_intercept}
    dense, sparse = sx.LeastSquares(**options).fit(X.toarray(), y), sx.LeastSquares(**options).fit(X, y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-12)
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X.toarray()), rtol=1e-11)


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("penalize", [False, True])
def test_sparse_rows_with_very_many_columns(alpha, penalize):
    rng = np.random.default_rng(2)
    X = sp.random_array((50, 5000), density=0.01, rng=rng, format="csr")
    y = rng.normal(size=50)
    model = sx.LeastSquares(alpha, penalize_intercept=penalize).fit(X, y)
    assert model.solver_ == "wide"
    wide = sx.LeastSquares(alpha, penalize_intercept=penalize).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, wide.coef_, atol=1e-10)
    with pytest.raises(AttributeError, match="no normal matrix"):
        _ = model.normal_matrix_
    with pytest.raises(DataError, match="kept no moments"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("penalize", [False, True])
@pytest.mark.parametrize(("solver", "alpha"), [("cg", 1.0), ("lsqr", 0.0)])
def test_sparse_rows_too_many_for_any_table(penalize, solver, alpha):
    rng = np.random.default_rng(2)
    tall = sp.csr_array(sp.random_array((4300, 4200), density=0.001, rng=rng) + 5.0 * sp.eye_array(4300, 4200))
    y = np.asarray(tall @ rng.normal(size=4200)) + rng.normal(size=4300)
    model = sx.LeastSquares(alpha, penalize_intercept=penalize).fit(tall, y)
    assert model.solver_ == solver
    w, b = gradient(model, tall, y, None)
    assert max(np.abs(w).max(), abs(b)) < 1e-8


def few_stored(rng, n=1500, d=1200):
    """Rows of few numbers, of which steps of conjugate gradients cost less than a factorisation; some columns are
    longer."""
    X = sp.random_array((n, d), density=3 / d, rng=rng, format="csr", data_sampler=rng.standard_normal)
    return sp.csr_array(X @ sp.diags_array(np.where(rng.random(d) < 0.02, 50.0, 1.0)))


def ridge_of_copies(X, y, c, alpha, kind):
    """Lifted weights by a least-squares solution of the rows and the penalty, one below the other."""
    n, d = X.shape
    root = np.sqrt(np.ones(n) if c is None else c)
    penalty = np.sqrt(alpha) * np.eye(d + 1)
    penalty[-1, -1] = {"free": 0.0, "penalised": np.sqrt(alpha), "none": 1.0}[kind]
    A = root[:, None] * np.column_stack([X.toarray(), np.full(n, 0.0 if kind == "none" else 1.0)])
    M = A.T @ A + penalty.T @ penalty
    w = np.linalg.solve(M, A.T @ (root * y))
    return w + np.linalg.solve(M, A.T @ (root * y - A @ w) - penalty.T @ (penalty @ w))


@pytest.mark.parametrize("kind", ["free", "penalised", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_conjugate_gradients_end_within_what_they_prove(kind, weighted):
    rng = np.random.default_rng(3)
    X = few_stored(rng)
    y = rng.normal(size=1500) + 3.0
    c = rng.random(1500) if weighted else None
    model = sx.LeastSquares(0.7, fit_intercept=kind != "none", penalize_intercept=kind == "penalised").fit(X, y, c)
    assert model.solver_ == "cg"
    assert "conjugate gradients" in model.plan_
    exact = ridge_of_copies(X, y, c, 0.7, kind)
    assert np.linalg.norm(model.coef_ - exact[:-1]) <= 1e-10 * np.linalg.norm(exact[:-1])
    assert model.intercept_ == pytest.approx(exact[-1], rel=1e-8, abs=1e-12)


def test_rows_whose_steps_do_not_converge_are_factorised():
    rng = np.random.default_rng(4)
    X, y = few_stored(rng), rng.normal(size=1500)
    tiny = sx.LeastSquares(1e-9).fit(X, y)  # a penalty too small for as many steps as a factorisation costs
    assert tiny.solver_ != "cg"
    w, b = gradient(tiny, X, y, None)
    assert max(np.abs(w).max(), abs(b)) < 1e-8


def test_moments_of_iterated_rows_are_made_when_they_are_asked_for():
    rng = np.random.default_rng(5)
    X, y = few_stored(rng), rng.normal(size=1500)
    model = sx.LeastSquares(0.7).fit(X, y)
    assert model.solver_ == "cg"
    data = X.data.copy()
    X.data[:] = 0.0  # rows may be overwritten after a fit
    found = model.normal_matrix_
    X.data[:] = data
    lifted = np.column_stack([X.toarray(), np.ones(1500)])
    expected = lifted.T @ lifted + np.diag([0.7] * 1200 + [0.0])
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_wide_rows_through_their_products_agree_with_singular_values(sparse, alpha, weighted, fit_intercept):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(80, 400)) * np.exp(rng.normal(size=400)), rng.normal(size=80)
    weights = rng.random(80) + 0.1 if weighted else None
    found = sx.LeastSquares(alpha, fit_intercept=fit_intercept).fit(sp.csr_array(X) if sparse else X, y, weights)
    assert found.solver_ == "wide"
    c = np.ones(80) if weights is None else weights
    mean = (c @ X / c.sum(), float(c @ y / c.sum())) if fit_intercept else (np.zeros(400), 0.0)
    root = np.sqrt(c)
    U, values, V = np.linalg.svd(root[:, None] * (X - mean[0]), full_matrices=False)
    kept = values > 1e-10 * values[0]
    right = U[:, kept].T @ (root * (y - mean[1]))
    w = V[kept].T @ (right * values[kept] / (values[kept] ** 2 + alpha))
    assert np.abs(found.coef_ - w).max() <= 1e-12 * np.abs(w).max()
    assert found.intercept_ == pytest.approx(mean[1] - w @ mean[0], abs=1e-12)
    assert found.rank_ == (400 + fit_intercept if alpha else 80)
    expected = np.sqrt((values[0] ** 2 + alpha) / alpha) if alpha else np.inf
    assert found.condition_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_repeat_have_the_solution_of_least_norm(sparse):
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(40, 300)), rng.normal(size=40)
    X[1], X[2] = X[0], X[3] + 1e-12 * rng.normal(size=300)
    model = sx.LeastSquares().fit(sp.csr_array(X) if sparse else X, y)
    w = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-9) @ (y - y.mean())
    assert np.abs(model.coef_ - w).max() <= 1e-9 * np.abs(w).max() or model.rank_ == 39
    assert model.rank_ in (38, 39)  # whether the rows 2 and 3 differ is for the rule to say


@pytest.mark.parametrize("columns", [100, 600])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_squares_beyond_the_doubles_are_refused_in_wide_rows(columns, alpha):
    X = 1e200 * np.random.default_rng(0).normal(size=(50, columns))
    with pytest.raises(DataError, match="overflow: scale the columns"):
        sx.LeastSquares(alpha).fit(X, np.arange(50.0))
