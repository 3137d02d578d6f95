"""The kernel of the dual soft margin: native and reference agree to the bit, and a pass never lowers the dual."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse

import reference
from separatrix import kernels


def natives():
    return kernels.native_modules()


def rows_of(module, X):
    if isinstance(X, np.ndarray):
        return module.Rows.dense(X)
    return module.Rows.csr(X.data, X.indices, X.indptr, X.shape[1])


def draw(kind, n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.4, 1, -1).astype(np.int8)
    if kind == "csr":
        return sparse.csr_array(np.where(rng.random((n, d)) < 0.3, X, 0.0)), y, rng
    return X.astype(kind), y, rng


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (9, 5), (40, 33)])
def test_passes_agree(kind, n, d):
    X, y, rng = draw(kind, n, d)
    cost, first = rng.random(n) + 0.1, rng.permutation(n)
    results = []
    for module in (reference, *natives()):
        rows, norm2 = rows_of(module, X), np.empty(n)
        module.norms2(rows, norm2)
        z, w, bias, order, high, low = np.zeros(n), np.zeros(d), np.zeros(1), first.copy(), math.inf, -math.inf
        out = []
        for _ in range(4):
            kept, most, least = module.hinge_pass(
                rows, y, order, cost, norm2 + 0.5, 0.5, high, low, z, w, bias
            )  # fmt: skip
            out += [order.copy(), [kept, most, least]]
            order, high, low = order[:kept].copy(), 0.5 * most, 0.5 * least
        results.append(np.concatenate([np.ravel(part) for part in (*out, z, w, bias)]))
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("kind", ["float64", "csr"])
def test_a_pass_never_lowers_the_dual_and_keeps_w(kind):
    X, y, rng = draw(kind, 60, 20, 1)
    n, rho = 60, 0.3
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    rows, cost, norm2 = kernels.rows(X), rng.random(n), (dense**2).sum(1)
    z, w, bias = np.zeros(n), np.zeros(20), np.zeros(1)

    def dual():
        v = (z * y) @ dense
        return z.sum() - 0.5 * v @ v - 0.5 * rho * (z @ y) ** 2

    last = dual()
    for _ in range(20):
        kernels.hinge_pass(rows, y, rng.permutation(n), cost, norm2 + rho, rho, math.inf, -math.inf, z, w, bias)
        assert dual() >= last - 1e-12
        assert ((z >= 0) & (z <= cost)).all()
        last = dual()
    np.testing.assert_allclose(w, (z * y) @ dense, atol=1e-12)
    assert bias[0] == pytest.approx(rho * (z @ y), abs=1e-12)


def test_rows_that_do_not_exist_are_refused():
    X = np.ones((2, 2))
    one = np.ones(2)
    y = np.array([1, -1], dtype=np.int8)
    for module in natives():
        for bad in (np.array([2]), np.array([-1])):
            with pytest.raises(ValueError, match="order names a row"):
                module.hinge_pass(
                    rows_of(module, X), y, bad, one, one, 0.0, math.inf, -math.inf, one.copy(), one.copy(), np.zeros(1)
                )
        view, zeros = rows_of(module, X), np.zeros(3)
        with pytest.raises(ValueError, match="w must be as long"):
            module.hinge_pass(view, y, np.arange(2), one, one, 0.0, math.inf, -math.inf, one.copy(), zeros, zeros[:1])
