"""Logistic regressions that give up rows, as starts of the search for a good hyperplane."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.proofs.lifted_rows import LiftedRows
from separatrix.proofs.line_search import Lines


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
