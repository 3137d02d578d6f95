"""One harness for all losses: derivatives against differences, kinks, and margins of any size."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from separatrix.errors import ParameterError
from separatrix.numerics.losses import LOSSES, loss_of, zero_one

KINKS = {"squared": None, "perceptron": 0.0, "logistic": None, "hinge": 1.0}


@pytest.mark.parametrize("name", LOSSES)
def test_slope_and_curve_are_the_derivatives_of_the_value(name):
    loss = loss_of(name)
    m = np.linspace(-7.3, 7.3, 147)
    if KINKS[name] is not None:
        m = m[np.abs(m - KINKS[name]) > 1e-3]
    h = 1e-5
    assert np.allclose((loss.value(m + h) - loss.value(m - h)) / (2 * h), loss.slope(m), atol=1e-8)
    assert np.allclose((loss.slope(m + h) - loss.slope(m - h)) / (2 * h), loss.curve(m), atol=1e-8)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("m", [-1e9, -1e3, -750.0, 750.0, 1e3, 1e9])
def test_margins_of_any_size_are_finite(name, m):
    loss = loss_of(name)
    for part in (loss.value, loss.slope, loss.curve):
        assert np.isfinite(part(m))
    assert loss.value(m) >= 0


@pytest.mark.parametrize("m", [-800.0, -40.0, -1.0, 0.0, 1e-9, 2.5, 40.0, 700.0])
def test_the_logistic_loss_to_full_precision(m):
    mp.dps = 400
    exact = mp.log(1 + mp.exp(-mpf(m)))
    loss = loss_of("logistic")
    assert abs(float(loss.value(m)) - exact) <= 4e-16 * abs(exact)
    assert abs(float(loss.slope(m)) + 1 / (1 + mp.exp(mpf(m)))) <= 4e-16 / (1 + mp.exp(mpf(m)))


def test_the_kinks_have_the_stated_slopes():
    assert loss_of("perceptron").slope(0.0) == -1
    assert loss_of("hinge").slope(1.0) == 0
    assert loss_of("perceptron").slope([-1e-300, 1e-300]).tolist() == [-1, 0]


def test_the_zero_one_loss_follows_the_boundary_rule():
    s, y = [0.0, 0.0, -2.0, 3.0], [1, -1, 1, 1]
    assert zero_one(s, y).tolist() == [0, 1, 1, 0]
    assert zero_one(s, y, boundary="negative").tolist() == [1, 0, 1, 0]
    assert zero_one(s, y, boundary="undefined").tolist() == [1, 1, 1, 0]
    with pytest.raises(ParameterError, match="boundary is 'up'"):
        zero_one(s, y, boundary="up")


def test_an_unknown_loss_is_refused():
    with pytest.raises(ParameterError, match="loss is 'huber': it can be squared, perceptron, logistic, hinge"):
        loss_of("huber")
