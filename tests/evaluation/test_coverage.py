"""Coverage by simulation: how often a nominal 95 % interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import separatrix as sx
from separatrix.evaluation.intervals import delong
from separatrix.statistics.distributions import wilson

pytestmark = pytest.mark.slow


def test_wilson_covers_over_all_shares():
    """Exactly, by the binomial: the mean over p in [.05, .95] at n = 200."""
    n, grid = 200, np.linspace(0.05, 0.95, 181)
    low, high = wilson(np.arange(n + 1), n, 0.95)
    held = [stats.binom.pmf(np.arange(n + 1), n, p)[(low <= p) & (p <= high)].sum() for p in grid]
    assert 0.93 <= np.mean(held) <= 0.97


def auc_coverage(auc, positives, negatives, draws, rng):
    shift = np.sqrt(2) * stats.norm.ppf(auc)
    y = np.arange(positives + negatives) < positives
    held = 0
    for _ in range(draws):
        _, low, high, _ = delong(y, rng.normal(size=len(y)) + shift * y)
        held += low <= auc <= high
    return held / draws


@pytest.mark.parametrize("auc", [0.5, 0.7, 0.85, 0.95])
@pytest.mark.parametrize(("positives", "negatives"), [(50, 50), (50, 300), (200, 200)])
def test_delong_covers(auc, positives, negatives):
    """Normal scores; the limits 93-97 % are widened by three standard errors of the simulation."""
    draws = 3000
    found = auc_coverage(auc, positives, negatives, draws, np.random.default_rng(0))
    slack = 3 * np.sqrt(0.05 * 0.95 / draws)
    assert 0.93 - slack <= found <= 0.97 + slack


def test_separated_samples_are_covered_conservatively():
    """AUC = .99 with 10 a class: most draws do not overlap, and the pairs' bound must hold then."""
    assert auc_coverage(0.99, 10, 10, 3000, np.random.default_rng(1)) >= 0.93


@pytest.mark.filterwarnings("ignore::separatrix.errors.AccuracyWarning")
@pytest.mark.parametrize("accuracy", [0.7, 0.9])
def test_f1_covers(accuracy):
    rng = np.random.default_rng(2)
    draws, held = 600, 0
    truth = 2 * 0.4 * accuracy / (2 * 0.4 * accuracy + 0.6 * (1 - accuracy) + 0.4 * (1 - accuracy))
    for k in range(draws):
        y = rng.random(200) < 0.4
        e = sx.evaluate(y, y ^ (rng.random(200) > accuracy), resamples=1000, random_state=k)
        held += truth in e.f1
    assert 0.92 <= held / draws <= 0.98


def test_cross_validated_accuracy_covers_the_risk_of_its_models():
    """Bayle et al. 2020: the mean risk of the fitted models, known here because the distribution is."""
    rng = np.random.default_rng(3)
    draws, held, w = 300, 0, np.array([1.0, 1.0])
    for _ in range(draws):
        X = rng.normal(size=(150, 2))
        y = X @ w + rng.normal(size=150) > 0
        cv = sx.cross_validate(sx.LinearDiscriminant(), X, y, random_state=0, share=False)
        risks = []
        for r in cv.results:
            kept = np.delete(np.arange(150), r.rows)
            m = sx.LinearDiscriminant().fit(X[kept], y[kept])
            fresh = np.random.default_rng(9).normal(size=(4000, 3))
            risks.append(np.mean(m.predict(fresh[:, :2]) == (fresh[:, :2] @ w + fresh[:, 2] > 0)))
        held += np.mean(risks) in cv["accuracy"]
    assert 0.91 <= held / draws <= 0.985
