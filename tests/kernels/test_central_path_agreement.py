"""The kernels of the soft margin's central path: native and reference agree to the bit, and their directions satisfy
Newton's equations."""

from __future__ import annotations

import numpy as np
import pytest

import reference
from separatrix import kernels


def natives():
    return kernels.native_modules()


def draw(n, seed=0):
    """y, cost, z, s, t and score of a point inside the bounds, and changes of w.x_i + b."""
    rng = np.random.default_rng(seed)
    y, cost = np.where(rng.random(n) < 0.4, 1.0, -1.0), rng.random(n) + 0.1
    z, s, t = cost * rng.uniform(0.01, 0.99, n), rng.random(n) + 0.01, rng.random(n) + 0.01
    return (y, cost, z, s, t, rng.standard_normal(n)), rng.standard_normal((2, n))


def one_step(module, point, moved, aim=0.05):
    weight, right, again, first, dz, low, high = np.empty((7, len(moved[0])))
    sums = module.margin_system(*point, weight, right)
    ends, below, above = module.margin_predictor(*point, weight, moved[0], first)
    balance = module.margin_corrector(*point, weight, first, aim, low, high, again)
    most = module.margin_direction(*point, weight, moved[1], dz, low, high)
    return weight, right, first, again, dz, low, high, [*sums, *ends, *below, *above, balance, most]


@pytest.mark.parametrize("n", [0, 1, 7, 8, 40, 1003])
def test_steps_agree(n):
    point, moved = draw(n)
    plain = one_step(reference, point, moved)
    for module in natives():
        for mine, other in zip(one_step(module, point, moved), plain, strict=True):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("seed", range(3))
def test_directions_satisfy_newtons_equations(seed):
    point, moved = draw(200, seed)
    y, cost, z, s, t, score = point
    free, aim = cost - z, 0.05
    weight, _, first, again, dz, ds, dt, numbers = one_step(kernels, point, moved, aim)
    np.testing.assert_allclose(weight, 1 / (s / z + t / free), rtol=1e-14)
    # The predictor aims at products of zero, with slacks s = score - 1 + t after the step.
    r, f = first / z, first / free
    ds_1, dt_1 = -s * (1 + r), -t * (1 - f)
    np.testing.assert_allclose(s + ds_1, score + y * moved[0] - 1 + t + dt_1, atol=1e-10)
    sums = [np.sum(v) for v in (s * z, s * z * r, s * z * r * r, t * free, t * free * f, t * free * f * f)]
    np.testing.assert_allclose(numbers[6:12], sums, rtol=1e-12)
    np.testing.assert_allclose(numbers[2:6], [r.max(), (-r).max(), f.max(), (-f).max()], rtol=1e-12)
    # The corrector at the aim, second-order terms subtracted.
    np.testing.assert_allclose(s * dz + z * ds, aim - s * z - ds_1 * first, atol=1e-10)
    np.testing.assert_allclose(free * dt - t * dz, aim - t * free + dt_1 * first, atol=1e-10)
    np.testing.assert_allclose(s + ds, score + y * moved[1] - 1 + t + dt, atol=1e-10)
    assert numbers[-1] == pytest.approx(max((-ds / s).max(), (-dt / t).max(), (-dz / z).max(), (dz / free).max(), 0.0))
    assert numbers[12] == pytest.approx(again.sum())


def test_vectors_of_other_lengths_are_refused():
    point, moved = draw(5)
    for module in natives():
        with pytest.raises(ValueError, match=r"every row|broadcast"):
            module.margin_system(*point, np.empty(4), np.empty(5))
        with pytest.raises(ValueError, match=r"every row|broadcast"):
            module.margin_predictor(*point[:-1], np.empty(6), np.empty(5), moved[0], np.empty(5))
