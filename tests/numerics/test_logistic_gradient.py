"""Both textbook forms of the logistic gradient are the derivative of the likelihood, and equal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import LogisticRegression
from separatrix.errors import DataError, ParameterError
from separatrix.numerics import logistic_gradient, loss_of, zero_one

RNG = np.random.default_rng(5)
X = RNG.normal(size=(50, 3))
Y = np.where(X[:, 0] + RNG.normal(size=50) > 0, "yes", "no")
W, B = np.array([0.3, -1.2, 0.7]), 0.4


def log_likelihood(w, b):
    f = X @ w + b
    return float(sum(-np.logaddexp(0, -v if label == "yes" else v) for v, label in zip(f, Y, strict=True)))


@pytest.mark.parametrize("form", ["targets", "signs"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_it_is_the_derivative(form, container):
    found = logistic_gradient(container(X), Y, W, B, form=form)
    h = 1e-6
    for j in range(4):
        step = np.eye(4)[j] * h
        ahead = log_likelihood(W + step[:3], B + step[3])
        behind = log_likelihood(W - step[:3], B - step[3])
        assert found[j] == pytest.approx((ahead - behind) / (2 * h), abs=1e-6)


def test_both_forms_are_equal_and_vanish_at_the_maximum():
    first, second = (logistic_gradient(X, Y, W, B, form=form) for form in ("targets", "signs"))
    assert np.allclose(first, second, rtol=1e-13)
    model = LogisticRegression().fit(X, Y)
    assert np.abs(logistic_gradient(X, Y, model.coef_[0], model.intercept_[0])).max() < 1e-5


def test_scores_of_any_size():
    far = logistic_gradient([[1000.0], [-1000.0]], [1, 0], [5.0], form="signs")
    assert far.tolist() == [0, 0]
    wrong = logistic_gradient([[1000.0], [-1000.0]], [0, 1], [5.0])
    assert wrong.tolist() == [-2000.0, 0.0]


def test_what_it_refuses():
    with pytest.raises(ParameterError, match="form is 'sum'"):
        logistic_gradient(X, Y, W, form="sum")
    with pytest.raises(DataError, match="y has 3 classes"):
        logistic_gradient(X, np.arange(50) % 3, W)
    with pytest.raises(DataError, match="w has 2 entries and X has 3 columns"):
        logistic_gradient(X, Y, W[:2])


def test_losses_by_name():
    assert loss_of("squared").value(3.0) == 4.0
    assert zero_one([0.0], [-1]).tolist() == [1.0]
