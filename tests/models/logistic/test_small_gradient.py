"""A small gradient proves overlap and bounds what is left to gain, and never where classes are separated."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.solvers.left_to_gain import LeftToGain
from separatrix.solvers.minimise import newton_cg
from separatrix.solvers.newton import newton


def problem_of(X, y, weights=None, lift=True):
    return LogisticProblem.of(X, np.asarray(y, dtype=np.intp), int(np.max(y)) + 1, weights, None, lift)


def at_the_end(problem, steps):
    loss = problem.objective()
    run = newton(loss, loss.zero(), steps) if problem.classes == 2 else newton_cg(loss, loss.zero(), steps, 0.0, True)
    return run.state.point


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_maxima_prove_overlap(classes, lift, weighted):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((600, 4)) + 0.5
    y = np.argmax(X @ rng.standard_normal((4, classes)) + rng.gumbel(size=(600, classes)), axis=1)
    problem = problem_of(X, y, rng.uniform(0.5, 2.0, 600) if weighted else None, lift)
    assert np.isfinite(LeftToGain(problem.objective())(at_the_end(problem, 50)))
    assert not np.isfinite(LeftToGain(problem.objective())(problem.objective().zero()))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("gap", [0.0, 1e-9, 1.0])
@pytest.mark.parametrize("steps", [5, 12, 25])
def test_separated_classes_are_never_said_to_overlap(classes, gap, steps):
    """Complete (gap above zero) and quasi-complete separation, which exact arithmetic confirms."""
    rng = np.random.default_rng(steps)
    X = np.round(rng.uniform(-1, 1, (120, 2)), 3)
    X[:, 0] = np.repeat(np.arange(classes), 120 // classes) * 4.0 + np.round(rng.uniform(0, 1, 120), 3) + gap
    if gap == 0.0:
        X[0, 0], X[60, 0] = 4.0, 4.0  # two classes meet in one plane
    y = np.repeat(np.arange(classes), 120 // classes)
    if classes == 2:
        assert sx.separability(X, y).verdict in ("complete", "quasi")
    problem = problem_of(X, y)
    assert not np.isfinite(LeftToGain(problem.objective())(at_the_end(problem, steps)))


@pytest.mark.parametrize("classes", [2, 4])
def test_rows_far_on_their_side_do_not_hide_a_maximum(classes):
    """Their probabilities of another class are below any gradient: they are left out of the proof."""
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((400, 3))
    W = 2.0 * rng.standard_normal((3, classes))
    y = np.argmax(X @ W + rng.gumbel(size=(400, classes)), axis=1)
    far = 40.0 * rng.standard_normal((5, 3))
    X, y = np.vstack([X, far]), np.append(y, np.argmax(far @ W, axis=1))
    problem = problem_of(X, y)
    point = at_the_end(problem, 50)
    loss = problem.objective()
    certain = loss.loss.state(problem.table.whole, point.place)[1 if classes == 2 else 0]
    assert certain.min() < 1e-20
    assert np.isfinite(LeftToGain(problem.objective())(point))
    assert sx.separability(X, y, multiclass=None if classes == 2 else "kesler").verdict == "overlap"


@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("seed", range(4))
def test_a_face_whose_rows_overlap_proves_nothing_of_all_columns(classes, seed):
    """Quasi-complete rows: on the face of a dummy all classes overlap, and the rows outside it have ever smaller q."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 3))
    y = np.argmax(X @ rng.standard_normal((3, classes)) + rng.gumbel(size=(200, classes)), axis=1)
    dummy = ((y == 0) & (rng.random(200) < 0.3)).astype(float)
    problem = problem_of(np.column_stack([X, dummy]), y)
    for steps in (8, 20, 60):
        assert not np.isfinite(LeftToGain(problem.objective())(at_the_end(problem, steps)))


def test_columns_that_depend_on_each_other_prove_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    X[:, 2] = X[:, 0] - X[:, 1]
    y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)
    problem = problem_of(X, y)
    assert not np.isfinite(LeftToGain(problem.objective())(at_the_end(problem, 30)))


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("offset", [0.0, 30.0])
def test_no_bound_is_below_what_is_left(classes, lift, offset):
    rng = np.random.default_rng(classes)
    X = (rng.standard_normal((900, 3)) + offset * lift) * [1.0, 1e-3, 1e3]
    y = np.argmax(
        (X - X.mean(axis=0)) / X.std(axis=0) @ rng.standard_normal((3, classes)) + rng.gumbel(size=(900, classes)),
        axis=1,
    )
    problem = problem_of(X, y, rng.uniform(0.5, 2.0, 900), lift)
    loss, least, proved = problem.objective(), at_the_end(problem, 50), 0
    for share in 2.0 ** -np.arange(30.0):
        point = loss.point(least.at * (1.0 + 0.2 * share))
        bound = LeftToGain(loss)(point)
        assert bound >= point.value - least.value - 1e-10 * least.value
        proved += np.isfinite(bound)
        tight = bound <= 200.0 * (point.value - least.value) + 1e-9 * least.value
        assert not np.isfinite(bound) or tight
    assert proved >= 10


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_a_tolerance_is_a_proved_gap_of_an_unpenalised_fit(classes):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((6000, 12))
    y = np.argmax(X @ rng.standard_normal((12, classes)) + rng.gumbel(size=(6000, classes)), axis=1)
    best = sx.LogisticRegression().fit(X, y)
    assert best.gap_ is None
    for tol in (1e-4, 1e-6, 1e-9):
        model = sx.LogisticRegression(tol=tol).fit(X, y)
        assert model.separation_.verdict == "overlap"
        assert model.status_ is sx.numerics.Status.OPTIMAL
        if model.gap_ is not None:  # else it went to the last digits
            assert model.gap_ <= tol
        assert best.loglik_ - model.loglik_ <= (model.gap_ or 1e-12) * -best.loglik_ * 1.000001


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_several_classes_without_an_intercept_have_none(C):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 30)) + 0.5
    y = np.argmax(X[:, :5] + rng.gumbel(size=(1500, 5)), axis=1)
    model = sx.LogisticRegression(C=C, fit_intercept=False).fit(X, y)
    assert not model.intercept_.any()
    P = model.predict_proba(X)
    P[np.arange(1500), y] -= 1.0
    slopes = P.T @ X + (model.coef_ / C)
    assert np.abs(slopes).max() < 1e-2  # of sums of hundreds
