"""Coordinate descent with leaps: columns that are alike, by every way to hold the quadratic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.models.logistic.active_newton import ElasticNet, SignPattern, descend, leap, least_common
from separatrix.models.logistic.penalised_quadratic import CentredGram, ClassQuadratic, GramQuadratic, ScaledQuadratic


def alike(n=120, base=3, copies=30, noise=0.0, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, base))
    X = np.repeat(B, copies, axis=1) + noise * rng.standard_normal((n, base * copies))
    y = np.argmax(B @ rng.standard_normal((base, classes)) + rng.gumbel(size=(n, classes)), axis=1)
    return X, y


def quadratic(n=40, p=12, seed=1):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((p, n)) + 3 * rng.standard_normal(n)
    return Z @ Z.T, 10 * rng.standard_normal(p), Z


def value(H, g, net, w, v):
    d = v - w
    return g @ d + 0.5 * d @ H @ d + net.value(v)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_a_leap_gains_what_it_says_and_keeps_the_state(ridge):
    H, g, _ = quadratic()
    net, w = ElasticNet(2.0, ridge), np.zeros(len(g))
    state = GramQuadratic(CentredGram(H), g[None], w[None], net)
    state.sweep(np.arange(len(g)))
    before = value(H, g, net, w, state.v)
    gained, _ = leap(state, net, np.flatnonzero(state.v))
    assert gained == pytest.approx(2 * (before - value(H, g, net, w, state.v)), rel=1e-9)
    assert gained > 0
    np.testing.assert_allclose(state.slope, g + H @ (state.v - w), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_minimum_satisfies_its_conditions(ridge):
    H, g, _ = quadratic(n=13)
    net, w = ElasticNet(2.0, ridge), np.zeros(len(g))
    state = GramQuadratic(CentredGram(H), g[None], w[None], net)
    descend(state, net, np.arange(len(g)), 1e-14)
    slope = g + H @ (state.v - w) + ridge * state.v
    on = state.v != 0
    np.testing.assert_allclose(slope[on], -2.0 * np.sign(state.v[on]), atol=1e-6)
    assert (np.abs(slope[~on]) <= 2.0 + 1e-6).all()


def test_corners_are_followed_to_the_minimum():
    """From signs that are wrong at the minimum, where every sign changes once at most."""
    H, g, _ = quadratic(p=6)
    net = ElasticNet(1.0, 0.1)
    v = np.sign(g) * 0.5  # the wrong signs: the slope is g + H v
    place = SignPattern(v, g + H @ v, np.full(6, 1.0), np.full(6, 0.1), np.diagonal(H))
    last = place.followed(H)
    zero = np.zeros(6)
    assert value(H, g, net, zero, v) - value(H, g, net, zero, last.v) == pytest.approx(last.down, rel=1e-9)
    assert last.down > 0
    on = last.v != 0
    np.testing.assert_allclose(last.gradient[on], 0.0, atol=1e-8)


def test_products_and_matrices_of_a_state_agree():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 8))
    used = np.array([1, 2, 5])
    for part in (np.ascontiguousarray(X.T), sparse.csr_array(X.T)):
        h, g = rng.random(30), rng.standard_normal(8)
        scaled = ScaledQuadratic(part, h, g, True, np.zeros((1, 8)), ElasticNet(1.0, 0.1))
        M = scaled.matrix(used)
        np.testing.assert_allclose(M, np.array([scaled.product(used, e) for e in np.eye(3)]), atol=1e-12)
        assert np.linalg.eigvalsh(M)[0] > 0
    P = rng.dirichlet(np.ones(3), 30)
    for lift in (False, True):
        c, g = rng.random(30), rng.standard_normal((3, 8))
        state = ClassQuadratic(np.ascontiguousarray(X.T), P, c, g, lift, np.zeros((3, 8)), ElasticNet(0.5, 0.1))
        every = np.arange(3 * state.width)
        state.sweep(every)
        d = rng.standard_normal(len(every))
        before = state.slopes(every)
        bent = state.product(every, d)
        state.move(every, state.v + d)
        np.testing.assert_allclose(state.slopes(every), before + bent, atol=1e-10)


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_columns_that_are_alike_reach_the_gap_in_few_steps(noise, ratio, kind):
    """Passes alone need thousands here, and end at a gap a hundred times too large."""
    X, y = alike(noise=noise)
    given = X if kind == "dense" else sparse.csr_array(X)
    model = sx.LogisticRegression(C=30.0, l1_ratio=ratio).fit(given, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    assert model.n_iter_ <= 40


@pytest.mark.parametrize("classes", [2, 3])
def test_equal_columns_share_a_weight_under_an_elastic_net(classes):
    X, y = alike(copies=20, classes=classes)
    model = sx.LogisticRegression(C=5.0, l1_ratio=0.3, tol=1e-13).fit(X, y)
    groups = model.coef_.reshape(len(model.coef_), 3, 20)
    np.testing.assert_allclose(groups, np.broadcast_to(groups[:, :, :1], groups.shape), atol=1e-6)


def test_many_equal_columns_of_several_classes_use_no_matrix():
    """More coordinates than a matrix is made for."""
    X, y = alike(n=60, copies=150, classes=3)
    model = sx.LogisticRegression(C=10.0, l1_ratio=0.5).fit(X, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_what_classes_have_in_common_is_taken_off_where_that_is_less(classes, ridge):
    rng = np.random.default_rng(classes)
    V, net = rng.standard_normal((classes, 50)), ElasticNet(2.0, ridge)
    settled = least_common(V, net)
    assert net.value(settled) <= net.value(V)
    np.testing.assert_allclose(settled - settled[0], V - V[0], atol=1e-14)  # differences of classes stay
    if not ridge:
        for shift in (-0.1, 0.1, 1.0):
            assert net.value(settled + shift) >= net.value(settled)
    assert not np.array_equal(settled, V)


def test_correlated_columns_of_three_classes_take_few_steps():
    """One factor in all columns, a weak penalty: passes over columns gained ever less for hundreds of steps."""
    rng = np.random.default_rng(0)
    X = np.sqrt(0.1) * rng.standard_normal((1000, 230)) + np.sqrt(0.9) * rng.standard_normal((1000, 1))
    S = X @ rng.standard_normal((230, 3))
    y = np.argmax(S / S.std() + 0.7 * rng.standard_normal(S.shape), axis=1)
    model = sx.LogisticRegression(C=100.0, l1_ratio=1.0).fit(X, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    assert model.n_iter_ <= 40
