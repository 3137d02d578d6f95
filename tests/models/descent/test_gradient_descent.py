"""Gradient descent on any J: the loop of the book, schedules, line search, statuses, and gradients that are wrong."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import DataError, ParameterError
from separatrix.models.descent.descent_of_functions import check_gradient, numerical_gradient
from separatrix.numerics import Status

A = np.array([[3.0, 1.0], [1.0, 2.0]])


def bowl(t):
    return float(0.5 * t @ A @ t - t.sum())


def bowl_gradient(t):
    return A @ t - 1


BOTTOM = np.linalg.solve(A, np.ones(2))


@pytest.mark.parametrize("gradient", [bowl_gradient, None])
@pytest.mark.parametrize(
    ("schedule", "step"),
    [("constant", 0.3), ("root", 0.8), ("exponential", 0.5), ("step", 0.5), ("line-search", 1.0), (lambda k: 0.2, 1.0)],
)
def test_every_schedule_finds_the_bottom(schedule, step, gradient):
    found = sx.models.descent.gradient_descent(
        bowl, [5.0, -5.0], gradient=gradient, schedule=schedule, step=step, tol=1e-12
    )
    np.testing.assert_allclose(found.theta, BOTTOM, atol=1e-4)
    assert found.status in (Status.STATIONARY, Status.MAX_ITERATIONS)
    assert len(found.trace) == found.steps
    assert found.value <= found.trace.value[0]


def test_the_loop_of_the_book():
    """While k < N and |step| > eps; the first step counts as infinitely long."""
    found = sx.models.descent.gradient_descent(bowl, BOTTOM, gradient=bowl_gradient, max_iter=7, tol=1e-3)
    assert (found.steps, found.status) == (1, Status.STATIONARY)
    none = sx.models.descent.gradient_descent(bowl, [1.0, 1.0], gradient=bowl_gradient, max_iter=0)
    assert (none.steps, none.status, none.theta.tolist()) == (0, Status.MAX_ITERATIONS, [1.0, 1.0])
    seven = sx.models.descent.gradient_descent(bowl, [9.0, 9.0], gradient=bowl_gradient, step=1e-3, max_iter=7)
    assert (seven.steps, seven.status) == (7, Status.MAX_ITERATIONS)
    theta = np.array([9.0, 9.0])
    for k in range(7):
        np.testing.assert_allclose(seven.trace.gradient_norm[k], np.linalg.norm(bowl_gradient(theta)))
        assert seven.trace.value[k] == bowl(theta)
        theta = theta - 1e-3 * bowl_gradient(theta)
    assert np.array_equal(theta, seven.theta)
    assert "after 7 steps" in str(seven)


def test_momentum_and_averages():
    plain = sx.models.descent.gradient_descent(bowl, [9.0, 9.0], gradient=bowl_gradient, step=0.01, max_iter=100)
    heavy = sx.models.descent.gradient_descent(
        bowl, [9.0, 9.0], gradient=bowl_gradient, step=0.01, max_iter=100, momentum=0.8
    )
    assert heavy.value < plain.value
    mean = sx.models.descent.gradient_descent(bowl, [9.0, 9.0], gradient=bowl_gradient, max_iter=3, average=True)
    points = [np.array([9.0, 9.0])]
    for _ in range(3):
        points.append(points[-1] - 0.1 * bowl_gradient(points[-1]))
    np.testing.assert_allclose(mean.average, np.mean(points, axis=0))


def test_an_objective_that_is_undefined_keeps_the_last_good_point():
    def root(t):
        return float(np.sqrt(t[0])) if t[0] >= 0 else float("nan")

    found = sx.models.descent.gradient_descent(root, [1.0], gradient=lambda t: 0.5 / np.sqrt(np.abs(t)), step=0.5)
    assert found.status is Status.UNDEFINED
    assert np.isfinite(found.theta).all()
    assert np.isfinite(found.value)
    at_once = sx.models.descent.gradient_descent(lambda t: float("nan"), [1.0], gradient=lambda t: t)
    assert (at_once.status, at_once.steps, at_once.theta.tolist()) == (Status.UNDEFINED, 0, [1.0])
    searched = sx.models.descent.gradient_descent(
        root, [1.0], gradient=lambda t: 0.5 / np.sqrt(np.abs(t)), schedule="line-search", step=8.0, max_iter=5
    )
    assert searched.theta[0] >= 0  # the search never accepts a NaN


def test_an_objective_that_raises_keeps_the_last_good_point():
    def falls(t):
        if t[0] < 0.5:
            raise RuntimeError("below the floor")
        return float(t[0])

    found = sx.models.descent.gradient_descent(falls, [1.0], gradient=lambda t: np.ones(1), step=0.2)
    assert found.status is Status.FAILED
    assert found.reason == "RuntimeError: below the floor"
    assert found.theta[0] == pytest.approx(0.6)

    def stopped(t):
        raise KeyboardInterrupt

    assert sx.models.descent.gradient_descent(stopped, [1.0]).status is Status.INTERRUPTED
    overflow = sx.models.descent.gradient_descent(lambda t: float(t[0]) ** 400, [30.0], gradient=lambda t: t)
    assert overflow.status is Status.UNDEFINED
    short = sx.models.descent.gradient_descent(bowl, [1.0, 1.0], gradient=lambda t: np.ones(1))
    assert (short.status, "1 numbers" in short.reason) == (Status.FAILED, True)


def test_gradients_are_checked_on_request():
    assert check_gradient(bowl, bowl_gradient, np.array([1.0, 2.0])) < 1e-9
    at = np.array([3.0, -1.0])
    np.testing.assert_allclose(numerical_gradient(bowl, at), bowl_gradient(at), atol=1e-8)
    with pytest.raises(ParameterError, match="differs from central differences"):
        sx.models.descent.gradient_descent(bowl, [1.0, 2.0], gradient=lambda t: -bowl_gradient(t), verify_gradient=True)
    with pytest.raises(ParameterError, match="they must agree"):
        sx.models.descent.gradient_descent(bowl, [1.0, 2.0], gradient=lambda t: t[:1], verify_gradient=True)


@pytest.mark.parametrize(
    "options",
    [
        {"schedule": "sideways"},
        {"step": 0.0},
        {"step": np.nan},
        {"max_iter": -1},
        {"max_iter": 1.5},
        {"tol": -1.0},
        {"momentum": 1.0},
        {"momentum": 0.5, "schedule": "line-search"},
    ],
)
def test_bad_options(options):
    with pytest.raises(ParameterError):
        sx.models.descent.gradient_descent(bowl, [1.0, 1.0], gradient=bowl_gradient, **options)


def test_bad_starts():
    with pytest.raises(DataError):
        sx.models.descent.gradient_descent(bowl, [np.nan, 1.0])
    start = np.array([1.0, 1.0])
    sx.models.descent.gradient_descent(bowl, start, gradient=bowl_gradient)
    assert start.tolist() == [1.0, 1.0]


def test_a_step_that_is_too_long_diverges():
    for max_iter in (50, 100, 1000):  # J = 9^k: 1000 steps overflow
        run = sx.models.descent.gradient_descent(lambda t: float(t[0]) ** 2, [1.0], step=2.0, max_iter=max_iter)
        assert run.status is Status.DIVERGED
        assert "diverged" in str(run)
        assert "smaller step size" in str(run)
    slow = sx.models.descent.gradient_descent(lambda t: float(t @ t), [1.0], step=1e-3, max_iter=10)
    assert slow.status is Status.MAX_ITERATIONS


def test_a_descent_of_many_steps_is_printed_in_a_line():
    bowl_of_one = {"gradient": lambda t: 2 * t, "step": 0.01}
    found = sx.models.descent.gradient_descent(lambda t: float(t @ t), np.array([1.0]), **bowl_of_one)
    assert repr(found) == str(found)
    assert len(repr(found)) < 200
