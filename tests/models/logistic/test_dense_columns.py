"""Ridges of two classes on many dense columns: pairs of steps, the gap of a last step, and the minimum itself."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.models.logistic.binary_loss import BinaryLoss
from separatrix.models.logistic.duality_gap import binary_gap, last_step
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.quasi_newton import MEMORY, StepPairs


@pytest.mark.parametrize("many", [1, 5, MEMORY, 2 * MEMORY])
def test_pairs_correct_as_the_two_loops_do(many):
    rng = np.random.default_rng(many)
    A = rng.standard_normal((30, 30))
    H, g = A @ A.T + np.eye(30), rng.standard_normal(30)
    pairs, kept = StepPairs(), []
    for k in range(many):
        step = rng.standard_normal(30) * 10.0 ** (-k / 3)
        pairs.learn(step, H @ step)
        kept = [*kept, (step, H @ step)][-MEMORY:]
    q, shares = g.copy(), []  # Nocedal (1980)
    for s, c in reversed(kept):
        shares.append(s @ q / (s @ c))
        q -= shares[-1] * c
    r = q / np.diag(H)
    for (s, c), share in zip(kept, reversed(shares), strict=True):
        r += (share - c @ r / (s @ c)) * s
    np.testing.assert_allclose(pairs.correct(g, lambda v: v / np.diag(H)), r, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pairs.correct(kept[-1][1], lambda v: v), kept[-1][0], rtol=1e-9)  # the last is exact


def test_a_step_without_curvature_teaches_nothing():
    pairs = StepPairs()
    pairs.learn(np.ones(3), -np.ones(3))
    assert pairs.correct(np.arange(3.0), lambda v: 2 * v).tolist() == [0.0, 2.0, 4.0]


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_the_bound_of_two_classes_is_never_below_what_is_left_to_gain(C, weighted, lift):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((400, 6)) * np.logspace(0, 1, 6) + 1.0
    y = np.where(X @ rng.standard_normal(6) / 4 + rng.logistic(size=400) > 0, 1, -1).astype(np.int8)
    weights = rng.uniform(0.1, 3.0, 400) if weighted else None
    loss = BinaryLoss(X, y, weights, rng.standard_normal(400), 1.0 / C, lift)
    best = newton(loss, loss.point(np.zeros(7)), 200).state.point
    proved = 0
    for noise in (1.0, 1e-2, 1e-4, 1e-6):
        away = noise * rng.standard_normal(7) * np.abs(best.at).mean()
        away[-1] *= lift
        point = loss.point(best.at + away)
        left = point.value - best.value
        for step in (np.zeros(7), loss.preconditioner(point).correction(point.gradient)):
            assert binary_gap(loss, point, step) >= left * (1 - 1e-6) - 1e-11 * best.value
        for by_products in (True, False):
            moved, gap = last_step(loss, point, 1e-6, wide=False, by_products=by_products)
            assert gap >= (moved.value - best.value) - 1e-11 * best.value
            proved += gap <= 1e-6 * moved.value
    assert proved >= 4


@pytest.mark.parametrize("kind", ["plain", "factor", "units", "separated"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_many_dense_columns_end_at_the_minimum_with_a_true_gap(kind, C):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1100, 250))
    if kind == "factor":
        X += 3.0 * rng.standard_normal((1100, 1))
    if kind == "units":
        X = (X + rng.uniform(-3, 3, 250)) * 10 ** rng.uniform(-2, 2, 250)
    scores = X @ rng.standard_normal(250)
    y = scores / scores.std() + (kind != "separated") * 0.7 * rng.standard_normal(1100) > 0
    model = sx.LogisticRegression(C=C, tol=1e-7).fit(X, y)
    loss = BinaryLoss(X, np.where(y, 1, -1).astype(np.int8), ridge=1.0 / C)
    best = newton(loss, loss.point(np.zeros(251)), 200, 1e-14).state.point
    found = loss.point(np.append(model.coef_[0], model.intercept_))
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert found.value - best.value <= model.gap_ * found.value + 1e-12 * best.value
    assert model.gap_ <= 1e-7
