"""Logistic regressions that give up rows, as starts of the search for a good hyperplane."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.fewest_mistakes.line_search import Lines


@pytest.mark.parametrize("seed", range(3))
def test_a_hyperplane_is_found_again_although_labels_are_flipped_and_columns_have_long_tails(seed):
    rng = np.random.default_rng(seed)
    X = np.exp(1.5 * rng.standard_normal((800, 10)))
    score = X @ rng.standard_normal(10)
    y = np.where(score > np.median(score), 1, -1).astype(np.int8)
    y[rng.choice(800, 40, replace=False)] *= -1
    w = Lines(LiftedRows(X, y, True)).smooth()
    assert w is not None
    assert (y * (X @ w[:-1] + w[-1]) <= 0).sum() <= 43


@pytest.mark.parametrize("sparse", [pytest.param(False, marks=pytest.mark.slow), True])
def test_rows_weighted_at_random_lead_out_of_a_valley(sparse):
    """Fewer mistakes than many lines from the best start find, for the same draws each time."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.standard_normal((600, 4)), rng.random((600, 26)) < 0.2]).astype(float)
    y = np.where(X @ rng.standard_normal(30) + rng.logistic(0, 1, 600) >= 0, 1, -1).astype(np.int8)
    X = csr_array(X) if sparse else X

    def wrong(w):
        return int((y * (X @ w[:-1] + w[-1]) <= 0).sum())

    found = []
    for _ in range(2):
        lines = Lines(LiftedRows(X, y, True))
        start = lines.improve(lines.smooth(), 40)
        best = start
        for _ in range(30):
            best = min(best, lines.improve(lines.smooth_again(best), 0), key=wrong)
        assert wrong(best) < wrong(start) - 3
        found.append(best)
    assert np.array_equal(*found)


def test_what_is_not_finite_leads_nowhere():
    X = np.array([[1e300, 1.0], [-1e300, 2.0], [3e299, -1.0], [2e299, 1.0]])
    lines = Lines(LiftedRows(X, np.array([1, -1, -1, 1], dtype=np.int8), True))
    for w in (np.array([0.0, 1.0, 0.0]), np.array([1e300, 1e-300, 1e308]), np.zeros(3)):
        assert lines.smooth_again(w).shape == (3,)
