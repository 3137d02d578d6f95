"""The public pieces for other engines: merged answers of partitions are those of all rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.cluster import merge, partial_gradient, partial_moments, price
from separatrix.errors import DataError


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    return X, np.where(X @ [1.0, -1.0, 0.5] + rng.logistic(size=300) > 0, "yes", "no")


def test_newton_by_merged_gradients_ends_at_the_estimate(rows):
    X, y = rows
    at = np.zeros(4)
    for _ in range(8):
        parts = [partial_gradient(X[k::4], y[k::4], at[:-1], at[-1], positive="yes") for k in range(4)]
        at = at - merge(*(pickle.loads(pickle.dumps(part)) for part in parts)).step()
    alone = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(at, [*alone.coef_[0], alone.intercept_[0]], rtol=1e-12)


def test_a_ridge_step(rows):
    X, y = rows
    at = np.zeros(4)
    for _ in range(8):
        at = at - partial_gradient(X, y, at[:-1], at[-1], positive="yes").step(2.0, at[:-1])
    np.testing.assert_allclose(at[:-1], LogisticRegression(C=0.5, tol=1e-14).fit(X, y).coef_[0], rtol=1e-7)


def test_prices_are_exact_where_rounding_is_not():
    X, y = np.array([[0.1], [0.3], [0.5]]), np.array(["a", "a", "b"])
    assert (X[:, 0] * 10.0 - 3.0 == 0.0).tolist() == [False, True, False]
    assert price(X, y, [10.0], -3.0, positive="b").tolist() == []  # the double 0.3 is below 3/10
    assert price(X, y, [1.0], -0.3, positive="b").tolist() == [1]


def test_kinds_are_not_mixed(rows):
    X, y = rows
    with pytest.raises(DataError, match="not both"):
        merge(partial_moments(X), partial_gradient(X, y, np.zeros(3), 0.0, positive="yes"))
