"""Lower bounds of a ridge's minimum from a sample of its rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix.models.logistic.binary_loss import BinaryLoss, SampleHessian
from separatrix.models.logistic.duality_gap import KeptGap, SampleGap, entropy
from separatrix.models.logistic.newton import newton

N, STRIDE = 4000, 8


def problem(lift, weighted=False, shifted=False, kind="float64", ridge=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 5)) @ rng.standard_normal((5, 5)) + 0.3
    y = np.where(X[:, 0] - X[:, 1] + rng.logistic(size=N) * 2 > 0, 1, -1).astype(np.int8)
    c = rng.integers(1, 4, N).astype(float) if weighted else None
    o = rng.standard_normal(N) if shifted else None
    X = sparse.csr_array(X) if kind == "csr" else X.astype(kind)
    rows = np.arange(0, N, STRIDE)
    part = BinaryLoss(
        X[rows].copy(), y[rows], None if c is None else c[rows], None if o is None else o[rows], ridge / STRIDE, lift
    )
    return BinaryLoss(X, y, c, o, ridge, lift), part, rows


def gap_of(loss, part, rows):
    """The Hessian of the sample at its own minimum."""
    at = newton(part, part.point(np.zeros(6)), 50, 1e-6).state.point
    return SampleGap(loss, part, rows, at.curvature * STRIDE, SampleHessian(part.model(at), 1 / STRIDE)), at


@pytest.mark.parametrize("kind", ["float64", "float32", "csr"])
@pytest.mark.parametrize("lift", [False, True])
@pytest.mark.parametrize(("weighted", "shifted"), [(False, False), (True, False), (True, True)])
def test_the_gap_is_never_less_than_what_is_left_to_gain(lift, weighted, shifted, kind):
    loss, part, rows = problem(lift, weighted, shifted, kind)
    least = newton(loss, loss.point(np.zeros(6)), 50).state.point
    gap_at, _ = gap_of(loss, part, rows)
    rng = np.random.default_rng(1)
    finite = 0
    for size in np.logspace(-7, 0, 40):
        step = size * rng.standard_normal(6)
        step[-1] *= lift
        point = loss.point(least.at + step)
        gap, left = gap_at(point), point.value - least.value
        assert gap >= left - 1e-11 * least.value
        if np.isfinite(gap):
            finite += 1
            assert gap <= 3 * STRIDE * left + 1e-11 * least.value
    assert finite >= 25


@pytest.mark.parametrize("lift", [False, True])
def test_the_gap_is_about_the_distance_to_the_value_of_a_dual_point(lift):
    loss, part, rows = problem(lift, weighted=True, shifted=True)
    gap_at, at = gap_of(loss, part, rows)
    step = 0.002 * np.random.default_rng(2).standard_normal(6)
    step[-1] *= lift
    least = newton(loss, loss.point(at.at), 50).state.point
    point = loss.point(least.at + step)
    t = gap_at.model.correction(point.gradient)
    q = point.wrong.copy()
    q[rows] += loss.y[rows] * gap_at.a * (loss.X[rows] @ t[:-1] + t[-1]) / loss.weights[rows]
    assert q.min() > 0
    assert q.max() < 1
    r = -loss.y * loss.weights * q
    if lift:
        assert abs(r.sum()) < 1e-9
    slopes = loss.X.T @ r
    bound = loss.weights @ entropy(q) + r @ loss.offset - slopes @ slopes / (2 * loss.ridge)
    assert bound < least.value
    distance = point.value - bound
    assert distance * (1 - 1e-6) <= gap_at(point) <= 1.1 * distance


def test_probabilities_that_would_leave_their_range_prove_nothing():
    loss, part, rows = problem(True)
    gap_at, at = gap_of(loss, part, rows)
    assert gap_at(loss.point(at.at + 3.0)) == np.inf
    assert gap_at(loss.point(at.at * 1e100)) == np.inf


def test_rows_that_are_certain_or_hopeless_keep_their_digits():
    """Scores of 50 and more: 1 - q has none of its digits left where q is nearly one."""
    loss, part, rows = problem(False)
    shift = np.where(np.arange(N) % 50 == 0, 60.0, 0.0) * loss.y
    shift[N // 2 :] *= -1.0
    loss = BinaryLoss(loss.X, loss.y, None, shift, 0.1, False)
    part = BinaryLoss(part.X, part.y, None, shift[rows].copy(), 0.1 / STRIDE, False)
    least = newton(loss, loss.point(np.zeros(6)), 50).state.point
    gap_at, _ = gap_of(loss, part, rows)
    point = loss.point(least.at + np.append(np.full(5, 1e-4), 0.0))
    left = point.value - least.value
    assert left - 1e-11 * least.value <= gap_at(point) <= 3 * STRIDE * left


@pytest.mark.parametrize("ridge", [1e-6, 1.0, 100.0])
@pytest.mark.parametrize("lift", [True, False])
def test_the_gap_of_a_kept_hessian_bounds_what_is_left(ridge, lift):
    """At points near and far from where the Hessian was made, and about as large as the decrement near the minimum."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 6)) + 0.3
    y = np.where(X[:, 0] + rng.logistic(size=400) > 0, 1, -1).astype(np.int8)
    loss = BinaryLoss(X, y, rng.uniform(0.5, 2.0, 400), None, ridge, lift)
    best = newton(loss, loss.point(np.zeros(7)), 50).state.point
    ratios = []
    for far in (1.0, 0.3, 0.1, 0.01):
        made = loss.point(best.at + far * rng.standard_normal(7) * [1, 1, 1, 1, 1, 1, float(lift)])
        gap = KeptGap(loss, SampleHessian(loss.model(made), 1.0), made.curvature)
        for away in (1.0, 0.1, 1e-2, 1e-3):
            point = loss.point(best.at + away * rng.standard_normal(7) * [1, 1, 1, 1, 1, 1, float(lift)])
            left = point.value - best.value
            assert gap(point) >= left * (1 - 1e-6) - 1e-11
            if far == 0.01 and away <= 1e-3:
                ratios.append(gap(point) / left)
    assert ratios
    assert max(ratios) < 1.2
