"""The minimum of a penalised quadratic by an interior point: dependent coordinates, units, and where it takes over."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.models.logistic import active_newton
from separatrix.models.logistic.active_newton import ElasticNet, descend
from separatrix.models.logistic.interior_point import interior_minimum
from separatrix.models.logistic.penalised_quadratic import CentredGram, GramQuadratic


def dependent(p=60, rank=20, seed=0, units=0.0):
    """A quadratic whose coordinates are combinations of a few."""
    rng = np.random.default_rng(seed)
    unit = 10 ** rng.uniform(-units, units, p)
    Z = rng.standard_normal((p, rank)) @ rng.standard_normal((rank, 90)) * unit[:, None]
    return Z @ Z.T, Z @ rng.standard_normal(90) * 5, unit


def off(H, g, alpha, v, unit):
    """How far slopes are from the conditions of the minimum, in the units of alpha."""
    slopes = (g + H @ v) / unit
    alpha = alpha / unit
    return float(np.where(v != 0, np.abs(slopes + alpha * np.sign(v)), np.maximum(np.abs(slopes) - alpha, 0.0)).max())


@pytest.mark.parametrize("units", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_of_dependent_coordinates(seed, units):
    H, g, unit = dependent(seed=seed, units=units)
    alpha = 0.1 * unit
    v, gained = interior_minimum(H.copy(), np.zeros(60), g, alpha, 1e-13)
    assert off(H, g, alpha, v, unit) <= 1e-4
    assert np.count_nonzero(v) <= 20
    assert gained == pytest.approx(-(g @ v + 0.5 * v @ H @ v + alpha @ np.abs(v)), rel=1e-9)


def test_from_another_point_it_is_the_same():
    H, g, _ = dependent()
    alpha, rng = np.full(60, 0.1), np.random.default_rng(1)
    w = rng.standard_normal(60) * (rng.random(60) < 0.5)
    v, _ = interior_minimum(H.copy(), np.zeros(60), g, alpha, 1e-13)
    u, gained = interior_minimum(H.copy(), w, g + H @ w, alpha, 1e-13)
    np.testing.assert_allclose(u, v, atol=1e-5)
    assert gained > 0


def test_rounding_ends_it_without_a_loss():
    """At the minimum there is nothing to gain: it stays."""
    v, gained = interior_minimum(np.eye(3), np.zeros(3), np.array([0.5, -0.5, 0.0]), np.ones(3), 1e-13)
    assert not v.any()
    assert gained == 0.0


def test_leaps_that_do_not_arrive_are_followed_by_it(monkeypatch):
    """More corners than leaps go past: without it the passes end far from the minimum."""
    H, g, _ = dependent(p=300, rank=80, seed=3)
    net, ends = ElasticNet(1e-3, 0.0), []
    for most in (active_newton.MOST_LEAPS, 10**9):
        monkeypatch.setattr(active_newton, "MOST_LEAPS", most)
        monkeypatch.setattr(active_newton, "MOST_PASSES", 300)
        state = GramQuadratic(CentredGram(H), g[None], np.zeros((1, 300)), net)
        descend(state, net, state.movable, 1e-12)
        ends.append(g @ state.v + 0.5 * state.v @ H @ state.v + net.value(state.v))
    assert ends[0] < ends[1] - 1e-9 * abs(ends[1])
