"""What is proved of a fit: no bound is below what is left to gain, and good points are proved."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import separatrix as sx
from separatrix.losses.logistic import Logistic
from separatrix.losses.objective import Objective
from separatrix.rows.places import TableRows
from separatrix.solvers.gap import KeptGap, SampleGap, hessian_gap, step_gap
from separatrix.solvers.left_to_gain import LeftToGain, changed_gap, last_free_step
from separatrix.solvers.minimise import newton_cg
from separatrix.solvers.newton import ConjugateGradients, newton
from separatrix.solvers.rough_hessians import Preconditioner
from separatrix.solvers.samples import sampled, table_of


def loss_of(classes, ridge, weighted=False, lift=True, n=500, far=0.0, units=True, noise=1.0, seed=0):
    rng = np.random.default_rng([seed, classes])
    Z = rng.standard_normal((n, 3))
    codes = np.argmax(Z @ rng.standard_normal((3, classes)) + noise * rng.gumbel(size=(n, classes)), axis=1)
    assert len(np.unique(codes)) == classes
    X = (Z + far) * ([1.0, 1e-3, 1e3] if units else 1.0)
    weights = rng.uniform(0.2, 3.0, n) if weighted else None
    return Objective(TableRows(X, codes, classes, weights), Logistic(classes, lift), ridge)


def near(loss, least, share, rng):
    return loss.point(least.at * (1.0 + share * rng.uniform(-1.0, 1.0, loss.length)))


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("ridge", [1e-6, 1.0, 100.0])
@pytest.mark.parametrize(("weighted", "lift"), [(False, True), (True, True), (True, False)])
def test_no_gap_of_a_ridge_is_below_what_is_left(classes, ridge, weighted, lift):
    loss, rng, proved = loss_of(classes, ridge, weighted, lift, units=False), np.random.default_rng(1), 0
    least = newton(loss, loss.zero(), 100).state.point
    earlier = near(loss, least, 0.05, rng)
    kept = KeptGap(loss, loss.hessian(earlier), earlier)
    for share in 2.0 ** -np.arange(2.0, 24.0, 2.0):
        point = near(loss, least, share, rng)
        left, model = point.value - least.value, loss.hessian(point)
        step = model.correction(point.gradient)
        bounds = [step_gap(loss, point, a * step) for a in (0.0, 0.5, 1.0, 1.7)]
        bounds += [hessian_gap(loss, point, model), kept(point)]
        assert min(bounds) >= left - 1e-12 * least.value
        good = min(bounds[2], bounds[4])
        proved += good <= 1.5 * left + 1e-12 * least.value
    assert proved >= 6


@pytest.mark.parametrize("kind", ["plain", "rare"])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_no_gap_by_a_sample_is_below_what_is_left(kind, ridge):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 5))
    if kind == "rare":
        X[:, 2] = rng.random(len(X)) < 0.002
    y = (X @ [1, -1, 2, 0.5, 0] + rng.logistic(size=len(X)) > 0).astype(np.intp)
    loss = Objective(TableRows(X, y, 2, rng.uniform(0.5, 2.0, len(X))), Logistic(2), ridge)
    least = newton(loss, loss.zero(), 100).state.point
    plain, weighted, share = sampled(loss.rows, True, 20)
    part = Objective(table_of(weighted, loss.rows), loss.loss, ridge * share)
    at = newton(part, part.zero(), 100).state.point
    gap, proved = SampleGap(loss, plain, part, part.hessian(at, share), at, share, 0.0), 0
    for off in 2.0 ** -np.arange(2.0, 20.0, 2.0):
        point = near(loss, least, off, rng)
        left, bound = point.value - least.value, gap(point)
        assert bound >= left - 1e-12 * least.value
        proved += bound <= 60.0 * left
    assert proved >= 5


def test_rows_that_are_nearly_certain_keep_their_digits():
    """A tilt of tiny probabilities by more than half of them is bounded by logarithms."""
    X = np.array([[-30.0], [-25.0], [25.0], [30.0]])
    for y, classes in (([0, 0, 1, 1], 2), ([0, 1, 2, 2], 3)):
        loss = Objective(TableRows(X, np.array(y), classes), Logistic(classes), 1e-3)
        least = newton(loss, loss.zero(), 200).state.point
        point = loss.point(least.at * 1.01)
        gap = step_gap(loss, point, loss.hessian(point).correction(point.gradient))
        assert point.value - least.value <= gap < np.inf


# -- without a penalty --


def free_gap(loss, point, step):
    left = LeftToGain(loss)
    norm = next(left.norms(point), None)
    return np.inf if norm is None else changed_gap(loss, point, step, norm, 2.0 * left.errors(point))


def step_at(loss, point, share):
    return ConjugateGradients(loss, point, Preconditioner(loss, True)(point).correction).solve(share)


@pytest.mark.parametrize("classes", [3, 5, 10])
@pytest.mark.parametrize(("weighted", "lift", "far"), [(False, True, 0.0), (True, True, 30.0), (True, False, 0.0)])
def test_no_gap_of_a_last_step_is_below_what_is_left(classes, weighted, lift, far):
    loss, rng = loss_of(classes, 0.0, weighted, lift, 900, far), np.random.default_rng(classes)
    least, proved = newton_cg(loss, loss.zero(), 100, 0.0, True).state.point, 0
    for share in 2.0 ** -np.arange(2.0, 14.0):
        point = near(loss, least, share, rng) if far == 0.0 else loss.point(least.at * (1.0 + 0.1 * share))
        left = point.value - least.value
        for exact in (0.3, 1e-2, 1e-4, 1e-6):
            bound = free_gap(loss, point, step_at(loss, point, exact))
            assert bound >= left - 1e-11 * least.value
            proved += np.isfinite(bound)
        if np.isfinite(bound) and left > 1e-9 * least.value:
            assert bound <= 1.6 * left
    assert proved >= 12


@pytest.mark.parametrize("classes", [3, 4])
@pytest.mark.parametrize("steps", [4, 12, 30])
def test_separated_classes_have_no_finite_gap(classes, steps):
    loss = loss_of(classes, 0.0, noise=0.0, units=False)
    assert sx.separability(loss.rows.whole.X, loss.rows.whole.codes, multiclass="kesler").verdict == "complete"
    point = newton_cg(loss, loss.zero(), steps, 0.0, True).state.point
    solver = ConjugateGradients(loss, point, Preconditioner(loss, True)(point).correction)
    assert not np.isfinite(last_free_step(loss, point, 1e-6, solver)[1])
    assert not np.isfinite(LeftToGain(loss)(point))


def test_the_lemma_holds_row_by_row():
    """log sum p (1 - s)^(1 + m) <= m (1 + m)/2 sum p (s^2 + (1 - m) s^3/3 + 4 s^4/3) for sum p s = 0, |s| <= 1/2."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        p = [mpmath.mpf(v) for v in rng.dirichlet(np.ones(rng.integers(2, 6)))]
        s = [mpmath.mpf(v) for v in rng.uniform(-1.0, 1.0, len(p))]
        mean = sum(a * b for a, b in zip(p, s, strict=True)) / sum(p)
        s = [v - mean for v in s]
        top = max(abs(v) for v in s)
        share = mpmath.mpf(rng.uniform(0.01, 0.5)) / top
        s = [v * share for v in s]
        m = mpmath.mpf(rng.uniform(0.01, 1.0))
        left = mpmath.log(sum(a * (1 - b) ** (1 + m) for a, b in zip(p, s, strict=True)) / sum(p))
        terms = (a * (b**2 + (1 - m) * b**3 / 3 + 4 * b**4 / 3) for a, b in zip(p, s, strict=True))
        assert left <= m * (1 + m) / 2 * sum(terms) / sum(p) * (1 + mpmath.mpf(10) ** -12)
