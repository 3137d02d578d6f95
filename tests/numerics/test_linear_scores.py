"""Scores, margins, distances and foot points."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from separatrix.errors import DataError
from separatrix.numerics.linear_scores import distances, foot_points, margins, scores

numbers = st.floats(-100, 100, allow_subnormal=False).map(lambda v: round(v, 3))
tables = arrays(np.float64, (5, 3), elements=numbers)
vectors = arrays(np.float64, 3, elements=numbers).filter(lambda w: np.linalg.norm(w) > 0.01)


@given(tables, vectors, numbers)
def test_foot_points_lie_on_the_hyperplane_at_the_stated_distance(X, w, b):
    feet = foot_points(X, w, b)
    size = 1 + np.abs(X).max() * np.linalg.norm(w) + abs(b)
    assert np.abs(scores(feet, w, b)).max() <= 1e-10 * size
    gaps = np.linalg.norm(X - feet, axis=1)
    assert np.allclose(gaps, np.abs(distances(X, w, b)), atol=1e-9 * size / np.linalg.norm(w))
    assert np.allclose(foot_points(sp.csr_array(X), w, b), feet)


@given(tables, vectors, numbers)
def test_scores_and_margins(X, w, b):
    assert np.allclose(scores(X, w, b), X @ w + b, atol=1e-9)
    y = np.array([1, -1, 1, -1, 1])
    assert np.array_equal(margins(X, y, w, b), y * scores(X, w, b))


def test_what_cannot_be_computed_is_said():
    X = np.eye(2)
    with pytest.raises(DataError, match="w is zero"):
        distances(X, [0.0, 0.0])
    with pytest.raises(DataError, match="w has 3 entries and X has 2 columns"):
        scores(X, [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="y is 0 at row 1"):
        margins(X, [1, 0], [1.0, 1.0])
    with pytest.raises(DataError, match="X has 2 rows and y has 3"):
        margins(X, [1, -1, 1], [1.0, 1.0])
