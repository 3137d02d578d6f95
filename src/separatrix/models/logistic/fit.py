"""One logistic fit: which method it is, on which rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.centred_loss import CentredLoss
from separatrix.models.logistic.elastic_net import proximal_newton
from separatrix.models.logistic.far_columns import moved, moved_back, near_zero
from separatrix.models.logistic.logistic_ridge import ridge
from separatrix.models.logistic.problem import FitOptions, LogisticProblem, LogisticResult, UsedRows
from separatrix.models.logistic.unpenalised_fit import UnpenalisedFit
from separatrix.numerics.driver import drive
from separatrix.numerics.status import Status
from separatrix.validation import check_table

LARGE = 2**23  # numbers of rows whose check is left to the passes of a ridge fit


def fit_parts(parts: list[UsedRows], options: FitOptions, start: Floats | None) -> list[LogisticResult]:
    """A fit of each part, one after the other; parts that an interruption leaves undone have zeros."""
    done, many = list[LogisticResult](), len(parts) > 1
    for k, part in enumerate(parts):
        done.append(fit_rows(part, options, start[k : k + 1] if start is not None and many else start))
        if done[-1].status is Status.INTERRUPTED:
            break
    nothing = LogisticResult(np.zeros_like(done[0].vectors), Status.INTERRUPTED)
    return done + [nothing] * (len(parts) - len(done))


def shows_finite(X: Any, options: FitOptions) -> bool:
    """Whether a fit to these rows is a check of theirs: a large ridge fit reads all of them several times."""
    ridge = np.isfinite(options.C) and options.l1_ratio == 0
    return isinstance(X, np.ndarray) and X.size >= LARGE and bool(ridge)


def fit_unchecked(parts: list[UsedRows], options: FitOptions, start: Floats | None) -> list[LogisticResult]:
    """Ridge fits to rows that may hold a NaN or an infinity.

    No gradient over all rows is finite then, no gap is proved, and the rows are read again to name the place.
    """
    X = parts[0].table.X
    if len(parts[0].labels.classes) > 2:
        check_table(X)
        return fit_parts(parts, options, start)
    try:
        with np.errstate(all="ignore"):
            results = fit_parts(parts, options, start)
    except Exception:
        check_table(X)
        raise
    if any(result.status is not Status.OPTIMAL for result in results):
        check_table(X)
    return results


def fit_rows(rows: UsedRows, options: FitOptions, start: Floats | None) -> LogisticResult:
    """The fit that the options ask for.

    A free intercept takes up what all offsets have in common, so that the search may begin at zero.
    """
    problem = rows.problem(options.lift)
    with one_blas_thread(2 * problem.n * problem.d * problem.vectors):  # a Hessian is many products
        return _fit_shifted(rows, problem, options, start)


def _fit_shifted(rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> LogisticResult:
    if problem.offset is None or not options.lift:
        return _fit(rows, problem, options, start)
    middle = np.atleast_1d(np.median(problem.offset, axis=0))

    def shifted(vectors: Floats, shift: Floats) -> Floats:
        vectors = vectors.copy()
        vectors[:, -1] += shift - (shift.mean() if problem.classes > 2 else 0.0)
        return vectors

    inner = replace(problem, offset=np.ascontiguousarray(problem.offset - middle))
    result = _fit(rows, inner, options, None if start is None else shifted(start, middle))
    return replace(result, vectors=shifted(result.vectors, -middle))


def _fit(rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> LogisticResult:
    if np.isfinite(options.C):
        inner, shift = near_zero(problem)
        begin = None if start is None else moved(start, shift, problem.classes)
        result = moved_back(penalised(inner, options.C, options, begin), shift, problem.classes)
        return replace(result, method=options.penalty)
    fit = UnpenalisedFit(rows, problem, options, start)
    run = drive(fit, fit.init())
    return replace(run.state.result, status=run.status)


def penalised(
    problem: LogisticProblem, C: float, options: FitOptions, start: Floats | None, loss: CentredLoss | None = None
) -> LogisticResult:
    """Minimise  sum of losses + (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)/C; the fits of a path share ``loss``."""
    r = options.l1_ratio
    if r == 0:
        return ridge(problem, 1.0 / C, options.gap, options.max_iter, start)
    net = ElasticNet(r / C, (1.0 - r) / C)
    return proximal_newton(loss or CentredLoss(problem), net, options.gap, options.max_iter, start)
