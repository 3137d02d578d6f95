"""The driver: limits, steps that cannot be made, interruptions, progress."""

from __future__ import annotations

import pytest

from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status, raise_interruption


class Halving:
    """Halve a number until it is below a tolerance; ``trap`` maps numbers to what happens there."""

    def __init__(self, tol, trap=None):
        self.tol, self.trap = tol, trap or {}

    def terminate(self, state):
        return Status.OPTIMAL if state <= self.tol else None

    def step(self, state):
        event = self.trap.get(state, 0)
        if isinstance(event, type):
            raise event
        return None if event is None else state / 2


def test_a_run_ends_where_the_solver_says():
    seen = []
    run = drive(Halving(1.0), 8.0, watch=seen.append)
    assert (run.state, run.status, run.steps, seen) == (1.0, Status.OPTIMAL, 3, [4.0, 2.0, 1.0])


@pytest.mark.parametrize(("limit", "status"), [(2, Status.MAX_ITERATIONS), (3, Status.OPTIMAL)])
def test_the_limit_comes_after_the_solver(limit, status):
    run = drive(Halving(1.0), 8.0, max_steps=limit, at_limit=Status.MAX_ITERATIONS)
    assert (run.status, run.steps) == (status, limit)


def test_a_step_that_cannot_be_made_ends_the_run_where_it_is():
    run = drive(Halving(1.0, {4.0: None}), 8.0)
    assert (run.state, run.status, run.steps) == (4.0, Status.ILL_CONDITIONED, 1)


def test_an_interruption_is_a_status_with_the_last_complete_state():
    run = drive(Halving(1.0, {2.0: KeyboardInterrupt}), 8.0)
    assert (run.state, run.status, run.steps) == (2.0, Status.INTERRUPTED, 2)
    with pytest.raises(KeyboardInterrupt, match="what had been reached"):
        raise_interruption(run.status)
    raise_interruption(Status.OPTIMAL)


def test_errors_are_not_caught():
    with pytest.raises(ZeroDivisionError):
        drive(Halving(1.0, {4.0: ZeroDivisionError}), 8.0)
