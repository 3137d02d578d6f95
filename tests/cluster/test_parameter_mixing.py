"""Iterative parameter mixing: separable rows are separated within the bound, whatever the partitions."""

from __future__ import annotations

import numpy as np
import pytest
from sources import rows_in_parts

from separatrix import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, mistake_bound
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.parameter_mixing import fit_by_mixing
from separatrix.errors import DataError, IterationWarning
from separatrix.numerics import Status

NOWHERE = Checkpoint(None, {})


def separable(seed):
    """Rows on both sides of a hyperplane, a few of them near it."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 60)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * rng.choice([0.1, 1.0, 10.0])
    w, b = rng.normal(size=d), rng.normal()
    score = X @ w + b
    kept = np.abs(score) > 0.02 * np.abs(score).max()
    X, codes = X[kept], (score[kept] > 0).astype(np.int64)
    if len(np.unique(codes)) < 2:
        X, codes = np.vstack([X, X[:1] - 2 * score[kept][0] * w / (w @ w)]), np.append(codes, 1 - codes[0])
    return X, codes, int(rng.integers(1, 9))


@pytest.mark.parametrize("seed", range(100))
def test_separable_rows_are_separated_within_the_bound(seed):
    X, codes, parts = separable(seed)
    learner = Perceptron(max_iter=float("inf"))
    account = fit_by_mixing(learner, rows_in_parts(X, codes, parts), NOWHERE)
    bound = mistake_bound(X, codes)
    assert learner.status_ is Status.CONVERGED
    assert (learner.predict(X) == codes).all()
    assert learner.errors_ == 0
    assert account["weighted_mistakes"][0] <= bound.bound
    assert np.count_nonzero(learner.epoch_mistakes_) <= bound.most
    assert account["guarantee"].startswith("at most (R/g)^2")


def test_one_partition_is_the_perceptron_of_one_machine():
    X, codes, _ = separable(7)
    learner, alone = Perceptron(order="cyclic"), Perceptron(order="cyclic").fit(X, codes)
    fit_by_mixing(learner, rows_in_parts(X, codes, 1), NOWHERE)
    np.testing.assert_allclose(learner.coef_, alone.coef_, rtol=1e-12)
    assert (learner.mistakes_, learner.n_iter_) == (alone.mistakes_, alone.n_iter_)


@pytest.mark.parametrize("multiclass", ["ovr", "kesler"])
def test_more_than_two_classes(multiclass):
    rng = np.random.default_rng(2)
    centres = np.array([[0.0, 8.0], [8.0, -4.0], [-8.0, -4.0]])
    codes = np.arange(150) % 3
    X = centres[codes] + rng.normal(size=(150, 2))
    learner = Perceptron(max_iter=float("inf"), multiclass=multiclass)
    fit_by_mixing(learner, rows_in_parts(X, codes, 4), NOWHERE)
    assert learner.status_ is Status.CONVERGED
    assert learner.score(X, codes) == 1.0
    assert learner.coef_.shape == (3, 2)


@pytest.mark.parametrize("learner", [AveragedPerceptron(max_iter=5), PassiveAggressive(max_iter=5), AROW(max_iter=5)])
def test_others_are_mixed_without_a_guarantee(learner):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    codes = (X @ [1.0, -2.0, 0.5] + 0.3 * rng.normal(size=400) > 0).astype(np.int64)
    account = fit_by_mixing(learner, rows_in_parts(X, codes, 5), NOWHERE)
    assert account["guarantee"].startswith("none")
    assert learner.score(X, codes) > 0.93
    assert learner.errors_ == (learner.predict(X) != codes).sum()


def test_rows_that_cannot_be_separated_end_at_the_limit():
    X, codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    learner = Perceptron(max_iter=20)
    with pytest.warns(IterationWarning, match="mixing stopped after 20 epochs"):
        fit_by_mixing(learner, rows_in_parts(X, codes, 2), NOWHERE)
    assert learner.status_ is Status.MAX_ITERATIONS


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    X, codes, _ = separable(11)
    source = rows_in_parts(X, codes, 3)
    whole = Perceptron(max_iter=float("inf"))
    fit_by_mixing(whole, source, NOWHERE)
    kept = Checkpoint(tmp_path / "run", {"a": 1})
    cut = Perceptron(max_iter=2)
    with pytest.warns(IterationWarning):
        fit_by_mixing(cut, source, kept)
    assert kept.path.exists()
    again = Perceptron(max_iter=float("inf"))
    fit_by_mixing(again, source, Checkpoint(tmp_path / "run", {"a": 1}))
    assert again.coef_.tobytes() == whole.coef_.tobytes()
    assert again.epoch_mistakes_.tolist() == whole.epoch_mistakes_.tolist()
    with pytest.raises(DataError, match="checkpoint of another run"):
        fit_by_mixing(again, source, Checkpoint(tmp_path / "run", {"a": 2}))
