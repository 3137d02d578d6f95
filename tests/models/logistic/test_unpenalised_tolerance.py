"""A tolerance ends unpenalised fits early; existence is proved as without one."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import SeparationWarning


def rows(n, classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6)) + 0.5
    S = X @ rng.standard_normal((6, classes)) + 3.0 * rng.standard_normal((n, classes))
    return X, np.argmax(S, axis=1)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [400, 30_000])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_the_loss_is_near_its_least_and_existence_is_proved(classes, n, tol):
    X, y = rows(n, classes)
    whole, rough = sx.LogisticRegression().fit(X, y), sx.LogisticRegression(tol=tol).fit(X, y)
    assert rough.status_ is sx.Status.OPTIMAL
    assert rough.separation_.verdict == "overlap"
    assert rough.n_iter_ <= whole.n_iter_
    assert -rough.loglik_ <= -whole.loglik_ * (1 + 2 * tol)


def test_a_looser_tolerance_takes_fewer_steps():
    X, y = rows(2000, 2)
    steps = [sx.LogisticRegression(tol=tol).fit(X, y).n_iter_ for tol in (1e-2, 1e-12, None)]
    assert steps[0] < steps[-1]
    assert steps == sorted(steps)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_a_tolerance_the_last_digits_settle(classes):
    X, y = rows(500, classes)
    model = sx.LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    P[np.arange(len(y)), y] -= 1.0
    np.testing.assert_allclose(P.T @ np.column_stack([X, np.ones(len(y))]), 0, atol=1e-9)


@pytest.mark.parametrize("tol", [1e-6, 0.9])
def test_separated_classes_are_found_with_a_tolerance(tol):
    X, _ = rows(300, 2)
    y = (X[:, 0] > 0.5).astype(int)
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression(tol=tol).fit(X, y)
    assert model.separation_.verdict == "complete"
    assert model.status_ is sx.Status.NO_MAXIMUM
