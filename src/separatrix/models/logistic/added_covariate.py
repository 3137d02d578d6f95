"""FLAC: Firth's estimate with an added covariate, whose fitted probabilities add up to the class counts.

Firth's score for two classes is that of maximum likelihood on three copies of the rows: as they are, and twice with
weight h_i/2, once with each outcome, h the leverages at the estimate. FLAC tells the copies apart by a column that is 1
in the pseudo-rows, and is the maximum of that likelihood (Puhr, Heinze, Nold, Lusa and Geroldinger 2017). Each
row has both outcomes, so that the maximum exists.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import dense
from separatrix.models.logistic.likelihood import STEPS, FittedLikelihood
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.numerics.status import raise_interruption


def leverages(problem: LogisticProblem, against: Floats) -> Floats:
    """h_i = w_i x'I^-1 x of one copy of each row, at coefficients (1, p)."""
    fitted = FittedLikelihood(problem, against, True)
    p = fitted.probabilities[:, 1]
    return np.asarray(p * (1.0 - p) * np.einsum("ij,jk,ik->i", fitted.lifted, fitted.covariance, fitted.lifted))


def with_pseudo_rows(problem: LogisticProblem, h: Floats) -> LogisticProblem:
    """The rows, and for each two pseudo-rows with both outcomes; the last column tells them apart."""
    n, X, c = problem.n, dense(problem.X), problem.counts
    column = np.repeat([0.0, 1.0], [n, 2 * n])
    codes = np.concatenate([problem.codes, problem.codes, 1 - problem.codes]).astype(np.intp)
    weights = np.concatenate([c, 0.5 * c * h, 0.5 * c * h])
    offset = None if problem.offset is None else np.tile(problem.offset, 3)
    rows = np.ascontiguousarray(np.column_stack([np.tile(X, (3, 1)), column]))
    return replace(problem, X=rows, codes=codes, weights=weights, offset=offset)


def added_likelihood(problem: LogisticProblem, against: Floats, h: Floats) -> FittedLikelihood:
    """The maximum with the pseudo-rows, searched from coefficients (1, d + 1) of the rows."""
    whole = with_pseudo_rows(problem, h)
    loss = whole.loss()
    start = np.concatenate([against[0, :-1], [0.0], against[0, -1:]])
    run = newton(loss, loss.point(start), STEPS)
    raise_interruption(run.status)
    return FittedLikelihood(whole, run.state.point.at.reshape(1, -1), False, added=True)


def flac(problem: LogisticProblem, firth: Floats) -> tuple[Floats, Floats]:
    """Coefficients (1, p) without that of the added column, and the leverages at Firth's estimate."""
    h = leverages(problem, firth)
    return np.delete(added_likelihood(problem, firth, h).estimate, -2, axis=1), h
