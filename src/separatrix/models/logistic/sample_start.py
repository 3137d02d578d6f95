"""A ridge on many rows: solved on a few of them, then corrected in a few reads of all.

A tenth or less of the rows gives a start and the Hessian there, with which each full pass divides what is left to gain
by about a hundred (Byrd, Chin, Neveitt and Nocedal 2011). The same rows also prove how much is left (sample_gap.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.models.logistic.binary_loss import Binary, Point
from separatrix.models.logistic.duality_gap import duality_gap
from separatrix.models.logistic.newton import Run, newton
from separatrix.models.logistic.problem import Task
from separatrix.models.logistic.quasi_newton import Inverse, with_model
from separatrix.models.logistic.row_sample import sampled
from separatrix.models.logistic.sample_gap import Tilt
from separatrix.numerics.status import Status

SAMPLE = 100  # rows of the sample for each parameter
COARSE = 4  # the sample itself begins at the minimum of each so many of its rows
ROUGH = 1e-4  # how exactly the sample is solved: its minimum is a hundred times as far from that of all rows


def begun(task: Task, objective: Binary, tol: float, max_iter: float) -> Run | None:
    """Full passes with the Hessian of a sample, or None where a sample would not be much smaller.

    An optimal run has the proved gap as its decrement.
    """
    stride = task.n // (SAMPLE * max(task.free, 40))
    if task.wide or stride < 4:
        return None
    sample = sampled(task, stride)
    small = objective_of(sample.task, objective.ridge * sample.share)
    at = solved(sample.task, small)
    if at is None:
        return None
    model = Inverse(small.model(at), sample.share)
    tilt = Tilt(objective, small, sample.rows, at.curvature / sample.share, model)

    def gap(point: Point) -> float:
        if objective.left(point) <= 0.5 * tol * abs(point.value):  # a strong penalty: the probabilities as they are
            return duality_gap(objective, point)
        return tilt.gap(point)

    run = with_model(objective, objective.point(at.at), model, tol, max_iter, gap)
    return replace(run, status=Status.MAX_ITERATIONS) if run.status is Status.ILL_CONDITIONED else run


def objective_of(task: Task, ridge: float) -> Binary:
    objective = task.objective(ridge)
    assert isinstance(objective, Binary)
    return objective


def solved(task: Task, objective: Binary) -> Point | None:
    """Roughly the minimum of a sample, for which the Hessian of a quarter of its rows is good enough."""
    some = task.every(COARSE)
    share = some.n / task.n
    few = objective_of(some, objective.ridge * share)
    first = newton(few, few.point(np.zeros(few.length)), 50, ROUGH)
    if first.status is not Status.OPTIMAL:
        return None
    start, model = objective.point(first.point.at), Inverse(few.model(first.point), share)
    run = with_model(objective, start, model, ROUGH, 50, lambda point: 0.0)
    if run.status is not Status.OPTIMAL:
        run = newton(objective, start, 50, ROUGH)
    return run.point if run.status is Status.OPTIMAL else None
