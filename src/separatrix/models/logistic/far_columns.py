"""Dense columns that are far from zero for their spread, such as times in seconds, brought near it for a penalised fit.

A free intercept takes up the move, and is not penalised: the weights stay what they are. Residuals add up to zero but
for rounding, which a column far from zero multiplies in its slope: at a million times its spread no gap can be proved.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.problem import LogisticProblem, LogisticResult

FAR = 100.0  # times its spread that a column may be away from zero
LOOK = 1000  # rows that are looked at


def near_zero(problem: LogisticProblem) -> tuple[LogisticProblem, Floats | None]:
    """The problem with far columns moved, by how much each column was, and None where none was.

    A column whose numbers are within a factor of two of each other is moved without any rounding (Sterbenz 1974).
    """
    if problem.sparse or not problem.lift or not problem.n:
        return problem, None
    some = problem.X[:: max(1, problem.n // LOOK)]
    low, high = some.min(axis=0).astype(np.float64), some.max(axis=0).astype(np.float64)
    with np.errstate(all="ignore"):
        far = np.minimum(np.abs(low), np.abs(high)) > FAR * (high - low)
        far &= high > low  # a constant column stays: its weight is zero
    if not far.any():
        return problem, None
    shift = np.where(far, some[0], 0.0)
    return replace(problem, X=problem.X - shift), shift


def moved(vectors: Floats, shift: Floats | None, classes: int) -> Floats:
    """Vectors of the same scores on columns that are less by ``shift``."""
    if shift is None:
        return vectors
    out = vectors.copy()
    out[:, -1] += out[:, :-1] @ shift
    if classes > 2:
        out[:, -1] -= out[:, -1].mean()
    return out


def moved_back(result: LogisticResult, shift: Floats | None, classes: int) -> LogisticResult:
    """A result for the columns as they were."""
    return result if shift is None else replace(result, vectors=moved(result.vectors, -shift, classes))
