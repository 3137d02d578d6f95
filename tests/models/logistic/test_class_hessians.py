"""Ridge regression of many classes by conjugate gradients: the same minimum as Newton's method, with a true gap."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.models.logistic import class_hessians, problem
from separatrix.models.logistic.binary_loss import ConjugateGradients
from separatrix.models.logistic.class_hessians import ClassBlocks, in_proportion
from separatrix.models.logistic.duality_gap import last_step, tilted_gap
from separatrix.models.logistic.multinomial_loss import MultinomialLoss, class_scores, class_sums
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.penalised_quadratic import gram_of_many


def some_rows(n=600, d=6, classes=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(0, 1, d) + 1.0
    scores = X @ rng.standard_normal((d, classes)) / np.sqrt(d) + rng.gumbel(size=(n, classes))
    return X, scores.argmax(axis=1), rng


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_bound_of_a_tilt_is_never_below_what_is_left_to_gain(C, weighted, lift):
    X, y, rng = some_rows()
    weights = rng.uniform(0.1, 3.0, len(X)) if weighted else None
    offset = rng.standard_normal((len(X), 5))
    loss = MultinomialLoss(X, y, 5, weights, offset, 1.0 / C, lift)
    best = newton(loss, loss.point(np.zeros(loss.length)), 200).state.point
    for noise in (1.0, 1e-2, 1e-4, 1e-6):
        away = noise * rng.standard_normal((5, 7)) * np.abs(best.at).mean()
        away[:, -1] *= lift
        point = loss.point(best.at + (away - away.mean(axis=0)).reshape(-1))
        left = point.value - best.value
        for step in (np.zeros(loss.length), loss.preconditioner(point).correction(point.gradient)):
            assert tilted_gap(loss, point, step) >= left * (1 - 1e-6) - 1e-11 * best.value
        for by_products in (True, False):
            moved, gap = last_step(loss, point, 1e-6, wide=False, by_products=by_products)
            assert gap >= (moved.value - best.value) - 1e-11 * best.value
            assert noise >= 1e-2 or gap <= 1e-6 * moved.value


@pytest.mark.parametrize("shape", [(3000, 8, 4), (400, 5, 30), (900, 40, 12)])
def test_conjugate_gradients_end_where_newtons_method_does(shape, monkeypatch):
    n, d, classes = shape
    X, y, _ = some_rows(n, d, classes, seed=1)
    fast = sx.LogisticRegression(C=1.0, tol=1e-10).fit(X, y)
    monkeypatch.setattr(problem, "CHEAP", np.inf)
    exact = sx.LogisticRegression(C=1.0, tol=1e-14).fit(X, y)
    least = 0.5 * (exact.coef_**2).sum() - exact.loglik_
    assert np.linalg.norm(fast.coef_ - exact.coef_) <= (2 * fast.gap_ * least) ** 0.5
    np.testing.assert_allclose(fast.intercept_, exact.intercept_, atol=1e-4)
    assert fast.gap_ <= 1e-10


def test_sparse_rows_have_the_same_minimum_as_dense_ones():
    X, y, rng = some_rows(500, 20, 6, seed=2)
    X[rng.random(X.shape) < 0.7] = 0.0
    dense = sx.LogisticRegression(C=0.5, tol=1e-11).fit(X, y)
    sparse = sx.LogisticRegression(C=0.5, tol=1e-11).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-5, atol=1e-7)


def test_a_warm_start_need_not_add_up_to_zero():
    X, y, _ = some_rows(seed=3)
    cold = sx.LogisticRegression(C=1.0, tol=1e-12, warm_start=True).fit(X, y)
    coef = cold.coef_.copy()
    cold.coef_ = coef + 0.5
    again = cold.fit(X, y)
    np.testing.assert_allclose(again.coef_, coef, rtol=1e-6, atol=1e-8)


def test_five_hundred_classes_are_fitted_without_their_hessian(monkeypatch):
    monkeypatch.setattr(MultinomialLoss, "model", None)  # 1,000 parameters: would be made of n K^2 d^2 products
    x = np.linspace(-1.0, 1.0, 2000)[:, None]
    model = sx.LogisticRegression(C=1.0).fit(x, np.arange(2000) % 500)
    assert model.gap_ <= 1e-6


def test_blocks_are_the_diagonal_blocks_of_the_hessian():
    X, y, rng = some_rows(40, 3, 4)
    loss = MultinomialLoss(X, y, 4, rng.uniform(0.5, 2.0, 40), None, 0.7)
    point = loss.point(0.1 * rng.standard_normal(loss.length))
    blocks = ClassBlocks.at(X, point.curvature, loss.weights, loss.ridge, True)
    lifted, P = np.column_stack([X, np.ones(40)]), point.curvature
    ridge = np.diag([0.7, 0.7, 0.7, 0.0])
    g = rng.standard_normal((4, 4))
    g -= g.mean(axis=0)
    expected = np.empty((4, 4))
    for k in range(4):
        h = loss.weights * P[:, k] * (1.0 - P[:, k])
        expected[k] = np.linalg.solve(lifted.T @ (h[:, None] * lifted) + ridge, g[k])
    expected -= expected.mean(axis=0)
    np.testing.assert_allclose(blocks.correction(g.reshape(-1)).reshape(4, 4), expected, rtol=1e-7)


def test_products_in_single_precision_keep_six_digits_whatever_offsets_and_units():
    X, y, rng = some_rows(300, 3, 4)
    X = X * [1e-30, 1.0, 1e20] + [0.0, 1e6, 1e20]
    loss = MultinomialLoss(X, y, 4, rng.uniform(0.5, 2.0, 300), None, 0.0)
    point = loss.point(np.zeros(loss.length))
    v = (rng.standard_normal((4, 4)) / [1e-30, 1.0, 1e20, 1.0]).reshape(-1)
    v = (v.reshape(4, 4) - [[0.0, 0.0, 0.0, 1e6]] * v.reshape(4, 4)[:, 1:2]).reshape(-1)  # scores of about 1
    lifted, V = np.column_stack([X, np.ones(300)]), v.reshape(4, 4)
    S = lifted @ V.T
    R = loss.weights[:, None] * point.curvature * (S - (point.curvature * S).sum(axis=1)[:, None])
    expected, size = R.T @ lifted, np.abs(R).T @ np.abs(lifted)
    assert np.all(np.abs(loss.product(point, v).reshape(4, 4) - expected) <= 1e-5 * size)


def test_rows_chosen_in_proportion_have_the_sums_of_all():
    h = np.random.default_rng(0).exponential(size=10_000)
    chosen, weights = in_proportion(h, 500)
    assert 450 <= len(chosen) <= 550
    assert np.isclose(weights.sum(), h.sum(), rtol=0.05)
    every, same = in_proportion(h[:300], 500)
    assert len(every) == 300
    assert np.array_equal(same, h[:300])


@pytest.mark.parametrize(
    ("rows", "weighted", "pairs"), [(7, True, 1), (60, False, 1), (7, False, 10**6), (60, True, 10**6)]
)
def test_the_information_of_classes_is_the_sum_over_rows(monkeypatch, rows, weighted, pairs):
    monkeypatch.setattr(class_hessians, "BLOCK", 100)  # several chunks of rows
    monkeypatch.setattr(class_hessians, "PAIRS", pairs)
    rng = np.random.default_rng(rows)
    X, P = rng.normal(size=(rows, 4)), np.asfortranarray(rng.dirichlet(np.ones(3), rows))
    c = rng.random(rows) if weighted else np.ones(rows)
    expected = sum(c[i] * np.kron(np.diag(P[i]) - np.outer(P[i], P[i]), np.outer(X[i], X[i])) for i in range(rows))
    for made in (class_hessians.class_information, class_hessians.all_classes):
        found = made(X, P, c if weighted else None)
        assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()
    some = class_hessians.class_information(X, P[:, 1:], c if weighted else None)  # of all classes but one
    assert np.abs(some - expected[4:, 4:]).max() <= 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("lift", [False, True])
def test_equal_probabilities_of_all_rows_need_one_matrix_of_columns(lift):
    rng = np.random.default_rng(5)
    X, c = rng.normal(size=(40, 3)) + 2.0, rng.random(40)
    P = np.tile(rng.dirichlet(np.ones(4)), (40, 1))
    nearly = P.copy()
    nearly[0] = P[0] * (1.0 + 1e-12 * np.array([1, -1, 0, 0]))
    found, expected = gram_of_many(X, P, c, lift).H, gram_of_many(X, nearly, c, lift).H
    assert not np.array_equal(found, expected)
    assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()


def test_a_step_that_is_made_more_exact_goes_on_where_it_was_left():
    X, y, _ = some_rows(900, 7, 6, seed=3)
    loss = MultinomialLoss(X, y, 6, ridge=1.0)
    point = loss.point(np.zeros(loss.length))
    inverse = loss.preconditioner(point).correction
    begun, whole = (ConjugateGradients(loss, point, inverse) for _ in range(2))
    rough = begun.solve(0.25).copy()
    assert begun.solve(1e-5).tolist() == whole.solve(1e-5).tolist() != rough.tolist()


@pytest.mark.parametrize("kind", [np.float64, np.float32, "sparse"])
@pytest.mark.parametrize("classes", [2, 3, 4, 5, 9])
def test_the_last_class_follows_from_the_others(classes, kind):
    rng = np.random.default_rng(classes)
    X = np.round(rng.standard_normal((70, 6)), 3).astype(np.float64 if kind == "sparse" else kind)
    V, R = rng.standard_normal((classes, 7)), rng.standard_normal((classes, 70))
    R -= R.mean(axis=0)
    rows = sp.csr_array(X) if kind == "sparse" else X
    scores, plain = class_scores(rows, V), V[:, :-1] @ X.T.astype(np.float64)
    np.testing.assert_allclose(scores - scores[-1], plain - plain[-1], atol=1e-12)
    np.testing.assert_allclose(class_sums(rows, R), R @ X.astype(np.float64), atol=1e-11)
