"""One logistic fit: on which rows, around which offset and zeros of the columns, and by which room of this folder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.centred_loss import CentredLoss
from separatrix.models.logistic.elastic_net import proximal_newton
from separatrix.models.logistic.existence import Existence
from separatrix.models.logistic.likelihood_fit import LikelihoodFit
from separatrix.models.logistic.problem import FitOptions, LogisticProblem, LogisticResult, UsedRows
from separatrix.models.logistic.ridge import ridge_fit
from separatrix.numerics.status import Status
from separatrix.rows.protocol import View

FAR = 100.0  # times its spread that a dense column may be away from zero in a penalised fit
LOOK = 1000  # rows that are looked at for that


def fit_parts(parts: list[UsedRows], options: FitOptions, start: Floats | None) -> list[LogisticResult]:
    """A fit of each part, one after the other; parts that an interruption leaves undone have zeros."""
    done, many = list[LogisticResult](), len(parts) > 1
    for k, part in enumerate(parts):
        done.append(fit_rows(part, options, start[k : k + 1] if start is not None and many else start))
        if done[-1].status is Status.INTERRUPTED:
            break
    nothing = LogisticResult(np.zeros_like(done[0].vectors), Status.INTERRUPTED)
    return done + [nothing] * (len(parts) - len(done))


def fit_rows(rows: UsedRows, options: FitOptions, start: Floats | None) -> LogisticResult:
    """The fit that the options ask for, of rows in memory.

    A free intercept takes up what all offsets have in common, so that the search may begin at zero.
    """
    problem = rows.problem(options.lift)
    if problem.offset is None or not options.lift:
        return _fit(rows, problem, options, start)
    middle = np.atleast_1d(np.median(problem.offset, axis=0))
    inner = problem.changed(offset=np.ascontiguousarray(problem.offset - middle))
    result = _fit(rows, inner, options, None if start is None else _shifted(start, middle))
    return replace(result, vectors=_shifted(result.vectors, -middle))


def _shifted(vectors: Floats, shift: Floats) -> Floats:
    """Vectors of the same scores with offsets that are less by ``shift``."""
    vectors = vectors.copy()
    vectors[:, -1] += shift - (shift.mean() if len(shift) > 1 else 0.0)
    return vectors


def _fit(rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> LogisticResult:
    given, against = rows.given(options.lift), None if rows.rest is None else rows.rest[1]
    products = 2 * problem.n * problem.d * problem.vectors  # a Hessian is many
    with one_blas_thread(products), np.errstate(all="ignore"):  # the status says what overflowed
        if np.isfinite(options.C):
            return penalised_fit(problem, options, start)
        fit = LikelihoodFit(problem, options, start, lambda: Existence.decide(given, against), given, against)
        return fit.result()


def penalised_fit(problem: LogisticProblem, options: FitOptions, start: Floats | None = None) -> LogisticResult:
    """A fit with a penalty, on columns near zero."""
    inner, shift = near_zero(problem)
    begin = None if start is None else moved(start, shift, problem.classes)
    result = moved_back(penalised(inner, options.C, options, begin), shift, problem.classes)
    return replace(result, method=options.penalty)


def penalised(
    problem: LogisticProblem, C: float, options: FitOptions, start: Floats | None, loss: CentredLoss | None = None
) -> LogisticResult:
    """Minimise  sum of losses + (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)/C; the fits of a path share ``loss``."""
    r = options.l1_ratio
    if r == 0:
        return ridge_fit(problem, 1.0 / C, options.gap, options.max_iter, start)
    net = ElasticNet(r / C, (1.0 - r) / C)
    return proximal_newton(loss or CentredLoss(problem), net, options.gap, options.max_iter, start)


# -- columns that are far from zero for their spread, such as times in seconds --


def near_zero(problem: LogisticProblem) -> tuple[LogisticProblem, Floats | None]:
    """The problem with far dense columns moved, by how much each column was, and None where none was.

    A free intercept takes up the move, and is not penalised: the weights stay what they are. Residuals add up to zero
    but for rounding, which a column far from zero multiplies in its slope: at a million times its spread no gap can be
    proved. A column whose numbers are within a factor of two of each other is moved without rounding (Sterbenz 1974).
    """
    if problem.sparse or not problem.lift or not problem.n:
        return problem, None
    some = problem.rows.take(max(1, problem.n // LOOK)).X
    low, high = some.min(axis=0).astype(np.float64), some.max(axis=0).astype(np.float64)
    with np.errstate(all="ignore"):
        far = np.minimum(np.abs(low), np.abs(high)) > FAR * (high - low)
        far &= high > low  # a constant column stays: its weight is zero
    if not far.any():
        return problem, None
    shift = np.where(far, some[0], 0.0)
    return LogisticProblem(problem.rows.view(View(shift=tuple(shift.tolist()))), problem.lift), shift


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
