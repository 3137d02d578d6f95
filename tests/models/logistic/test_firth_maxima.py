"""Firth's penalised likelihood may have several maxima: several searches, short steps, and a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.models.logistic.test_logistic import overlapping, table

import separatrix as sx
from separatrix.errors import LocalMaximumWarning
from separatrix.models.logistic.firth import LARGE
from separatrix.models.logistic.firth_likelihood import FirthLikelihood, orthonormal
from separatrix.models.logistic.problem import LogisticProblem

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
    assert model.status_ is sx.numerics.Status.OPTIMAL


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


def random_table(seed, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) ** 3 * 3, 1)
    y = (X[:, 0] + rng.logistic(size=n) > 0).astype(int)
    return X, y, rng.integers(1, 4, n).astype(float), rng.normal(size=n)


def likelihood_of(narrow):
    X, y, c, offset = random_table(3)
    problem = LogisticProblem.of(X, y.astype(np.intp), 2, c, offset, True)
    return FirthLikelihood(problem, orthonormal(problem.lifted())[0], narrow)


def test_the_score_of_two_classes_is_the_derivative_of_the_value():
    likelihood, step = likelihood_of(narrow=False), 1e-6
    b = np.array([0.3, -0.2, 0.5, 0.1])
    numeric = [(likelihood.at(b + step * e).penalised - likelihood.at(b - step * e).penalised) for e in np.eye(4)]
    point = likelihood.at(b)
    score = likelihood.score(point, np.linalg.inv(point.factor))
    np.testing.assert_allclose(score, np.array(numeric) / (2 * step), rtol=1e-6, atol=1e-7)


def test_narrow_matrices_give_the_same_to_six_digits():
    wide, narrow = likelihood_of(narrow=False), likelihood_of(narrow=True)
    one, other = (f.at(np.array([0.3, -0.2, 0.5, 0.1])) for f in (wide, narrow))
    assert other.penalised == pytest.approx(one.penalised, abs=1e-5)
    assert other.loglik == one.loglik
    scores = [f.score(point, np.linalg.inv(point.factor)) for f, point in ((wide, one), (narrow, other))]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_no_search_from_other_points_ends_higher(seed):
    X, y, _, _ = random_table(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LocalMaximumWarning)
        model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    found = penalised(np.append(model.coef_, model.intercept_), X, y)
    starts = np.random.default_rng(seed).normal(size=(6, 4))
    ends = [-minimize(lambda b: -penalised(b, X, y), s, method="BFGS").fun for s in starts]
    assert found >= max(ends) - 1e-6


def test_a_large_table_has_the_maximum_of_its_exact_matrices():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 24))
    y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
    assert X.size * 25 > LARGE
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    assert model.maxima_ is None
    problem = LogisticProblem.of(X, y.astype(np.intp), 2, None, None, True)
    Q, R = orthonormal(problem.lifted())
    likelihood = FirthLikelihood(problem, Q)
    point = likelihood.at(R @ np.append(model.coef_, model.intercept_))
    root = np.linalg.inv(point.factor)
    assert np.linalg.norm(root @ likelihood.score(point, root)) < 1e-7  # standard errors
