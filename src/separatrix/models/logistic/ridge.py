"""Ridge fits as results: of a problem, and of its columns divided by their standard deviations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.objective import Objective
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult
from separatrix.rows.protocol import View
from separatrix.solvers.minimise import Fit, minimise, relative, said
from separatrix.solvers.rough_hessians import SQUARES


def ridge_fit(
    problem: LogisticProblem, penalty: float, tol: float, max_iter: float, start: Floats | None = None
) -> LogisticResult:
    """Minimise the loss plus penalty/2 |w|^2 to a relative duality gap of at most ``tol``."""
    loss = problem.objective(penalty)
    at = None if start is None else problem.parameters_of(start)
    with np.errstate(all="ignore"):
        return result_of(problem, loss, minimise(loss, tol, max_iter, at))


def result_of(problem: LogisticProblem, loss: Objective, found: Fit) -> LogisticResult:
    """The vectors of a fit; at the minimum those of several classes add up to zero."""
    vectors = problem.vectors_of(found.point.at)
    part = found.point.value - 0.5 * loss.ridge * float((vectors[:, :-1] ** 2).sum())
    return LogisticResult(vectors, found.status, found.steps, part, relative(found), plan=said(found.ran, found.why))


def standardised_ridge(problem: LogisticProblem, tol: float, max_iter: float, C: float = 1.0) -> LogisticResult:
    """A ridge on columns divided by their standard deviations; without an intercept, by their root mean squares."""
    first, second = problem.rows.reduce(SQUARES)
    total = float(second[-1])
    mean = first[:-1] / total if problem.lift else np.zeros(problem.d)
    scale = np.sqrt(np.maximum(second[:-1] / total - mean**2, 0.0))
    scale = np.where(scale > 1e-12 * np.maximum(np.abs(mean), 1e-300), scale, 1.0)
    scaled = LogisticProblem(problem.rows.view(View(scale=tuple(scale.tolist()))), problem.lift)
    result = ridge_fit(scaled, 1.0 / C, tol, max_iter)
    vectors = result.vectors.copy()
    vectors[:, :-1] /= scale
    return replace(result, vectors=vectors)
