"""Learners that choose an algorithm by the shape of the rows say which, and why; the sentence survives a file."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx

rng = np.random.default_rng(0)
TALL, WIDE = rng.standard_normal((9000, 3)), rng.standard_normal((200, 400))


def classes(X, count):
    return np.argsort(np.argsort(np.asarray(X[:, 0]).ravel())) * count // X.shape[0]


def noisy(X):
    return (np.asarray(X[:, 0]).ravel() + rng.logistic(size=X.shape[0]) > 0).astype(int)


@pytest.mark.parametrize(
    ("model", "X", "y", "said"),
    [
        (sx.LogisticRegression(), TALL[:300], noisy(TALL[:300]), "two Hessians"),
        (sx.LogisticRegression(), TALL, noisy(TALL), "two Hessians"),
        (sx.LogisticRegression(C=1.0), TALL[:300], classes(TALL[:300], 3), "few enough for a Hessian"),
        (sx.LogisticRegression(), TALL[:2000], rng.integers(0, 20, 2000), "conjugate gradients"),
        (sx.LogisticRegression(C=1.0), TALL[:2000], classes(TALL[:2000], 100), "conjugate gradients"),
        (sx.LogisticRegression(C=1.0, l1_ratio=1.0), TALL[:300], noisy(TALL[:300]), "proximal Newton"),
        (sx.LogisticRegression(bias_reduction="firth"), TALL[:300], noisy(TALL[:300]), "Firth"),
        (sx.LeastSquares(1.0), TALL[:300], TALL[:300, 1], "one correction"),
        (sx.LeastSquares(1.0), rng.standard_normal((50, 600)), np.arange(50.0), "inner products of rows"),
        (sx.LeastSquares(1.0), sp.random(1500, 1500, 0.01, "csr", rng=rng), np.arange(1500.0), "conjugate gradients"),
        (sx.LeastSquaresClassifier(1.0), TALL[:300], noisy(TALL[:300]), "one correction"),
        (sx.MaxMargin(C=1.0), TALL[:300], noisy(TALL[:300]), "interior-point"),
        (sx.MaxMargin(C=1.0), WIDE, noisy(WIDE), "coordinate descent"),
        (sx.MaxMargin(), np.array([[0.0], [1.0]]), np.array([0, 1]), "hard margin"),
    ],
)
def test_a_plan_says_what_was_done(model, X, y, said, tmp_path):
    model.fit(X, y)
    assert said in model.plan_
    sx.save(model, tmp_path / "model.json")
    assert sx.load(tmp_path / "model.json").plan_ == model.plan_
