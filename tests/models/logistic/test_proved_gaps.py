"""Gaps that fits claim: no point is better than they allow, wherever the search begins and columns lie."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix import LogisticRegression
from separatrix.models.logistic.firth import fitted_intercepts
from separatrix.numerics import Status


def objective(model, X, y, c, o):
    """C times the weighted losses plus the penalty, as the textbook has it."""
    s = X @ model.coef_.T + model.intercept_
    s = np.column_stack([np.zeros(len(y)), s[:, 0] + o]) if s.shape[1] == 1 else s
    behind = s - s[np.arange(len(y)), y][:, None]
    behind[np.arange(len(y)), y] = -np.inf
    top = np.maximum(behind.max(axis=1), 0.0)
    losses = top + np.log(np.exp(-top) + np.exp(behind - top[:, None]).sum(axis=1))
    losses = np.where(top == 0, np.log1p(np.exp(behind).sum(axis=1)), losses)
    W, r = model.coef_, model.l1_ratio
    return model.C * float(c @ losses) + r * np.abs(W).sum() + (1 - r) / 2 * (W**2).sum()


def small_set(seed):
    """Few rows with weights and offsets: the classes are often separated, and some rows are certain."""
    rng = np.random.default_rng(seed)
    n, d, K = int(rng.integers(5, 60)), int(rng.integers(1, 6)), int(rng.choice([2, 2, 3]))
    X, y = rng.standard_normal((n, d)), rng.integers(0, K, n)
    if rng.random() < 0.5:
        y = np.argsort(np.argsort(X[:, 0])) * K // n
    y[:K] = np.arange(K)
    c = rng.integers(1, 4, n).astype(float) if rng.random() < 0.6 else np.ones(n)
    o = rng.standard_normal(n) * 0.5 if K == 2 and rng.random() < 0.5 else np.zeros(n)
    return X, y, c, o, 10 ** rng.uniform(-2, 5)


@pytest.mark.parametrize("r", [0.0, 0.5])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_no_point_is_better_than_the_gap_allows(tol, r):
    for seed in (*range(120), 712):  # the last: rows so certain that the intercept's curvature says nothing of the gap
        X, y, c, o, C = small_set(seed)
        more = {"offset": o} if o.any() else {}
        fits = [LogisticRegression(C=C, l1_ratio=r, tol=t).fit(X, y, sample_weight=c, **more) for t in (tol, 1e-11)]
        value, least = (objective(fit, X, y, c, o) for fit in fits)
        assert fits[0].status_ is Status.OPTIMAL, seed
        assert value - least <= (fits[0].gap_ + 1e-12) * value, seed


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("r", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_columns_far_from_zero_have_the_weights_of_near_ones(kind, r, K):
    rng = np.random.default_rng(K)
    X = np.round(rng.standard_normal((200, 3)), 2)
    y = np.argmax(X[:, :1] * np.arange(K) + rng.gumbel(size=(200, K)), axis=1)
    far = np.array([2.0**23 if kind == "float32" else 1e9, 0.0, -1e6 if kind == "float64" else 0.0])
    table = (X + far).astype(kind)
    near = table.astype(np.float64) - far  # what rounding has left of them
    model, expected = (LogisticRegression(C=10.0, l1_ratio=r, tol=1e-11).fit(T, y) for T in (table, near))
    assert model.status_ is expected.status_ is Status.OPTIMAL
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(table), expected.predict_proba(near), atol=1e-4)
    path = LogisticRegression(l1_ratio=r).path(table, y, [0.1, 10.0])
    np.testing.assert_allclose(path.coef[-1], expected.coef_, rtol=1e-2, atol=1e-3)
    begun = LogisticRegression(C=10.0, l1_ratio=r, tol=1e-11, warm_start=True).fit(table, y).fit(table, y)
    np.testing.assert_allclose(begun.coef_, expected.coef_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("r", [0.0, 0.5, 1.0])
def test_a_search_that_begins_at_the_minimum_stays_there(r, K):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((120, 4))
    y = np.argmax(X[:, :1] * np.arange(K) + rng.gumbel(size=(120, K)), axis=1)
    model = LogisticRegression(C=1.0, l1_ratio=r, warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    np.testing.assert_allclose(model.fit(X, y).coef_, coef, atol=1e-4)
    path = LogisticRegression(l1_ratio=r).path(X, y, [1.0, 1.0 + 1e-12, 1.0 + 1e-9])
    np.testing.assert_allclose(path.coef, np.broadcast_to(coef, path.coef.shape), atol=1e-3)


def test_a_dual_point_of_three_classes_is_balanced():
    """Matrices between classes are singular but for rounding: a rank taken from it gave a bound above the minimum."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2000, 15_000))
        X = np.exp(2 * rng.standard_normal((n, 1)))
        y = np.argmax(3 * X * rng.standard_normal(3) + rng.gumbel(size=(n, 3)), axis=1)
        y[:3], c = np.arange(3), rng.integers(1, 5, n) * 0.01
        fits = [LogisticRegression(C=0.05, tol=t).fit(X, y, sample_weight=c) for t in (1e-2, 1e-10)]
        value, least = (objective(fit, X, y, c, np.zeros(n)) for fit in fits)
        assert value - least <= (fits[0].gap_ + 1e-12) * value, seed


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_lassos_of_rare_columns_end_at_their_gap_where_rows_are_certain(seed):
    """Certain rows have next to no curvature: a step by it is any number of times too long."""
    rng = np.random.default_rng(seed)
    X = sparse.random(700, 900, density=1 / 90, format="csr", random_state=rng)
    model = LogisticRegression(C=700.0, l1_ratio=1.0, tol=1e-4).fit(X, rng.integers(0, 10, 700))
    assert model.status_ is Status.OPTIMAL
    assert model.gap_ <= 1e-4


@pytest.mark.parametrize("seed", [0, 4, 24])
def test_ridges_of_heavy_tailed_columns_end_at_their_gap(seed):
    """Steps by gradients alone end where far rows are certain and wrong: steps by the Hessian from zero do not."""
    rng = np.random.default_rng(seed)
    X = np.exp(2 * rng.standard_normal((12_000, 4)))
    S = X @ rng.standard_normal((4, 5)) * 15
    y = np.argmax(S + rng.gumbel(size=S.shape), axis=1)
    y[:5] = np.arange(5)
    model = LogisticRegression(C=0.3, tol=1e-6).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.gap_ <= 1e-6


def test_intercepts_of_certain_classes_are_no_singular_matrix():
    """Scores so far apart that no class has any curvature."""
    scores = np.array([[900.0, 0.0, -900.0], [-900.0, 900.0, 0.0], [0.0, -900.0, 900.0]])
    at, P, _, losses = fitted_intercepts(scores, np.array([1, 2, 0]), None, np.zeros(3))
    assert np.isfinite(at).all()
    assert np.isfinite(P).all()
    assert np.isfinite(losses).all()
