"""A last step without a penalty: the gap at probabilities that it moves is never below what is left, and about that."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import separatrix as sx
from separatrix.models.logistic import class_newton
from separatrix.models.logistic.binary_loss import ConjugateGradients
from separatrix.models.logistic.existence import LeftToGain
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import newton_cg
from separatrix.models.logistic.tilted_probabilities import last_free_step, tilted_gap


def loss_of(classes, rng, n=500, *, weighted=False, lift=True, far=0.0, noise=1.0):
    Z = rng.standard_normal((n, 3))
    codes = np.argmax(Z @ rng.standard_normal((3, classes)) + noise * rng.gumbel(size=(n, classes)), axis=1)
    X = (Z + far) * [1.0, 1e-3, 1e3]
    return MultinomialLoss(X, codes, classes, rng.uniform(0.2, 3.0, n) if weighted else None, None, 0.0, lift)


def minimum(loss):
    return newton_cg(loss, loss.point(np.zeros(loss.length)), 100).state.point


def step_at(loss, point, share):
    return ConjugateGradients(loss, point, loss.preconditioner(point).correction).solve(share)


def gap_of(loss, point, step):
    left = LeftToGain(loss)
    norm = next(left.norms(point), None)
    return np.inf if norm is None else tilted_gap(loss, point, step, norm, 2.0 * left.errors(point))


@pytest.mark.parametrize("classes", [3, 5, 10])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("lift", "far"), [(True, 0.0), (True, 30.0), (False, 0.0)])
def test_no_gap_is_below_what_is_left_and_good_steps_prove_little_more(classes, weighted, lift, far):
    rng = np.random.default_rng(classes)
    loss = loss_of(classes, rng, 900, weighted=weighted, lift=lift, far=far)
    least, proved = minimum(loss), 0
    for share in 2.0 ** -np.arange(2.0, 14.0):
        apart = rng.uniform(-1.0, 1.0, loss.length) if far == 0.0 else 0.1
        point = loss.point(least.at * (1.0 + share * apart))
        left = point.value - least.value
        for exact in (0.3, 1e-2, 1e-4, 1e-6):
            bound = gap_of(loss, point, step_at(loss, point, exact))
            assert bound >= left - 1e-11 * least.value
            proved += np.isfinite(bound)
        for other in (0.5, 2.0):  # any step may be taken
            assert gap_of(loss, point, other * step_at(loss, point, 1e-6)) >= left - 1e-11 * least.value
        if np.isfinite(bound) and left > 1e-9 * least.value:
            assert bound <= 1.5 * left
    assert proved >= 12


def test_a_rough_point_of_ten_classes_is_proved_where_its_gradient_proves_nothing():
    loss = loss_of(10, np.random.default_rng(0), 3000, noise=0.5)
    least = minimum(loss)
    point = loss.point(0.99 * least.at)
    assert not np.isfinite(LeftToGain(loss)(point))
    gap = gap_of(loss, point, step_at(loss, point, 1e-6))
    assert point.value - least.value <= gap <= 1.1 * (point.value - least.value)


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("gap", [0.0, 1e-9, 1.0])
@pytest.mark.parametrize("steps", [3, 8, 12, 25])
def test_separated_classes_have_no_finite_gap(classes, gap, steps):
    """Complete (gap above zero) and quasi-complete separation."""
    rng = np.random.default_rng(steps)
    X = np.round(rng.uniform(-1, 1, (120, 2)), 3)
    X[:, 0] = np.repeat(np.arange(classes), 120 // classes) * 4.0 + np.round(rng.uniform(0, 1, 120), 3) + gap
    if gap == 0.0:
        X[0, 0], X[60, 0] = 4.0, 4.0  # two classes meet in one plane
    loss = MultinomialLoss(X, np.repeat(np.arange(classes), 120 // classes), classes)
    point = newton_cg(loss, loss.point(np.zeros(loss.length)), steps).state.point
    for exact in (0.1, 1e-3, 1e-6):
        assert gap_of(loss, point, step_at(loss, point, exact)) == np.inf


@pytest.mark.parametrize("seed", range(4))
def test_a_dummy_of_one_class_has_no_finite_gap(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 3))
    y = np.argmax(X @ rng.standard_normal((3, 4)) + rng.gumbel(size=(300, 4)), axis=1)
    dummy = ((y == 0) & (rng.random(300) < 0.3)).astype(float)
    loss = MultinomialLoss(np.column_stack([X, dummy]), y, 4)
    for steps in (4, 8, 20, 40):
        point = newton_cg(loss, loss.point(np.zeros(loss.length)), steps).state.point
        for exact in (0.1, 1e-3, 1e-6):
            assert gap_of(loss, point, step_at(loss, point, exact)) == np.inf


def test_the_lemma_holds_row_by_row():
    """f(d + u) >= f(q u)/q - (1 + m)/2 sum p (...) + KL, in fifty digits, for tilts as large as are allowed."""
    rng = np.random.default_rng(0)
    with mpmath.workdps(50):
        for _ in range(300):
            K = int(rng.integers(2, 7))
            p = [mpmath.mpf(float(v)) for v in rng.dirichlet(np.full(K, 0.3)) + 1e-12]
            p = [v / sum(p) for v in p]
            s = [mpmath.mpf(float(v)) for v in rng.uniform(-1, 1, K)]
            s = [v - sum(a * b for a, b in zip(p, s, strict=True)) for v in s]
            shrink = mpmath.mpf(float(rng.uniform(0.0, 0.5))) / max(abs(v) for v in s)
            s = [v * shrink for v in s]
            tilted = [a * (1 - b) for a, b in zip(p, s, strict=True)]

            def f(u, tilted=tilted):
                mean = sum(a * b for a, b in zip(tilted, u, strict=True))
                return mpmath.log(sum(a * mpmath.exp(b) for a, b in zip(tilted, u, strict=True))) - mean

            d = [-mpmath.log(1 - v) for v in s]
            u = [mpmath.mpf(float(v)) for v in rng.standard_normal(K) * 10.0 ** rng.uniform(-2, 1)]
            m = mpmath.mpf(float(rng.uniform(0.01, 1.0)))
            q = m / (1 + m)
            powers = [sum(a * b**k for a, b in zip(p, s, strict=True)) for k in (2, 3, 4)]
            E = (powers[0] + max(powers[1], 0) / 3 + 4 * powers[2] / 3) / 2
            lower = f([q * v for v in u]) / q - (1 + m) * E + f(d)
            assert f([a + b for a, b in zip(d, u, strict=True)]) >= lower - mpmath.mpf(10) ** -40


def test_the_step_is_as_exact_as_the_gap_asks_for():
    loss = loss_of(6, np.random.default_rng(1), 4000)
    least = minimum(loss)
    point = loss.point(0.995 * least.at)
    left = (point.value - least.value) / least.value
    solver = ConjugateGradients(loss, point, loss.preconditioner(point).correction)
    moved, gap = last_free_step(loss, point, left / 10, solver)
    assert moved.value - least.value <= gap <= left / 10 * least.value


@pytest.mark.parametrize("classes", [3, 6, 12])
def test_fits_of_several_classes_end_at_the_tolerance(classes, monkeypatch):
    """Without the older bound, and without a step to the last digits."""

    def not_called(*given):
        raise AssertionError

    monkeypatch.setattr(class_newton, "newton_cg", not_called)
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((5000, 12))
    y = np.argmax(X @ rng.standard_normal((12, classes)) + rng.gumbel(size=(5000, classes)), axis=1)
    best = sx.LogisticRegression().fit(X, y)
    for tol in (1e-4, 1e-6, 1e-8):
        model = sx.LogisticRegression(tol=tol).fit(X, y)
        assert "L-BFGS" in model.plan_
        assert model.gap_ is not None
        assert model.gap_ <= tol
        assert model.separation_.verdict == "overlap"
        assert best.loglik_ - model.loglik_ <= model.gap_ * -best.loglik_
