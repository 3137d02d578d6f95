"""Intervals: against independent formulas, and never collapsed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import separatrix as sx
from separatrix.evaluation import bootstrap, metrics
from separatrix.evaluation.intervals import delong, effective_rows, placements, zero_errors
from separatrix.statistics.distributions import wilson


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_wilson_is_scipys(n, share, level):
    k = round(n * share)
    theirs = stats.binomtest(k, n).proportion_ci(level, method="wilson")
    low, high = wilson(k, n, level)
    assert float(low) == pytest.approx(theirs.low, abs=1e-12)
    assert float(high) == pytest.approx(theirs.high, abs=1e-12)


@given(st.integers(0, 2**32))
def test_delong_is_the_mean_over_pairs(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 12, 2)
    a, b = rng.integers(0, 6, n).astype(float), rng.integers(-2, 4, m).astype(float)
    pairs = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    auc, low, high, method = delong(np.arange(n + m) < n, np.concatenate([a, b]))
    assert auc == pytest.approx(pairs.mean())
    variance = pairs.mean(axis=1).var(ddof=1) / n + pairs.mean(axis=0).var(ddof=1) / m
    if 0 < auc < 1 and variance > 1e-15:
        half = 1.959963984540054 * np.sqrt(variance) / (auc * (1 - auc))
        assert low == pytest.approx(1 / (1 + np.exp(-(np.log(auc / (1 - auc)) - half))))
        assert high == pytest.approx(1 / (1 + np.exp(-(np.log(auc / (1 - auc)) + half))))
    assert 0 <= low < high <= 1, method


def test_weights_in_delong_are_repeated_rows():
    rng = np.random.default_rng(3)
    y, s, w = rng.random(40) < 0.5, rng.integers(0, 9, 40).astype(float), rng.integers(1, 4, 40)
    auc, placed = placements(y, s, w.astype(float))
    again, repeated = placements(np.repeat(y, w), np.repeat(s, w))
    assert auc == pytest.approx(again)
    np.testing.assert_allclose(np.repeat(placed, w), repeated)


def test_separated_classes_keep_a_bound_from_independent_pairs():
    y = np.array([0] * 30 + [1] * 12)
    auc, low, high, method = delong(y == 1, y.astype(float))
    assert (auc, high, method) == (1.0, 1.0, "exact on independent pairs")
    assert low == pytest.approx(0.025 ** (1 / 12))
    auc, low, high, _ = delong(y == 0, y.astype(float))
    assert (auc, low) == (0.0, 0.0)
    assert high == pytest.approx(1 - 0.025 ** (1 / 12))


def test_zero_errors_is_clopper_and_pearson():
    for n in (1, 7, 300):
        assert zero_errors(n) == pytest.approx(stats.binomtest(0, n).proportion_ci(0.95, method="exact").high)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_perfect_score_is_no_point(k, weighted):
    y = np.arange(30) % k
    p = np.eye(k)[y]
    w = np.linspace(1, 2, 30) if weighted else None
    e = sx.evaluate(y, probabilities=p, sample_weight=w)
    for name, m in e.metrics.items():
        if name == "log_loss":
            assert not m.has_interval
            assert m.reason == "every row has the same loss, which shows no spread"
        else:
            assert m.high - m.low > 0.01, (name, m)
    one = sx.evaluate([1], [1])
    assert one.f1.reason == "one row has no spread"


def test_resampled_cells_are_resampled_rows():
    """The multinomial draw of cells has the distribution of drawing rows."""
    rng = np.random.default_rng(0)
    y, f = rng.random(60) < 0.4, rng.random(60) < 0.5
    c = metrics.confusion_matrix(y.astype(int), f.astype(int), 2)
    cells = metrics.of_class(metrics.f1_scores, 1)(bootstrap.cell_resamples(c, 20000, rng))
    drawn = rng.integers(0, 60, (20000, 60))
    rows = 2 * (y & f)[drawn].sum(1) / (y[drawn].sum(1) + f[drawn].sum(1))
    assert stats.ks_2samp(cells, rows).pvalue > 1e-3
    weighted = bootstrap.weighted_cell_resamples((y * 2 + f).astype(int), np.ones(60), 2, 20000, rng)
    assert stats.ks_2samp(metrics.f1_scores(weighted)[:, 1], rows).pvalue > 1e-3


def test_bca_is_scipys():
    rng = np.random.default_rng(4)
    x = rng.exponential(size=80)
    ours = sx.evaluate(np.zeros(80), np.sqrt(x), task="regression", resamples=20000).mse
    theirs = stats.bootstrap((x,), np.mean, n_resamples=20000, method="BCa", rng=rng).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=0.015)
    assert ours.high == pytest.approx(theirs.high, abs=0.03)


def test_jackknife_takes_over_from_the_bootstrap_without_a_jump(monkeypatch):
    rng = np.random.default_rng(7)
    y = rng.random(3000) < 0.3
    p = 1 / (1 + np.exp(-(rng.normal(size=3000) + 2 * y - 1)))
    few = sx.evaluate(y, probabilities=p)
    monkeypatch.setattr(bootstrap, "ROWS", 100)
    many = sx.evaluate(y, probabilities=p)
    for name in ("log_loss", "brier", "average_precision"):
        a, b = getattr(few, name), getattr(many, name)
        assert "bootstrap" in a.method
        assert "jackknife" in b.method
        assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=0.02)


@given(st.integers(0, 2**32))
def test_influence_is_the_derivative_of_average_precision(seed):
    rng = np.random.default_rng(seed)
    scores, w = rng.integers(0, 8, 20).astype(float), rng.random(20) + 0.5
    positive = np.concatenate([[True, False], rng.random(18) < 0.5])
    order, ends = metrics.ranked(scores)
    own, w = positive[order], w[order]
    step = 1e-6 * np.eye(20)
    up, down = (metrics.average_precisions(w + sign * step, own, ends) for sign in (1, -1))
    np.testing.assert_allclose(metrics.average_precision_influence(w, own, ends), (up - down) / 2e-6, atol=1e-7)


def test_effective_rows():
    assert effective_rows(np.ones(9)) == 9
    assert effective_rows(np.array([1.0, 0, 0])) == 1


def test_same_seed_same_interval():
    y, f = np.arange(50) % 3, np.arange(50) % 2
    assert str(sx.evaluate(y, f)) == str(sx.evaluate(y, f))
