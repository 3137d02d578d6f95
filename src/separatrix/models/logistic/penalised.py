"""Penalised logistic fits: a ridge, the lasso and the elastic net, each to a relative duality gap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import Interruption
from separatrix.models.logistic.active_newton import Net
from separatrix.models.logistic.binary_loss import Binary
from separatrix.models.logistic.centred_problem import Problem
from separatrix.models.logistic.duality_gap import curvature_gap, duality_gap
from separatrix.models.logistic.multinomial_loss import Multinomial
from separatrix.models.logistic.newton import Run, newton
from separatrix.models.logistic.problem import Answer, Task
from separatrix.models.logistic.proximal_newton import proximal_newton
from separatrix.models.logistic.quasi_newton import Inverse, newton_cg
from separatrix.models.logistic.sample_start import begun
from separatrix.numerics.status import Status

FEW = 200  # parameters from which a preconditioner of dense rows pays
PRECONDITION = 5  # rows of its sample for each parameter
ROUNDING = 1e-12  # relative gaps below this are not told from zero
GAP = 1e-8  # the relative duality gap at which a fit ends, unless another is asked for


def penalised(
    task: Task, C: float, l1_ratio: float, tol: float | None, max_iter: float, start: Floats | None = None
) -> Answer:
    """Minimise  sum of losses + (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)/C."""
    wanted = GAP if tol is None else float(tol)
    if l1_ratio == 0:
        return ridge(task, 1.0 / C, wanted, max_iter, start)
    return elastic_net(problem_of(task), Net(l1_ratio / C, (1.0 - l1_ratio) / C), wanted, max_iter, start)


def problem_of(task: Task) -> Problem:
    return Problem(task.X, task.codes, task.classes, task.weights, task.offset, task.lift)


def elastic_net(problem: Problem, net: Net, tol: float, max_iter: float, start: Floats | None = None) -> Answer:
    """The L1 part determines the vectors of several classes, but for a common bias."""
    vectors = 1 if problem.classes == 2 else problem.classes
    begin = np.zeros((vectors, problem.d + 1)) if start is None else start
    found = proximal_newton(problem, net, begin, tol, max_iter)
    if vectors > 1:
        found.vectors[:, -1] -= found.vectors[:, -1].mean()
    return Answer(found.vectors, found.status, found.steps, found.loss, found.gap)


def ridge(task: Task, penalty: float, tol: float, max_iter: float, start: Floats | None = None) -> Answer:
    """Minimise the loss plus penalty/2 |w|^2 to a relative duality gap of at most ``tol``."""
    objective = task.objective(penalty)
    at = np.zeros(objective.length) if start is None else start.reshape(-1).copy()
    run = begun(task, objective, tol, max_iter) if start is None and isinstance(objective, Binary) else None
    if run is not None and run.status is Status.OPTIMAL:
        steps, gap = run.steps, run.decrement
    else:
        run = run or Run(objective.point(at), Status.MAX_ITERATIONS, 0, np.inf)
        run, steps, gap = _to_the_gap(task, objective, run, tol, max_iter)
        if task.classes > 2 and not task.wide and run.status is Status.OPTIMAL and steps < max_iter:
            run, steps, gap = _one_more(objective, run, steps, gap)
    vectors = run.point.at.reshape(-1, task.d + 1)
    if task.classes > 2:  # what vectors have in common is only penalised: at the minimum they add up to zero
        vectors = vectors - vectors.mean(axis=0)
    value = run.point.value
    loss = value - 0.5 * penalty * float((vectors[:, :-1] ** 2).sum())
    return Answer(vectors, run.status, steps, loss, gap / max(value, np.finfo(float).tiny))


def _to_the_gap(
    task: Task, objective: Binary | Multinomial, run: Run, tol: float, max_iter: float
) -> tuple[Run, int, float]:
    """Search on until the gap is small enough; the last run, all steps, and the gap."""
    steps, wanted, gap = 0, tol, np.inf
    try:
        model = None if run.status is Status.OPTIMAL else _preconditioner(task, objective)
        while True:
            steps += run.steps
            if run.status is Status.OPTIMAL:
                gap = duality_gap(objective, run.point)
                if gap <= tol * run.point.value:
                    return run, steps, gap
                if wanted < 1e-30 or (wanted < tol and not run.steps):  # the gap asks for more digits than there are
                    gap = gap if task.wide else min(gap, curvature_gap(objective, run.point))
                    proved = gap <= max(tol, ROUNDING) * run.point.value
                    return run if proved else replace(run, status=Status.ILL_CONDITIONED), steps, gap
                wanted *= 0.01
            elif run.status is not Status.MAX_ITERATIONS or steps >= max_iter:
                return run, steps, gap if np.isfinite(gap) else duality_gap(objective, run.point)
            left = max_iter - steps
            if task.wide or model is not None:
                run = newton_cg(objective, run.point, left, wanted, ridge=objective.ridge, model=model)
            else:
                run = newton(objective, run.point, left, wanted, left=objective.left)
    except Interruption:
        raise
    except KeyboardInterrupt as stop:
        raise Interruption(run.point.at) from stop


def _one_more(objective: Binary | Multinomial, run: Run, steps: int, gap: float) -> tuple[Run, int, float]:
    """A last Newton step: the gap bounds the value, and intercepts have fewer correct digits than that."""
    moved = newton(objective, run.point, 1).point
    after = duality_gap(objective, moved)
    if moved is run.point or not after <= max(gap, ROUNDING * moved.value):
        return run, steps, gap
    return replace(run, point=moved), steps + 1, after


def _preconditioner(task: Task, objective: Binary | Multinomial) -> Inverse | None:
    """The Hessian of a sample at zero, for dense rows whose own Hessian would cost much more; else None."""
    stride = task.n // (PRECONDITION * task.free)
    if task.wide or task.classes > 2 or task.free < FEW or stride < 2 or not isinstance(task.X, np.ndarray):
        return None
    sample = task.every(stride)
    share = sample.n / task.n
    small = sample.objective(objective.ridge * share)
    assert isinstance(small, Binary)
    return Inverse(small.model(small.point(np.zeros(small.length))), share)


def standardised_ridge(task: Task, tol: float | None, max_iter: float) -> Answer:
    """C = 1 on columns divided by their standard deviations; without a bias, by their root mean squares."""
    c = np.ones(task.n) if task.weights is None else task.weights
    total = c.sum()
    X = task.X
    squares = X * X if isinstance(X, np.ndarray) else X.multiply(X)
    mean = np.asarray(X.T @ c) / total if task.lift else np.zeros(task.d)
    scale = np.sqrt(np.maximum(np.asarray(squares.T @ c) / total - mean**2, 0.0))
    scale = np.where(scale > 1e-12 * np.maximum(np.abs(mean), 1e-300), scale, 1.0)
    scaled = X / scale if isinstance(X, np.ndarray) else X.multiply(1.0 / scale).tocsr()
    answer = ridge(replace(task, X=scaled), 1.0, 1e-8 if tol is None else float(tol), max_iter)
    vectors = answer.vectors.copy()
    vectors[:, :-1] /= scale
    return replace(answer, vectors=vectors)
