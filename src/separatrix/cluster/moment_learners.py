"""Learners that need only moments of the rows: least squares, ridge and its path, the discriminants.

One round takes the moments of every partition and joins them in the fixed tree. Least squares is then corrected by
residuals in twofold precision, a round each, where the condition asks for it, as it is on one machine.
"""

from __future__ import annotations

from operator import add
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import HeldPart
from separatrix.errors import DataError, ParameterError
from separatrix.models.least_squares.choose import by_condition
from separatrix.models.least_squares.least_squares import LeastSquares
from separatrix.models.least_squares.ridge_solver import from_moments
from separatrix.models.least_squares.twofold_refinement import refine_by, residual_sums
from separatrix.numerics.moments import Moments, merge
from separatrix.numerics.normal_equations import NormalEquations, Solution
from separatrix.numerics.twofold import twofold_sum

MOST_COLUMNS = 8192  # whose table of squares a worker and the driver can hold


def part_moments(part: HeldPart, d: int, classes: list[Any] | None, pooled: bool) -> Moments:
    """The moments of a partition: of features and target, or of each class."""
    if classes is None:
        return Moments(d, 1).add(part.X, part.y.reshape(-1, 1), None, part.weights).flushed()
    return Moments(d, labels=classes, pooled=pooled).add(part.X, None, part.y, part.weights).flushed()


def part_residuals(part: HeldPart, high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """Sums of residual times lifted row, as pairs of doubles."""
    return residual_sums(kernels.rows(part.X), part.y, part.weights, high, low)


def join_pairs(left: tuple[Floats, Floats], right: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The sum of two pairs."""
    high, error = twofold_sum(left[0], right[0])
    return high, left[1] + right[1] + error


def part_residual_sum(part: HeldPart, lifted: Floats) -> float:
    """The residual sum of squares of a partition."""
    zeros = np.zeros(len(lifted))
    rows = kernels.rows(part.X)
    return kernels.residual_gradient(rows, part.y, part.weights, lifted, zeros, zeros.copy(), zeros.copy(), None)[0]


def moments_of(source: EncodedSource, needed: str, pooled: bool = True) -> Moments:
    """The moments of all rows."""
    if source.d > MOST_COLUMNS:
        raise DataError(f"{source.name} has {source.d:,} columns: moments are made of at most {MOST_COLUMNS:,}.")
    classes = None if needed == "targets" else source.classes.tolist()
    found: Moments = source.rounds.reduce("moments", part_moments, source.d, classes, pooled, join=merge)
    return found.copy()  # what comes from a worker may not be written to


def fit_from_moments(learner: Any, source: EncodedSource) -> None:
    """Fit a learner that says which moments it needs."""
    needed = learner._moments_needed()
    if needed is None:
        raise ParameterError(f"{learner!r} needs all rows in one place: its options have no distributed form.")
    moments = moments_of(source, needed, bool(getattr(learner, "_pooled", True)))
    if isinstance(learner, LeastSquares):
        learner._check_parameters()
        learner._moments = moments
        learner._remember_features(source.table)
        learner._store(least_squares(learner, moments, source), source.table, int(moments.rows.sum()))
    elif not learner._fit_moments(moments, source.table):
        _from_moments_alone(learner, moments, source)


def _from_moments_alone(learner: Any, moments: Moments, source: EncodedSource) -> None:
    """Where moments lose digits or do not determine the model: with a warning, or the error that says why."""
    if hasattr(learner, "_solve"):
        learner._moments, learner.classes_ = moments, np.array(moments.labels)
        learner._remember_features(source.table)
        learner._solve(moments.totals(), None, None)
        return
    asked = learner.solver
    learner.solver = "moments"
    try:
        learner._fit_moments(moments, source.table)
    finally:
        learner.solver = asked


def least_squares(learner: LeastSquares, moments: Moments, source: EncodedSource) -> Solution:
    """The solution by the rules of one machine, but for orthogonal factors, which need all rows."""
    rounds = source.rounds
    normal: NormalEquations = learner._normal_of(moments.totals(), source.d)
    rows = int(moments.rows.sum())
    method = "qr" if learner.solver == "moments" or rows < normal.p else by_condition(normal)
    if method == "qr":
        return from_moments(normal)
    start = normal.solve()
    if method != "moments" or normal.loses_bias(start):

        def sums(high: Floats, low: Floats) -> tuple[Floats, Floats]:
            found: tuple[Floats, Floats] = rounds.reduce("residuals", part_residuals, high, low, join=join_pairs)
            return found

        found = refine_by(sums, start[0], normal)
        if found is None:
            return from_moments(normal)
        rss = rounds.reduce("residuals", part_residual_sum, found.lifted, join=add)
        return Solution(found.lifted[None], np.array([rss]), normal.p, normal.condition, "refined", normal.basis())
    rss = normal.rss(start)
    if np.any(rss < 1e-3 * normal.spread):
        rss = np.array([rounds.reduce("residuals", part_residual_sum, start[0], join=add)])
    return Solution(start, rss, normal.p, normal.condition, "moments", normal.basis())


def ridge_path(learner: LeastSquares, source: EncodedSource, alphas: Floats) -> tuple[Floats, Floats]:
    """Coefficients (m, d) and intercepts (m,) for m penalties, from one round."""
    totals = moments_of(source, "targets").totals()
    lifted = np.array([from_moments(learner._normal_of(totals, source.d, float(a))).lifted[0] for a in alphas])
    return lifted[:, :-1].copy(), lifted[:, -1].copy()
