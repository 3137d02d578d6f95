"""Penalised logistic fits over a grid of penalties, each begun where the one before it ended."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.logistic.centred_loss import CentredLoss
from separatrix.models.logistic.fit import moved_back, near_zero, penalised
from separatrix.models.logistic.problem import FitOptions, LogisticProblem, LogisticResult
from separatrix.models.logistic.ridge import result_of
from separatrix.numerics.status import Status, raise_interruption
from separatrix.protocol import need_limit
from separatrix.solvers.ridge_path import RidgePath

LEAST_C = 1e-307  # the inverse of a smaller one is not finite
RIDGE = (1e-4, 1e4)  # the grid of a ridge, where only a number of penalties is asked for
REACH = 1e3  # with an L1 part it begins where all weights are zero, and ends at this multiple


@dataclass(frozen=True)
class LogisticPath:
    """Fits by growing ``C``: ``coef`` (m, k, d), ``intercept`` (m, k), with the gap and the status of each.

    k is 1 for two classes and the number of classes for more.

    Attributes
    ----------
    C : array (m,)
        The penalties, growing.
    coef, intercept : arrays (m, k, d) and (m, k)
    gap : array (m,)
        The proved relative gap of each fit.
    steps : array (m,)
        Steps that each took.
    status : tuple of Status
        How each ended.
    nonzero : array (m,)
        Columns with a weight other than zero.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> path = LogisticRegression(l1_ratio=1.0).path(X, y, [0.01, 1.0])
    >>> path.C, path.nonzero, path.coef.shape
    (array([0.01, 1.  ]), array([0, 1]), (2, 1, 1))
    """

    C: Floats
    coef: Floats = field(repr=False)
    intercept: Floats = field(repr=False)
    gap: Floats = field(repr=False)
    steps: NDArray[np.intp] = field(repr=False)
    status: tuple[Status, ...] = field(repr=False)

    @property
    def nonzero(self) -> NDArray[np.intp]:
        """How many columns each fit uses."""
        return np.asarray((self.coef != 0).any(axis=1).sum(axis=1), dtype=np.intp)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> sorted(LogisticRegression().path(X, y, [0.1]).to_dict())
        ['C', 'coef', 'gap', 'intercept', 'nonzero', 'status', 'steps']
        """
        lists = {name: getattr(self, name).tolist() for name in ("C", "coef", "intercept", "gap", "steps", "nonzero")}
        return {**lists, "status": [s.name for s in self.status]}

    def __str__(self) -> str:
        lines = [f"{'C':>11} {'columns in use':>15} {'steps':>6} {'gap':>9}  status"]
        for C, used, steps, gap, s in zip(self.C, self.nonzero, self.steps, self.gap, self.status, strict=True):
            lines.append(f"{C:>11.5g} {used:>15} {steps:>6} {gap:>9.1e}  {s.name.lower()}")
        return "\n".join(lines)


def check_grid(Cs: Any) -> int | Floats:
    """A number of penalties, or the penalties themselves in ascending order."""
    if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
        need_limit("Cs", int(Cs), 1)
        return int(Cs)
    if isinstance(Cs, (bool, np.bool_, str)):
        raise ParameterError(f"Cs is {Cs!r}: pass numbers above 0, or how many of them to choose.")
    try:
        grid = np.unique(np.asarray(Cs, dtype=np.float64).ravel())
    except (TypeError, ValueError) as error:
        raise ParameterError(f"Cs is {Cs!r}: pass numbers above 0, or how many of them to choose.") from error
    if not len(grid):
        raise ParameterError("Cs is empty: pass at least one penalty.")
    if not (np.isfinite(grid).all() and grid[0] >= LEAST_C):
        raise ParameterError("Cs has a value that is not a finite number above 0: a path is of penalised fits.")
    return grid


def grid_for(Cs: int | Floats, problems: list[LogisticProblem], l1_ratio: float) -> Floats:
    """The penalties, chosen by the rows where only their number is given."""
    if not isinstance(Cs, int):
        return Cs
    low, high = RIDGE
    if l1_ratio > 0:
        tops = []
        for problem in problems:
            place = CentredLoss(problem).place(np.zeros((problem.vectors, problem.d)), np.zeros(problem.vectors))
            tops.append(float(np.abs(place.slopes).max(initial=0.0)))
        top = max(tops)
        if not (np.isfinite(top) and top > 0):
            raise DataError("no column of X says anything of y, so that there is no least useful C: pass Cs.")
        low, high = l1_ratio / top, REACH * l1_ratio / top
    return np.geomspace(low, high, Cs) if Cs > 1 else np.array([low])


def fits_of(problem: LogisticProblem, Cs: list[float], options: FitOptions) -> Iterator[LogisticResult]:
    """Penalised fits, each begun where the one before it ended."""
    problem, shift = near_zero(problem)
    ridge = problem.objective()
    path = RidgePath(ridge, options.gap, options.max_iter) if options.l1_ratio == 0 else None
    loss, last = CentredLoss(problem) if path is None else None, None
    for C in Cs:
        with one_blas_thread(2 * problem.n * problem.d * problem.vectors), np.errstate(all="ignore"):
            if path is not None:
                result = result_of(problem, ridge, path.fit(1.0 / C))
            else:
                result = penalised(problem, C, options, last, loss)
        last = result.vectors
        yield moved_back(result, shift, problem.classes)


def fit_path(problems: list[LogisticProblem], Cs: Any, options: FitOptions) -> LogisticPath:
    """The fits of each problem (one, or one a class) over the grid, put together."""
    grid = grid_for(check_grid(Cs), problems, options.l1_ratio)
    parts = [list[LogisticResult]() for _ in problems]
    for problem, done in zip(problems, parts, strict=True):
        for result in fits_of(problem, grid.tolist(), options):
            done.append(result)
            raise_interruption(result.status)
    by_C = list(zip(*parts, strict=True))
    vectors = np.array([np.vstack([result.vectors for result in at]) for at in by_C])
    return LogisticPath(
        grid,
        np.ascontiguousarray(vectors[:, :, :-1]),
        np.ascontiguousarray(vectors[:, :, -1]),
        np.array([max(result.gap or 0.0 for result in at) for at in by_C]),
        np.array([max(result.steps for result in at) for at in by_C], dtype=np.intp),
        tuple(next((r.status for r in at if r.status is not Status.OPTIMAL), Status.OPTIMAL) for at in by_C),
    )
