"""The logistic kernels: native and reference agree, and both agree with the formula in many digits."""

from __future__ import annotations

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


def table(n, d, kind, rng):
    X = rng.standard_normal((n, d))
    if kind == "float32":
        return X.astype(np.float32)
    if kind == "csr":
        return sparse.csr_array(np.where(rng.random((n, d)) < 0.3, X, 0.0))
    return X


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 3), (65, 9), (130, 37)])
def test_native_and_reference_agree(kind, n, d):
    rng = np.random.default_rng(n * d)
    X = table(n, d, kind, rng)
    y = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    c, o, w = rng.random(n) * 3, rng.standard_normal(n), rng.standard_normal(d + 1)
    results = []
    for module in (reference, *natives()):
        g, h, q = np.ones(d + 1), np.empty(n), np.empty(n)
        value = module.logistic_pass(rows_of(module, X), y, c, o, w, 0, n, g, h, q)
        product = np.ones(d + 1)
        module.curvature_product(rows_of(module, X), h, w, 0, n, product)
        sums, squares = np.ones(d + 1), np.ones(d + 1)
        module.curvature_diagonal(rows_of(module, X), h, 0, n, sums, squares)
        alone = np.ones(d + 1)
        module.curvature_diagonal(rows_of(module, X), h, 0, n, None, alone)
        np.testing.assert_array_equal(alone, squares)
        results.append(np.concatenate([[value], g, h, q, product, sums, squares]))
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("d", [1, 8, 13])
def test_rows_above_limits_are_found_by_all(kind, d):
    rng = np.random.default_rng(d)
    X = table(90, d, kind, rng)
    limits = np.where(np.arange(d) % 3 == 0, 1.5, np.inf)
    dense = X if isinstance(X, np.ndarray) else X.toarray()
    expected = (np.abs(dense.astype(float)) > limits).any(axis=1)
    assert 0 < expected.sum() < 90
    for module in (reference, *natives()):
        out = np.full(90, 7, dtype=np.int8)
        module.rows_above(rows_of(module, X), limits, out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("zero_is_second", [False, True])
def test_two_probabilities_are_those_of_the_formula_and_agree_with_the_prediction(zero_is_second):
    rng = np.random.default_rng(5)
    edges = [0.0, -0.0, 1e-17, -1e-17, 1e-300, 36.0, -40.0, 709.5, -709.5, 744.0, -746.0, 1e300, -1e300]
    scores = np.concatenate([edges, 10.0 * rng.standard_normal(90)])
    second = scores >= 0 if zero_is_second else scores > 0
    for module in (reference, *natives()):
        for n in (1, 3, 8, len(scores)):
            out = np.full((n, 2), np.nan)
            module.two_probabilities(scores[:n].copy(), zero_is_second, out)
            with np.errstate(over="ignore"):
                expected = np.stack([1.0 / (1.0 + np.exp(scores[:n])), 1.0 / (1.0 + np.exp(-scores[:n]))]).T
            normal = expected > 1e-307
            np.testing.assert_allclose(out[normal], expected[normal], rtol=1e-14)
            np.testing.assert_allclose(out[~normal], expected[~normal], rtol=0, atol=5e-324 if n < 9 else 1e-307)
            assert ((out[:, 1] > out[:, 0]) == second[:n]).all()
            far = (np.abs(scores[:n]) > 708) & (np.abs(scores[:n]) < 745)  # too small to be normal, but not zero
            assert (out[far].min(axis=1) > 0).all()


@pytest.mark.parametrize("n", [1, 5, 64, 130])
@pytest.mark.parametrize("weighted", [False, True])
def test_class_probabilities_are_those_of_the_formula(n, weighted):
    rng = np.random.default_rng(n)
    scores = 5.0 * rng.standard_normal((4, n))
    scores[:, 0] = [800.0, -800.0, 0.0, 799.0]  # far apart: neither overflow nor a loss of zero
    shift, codes = rng.standard_normal(4), rng.integers(0, 4, n)
    c = rng.random(n) if weighted else None
    t = (scores + shift[:, None]).astype(np.longdouble)
    e = np.exp(t - t.max(axis=0))
    chances = e / e.sum(axis=0)
    own = codes, np.arange(n)
    losses = t.max(axis=0) + np.log(e.sum(axis=0)) - t[own]
    signed = chances.copy()
    signed[own] = 0.0
    missed = signed.sum(axis=0)
    signed[own] = -missed
    signed = signed if c is None else signed * c
    for module in (reference, *natives()):
        P, R, wrong, loss = np.empty((4, n)), np.empty((4, n)), np.empty(n), np.empty(n)
        value = module.class_probabilities(scores, shift, codes, c, P, R, wrong, loss)
        for found, wanted in ((P, chances), (R, signed), (wrong, missed), (loss, losses)):
            np.testing.assert_allclose(found, wanted.astype(float), rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(value, float(losses.sum() if c is None else c @ losses), rtol=1e-13)
        again = scores.copy()
        module.class_probabilities(again, shift, codes, c, again, None, None, None)  # in place
        np.testing.assert_array_equal(again, P)


def test_the_loss_of_a_nearly_certain_row_has_all_digits():
    scores, codes = np.array([[0.0], [-100.0], [-101.0]]), np.zeros(1, dtype=np.int64)
    for module in (reference, *natives()):
        P, wrong, loss = np.empty((3, 1)), np.empty(1), np.empty(1)
        module.class_probabilities(scores, np.zeros(3), codes, None, P, None, wrong, loss)
        expected = np.exp(-100.0) + np.exp(-101.0)
        np.testing.assert_allclose([wrong[0], loss[0]], expected, rtol=1e-13)


def test_a_probability_of_one_half_has_the_loss_log_two():
    """The other class has exp(-2^-53), the last double below 1: added to 1 it rounds to 2."""
    scores, codes = np.array([[0.0, 0.0], [-(2.0**-53), -(2.0**-52)]]), np.zeros(2, dtype=np.int64)
    for module in (reference, *natives()):
        P, loss = np.empty((2, 2)), np.empty(2)
        module.class_probabilities(scores, np.zeros(2), codes, None, P, None, None, loss)
        np.testing.assert_allclose(loss, np.log(2.0), rtol=1e-15)


def test_slices_of_rows_add_up():
    rng = np.random.default_rng(1)
    X, y, w = rng.standard_normal((300, 5)), rng.choice(np.array([-1, 1], dtype=np.int8), 300), rng.standard_normal(6)
    whole, parts = np.zeros(6), np.zeros(6)
    rows = kernels.rows(X)
    value = kernels.logistic_pass(rows, y, None, None, w, 0, 300, whole, None, None)
    pieces = [kernels.logistic_pass(rows, y, None, None, w, a, a + 100, parts, None, None) for a in (0, 100, 200)]
    assert sum(pieces) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(parts, whole, rtol=1e-12, atol=1e-13)


def test_margins_of_any_size_keep_their_digits():
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 40
    margins = np.concatenate([[0.0], *(s * np.logspace(-18, 2.8, 300) for s in (1, -1))])
    y, w = np.ones(1, dtype=np.int8), np.array([1.0, 0.0])
    for m in margins.tolist():
        h, q = np.empty(1), np.empty(1)
        value = kernels.logistic_pass(kernels.rows(np.array([[m]])), y, None, None, w, 0, 1, np.zeros(2), h, q)
        exact = mpmath.log1p(mpmath.exp(-mpmath.mpf(m)))
        wrong = 1 / (1 + mpmath.exp(mpmath.mpf(m)))
        assert abs(value / exact - 1) < 1e-15
        assert abs(q[0] / wrong - 1) < 1e-15
        assert abs(h[0] / (wrong / (1 + mpmath.exp(-mpmath.mpf(m)))) - 1) < 2e-15


@pytest.mark.parametrize("m", [1e3, -1e3, 1e300, -1e300])
def test_enormous_margins_neither_overflow_nor_turn_into_nan(m):
    g, h = np.zeros(2), np.empty(1)
    y = np.ones(1, dtype=np.int8)
    value = kernels.logistic_pass(kernels.rows(np.array([[m]])), y, None, None, np.array([1.0, 0.0]), 0, 1, g, h, None)
    assert value == max(-m, 0.0)
    assert h[0] == 0.0
    assert g[1] == (-1.0 if m < 0 else 0.0)


def test_wrong_lengths_are_refused():
    X, y = kernels.rows(np.ones((3, 2))), np.ones(3, dtype=np.int8)
    with pytest.raises(ValueError, match="lifted"):
        kernels.logistic_pass(X, y, None, None, np.ones(2), 0, 3, np.zeros(3), None, None)
    with pytest.raises(ValueError, match="leave the rows"):
        kernels.logistic_pass(X, y, None, None, np.ones(3), 0, 4, np.zeros(3), None, None)
    with pytest.raises(ValueError, match="curvature"):
        kernels.curvature_product(X, np.ones(2), np.ones(3), 0, 3, np.zeros(3))


@pytest.mark.parametrize("K", [2, 3, 10, 1000])
def test_the_loss_of_equal_scores_is_the_logarithm_of_the_number_of_classes(K):
    n = 70  # more than a block of rows
    scores, losses = np.full((K, n), -3.0), np.empty(n)
    codes = np.arange(n, dtype=np.int64) % K
    P = np.empty_like(scores)
    kernels.class_probabilities(scores, np.zeros(K), codes, None, P, None, None, losses)
    np.testing.assert_allclose(losses, np.log(K), rtol=1e-15)
    scores[codes, np.arange(n)] = 40.0  # the own class is next to certain: no digit of its loss is lost
    kernels.class_probabilities(scores, np.zeros(K), codes, None, P, None, None, losses)
    np.testing.assert_allclose(losses, np.log1p((K - 1) * np.exp(-43.0)), rtol=1e-13)
