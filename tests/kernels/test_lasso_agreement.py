"""The kernels of coordinate descent: native and reference agree, and a pass never makes the quadratic greater."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import reference
from separatrix import kernels


def natives():
    return kernels.native_modules()


def columns(kind, d, n, rng):
    Z = rng.standard_normal((d, n))
    if kind == "csr":
        return sparse.csr_array(np.where(rng.random((d, n)) < 0.4, Z, 0.0))
    return Z.astype(kind)


def rows_of(module, X):
    if isinstance(X, np.ndarray):
        return module.Rows.dense(X)
    return module.Rows.csr(X.data, X.indices, X.indptr, X.shape[1])


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize(("d", "n"), [(1, 1), (5, 9), (12, 40)])
def test_passes_agree(kind, d, n):
    rng = np.random.default_rng(d * n)
    Z = columns(kind, d, n, rng)
    order = rng.permutation(d)
    g, along, h = rng.standard_normal(d), 0.1 * rng.standard_normal(d), rng.random(n)
    w, P = rng.standard_normal(d), rng.dirichlet(np.ones(3), n).T.reshape(-1).copy()
    results = []
    for module in (reference, *natives()):
        rows, out = rows_of(module, Z), []
        first, second, scores = np.zeros(d), np.zeros(d), np.zeros(n)
        module.weighted_sums(rows, order, h, first, second)
        module.combine(rows, order, w, scores)
        v, moved, drift = w.copy(), np.zeros(n), np.zeros(1)
        out += [first, second, scores]
        for _ in range(3):
            out.append([module.lasso_pass(rows, order, g, second + 1.0, along, 0.3, 0.1, v, moved, drift)])
        out += [v, moved, drift]
        v, bent, drift = w.copy(), np.zeros(n), np.zeros(1)
        for _ in range(3):
            out.append([module.curved_pass(rows, order, h, g, second + 1.0, along, 0.3, 0.1, v, bent, drift)])
        out += [v, bent, drift]
        only = np.zeros(d)
        module.weighted_sums(rows, order, h, None, only)
        np.testing.assert_array_equal(only, second)
        A = np.eye(d) + np.outer(along, along)
        u, slope = w.copy(), g.copy()
        out += [[module.gram_pass(A, order, 0.3, 0.1, u, slope)], u, slope]
        many, U, mean = np.zeros(3 * (d + 1)), np.zeros(3 * n), np.zeros(n)
        G = np.concatenate([np.append(k * g, 0.1 * k - 0.1) for k in (-1.0, 0.5, 2.0)])
        every = np.arange(3 * (d + 1))
        for _ in range(2):
            change = module.class_lasso_pass(
                rows, every, d + 1, h, P, G, np.full(3 * (d + 1), 2.0 + n), 0.2, 0.1, many, U, mean
            )
        out += [[change], many, U, mean]
        results.append(np.concatenate([np.ravel(part) for part in out]))
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
def test_the_matrix_of_chosen_columns_is_made_row_by_row(kind):
    rng = np.random.default_rng(3)
    X, h = columns(kind, 40, 12, rng), rng.random(40)
    chosen = np.array([1, 4, 5, 11])
    place = np.full(12, -1)
    place[chosen] = np.arange(4)
    Z = np.asarray(X.toarray() if kind == "csr" else X, dtype=float)[:, chosen]
    for module in (reference, *natives()):
        sums, half = np.zeros(4), np.zeros(16)
        for begin, end in ((0, 17), (17, 17), (17, 40)):
            module.chosen_gram(rows_of(module, X), h, place, begin, end, sums, half)
        H = half.reshape(4, 4) + half.reshape(4, 4).T
        np.testing.assert_allclose(H, Z.T @ (h[:, None] * Z), rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(sums, Z.T @ h, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(40, 12), (3, 50), (5, 0), (0, 5)])
def test_turned_rows_are_the_columns(dtype, index, shape):
    X = sparse.csr_array(columns("csr", *shape, np.random.default_rng(4)), dtype=dtype)
    X = sparse.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=shape)
    for module in (reference, *natives()):
        start, row = np.empty(shape[1] + 1, np.int32), np.empty(X.nnz, np.int32)
        value = np.empty(X.nnz, dtype)
        module.turned(rows_of(module, X), start, row, value)
        np.testing.assert_array_equal(sparse.csr_array((value, row, start), shape=shape[::-1]).toarray(), X.toarray().T)
        with pytest.raises(ValueError, match="turned"):
            module.turned(rows_of(module, np.ones((2, 3))), np.empty(4, np.int32), row, value)


def test_passes_over_columns_are_those_over_scaled_ones():
    rng = np.random.default_rng(6)
    X, h = rng.standard_normal((7, 20)), rng.random(20)
    g, along, order = 5.0 * rng.standard_normal(7), 0.1 * rng.standard_normal(7), rng.permutation(7)
    Z = np.ascontiguousarray(X * np.sqrt(h))
    curvature = np.sum(Z * Z, axis=1) - along**2
    v, u, moved, bent, drift, other = np.zeros(7), np.zeros(7), np.zeros(20), np.zeros(20), np.zeros(1), np.zeros(1)
    for _ in range(4):
        a = kernels.lasso_pass(kernels.rows(Z), order, g, curvature, along, 0.5, 0.2, v, moved, drift)
        b = kernels.curved_pass(kernels.rows(X), order, h, g, curvature, along, 0.5, 0.2, u, bent, other)
        assert b == pytest.approx(a, rel=1e-12)
    np.testing.assert_allclose(u, v, atol=1e-12)
    np.testing.assert_allclose(bent, np.sqrt(h) * moved, atol=1e-12)


def test_places_that_do_not_exist_are_refused():
    rows, sums, half = kernels.rows(np.ones((3, 2))), np.zeros(1), np.zeros(1)
    for place in ([0, 1], [0, -2], [0]):
        with pytest.raises(ValueError, match="place"):
            kernels.chosen_gram(rows, np.ones(3), np.array(place), 0, 3, sums, half)
    with pytest.raises(ValueError, match="begin"):
        kernels.chosen_gram(rows, np.ones(3), np.array([0, -1]), 0, 4, sums, half)


def test_passes_end_at_the_minimum_of_the_quadratic():
    rng = np.random.default_rng(2)
    Z, g = rng.standard_normal((6, 30)), 5.0 * rng.standard_normal(6)
    rows, alpha, ridge = kernels.rows(Z), 2.0, 0.5
    v, moved, drift, order = np.zeros(6), np.zeros(30), np.zeros(1), np.arange(6)

    def value():
        return g @ v + 0.5 * np.sum((v @ Z) ** 2) + alpha * np.abs(v).sum() + 0.5 * ridge * v @ v

    before = value()
    for _ in range(300):
        change = kernels.lasso_pass(rows, order, g, np.sum(Z * Z, axis=1), np.zeros(6), alpha, ridge, v, moved, drift)
        assert value() <= before - 0.5 * change + 1e-12
        before = value()
    np.testing.assert_allclose(moved, v @ Z, atol=1e-12)
    slope = g + Z @ (v @ Z) + ridge * v
    np.testing.assert_allclose(slope[v != 0], -alpha * np.sign(v[v != 0]), atol=1e-10)
    assert (np.abs(slope[v == 0]) <= alpha).all()


def test_wrong_lengths_and_coordinates_are_refused():
    rows, one = kernels.rows(np.ones((2, 3))), np.ones(2)
    moved, drift = np.zeros(3), np.zeros(1)
    with pytest.raises(ValueError, match="does not exist"):
        kernels.lasso_pass(rows, np.array([2]), one, one, one, 1.0, 0.0, one, moved, drift)
    with pytest.raises(ValueError, match="as long as"):
        kernels.lasso_pass(rows, np.array([1]), one, one, one, 1.0, 0.0, one, np.zeros(2), drift)
    with pytest.raises(ValueError, match="bent"):
        kernels.curved_pass(rows, np.array([1]), moved, one, one, one, 1.0, 0.0, one, np.zeros(2), drift)
    sparse_rows = kernels.rows(sparse.csr_array(np.ones((2, 3))))
    with pytest.raises(ValueError, match="every number"):
        kernels.turned(sparse_rows, np.zeros(4, np.int32), np.zeros(5, np.int32), np.zeros(6))
    with pytest.raises(ValueError, match="one more"):
        kernels.turned(sparse_rows, np.zeros(3, np.int32), np.zeros(6, np.int32), np.zeros(6))
    with pytest.raises(ValueError, match="square"):
        kernels.gram_pass(np.ones((2, 3)), np.array([0]), 1.0, 0.0, one, one)
    with pytest.raises(ValueError, match="width"):
        kernels.class_lasso_pass(rows, np.array([0]), 5, None, np.zeros(3), one, one, 1.0, 0.0, one, np.zeros(3), moved)
    with pytest.raises(ValueError, match="every row"):
        kernels.weighted_sums(rows, np.array([0]), moved, np.zeros(1), None)
