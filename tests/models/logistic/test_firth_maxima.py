"""Firth's penalised likelihood may have several maxima: several searches, short steps, and a warning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.models.logistic.test_logistic import overlapping, table

import separatrix as sx
from separatrix.errors import LocalMaximumWarning

# Three rows lie far out, in a column each or in both.
X = np.array(
    [
        [4.3, 0.6, 0.0, -7.9, -1.1, -0.1, 30.4, 1.8, 0.3, 0.5, -0.1, 0.0],
        [-2.0, -0.4, 2.1, 26.7, -0.7, -11.5, -0.3, -1.2, 0.0, 3.4, 0.2, -13.1],
    ]
).T
Y = np.array([1, 1, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1])


def penalised(b, X, y):
    """l + log|I|/2 from the definitions."""
    L = np.column_stack([X, np.ones(len(X))])
    s = L @ b
    p = 0.5 * (1 + np.tanh(0.5 * s))
    information = L.T @ ((p * (1 - p))[:, None] * L)
    return -np.logaddexp(0, np.where(y == 1, -s, s)).sum() + 0.5 * np.linalg.slogdet(information)[1]


def test_the_higher_of_two_maxima_is_kept_and_both_are_reported():
    with pytest.warns(LocalMaximumWarning, match=r"ended at 2, from 0\.312542 down to -0\.162885; the highest is kept"):
        model = sx.LogisticRegression(bias_reduction="firth").fit(X, Y)
    b = np.append(model.coef_, model.intercept_)
    high, low = model.maxima_
    assert penalised(b, X, Y) == pytest.approx(high, abs=1e-9)
    starts = np.random.default_rng(0).normal(size=(20, 3))
    ends = [-minimize(lambda b: -penalised(b, X, Y), s, method="Nelder-Mead").fun for s in starts]
    assert max(ends) == pytest.approx(high, abs=1e-4)
    assert any(abs(end - low) < 1e-4 for end in ends)


def test_profiles_go_down_from_the_maximum_that_was_kept():
    with pytest.warns(LocalMaximumWarning):
        model = sx.LogisticRegression(bias_reduction="firth").fit(X, Y)
    for row in model.summary(intervals="profile").coefficients:
        assert row.low < row.coef < row.high


def test_one_maximum_is_reported_as_one():
    model = sx.LogisticRegression(bias_reduction="firth").fit(*overlapping())
    assert model.maxima_ is None
    assert model.status_ is sx.Status.OPTIMAL


def test_a_long_step_does_not_end_at_an_inferior_maximum_of_spambase(real_data):
    X, y = table(real_data, "spambase")
    with pytest.warns(LocalMaximumWarning, match=r"ended at 3, from -822\.844 down to -829\.517"):
        model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    assert model.maxima_[0] > -822.844 > -823.4508
    b = np.append(model.coef_, model.intercept_)
    assert penalised(b, X.to_numpy(), y.to_numpy()) == pytest.approx(model.maxima_[0], rel=1e-12)


def test_further_searches_find_the_highest_known_maximum_of_breast_cancer(real_data):
    X, y = table(real_data, "breast_cancer")
    with pytest.warns(LocalMaximumWarning, match=r"from -64\.6794 down to"):
        model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    b = np.append(model.coef_, model.intercept_)
    assert penalised(b, X.to_numpy(), y.to_numpy()) == pytest.approx(model.maxima_[0], rel=1e-8)
    assert model.maxima_[0] > -64.68 > model.maxima_[1]
    assert any(value == pytest.approx(-67.16206, abs=1e-4) for value in model.maxima_)  # from zero
