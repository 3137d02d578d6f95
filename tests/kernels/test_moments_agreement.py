"""Moments and twofold residuals: every level and the reference claim the same numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import reference
from separatrix import kernels

NATIVE = kernels.native_modules()
MODULES = [*NATIVE, reference]


def rows(module, X, sparse):
    if not sparse:
        return module.Rows.dense(X)
    csr = sp.csr_array(X)
    return module.Rows.csr(csr.data, csr.indices, csr.indptr, X.shape[1])


def state(module, q, classes, pooled):
    side = -(-q // 8) * 8
    return {
        "rows": np.zeros(classes, np.int64),
        "fill": np.zeros(classes, np.int64),
        "weight": np.zeros(classes),
        "mean": np.zeros((2, classes, q)),
        "scatter": np.zeros((1 if pooled else classes, side, side)),
        "block": np.zeros((classes, module.block_rows, q)),
        "block_weight": np.zeros((classes, module.block_rows)),
    }


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("d", [3, 8, 30])
def test_moments(d, pooled, sparse):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(600, d)) * (rng.random((600, d)) < 0.6)
    targets, code = rng.normal(size=(600, 1)), rng.integers(0, 2, 600)
    weights = rng.integers(0, 3, 600).astype(float)
    results = []
    for module in MODULES:
        s = state(module, d + 1, 2, pooled)
        module.moments_add(rows(module, X, sparse), targets, code, weights, 10, 590, **s)
        module.moments_flush(**s)
        results.append(s)
    last = results.pop()
    for s in results:
        assert np.array_equal(s["rows"], last["rows"])
        np.testing.assert_allclose(s["weight"], last["weight"], rtol=1e-15)
        np.testing.assert_allclose(s["mean"].sum(axis=0), last["mean"].sum(axis=0), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(np.triu(s["scatter"]), np.triu(last["scatter"]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("missing", [None, 0, 1])
def test_merging_two_states_is_adding_all_rows(pooled, missing):
    rng = np.random.default_rng(1)
    X, code = rng.normal(size=(600, 5)) + 1e3, rng.integers(0, 2, 600)
    if missing is not None:  # a class that one of the two states has no rows of
        code[300 * missing : 300 * missing + 300] = 1
    for module in MODULES:
        whole, one, two = (state(module, 5, 2, pooled) for _ in range(3))
        for s, begin, end in ((whole, 0, 600), (one, 0, 300), (two, 300, 600)):
            module.moments_add(rows(module, X, False), None, code, None, begin, end, **s)
            module.moments_flush(**s)
        module.moments_merge(**one, **{f"other_{name}": two[name] for name in ("rows", "weight", "mean", "scatter")})
        assert np.array_equal(one["rows"], whole["rows"])
        np.testing.assert_allclose(one["weight"], whole["weight"], rtol=1e-15)
        np.testing.assert_allclose(one["mean"].sum(axis=0), whole["mean"].sum(axis=0), rtol=1e-15)
        np.testing.assert_allclose(np.triu(one["scatter"]), np.triu(whole["scatter"]), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_twofold_residuals_are_right_to_thirty_digits(sparse, weighted):
    rng = np.random.default_rng(5)
    n, d = 40, 19
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 6, (n, d)) * (rng.random((n, d)) < 0.7)
    high, low = rng.normal(size=d + 1), rng.normal(size=d + 1) * 1e-17
    y = X @ high[:-1] + high[-1]  # so that residuals cancel
    c = rng.integers(0, 4, n).astype(float) if weighted else None
    exact_w = [Fraction(a) + Fraction(b) for a, b in zip(high.tolist(), low.tolist(), strict=True)]
    lifted = [[Fraction(v) for v in row] + [Fraction(1)] for row in X.tolist()]
    r = [
        Fraction(t) - sum(a * b for a, b in zip(row, exact_w, strict=True))
        for t, row in zip(y.tolist(), lifted, strict=True)
    ]
    weight = [Fraction(1)] * n if c is None else [Fraction(v) for v in c.tolist()]
    g = [sum(w * e * row[j] for w, e, row in zip(weight, r, lifted, strict=True)) for j in range(d + 1)]
    size = [sum(w * abs(e * row[j]) for w, e, row in zip(weight, r, lifted, strict=True)) for j in range(d + 1)]
    squares = sum(w * e * e for w, e in zip(weight, r, strict=True))
    for module in MODULES:
        g_high, g_low, out = np.zeros(d + 1), np.zeros(d + 1), np.zeros(n)
        found = module.residual_gradient(rows(module, X, sparse), y, c, high, low, g_high, g_low, out)
        scale = [abs(Fraction(t)) + sum(map(abs, row)) for t, row in zip(y.tolist(), lifted, strict=True)]
        for got, want, s in zip(out.tolist(), r, scale, strict=True):
            assert abs(Fraction(got) - want) <= abs(want) * Fraction(1, 2**52) + s * Fraction(1, 2**96)
        for j in range(d + 1):
            got = Fraction(g_high[j]) + Fraction(g_low[j])
            slack = sum(w * s * abs(row[j]) for w, s, row in zip(weight, scale, lifted, strict=True))
            assert abs(got - g[j]) <= (size[j] + slack) * Fraction(1, 2**94)
        assert abs(Fraction(found[0]) + Fraction(found[1]) - squares) <= squares * Fraction(1, 10**12)


def test_augmented_defects_are_right():
    rng = np.random.default_rng(6)
    n, p = 30, 9
    A, y = rng.normal(size=(n, p)), rng.normal(size=n)
    x, x_low, u_low, c = rng.normal(size=p), rng.normal(size=p) * 1e-17, rng.normal(size=n) * 1e-17, rng.random(n)
    u = y - A @ x
    exact_x = [Fraction(a) + Fraction(b) for a, b in zip(x.tolist(), x_low.tolist(), strict=True)]
    exact_u = [Fraction(a) + Fraction(b) for a, b in zip(u.tolist(), u_low.tolist(), strict=True)]
    rational = [[Fraction(v) for v in row] for row in A.tolist()]
    f = [
        Fraction(t) - e - sum(a * b for a, b in zip(row, exact_x, strict=True))
        for t, e, row in zip(y.tolist(), exact_u, rational, strict=True)
    ]
    g = [
        -sum(Fraction(w) * e * row[j] for w, e, row in zip(c.tolist(), exact_u, rational, strict=True))
        for j in range(p)
    ]
    for module in MODULES:
        got_f, got_g = np.empty(n), np.empty(p)
        module.augmented_defects(module.Rows.dense(A), y, c, x, x_low, u, u_low, got_f, got_g)
        np.testing.assert_allclose(got_f, [float(v) for v in f], rtol=1e-10, atol=1e-28)
        np.testing.assert_allclose(got_g, [float(v) for v in g], rtol=1e-14, atol=1e-30)


def test_arrays_that_do_not_fit_are_refused():
    module = NATIVE[-1]
    X = np.ones((5, 3))
    good = state(module, 3, 1, True)
    for name, wrong in {
        "mean": np.zeros((2, 1, 4)),
        "scatter": np.zeros((1, 3, 3)),
        "block": np.zeros((1, 2, 3)),
        "block_weight": np.zeros((1, 2)),
        "fill": np.full(1, module.block_rows),
        "weight": np.zeros(2),
    }.items():
        with pytest.raises(ValueError, match=r".+"):
            module.moments_add(module.Rows.dense(X), None, None, None, 0, 5, **{**good, name: wrong})
    with pytest.raises(ValueError, match="does not exist"):
        module.moments_add(module.Rows.dense(X), None, np.full(5, 3), None, 0, 5, **good)
    with pytest.raises(ValueError, match="leave the rows"):
        module.moments_add(module.Rows.dense(X), None, None, None, 0, 6, **good)
