"""Profiles of Firth's likelihood by exact second derivatives: they are what the slower search finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import LocalMaximumWarning
from separatrix.models.logistic.profile import FirthProfiles, profile_interval, profile_of

Z = 1.959963984540054


def fitted(seed=0, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 10.0, 0.1]
    y = (X[:, 0] + rng.logistic(size=n) > 0).astype(int)
    c = rng.integers(1, 4, n).astype(float)
    return sx.LogisticRegression(bias_reduction="firth").fit(X, y, sample_weight=c)._fitted_likelihood()[0]


def test_the_second_derivatives_are_those_of_the_penalised_likelihood():
    profiles = FirthProfiles(fitted())
    b, step = profiles.top.point.b + 0.1, 1e-5
    likelihood = profiles.likelihood

    def score(at):
        point = likelihood.at(at)
        return likelihood.score(point, np.linalg.inv(point.factor))

    numeric = np.array([(score(b - step * e) - score(b + step * e)) / (2 * step) for e in np.eye(len(b))])
    point = likelihood.at(b)
    found = profiles._curvature(point, np.linalg.inv(point.factor))
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_ends_and_tests_are_those_of_the_slower_search(seed):
    likelihood = fitted(seed)
    profiles = FirthProfiles(likelihood)
    assert profiles.maximum == pytest.approx(likelihood.maximum, rel=1e-12)
    errors = np.sqrt(np.diagonal(likelihood.covariance))
    for j in range(4):
        ends = [profiles.end(j, side, Z) for side in (-1.0, 1.0)]
        np.testing.assert_allclose(ends, profile_interval(likelihood, j, Z, errors[j]), rtol=1e-7, atol=1e-9)
        assert profiles.value(j, 0.0) == pytest.approx(profile_of(likelihood, j)(0.0), abs=1e-9)


@pytest.mark.slow
def test_breast_cancer_has_all_its_intervals(real_data):
    frame = pd.read_csv(real_data("breast_cancer.csv"))
    with pytest.warns(LocalMaximumWarning):
        model = sx.LogisticRegression(bias_reduction="firth").fit(frame.iloc[:, :-1], frame.iloc[:, -1])
    summary = model.summary()
    assert (summary.low < summary.coef).all()
    assert (summary.high > summary.coef).all()
    assert "at a local maximum" not in str(summary)  # as it was at the maximum that a search from zero ends at
