"""Passes with helpers that judge rows ahead: the weights, updates and logs of the pass alone, to the bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from separatrix import AveragedPerceptron, MarginPerceptron, Perceptron, kernels
from separatrix.kernels import look_ahead, thread_pool, threads

NO_LIMIT = 2**62
RULES = {
    "plain": lambda w, *a: kernels.PlainRule(w, *a, True, True),
    "averaged": lambda w, *a: kernels.AveragedRule(w, *a, True, False, np.zeros(w.shape), np.zeros(1, dtype=np.int64)),
    "margin": lambda w, *a: kernels.MarginRule(w, *a, True, 0.3, False, np.zeros(1), np.zeros(1, dtype=np.int64)),
    "relative": lambda w, *a: kernels.MarginRule(w, *a, True, 0.01, True, np.zeros(1), np.zeros(1, dtype=np.int64)),
    "pa": lambda w, *a: kernels.PassiveAggressiveRule(w, *a, True, 1, 0.1),
    "arow": lambda w, *a: kernels.ArowDiagonalRule(w, *a, True, 1.0, np.ones(w.shape)),
}


class Helpers:
    """Passes with a number of helpers, and what they spared."""

    def __init__(self, count, alone, block):
        self.count, self.alone, self.block, self.passed_over = count, alone, block, 0

    def run(self, run):
        ahead = kernels.Lookahead(self.count, self.alone, self.block)
        with ThreadPoolExecutor(self.count) as pool:
            helping = [pool.submit(ahead.help, k) for k in range(self.count)]
            moves = run(ahead)
            ahead.close()
        for helper in helping:
            helper.result()
        self.passed_over += ahead.passed_over
        return moves


def nearly_separated(rng, kind):
    """Rows with few mistakes left, as late passes see them: plain, on a lattice full of ties, far out or tiny."""
    d = int(rng.integers(1, 60))
    n = int(rng.integers(500, 4000))
    normal = rng.normal(size=d + 1)
    X = rng.normal(size=(n, d))
    if kind == "lattice":
        X, normal = np.round(X), np.round(2 * normal)
    X = X * {"huge": 1e120, "tiny": 1e-160, "lattice": 1, "plain": 1}[kind]
    y = np.where(X @ normal[:-1] + normal[-1] >= 0, 1, -1).astype(np.int8)
    y[rng.random(n) < 0.002] *= -1
    y[rng.random(n) < 0.05] = 0
    order = rng.permutation(n) if rng.random() < 0.3 else None
    return np.ascontiguousarray(X), y, normal * rng.choice([1, 30]), order


def sets():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        yield rng, *nearly_separated(rng, ("plain", "lattice", "huge", "tiny")[seed % 4])


def passes_of(X, y, order, start, step, zero_is_mistake, limit, helpers=None):
    """Weights, results and logs of four passes."""
    view, w, habit, results = kernels.rows(X), start.copy(), np.zeros(len(y), dtype=np.int8), []
    for _ in range(4):
        log = np.empty(len(y), dtype=np.int64)
        run = partial(
            kernels.perceptron_pass, view, y, step, order, w, True, zero_is_mistake, log, 0, len(y), limit, habit
        )
        moves = run(None) if helpers is None else helpers.run(run)
        results.append((moves, log[: moves[0]].tobytes()))
    return w.tobytes(), results


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_perceptron_with_helpers_makes_the_same_updates(count, dtype):
    spared = 0
    for rng, X, y, start, order in sets():
        rows = X.astype(dtype) if np.abs(X).max() < 1e30 else X
        step = rng.uniform(0.5, 2, len(y)) if rng.random() < 0.5 else None
        limit = int(rng.choice([5, NO_LIMIT]))
        given = (rows, y, order, start, step, bool(rng.random() < 0.5), limit)
        helpers = Helpers(count, alone=int(rng.integers(1, 200)), block=int(rng.integers(1, 40)))
        assert passes_of(*given) == passes_of(*given, helpers)
        spared += helpers.passed_over
    assert spared > 1000


@pytest.mark.parametrize("name", RULES)
def test_other_rules_with_helpers_move_alike(name):
    spared = 0
    for rng, X, y, start, order in sets():
        view, helpers = kernels.rows(X), Helpers(2, alone=100, block=int(rng.integers(1, 40)))
        seen = []
        for own in (None, helpers):
            w, counts = start[None].copy(), (np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
            rule = RULES[name](w, *counts, None)
            run = partial(rule.binary, 0, view, y, None, order, 0, len(y), NO_LIMIT, None)
            moves = [run(None) if own is None else own.run(run) for _ in range(3)]
            scores = np.zeros(1)
            rule.scores(X[0].astype(np.float64), scores)  # of the averaged rule: its sums and looks are in it
            seen.append((w.tobytes(), moves, [c.tolist() for c in counts], scores.tobytes()))
        assert seen[0] == seen[1]
        spared += helpers.passed_over
    assert (spared > 500) == (name != "relative")


def test_rows_that_are_not_numbers_are_looked_at():
    X = np.random.default_rng(0).normal(size=(3000, 5))
    y = np.where(X[:, 0] > 0, 1, -1).astype(np.int8)
    X[[700, 1500], 1] = np.nan, np.inf
    start = np.array([50.0, 0, 0, 0, 0, 0])
    given = (X, y, None, start, None, True, NO_LIMIT)
    assert passes_of(*given) == passes_of(*given, Helpers(2, alone=64, block=16))


def test_a_lookahead_serves_one_pass_and_needs_room():
    view, y, w = kernels.rows(np.ones((4, 2))), np.ones(4, dtype=np.int8), np.zeros(3)
    with pytest.raises(ValueError, match="positive"):
        kernels.Lookahead(0, 1, 1)
    ahead = kernels.Lookahead(1, 1, 1)
    ahead.close()
    ahead.help(0)  # it comes too late, and returns
    with pytest.raises(ValueError, match="one pass"):
        kernels.perceptron_pass(view, y, None, None, w, True, True, None, 0, 4, 9, None, ahead)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")  # thirty passes are enough here
@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, MarginPerceptron])
def test_learners_have_the_same_bits_on_any_number_of_threads(learner, monkeypatch):
    monkeypatch.setattr(look_ahead, "WORTH", 2**14)
    monkeypatch.setattr(look_ahead, "EACH", 2**12)
    rng = np.random.default_rng(3)
    X, normal = rng.normal(size=(4000, 20)), rng.normal(size=20)
    y = np.where(X @ normal > 0, "b", "a")
    X += 0.1 * np.where(y == "b", 1, -1)[:, None] * normal
    weights = []
    for n in (1, 2, 3, 5):
        with threads(n):
            model = learner(max_iter=30).fit(X, y)
        weights.append((model.coef_.tobytes(), model.intercept_.tobytes()))
    assert len(set(weights)) == 1
    assert not thread_pool._busy.locked()


def test_frequent_updates_sparse_rows_and_small_tables_stay_alone():
    large = kernels.rows(np.zeros((2**17, 64)))
    with threads(4):
        with kernels.looking_ahead(large) as ahead:
            assert ahead is not None
            with kernels.looking_ahead(large) as second:  # a fit inside a fit has no threads of its own
                assert second is None
        with kernels.looking_ahead(large, last_updates=2**13) as ahead:
            assert ahead is None
        with kernels.looking_ahead(kernels.rows(np.zeros((100, 64)))) as ahead:
            assert ahead is None
    with threads(1), kernels.looking_ahead(large) as ahead:
        assert ahead is None
