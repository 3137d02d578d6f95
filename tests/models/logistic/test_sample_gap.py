"""Lower bounds of a ridge's minimum from a sample of its rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix.models.logistic.binary_loss import Binary
from separatrix.models.logistic.duality_gap import entropy
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.quasi_newton import Inverse
from separatrix.models.logistic.sample_gap import Tilt

N, STRIDE = 4000, 8


def problem(lift, weighted=False, shifted=False, kind="float64", ridge=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 5)) @ rng.standard_normal((5, 5)) + 0.3
    y = np.where(X[:, 0] - X[:, 1] + rng.logistic(size=N) * 2 > 0, 1, -1).astype(np.int8)
    c = rng.integers(1, 4, N).astype(float) if weighted else None
    o = rng.standard_normal(N) if shifted else None
    X = sparse.csr_array(X) if kind == "csr" else X.astype(kind)
    rows = np.arange(0, N, STRIDE)
    part = Binary(
        X[rows].copy(), y[rows], None if c is None else c[rows], None if o is None else o[rows], ridge / STRIDE, lift
    )
    return Binary(X, y, c, o, ridge, lift), part, rows


def tilt_of(objective, part, rows):
    """The Hessian of the sample at its own minimum."""
    at = newton(part, part.point(np.zeros(6)), 50, 1e-6).point
    return Tilt(objective, part, rows, at.curvature * STRIDE, Inverse(part.model(at), 1 / STRIDE)), at


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("lift", [False, True])
@pytest.mark.parametrize(("weighted", "shifted"), [(False, False), (True, False), (True, True)])
def test_the_gap_is_never_less_than_what_is_left_to_gain(lift, weighted, shifted, kind):
    objective, part, rows = problem(lift, weighted, shifted, kind)
    least = newton(objective, objective.point(np.zeros(6)), 50).point
    tilt, _ = tilt_of(objective, part, rows)
    rng = np.random.default_rng(1)
    finite = 0
    for size in np.logspace(-7, 0, 40):
        step = size * rng.standard_normal(6)
        step[-1] *= lift
        point = objective.point(least.at + step)
        gap, left = tilt.gap(point), point.value - least.value
        assert gap >= left - 1e-11 * least.value
        if np.isfinite(gap):
            finite += 1
            assert gap <= 3 * STRIDE * left + 1e-11 * least.value
    assert finite >= 25


@pytest.mark.parametrize("lift", [False, True])
def test_the_gap_is_the_distance_to_the_value_of_a_dual_point(lift):
    objective, part, rows = problem(lift, weighted=True, shifted=True)
    tilt, at = tilt_of(objective, part, rows)
    step = 0.002 * np.random.default_rng(2).standard_normal(6)
    step[-1] *= lift
    least = newton(objective, objective.point(at.at), 50).point
    point = objective.point(least.at + step)
    t = tilt.model.correction(point.gradient)
    q = point.wrong.copy()
    q[rows] += objective.y[rows] * tilt.a * (objective.X[rows] @ t[:-1] + t[-1]) / objective.weights[rows]
    assert q.min() > 0
    assert q.max() < 1
    r = -objective.y * objective.weights * q
    if lift:
        assert abs(r.sum()) < 1e-9
    slopes = objective.X.T @ r
    bound = objective.weights @ entropy(q) + r @ objective.offset - slopes @ slopes / (2 * objective.ridge)
    assert bound < least.value
    assert tilt.gap(point) == pytest.approx(point.value - bound, abs=1e-9 * point.value, rel=1e-6)


def test_probabilities_that_would_leave_their_range_prove_nothing():
    objective, part, rows = problem(True)
    tilt, at = tilt_of(objective, part, rows)
    assert tilt.gap(objective.point(at.at + 3.0)) == np.inf
    assert tilt.gap(objective.point(at.at * 1e100)) == np.inf


def test_rows_that_are_certain_or_hopeless_keep_their_digits():
    """Scores of 50 and more: 1 - q has none of its digits left where q is nearly one."""
    objective, part, rows = problem(False)
    shift = np.where(np.arange(N) % 50 == 0, 60.0, 0.0) * objective.y
    shift[N // 2 :] *= -1.0
    objective = Binary(objective.X, objective.y, None, shift, 0.1, False)
    part = Binary(part.X, part.y, None, shift[rows].copy(), 0.1 / STRIDE, False)
    least = newton(objective, objective.point(np.zeros(6)), 50).point
    tilt, _ = tilt_of(objective, part, rows)
    point = objective.point(least.at + np.append(np.full(5, 1e-4), 0.0))
    left = point.value - least.value
    assert left - 1e-11 * least.value <= tilt.gap(point) <= 3 * STRIDE * left
