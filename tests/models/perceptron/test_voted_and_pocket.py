"""The vote is the naive vote, the pocket is the best that its ratchet found, and both account for themselves."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.errors import DataError, ParameterError


def table(seed, n=120, d=4, classes=2, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    W = rng.normal(size=(classes, d))
    y = (X @ W.T).argmax(axis=1)
    return X, np.where(rng.random(n) < noise, rng.integers(0, classes, size=n), y)


def path(X, signs, epochs):
    """All vectors of the perceptron and how many rows each has survived, itself included."""
    Z = np.column_stack([X, np.ones(len(X))])
    vectors, votes = [np.zeros(Z.shape[1])], [0]
    for _ in range(epochs):
        for z, y in zip(Z, signs, strict=True):
            if y * (vectors[-1] @ z) <= 0:
                vectors.append(vectors[-1] + y * z)
                votes.append(1)
            else:
                votes[-1] += 1
    return np.array(vectors), np.array(votes)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_vote_is_the_naive_vote(seed, layout):
    X, y = table(seed)
    fresh, _ = table(seed + 100)
    vectors, votes = path(X, 2 * y - 1, epochs=3)
    scores = np.column_stack([fresh, np.ones(len(fresh))]) @ vectors.T
    expected = np.where(scores >= 0, 1, -1) @ votes / votes.sum()
    model = sx.VotedPerceptron(order="cyclic", max_iter=3, max_vectors=np.inf).fit(layout(X), y)
    np.testing.assert_allclose(model.decision_function(fresh), expected, atol=1e-15)
    assert model.votes_[0].sum() == 3 * len(X)
    assert model.forgotten_votes_ == 0
    assert (model.predict(fresh) == (expected >= 0)).all()


def test_the_fewest_votes_are_forgotten_first():
    X, y = table(1, n=300)
    vectors, votes = path(X, 2 * y - 1, epochs=2)
    everything = [(int(v), k) for k, v in enumerate(votes[:-1]) if v > 0]
    kept = sorted(everything)[-10:]  # most votes, the youngest of equals
    model = sx.VotedPerceptron(order="cyclic", max_iter=2, max_vectors=10).fit(X, y)
    found = {(int(v), tuple(np.round(w, 9))) for v, w in zip(model.votes_[0][:-1], model.vectors_[0][:-1], strict=True)}
    assert found == {(v, tuple(np.round(vectors[k], 9))) for v, k in kept}
    assert model.forgotten_votes_ == votes.sum() - sum(v for v, _ in kept) - votes[-1]


def test_voting_streams_in_any_chunks_and_learns_classes_as_they_appear():
    X, y = table(2, n=150, classes=3)
    whole = sx.VotedPerceptron(max_vectors=7).partial_fit(X, y)
    chunked = sx.VotedPerceptron(max_vectors=7)
    for begin in range(0, 150, 11):
        chunked.partial_fit(X[begin : begin + 11], y[begin : begin + 11])
    single = sx.VotedPerceptron(max_vectors=7)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
    declared = sx.VotedPerceptron(max_vectors=7).partial_fit(X, y, classes=[0, 1, 2])
    fitted = sx.VotedPerceptron(max_vectors=7, order="cyclic", max_iter=1).fit(X, y)
    for other in (chunked, single, declared, fitted):
        np.testing.assert_array_equal(whole.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(whole.decision_one(X[3]), whole.decision_function(X[3:4])[0])
    assert whole.predict_one(X[3].tolist()) == whole.predict(X[3:4])[0]
    with pytest.raises(DataError, match="HashingMap"):
        whole.learn_one({"a": 1.0}, 0)


def test_voted_status_speaks_of_the_vote():
    X = np.array([[-1.0], [1.0]])
    model = sx.VotedPerceptron().fit(X, [0, 1])
    assert (model.status_, model.errors_) == (sx.numerics.Status.CONVERGED, 0)
    noisy = sx.VotedPerceptron(max_iter=2).fit(*table(4))
    assert noisy.status_ is sx.numerics.Status.MAX_ITERATIONS
    assert noisy.errors_ > 0
    with pytest.raises(ParameterError, match="max_vectors"):
        sx.VotedPerceptron(max_vectors=0).fit(X, [0, 1])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("order", ["cyclic", "shuffle"])
def test_the_pocket_holds_what_it_says(seed, order):
    X, y = table(seed, noise=0.3)
    model = sx.PocketPerceptron(order=order, max_iter=20, random_state=seed).fit(X, y)
    wrong = (2 * y - 1) * model.decision_function(X) <= 0
    assert model.errors_ == wrong.sum()
    assert model.counts_ >= 2
    assert model.count_visits_ <= 0.25 * model.visits_ + 3 * len(X)
    plain = sx.Perceptron(order=order, max_iter=20, random_state=seed).fit(X, y)
    assert model.errors_ <= plain.errors_
    assert model.mistakes_ == plain.mistakes_  # the learning is the perceptron's


def naive_pocket(X, signs, epochs):
    Z = np.column_stack([X, np.ones(len(X))])
    w, run, best_run = np.zeros(Z.shape[1]), 0, 0
    pocket, error = w, int((signs * (Z @ w) <= 0).sum())
    for _ in range(epochs):
        for z, y in zip(Z, signs, strict=True):
            if y * (w @ z) > 0:
                run += 1
                continue
            if run > best_run and (wrong := int((signs * (Z @ w) <= 0).sum())) < error:
                pocket, error, best_run = w, wrong, run
            w, run = w + y * z, 0
    return w if int((signs * (Z @ w) <= 0).sum()) < error else pocket


@pytest.mark.parametrize("seed", range(6))
def test_the_ratchet_is_gallants(seed):
    X, y = table(seed, noise=0.3)
    model = sx.PocketPerceptron(order="cyclic", count_share=np.inf, max_iter=6).fit(X, y)
    expected = naive_pocket(X, 2 * y - 1, epochs=6)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), expected, rtol=1e-12)


def test_the_pocket_weighs_errors_where_rows_are_weighed():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 1, 0, 1])
    for heavy in (1, 2):
        weight = np.ones(4)
        weight[heavy] = 10.0
        model = sx.PocketPerceptron(max_iter=200, random_state=0).fit(X, y, sample_weight=weight)
        assert model.predict(X)[heavy] == y[heavy]


def test_an_empty_error_ends_the_run():
    X, y = table(0, noise=0.0)
    model = sx.PocketPerceptron(max_iter=np.inf, random_state=0).fit(X, y)
    assert (model.status_, model.errors_) == (sx.numerics.Status.CONVERGED, 0)
    three = sx.PocketPerceptron(max_iter=300, random_state=0).fit(*table(0, classes=3, noise=0.0))
    assert three.coef_.shape == (3, 4)
    assert not hasattr(model, "partial_fit")
    for share in (-1, "much", True, np.nan):
        with pytest.raises(ParameterError, match="count_share"):
            sx.PocketPerceptron(count_share=share).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        "AveragedPerceptron(max_iter=np.inf)",
        "AROW(max_iter=np.inf, multiclass='kesler')",
        "VotedPerceptron(max_iter=np.inf, max_vectors=50)",
        "PocketPerceptron(max_iter=np.inf)",
        "KernelPerceptron(max_iter=np.inf, max_support=300)",
    ],
)
def test_an_interruption_leaves_a_model_that_predicts(model):
    code = f"""
import os, signal, threading, numpy as np, separatrix as sx
rng = np.random.default_rng(0)
X, y = rng.normal(size=(3000, 20)), rng.integers(0, 3, 3000)
model = sx.{model}
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    wrong = np.count_nonzero(model.predict(X) != y)
    print(model.status_.name, getattr(model, "errors_", wrong) == wrong, model.mistakes_ > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=True)
    assert done.stdout.split() == ["INTERRUPTED", "True", "True"]


def test_an_interrupted_run_holds_no_vote_on_all_rows(monkeypatch):
    """A vote of a hundred thousand vectors on all rows took a minute after Ctrl-C."""
    from separatrix.models.perceptron import voted_perceptron

    passes = iter([voted_perceptron.kernels.voted_pass] * 3)

    def interrupted(*arguments):
        if (once := next(passes, None)) is None:
            raise KeyboardInterrupt
        return once(*arguments)

    model = sx.VotedPerceptron()
    monkeypatch.setattr(voted_perceptron.kernels, "voted_pass", interrupted)
    monkeypatch.setattr(voted_perceptron, "vote_scores", None)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*table(4))
    monkeypatch.undo()
    assert model.status_ is sx.numerics.Status.INTERRUPTED
    assert not hasattr(model, "errors_")
    assert model.predict(table(4)[0]).shape == (len(table(4)[1]),)
