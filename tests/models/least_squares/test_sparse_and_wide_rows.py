"""Least squares on sparse rows, and on more columns than rows: every way agrees with another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from test_least_squares import gradient

import separatrix as sx
from separatrix.errors import DataError
from separatrix.models.least_squares import ridge_solver, singular_values
from separatrix.models.least_squares.sparse_rows import solve_cg
from separatrix.numerics.normal_equations import LeastSquaresProblem


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
    assert model.solver_ == "dual"
    wide = sx.LeastSquares(alpha, penalize_intercept=penalize).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, wide.coef_, atol=1e-10)
    with pytest.raises(AttributeError, match="no normal matrix"):
        _ = model.normal_matrix_
    with pytest.raises(DataError, match="kept no moments"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("penalize", [False, True])
@pytest.mark.parametrize("solver", ["cg", "lsqr"])
def test_sparse_rows_too_many_for_any_table(penalize, solver, monkeypatch):
    if solver == "lsqr":
        monkeypatch.setattr(ridge_solver, "solve_cg", lambda problem: None)  # as where nothing is proved
    rng = np.random.default_rng(2)
    tall = sp.random_array((4200, 4200), density=0.001, rng=rng, format="csr")
    y = np.asarray(tall @ rng.normal(size=4200)) + rng.normal(size=4200)
    model = sx.LeastSquares(1.0, penalize_intercept=penalize).fit(tall, y)
    assert model.solver_ == solver
    w, b = gradient(model, tall, y, None)
    assert max(np.abs(w).max(), abs(b)) < 1e-8


@pytest.mark.parametrize("kind", ["free", "penalised", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_conjugate_gradients_end_within_what_they_prove(kind, weighted):
    rng = np.random.default_rng(3)
    X = sp.random_array((300, 80), density=0.1, rng=rng, format="csr", data_sampler=rng.standard_normal)
    X = sp.csr_array(X + sp.csr_array(np.where(rng.random((300, 80)) < 0.02, 50.0, 0.0)))  # some columns are longer
    Y = rng.normal(size=(300, 2)) + 3.0
    c = rng.random(300) if weighted else None
    problem = LeastSquaresProblem(X, Y, c, 0.7, kind != "none", kind == "free")
    found = solve_cg(problem)
    A = np.column_stack([X.toarray(), np.full(300, 0.0 if kind == "none" else 1.0)])
    root = np.sqrt(np.ones(300) if c is None else c)[:, None]
    penalty = np.sqrt(0.7) * np.eye(81)
    if kind == "free":
        penalty[-1, -1] = 0.0
    exact = np.linalg.lstsq(np.vstack([root * A, penalty]), np.vstack([root * Y, np.zeros((81, 2))]), rcond=None)[0].T
    assert found.solver == "cg"
    difference = np.linalg.norm(found.lifted[:, :-1] - exact[:, :-1], axis=1)
    assert (difference <= 1e-9 * np.linalg.norm(exact[:, :-1], axis=1)).all()
    np.testing.assert_allclose(found.lifted[:, -1], exact[:, -1], rtol=1e-8, atol=1e-12)
    assert solve_cg(replace(problem, alpha=1e-14)) is None  # a penalty too small to prove anything


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_wide_rows_through_their_products_agree_with_singular_values(monkeypatch, alpha, weighted, fit_intercept):
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(80, 400)) * np.exp(rng.normal(size=400)), rng.normal(size=80)
    weights = rng.random(80) + 0.1 if weighted else None
    assert singular_values._from_products(X) is not None
    found = sx.LeastSquares(alpha, fit_intercept=fit_intercept).fit(X, y, weights)
    monkeypatch.setattr(singular_values, "_from_products", lambda A: None)
    monkeypatch.setattr(singular_values, "_of_independent_rows", lambda problem, design: None)
    expected = sx.LeastSquares(alpha, fit_intercept=fit_intercept).fit(X, y, weights)
    assert np.abs(found.coef_ - expected.coef_).max() <= 1e-13 * np.abs(expected.coef_).max()
    assert found.rank_ == expected.rank_
    assert found.condition_ == pytest.approx(expected.condition_, rel=1e-6)


@pytest.mark.parametrize("rows", [3, 40, 59])
@pytest.mark.parametrize(
    ("alpha", "fit_intercept", "penalize_intercept"), [(0, 1, 0), (0, 0, 0), (0, 1, 1), (1e-15, 1, 0)]
)
def test_independent_rows_need_no_singular_values(monkeypatch, rows, alpha, fit_intercept, penalize_intercept):
    rng = np.random.default_rng(rows)
    X = rng.normal(size=(rows, 60)) * 10 ** rng.uniform(-1, 1, 60) + rng.uniform(-5, 5, 60)
    X[:, 7], Y, weights = 3.0, rng.normal(size=(rows, 2)), rng.integers(1, 4, rows).astype(float)
    model = sx.LeastSquares(alpha, fit_intercept=bool(fit_intercept), penalize_intercept=bool(penalize_intercept))
    with monkeypatch.context() as patch:
        patch.setattr(singular_values, "_Pseudo", None)
        found = clone(model).fit(X, Y, weights)
    monkeypatch.setattr(singular_values, "_of_independent_rows", lambda problem, design: None)
    expected = clone(model).fit(X, Y, weights)
    assert np.abs(found.coef_ - expected.coef_).max() <= 1e-15 * np.abs(expected.coef_).max()
    assert found.rank_ == expected.rank_ == rows
    assert found.condition_ == expected.condition_ == np.inf  # of columns that are dependent


@pytest.mark.parametrize("columns", [100, 600])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_squares_beyond_the_doubles_are_refused_in_wide_rows(columns, alpha):
    X = 1e200 * np.random.default_rng(0).normal(size=(50, columns))
    with pytest.raises(DataError, match="overflow: scale the columns"):
        sx.LeastSquares(alpha).fit(X, np.arange(50.0))


def test_wide_rows_that_nearly_repeat_are_left_to_singular_values():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(80, 400))
    X[1] = X[0] + 1e-6 * rng.normal(size=400)
    assert singular_values._from_products(X) is None
