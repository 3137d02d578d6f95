"""Signs proved in single precision: float32 rows are judged as in double, also where the score is all but zero."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from separatrix import kernels

NATIVE = kernels.native_modules()


def account(module, X, y, step, first, *, bias=True, zero_is_mistake=True, passes=3):
    w, habit = first.copy(), np.zeros(len(X), dtype=np.int8)
    seen = []
    for _ in range(passes):
        log = np.zeros(len(X), dtype=np.int64)
        view = module.Rows.dense(X)
        shared = (bias, zero_is_mistake, log, 0, len(X), 2**62, habit)
        moves = module.perceptron_pass(view, y, step, None, w, *shared)
        seen.append((moves, log[: moves[0]].tolist(), habit.tolist()))
    return seen, w.tobytes()


def same_as_double(X, y, step, first, **options):
    """The account of all levels on float32 rows, after it is found to be that of their float64 copy."""
    with np.errstate(all="ignore"):  # numbers that overflow are part of the test
        expected = account(reference, X.astype(np.float64), y, step, first, **options)
    for module in NATIVE:
        assert account(module, X, y, step, first, **options) == expected
    return expected


def beside(X, w):
    """Rows moved along w until their score is what rounding to float32 leaves of zero."""
    X = X.astype(np.float64)
    for _ in range(3):
        X = (X - np.outer(X @ w, w) / (w @ w)).astype(np.float32).astype(np.float64)
    return X.astype(np.float32)


@pytest.mark.parametrize("d", [32, 33, 40, 47, 48, 100, 511, 512, 513])
@pytest.mark.parametrize("seed", range(3))
def test_rows_beside_the_hyperplane(d, seed):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    X = beside(rng.normal(size=(60, d)), w)
    scores = np.abs(X.astype(np.float64) @ w) / np.linalg.norm(w) / np.linalg.norm(X.astype(np.float64), axis=1)
    assert np.median(scores) < 1e-7  # less than what a sum in single precision can tell from zero
    y = rng.choice(np.array([-1, 1, 0], dtype=np.int8), size=60, p=[0.48, 0.48, 0.04])
    step = np.full(60, 1e-12)  # small, so that all rows stay beside it
    moves = same_as_double(X, y, step, np.append(w, 0.0))[0]
    assert 0 < moves[0][0][0] < 58


@pytest.mark.parametrize("zero_is_mistake", [True, False])
@pytest.mark.parametrize("d", [35, 64])
def test_scores_of_exactly_zero(d, zero_is_mistake):
    rng = np.random.default_rng(d)
    X = rng.integers(-2, 3, size=(80, d)).astype(np.float32)
    X[::3] = 0.0
    y = rng.choice(np.array([-1, 1], dtype=np.int8), size=80)
    lost = {i for i in range(0, 80, 3) if zero_is_mistake or y[i] < 0}  # of the rows of zeros, where there is no bias
    for first in (np.zeros(d + 1), np.append(rng.integers(-1, 2, size=d), 0.0)):
        same_as_double(X, y, None, first.astype(np.float64), zero_is_mistake=zero_is_mistake)
        seen, _ = same_as_double(X, y, None, first.astype(np.float64), bias=False, zero_is_mistake=zero_is_mistake)
        for _, moved, _ in seen:
            assert {i for i in moved if i % 3 == 0} == lost


@pytest.mark.parametrize("rows", [1e-45, 1e-40, 1e-20, 1.0, 1e18, 1e30, 3e37])
@pytest.mark.parametrize("weights", [0.0, 1e-310, 1e-60, 1e-25, 1.0, 1e17, 1e19, 1e39, 1e200, 1e307])
def test_numbers_that_floats_lose(rows, weights):
    rng = np.random.default_rng(7)
    X = (rng.uniform(-1, 1, size=(64, 50)) * rows).astype(np.float32)
    X[1::2] = (X[1::2] * rng.choice([1.0, 1e-6], size=(32, 50))).astype(np.float32)
    y = rng.choice(np.array([-1, 1], dtype=np.int8), size=64)
    first = np.append(rng.normal(size=50) * weights, rng.choice([0.0, weights * rows, 1.0]))
    for step in (None, np.full(64, weights or 1e-30)):
        seen, _ = same_as_double(X, y, step, first)
        assert 0 < seen[0][0][0] <= seen[0][0][1] == 64


def test_a_start_that_is_not_a_number_is_always_wrong():
    X = np.ones((40, 40), dtype=np.float32)
    seen, _ = same_as_double(X, np.ones(40, dtype=np.int8), None, np.full(41, np.nan))
    assert [moves[0] for moves, _, _ in seen] == [40, 40, 40]
