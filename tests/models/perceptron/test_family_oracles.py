"""Each rule against its paper, written out naively, and against other programs where they do the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx


def table(seed, n=60, d=5, classes=2, whole=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X = np.round(4 * X) if whole else X
    return X, rng.integers(0, classes, size=n)


def lifted(X):
    return np.column_stack([X, np.ones(len(X))])


def weights_of(model):
    return np.column_stack([model.coef_, model.intercept_])


def naive_average(X, signs, epochs):
    """The perceptron with every one of its weights kept."""
    w, all_weights = np.zeros(X.shape[1] + 1), []
    for _ in range(epochs):
        for x, y in zip(lifted(X), signs, strict=True):
            if y * (w @ x) <= 0:
                w = w + y * x
            all_weights.append(w)
    return np.mean(all_weights, axis=0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_averaged_is_the_mean_of_all_weights(seed, layout):
    X, y = table(seed, whole=True)
    expected = naive_average(X, 2 * y - 1, epochs=4)
    model = sx.AveragedPerceptron(order="cyclic", max_iter=4).fit(layout(X), y)
    np.testing.assert_allclose(weights_of(model)[0], expected, rtol=1e-13, atol=1e-13)


def test_averaged_takes_the_path_of_the_perceptron():
    X, y = table(3)
    averaged = sx.AveragedPerceptron(order="cyclic", max_iter=7).fit(X, y)
    plain = sx.Perceptron(order="cyclic", max_iter=7).fit(X, y)
    assert averaged.epoch_mistakes_.tolist() == plain.epoch_mistakes_.tolist()
    assert not np.allclose(averaged.coef_, plain.coef_)


@pytest.mark.parametrize("classes", [2, 4])
def test_averaged_is_sgd_with_average(classes):
    from sklearn.linear_model import SGDClassifier

    X, y = table(11, n=150, classes=classes)
    peer = SGDClassifier(
        loss="perceptron",
        penalty=None,
        average=True,
        learning_rate="constant",
        eta0=1.0,
        shuffle=False,
        max_iter=5,
        tol=None,
    ).fit(X, y)
    model = sx.AveragedPerceptron(order="cyclic", max_iter=5).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-10)


@pytest.mark.parametrize("variant", ["PA", "PA-I", "PA-II"])
def test_passive_aggressive_is_the_papers_formula(variant):
    X, y = table(5)
    C, w = 0.2, np.zeros(X.shape[1] + 1)
    for _ in range(3):
        for x, sign in zip(lifted(X), 2 * y - 1, strict=True):
            loss = max(0.0, 1 - sign * (w @ x))
            tau = {
                "PA": loss / (x @ x),
                "PA-I": min(C, loss / (x @ x)),
                "PA-II": loss / (x @ x + 1 / (2 * C)),
            }[variant]
            w = w + tau * sign * x
    model = sx.PassiveAggressive(variant=variant, C=C, order="cyclic", max_iter=3).fit(X, y)
    np.testing.assert_allclose(weights_of(model)[0], w, rtol=1e-10)


@pytest.mark.parametrize(("variant", "rate"), [("PA-I", "pa1"), ("PA-II", "pa2")])
def test_passive_aggressive_is_scikit_learns_without_a_bias(variant, rate):
    from sklearn.linear_model import SGDClassifier

    X, y = table(8, n=120)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = SGDClassifier(
            loss="hinge",
            penalty=None,
            learning_rate=rate,
            eta0=0.4,
            fit_intercept=False,
            shuffle=False,
            max_iter=4,
            tol=None,
        ).fit(X, y)
    model = sx.PassiveAggressive(variant=variant, C=0.4, fit_intercept=False, order="cyclic", max_iter=4).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)


def test_passive_aggressive_gives_the_row_its_margin():
    X, y = table(2)
    model = sx.PassiveAggressive(variant="PA")
    for x, label in zip(X, y, strict=True):
        model.partial_fit(x[None], [label], classes=[0, 1])
        assert (2 * label - 1) * model.decision_function(x[None])[0] >= 1 - 1e-9


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("bias", [True, False])
def test_arow_is_the_papers_formula(covariance, bias):
    X, y = table(6)
    Z = lifted(X) if bias else X
    r, w, S = 0.5, np.zeros(Z.shape[1]), np.eye(Z.shape[1])
    for _ in range(3):
        for x, sign in zip(Z, 2 * y - 1, strict=True):
            m = sign * (w @ x)
            if m < 1:
                beta = 1 / (x @ S @ x + r)
                w = w + (1 - m) * beta * sign * (S @ x)
                S = S - beta * np.outer(S @ x, S @ x)
                if covariance == "diagonal":
                    S = np.diag(np.diag(S))
    model = sx.AROW(r=r, covariance=covariance, fit_intercept=bias, order="cyclic", max_iter=3).fit(X, y)
    found = weights_of(model)[0] if bias else model.coef_[0]
    np.testing.assert_allclose(found, w, rtol=1e-9)


def test_arow_full_is_the_inverse_of_the_precision():
    """S^-1 gains x x'/r at each update: the paper's other form of the same step."""
    X, y = table(7, n=30)
    model = sx.AROW(r=0.8, covariance="full", order="cyclic", max_iter=1).fit(X, y)
    w, precision = np.zeros(6), np.eye(6)
    for x, sign in zip(lifted(X), 2 * y - 1, strict=True):
        m = sign * (w @ x)
        if m < 1:
            S = np.linalg.inv(precision)
            w = w + (1 - m) / (x @ S @ x + 0.8) * sign * (S @ x)
            precision = precision + np.outer(x, x) / 0.8
    np.testing.assert_allclose(model._vectors.vectors.beside["covariance"][0], np.linalg.inv(precision), rtol=1e-8)
    np.testing.assert_allclose(weights_of(model)[0], w, rtol=1e-8)


def naive_kesler(X, y, epochs, threshold=0.0, size=lambda x, m: 1.0):
    W, seen = np.zeros((y.max() + 1, X.shape[1] + 1)), set()
    for _ in range(epochs):
        for x, own in zip(lifted(X), y, strict=True):
            seen.add(int(own))
            rivals = sorted(seen - {int(own)})
            if not rivals:
                continue
            rival = max(rivals, key=lambda k: (W[k] @ x, -k))
            m = (W[own] - W[rival]) @ x
            if m <= threshold:
                W[own] += size(x, m) * x
                W[rival] -= size(x, m) * x
    return W


def test_kesler_is_written_out():
    X, y = table(4, n=90, classes=4, whole=True)
    model = sx.Perceptron(multiclass="kesler", order="cyclic", max_iter=6).fit(X, y)
    np.testing.assert_array_equal(weights_of(model), naive_kesler(X, y, epochs=6))


def test_kesler_passive_aggressive_counts_the_row_twice():
    X, y = table(9, n=70, classes=3)
    model = sx.PassiveAggressive(variant="PA", multiclass="kesler", order="cyclic", max_iter=3).fit(X, y)
    expected = naive_kesler(X, y, 3, threshold=1.0, size=lambda x, m: (1 - m) / (2 * (x @ x)))
    np.testing.assert_allclose(weights_of(model), expected, rtol=1e-8, atol=1e-12)


def test_kesler_averaged_is_the_mean_of_all_weights():
    X, y = table(10, n=40, classes=3, whole=True)
    one_by_one = []
    for epoch in range(3):
        for i in range(len(X)):
            more = np.concatenate([np.arange(len(X))] * epoch + [np.arange(i + 1)])
            model = sx.Perceptron(multiclass="kesler").partial_fit(X[more], y[more], classes=[0, 1, 2])
            one_by_one.append(weights_of(model))
    averaged = sx.AveragedPerceptron(multiclass="kesler", order="cyclic", max_iter=3).fit(X, y)
    np.testing.assert_allclose(weights_of(averaged), np.mean(one_by_one, axis=0), rtol=1e-12, atol=1e-12)


def test_margin_zero_is_the_perceptron():
    X, y = table(12)
    for relative in (True, False):
        margin = sx.MarginPerceptron(margin=0.0, relative=relative, order="cyclic", max_iter=9).fit(X, y)
        np.testing.assert_array_equal(margin.coef_, sx.Perceptron(order="cyclic", max_iter=9).fit(X, y).coef_)


@pytest.mark.parametrize("seed", range(5))
def test_a_clean_pass_proves_the_margin(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 3))
    w = np.array([0.6, 0.8, 0.0])
    X = X[np.abs(X @ w) > 0.5]
    y = (X @ w > 0).astype(int)
    model = sx.MarginPerceptron(margin=0.2, max_iter=np.inf).fit(X, y)
    distance = (2 * y - 1) * model.decision_function(X) / np.linalg.norm(model.coef_)
    assert model.status_ is sx.numerics.Status.CONVERGED
    assert distance.min() > 0.2 * (1 - 1e-9)
    fixed = sx.MarginPerceptron(margin=5.0, relative=False, max_iter=np.inf).fit(X, y)
    assert ((2 * y - 1) * fixed.decision_function(X)).min() > 5.0


def test_the_relative_margin_follows_the_length_of_w():
    X, y = table(13, n=400, d=4)
    model = sx.MarginPerceptron(margin=0.3, max_iter=20).fit(X, y)
    carried = model._vectors.vectors.beside["norm2"][0]
    assert model.mistakes_ > 1024
    assert carried == pytest.approx(model.coef_[0] @ model.coef_[0], rel=1e-10)


def test_averaging_helps_against_wrong_labels():
    """With 10 % of the labels flipped the average beats the last weights on fresh rows in 95 of 100 seeds."""
    wins = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        w = rng.normal(size=10)
        X, fresh = rng.normal(size=(500, 10)), rng.normal(size=(5000, 10))
        y = X @ w > 0
        y = np.where(rng.random(500) < 0.1, ~y, y).astype(int)
        truth = (fresh @ w > 0).astype(int)
        averaged = sx.AveragedPerceptron().fit(X, y).score(fresh, truth)
        wins += averaged > sx.Perceptron(max_iter=10).fit(X, y).score(fresh, truth)
    assert wins >= 95


def test_settled_says_that_the_average_may_err():
    X, y = np.array([[1.0], [2.0], [3.0], [30.0]]), np.array([0, 0, 1, 1])
    model = sx.AveragedPerceptron(max_iter=np.inf).fit(X, y)
    assert model.status_ is sx.numerics.Status.SETTLED
    assert model.errors_ > 0
    assert sx.Perceptron(max_iter=np.inf).fit(X, y).status_ is sx.numerics.Status.CONVERGED
    easy = sx.AveragedPerceptron().fit([[-1.0], [1.0]], [0, 1])
    assert (easy.status_, easy.errors_) == (sx.numerics.Status.CONVERGED, 0)
