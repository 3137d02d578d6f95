"""Moments from stored numbers are those of blocks of rows, or are left to them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix import LeastSquares, LeastSquaresClassifier
from separatrix.numerics.moments import Moments
from separatrix.numerics.sparse_moments import add_at_once, of_stored_numbers


def one_hot(n, values, columns, seed=0):
    rng = np.random.default_rng(seed)
    picked = rng.integers(0, values, (n, columns)) + values * np.arange(columns)
    start = np.arange(0, columns * n + 1, columns)
    return sparse.csr_array((np.ones(columns * n), picked.ravel(), start), shape=(n, values * columns)), rng


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["targets", "classes"])
def test_totals_are_those_of_blocks(kind, weighted):
    X, rng = one_hot(700, 12, 3)
    X.data *= rng.standard_normal(len(X.data))
    weights = rng.integers(0, 4, 700) * 0.25 if weighted else None
    targets = rng.standard_normal((700, 2)) + 1e6 if kind == "targets" else None
    codes = rng.integers(0, 3, 700) if kind == "classes" else None
    empty = Moments(36, 0 if targets is None else 2, None if codes is None else [0, 1, 2])
    assert of_stored_numbers(empty, X, targets, codes, weights) is not None
    ours = add_at_once(empty, X, targets, codes, weights)
    blocks = Moments(empty.features, empty.targets, empty.labels).add(X, targets, codes, weights)
    np.testing.assert_array_equal(ours.counts, blocks.counts)
    one, other = ours.totals(), blocks.totals()
    np.testing.assert_allclose(one.weight, other.weight, rtol=1e-15)
    np.testing.assert_allclose(one.mean + one.rest, other.mean + other.rest, rtol=1e-13, atol=1e-15)
    size = np.sqrt(np.diagonal(other.scatter))
    np.testing.assert_allclose(one.scatter, other.scatter, rtol=0, atol=1e-9 * np.outer(size, size).max())
    features = slice(0, 36)
    limit = 1e-13 * np.outer(size, size)[features, features].max()
    np.testing.assert_allclose(one.scatter[features, features], other.scatter[features, features], rtol=0, atol=limit)


def test_columns_far_from_zero_and_dense_rows_are_left_to_blocks():
    X, rng = one_hot(400, 20, 2)
    assert of_stored_numbers(Moments(40), X, None, None, None) is not None
    constant = sparse.hstack([X, sparse.csr_array(1e6 + rng.standard_normal((400, 1)))]).tocsr()
    assert of_stored_numbers(Moments(41), constant, None, None, None) is None
    full = sparse.csr_array(rng.standard_normal((50, 8)))
    assert of_stored_numbers(Moments(8), full, None, None, None) is None
    assert of_stored_numbers(Moments(40, labels=[0, 1]), X, None, np.zeros(400, dtype=np.int64), None) is None
    spoiled = X.copy()
    spoiled.data[7] = np.nan
    assert of_stored_numbers(Moments(40), spoiled, None, None, None) is None


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_one_hot_fits_are_those_of_dense_rows_and_go_on(alpha):
    X, rng = one_hot(900, 15, 3)
    if not alpha:
        X = X[:, np.flatnonzero(np.arange(45) % 15)]  # the columns of a factor sum to one
    y, labels = rng.standard_normal(900), rng.integers(0, 3, 900)
    whole, dense = LeastSquares(alpha).fit(X, y), LeastSquares(alpha).fit(X.toarray(), y)
    np.testing.assert_allclose(whole.coef_, dense.coef_, rtol=0, atol=1e-13)
    assert whole.solver_ == dense.solver_
    assert whole.condition_ == pytest.approx(dense.condition_, rel=1e-9)
    classes = LeastSquaresClassifier(alpha).fit(X, labels)
    np.testing.assert_allclose(classes.coef_, LeastSquaresClassifier(alpha).fit(X.toarray(), labels).coef_, atol=1e-13)
    parts = LeastSquares(alpha).fit(X[:500], y[:500]).partial_fit(X[500:], y[500:])
    np.testing.assert_allclose(parts.coef_, dense.coef_, rtol=0, atol=1e-11)
    assert parts.n_rows_ == 900
