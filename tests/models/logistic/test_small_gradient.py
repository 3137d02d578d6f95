"""A small gradient proves overlap, and never where classes are separated: the answer is checked in fractions."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.models.logistic.existence import gradient_proves_overlap
from separatrix.models.logistic.newton import newton, newton_cg
from separatrix.models.logistic.problem import LogisticProblem


def problem_of(X, y, weights=None, lift=True):
    return LogisticProblem(X, np.asarray(y, dtype=np.intp), int(np.max(y)) + 1, weights, None, lift)


def at_the_end(problem, steps):
    loss = problem.loss()
    search = newton if problem.classes == 2 else newton_cg
    return search(loss, loss.point(np.zeros(loss.length)), steps).state.point


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_maxima_prove_overlap(classes, lift, weighted):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((600, 4)) + 0.5
    y = np.argmax(X @ rng.standard_normal((4, classes)) + rng.gumbel(size=(600, classes)), axis=1)
    problem = problem_of(X, y, rng.uniform(0.5, 2.0, 600) if weighted else None, lift)
    assert gradient_proves_overlap(problem, at_the_end(problem, 50))
    assert not gradient_proves_overlap(problem, problem.loss().point(np.zeros(problem.loss().length)))


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
    assert not gradient_proves_overlap(problem, at_the_end(problem, steps))


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
    probabilities = point.wrong if classes == 2 else point.curvature
    assert probabilities.min() < 1e-20
    assert gradient_proves_overlap(problem, point)
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
        assert not gradient_proves_overlap(problem, at_the_end(problem, steps))


def test_columns_that_depend_on_each_other_prove_nothing():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    X[:, 2] = X[:, 0] - X[:, 1]
    y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)
    problem = problem_of(X, y)
    assert not gradient_proves_overlap(problem, at_the_end(problem, 30))
