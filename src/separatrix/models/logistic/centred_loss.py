"""The logistic loss with its intercepts minimised over: a function of the weights alone, for the elastic net.

L(V) = min over b of sum c_i loss_i,    slopes = X'R,  R = c (P - Y),  sum R = 0 where there is an intercept
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.firth import fitted_intercepts
from separatrix.models.logistic.probabilities import entropy, softmax
from separatrix.models.logistic.problem import LogisticProblem

Columns = NDArray[np.intp]
BLOCK = 2**16  # probabilities whose entropies are computed at once


@dataclass(frozen=True, slots=True)
class WeightsPoint:
    """Weights (k, d) with their best intercepts (k,), k = 1 for two classes.

    ``others`` are the probabilities of the classes that are not a row's own: (n,) for two classes, (n, K) with
    zeros at the own class for more. ``curvature`` is c p (1 - p), or P for more than two classes. ``shift`` is
    sum R o.
    """

    V: Floats
    b: Floats
    loss: float
    slopes: Floats
    others: Floats
    curvature: Floats
    shift: float

    def columns(self, kept: Columns) -> WeightsPoint:
        part = np.ascontiguousarray(self.V[:, kept]), np.ascontiguousarray(self.slopes[:, kept])
        return replace(self, V=part[0], slopes=part[1])


class CentredLoss:
    """The loss of a problem as a function of the weights, with access by row and by column."""

    def __init__(self, problem: LogisticProblem) -> None:
        self.X, self.d, self.problem = problem.X, problem.d, problem
        self.codes, self.classes, self.signs = problem.codes, problem.classes, problem.signs
        self.weights, self.offset, self.lift = problem.weights, problem.offset, problem.lift
        self.n, self.sparse = problem.n, problem.sparse

    @cached_property
    def across(self) -> Any:
        """The table by columns: a CSR matrix whose rows are the columns."""
        numbers = int(self.X.indptr[-1])
        if max(numbers, self.n) > np.iinfo(np.int32).max:
            return self.X.T.tocsr()
        start, row, value = np.empty(self.d + 1, np.int32), np.empty(numbers, np.int32), np.empty(numbers, self.X.dtype)
        kernels.turned(kernels.rows(self.X), start, row, value)
        return type(self.X)((value, row, start), shape=(self.d, self.n))

    @property
    def by_columns(self) -> bool:
        """Whether columns can be had for nothing."""
        return not self.sparse or "across" in self.__dict__

    @cached_property
    def filled(self) -> Floats:
        """Of sparse rows: how many numbers a row has in each column, on average."""
        return np.bincount(self.X.indices, minlength=self.d) / self.n

    def columns(self, kept: Columns) -> CentredLoss:
        """The same rows with these columns only."""
        part = copy(self)
        part.d = len(kept)
        part.spread = self.spread[kept]
        if self.sparse:
            part.X, part.across = None, self.across[kept]
        else:
            part.X = np.ascontiguousarray(self.X[:, kept])
        return part

    def table(self, W: Columns) -> Any:
        """All rows of columns W, dense."""
        return np.ascontiguousarray(self.across[W].T.toarray() if self.sparse else self.X[:, W])

    def sum(self, values: Floats) -> float:
        return float(values.sum() if self.weights is None else self.weights @ values)

    def each(self, values: Floats) -> Floats:
        """Values of the rows times their weights."""
        return values if self.weights is None else values * self.weights

    def average(self, values: Floats) -> Floats:
        return np.atleast_1d(np.average(values, axis=0, weights=self.weights))

    def shares(self) -> Floats:
        """Logarithms of the classes' shares; of two classes their difference."""
        logs = np.log(np.bincount(self.codes, weights=self.weights, minlength=self.classes))
        return np.atleast_1d(logs[1] - logs[0] if self.classes == 2 else logs - logs.mean())

    # -- places -------------------------------------------------------------------------------------

    def place(self, V: Floats, b: Floats) -> WeightsPoint:
        return self._two(V, b) if self.classes == 2 else self._many(V, b)

    def scores(self, V: Floats) -> Floats:
        used = np.flatnonzero((V != 0).any(axis=0)) if self.sparse else np.arange(0)
        if not self.sparse or not self.by_columns or (self.X is not None and 2 * len(used) > self.d):
            out = np.empty((self.n, len(V)))
            kernels.class_scores(kernels.rows(self.X), np.ascontiguousarray(V), np.zeros(len(V)), out)
            return out
        out, rows = np.zeros((len(V), self.n)), kernels.rows(self.across)
        for k, v in enumerate(V):
            kernels.combine(rows, used, v, out[k])
        return out.T

    def slopes(self, R: Floats) -> Floats:
        """X'R, one row a column of R."""
        if not self.by_columns:
            out, rows, every = np.zeros((R.shape[1], self.d)), kernels.rows(self.X), np.arange(self.n)
            for k, r in enumerate(R.T):
                kernels.combine(rows, every, np.ascontiguousarray(r), out[k])
            return out
        if self.sparse:
            out = np.empty((self.d, R.shape[1]))
            kernels.class_scores(kernels.rows(self.across), np.ascontiguousarray(R.T), np.zeros(R.shape[1]), out)
            return np.ascontiguousarray(out.T)
        if self.classes > 2 and self.X.dtype == np.float64:
            return np.ascontiguousarray(R.T @ self.X)
        rows, constant = kernels.rows(self.X), np.append(np.zeros(self.d), 1.0)
        out = np.zeros((R.shape[1], self.d + 1))
        for k, r in enumerate(R.T):
            kernels.curvature_product(rows, np.ascontiguousarray(r), constant, 0, self.n, out[k])
        return np.ascontiguousarray(out[:, :-1])

    def _two(self, V: Floats, b: Floats) -> WeightsPoint:
        scores = self.scores(V)[:, 0]
        scores = scores if self.offset is None else scores + self.offset
        alone = kernels.rows(np.empty((self.n, 0)))
        h, q = np.empty(self.n), np.empty(self.n)
        at = b.copy() if self.lift else np.zeros(1)
        for k in range(200):
            g = np.zeros(1)
            loss = kernels.logistic_pass(alone, self.signs, self.weights, scores, at, 0, self.n, g, h, q)
            slope, bend = float(g[0]), float(h.sum())
            if k == 0 and self.lift and abs(slope) > 2.0 * bend:  # far off: begin where the mean score fits the shares
                at = self.shares() - self.average(scores)
                continue
            step = slope / max(bend, 0.5 * abs(slope)) if slope else 0.0  # never longer than 2
            if not self.lift or not abs(step) > 1e-15 * max(1.0, abs(float(at[0]))):
                break
            at = at - step
        R = -q * self.signs
        R = R if self.weights is None else R * self.weights
        shift = 0.0 if self.offset is None else float(R @ self.offset)
        return WeightsPoint(V, at, loss, self.slopes(R[:, None]), q, h, shift)

    def _many(self, V: Floats, b: Floats) -> WeightsPoint:
        b, P, R, loss = self._fitted(V, b)
        shift, slopes = 0.0 if self.offset is None else float((R * self.offset).sum()), self.slopes(R)
        others = R if self.weights is None else P.copy(order="K")  # the residuals of the other classes
        others[np.arange(self.n), self.codes] = 0.0
        return WeightsPoint(V, b, self.sum(loss), slopes, others, P, shift)

    def _fitted(self, V: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The best intercepts of several classes, with probabilities, weighted residuals and losses."""
        scores = np.asfortranarray(self.scores(V))  # class by class, as the search for intercepts has them
        scores = scores if self.offset is None else scores + self.offset
        if self.lift:
            return fitted_intercepts(scores, self.codes, self.weights, b, lambda: self.shares() - self.average(scores))
        own = np.arange(self.n), self.codes
        P, loss = softmax(scores + b, own)
        R = P.copy()
        R[own] = 0.0
        R[own] = -R.sum(axis=1)
        return b, P, R if self.weights is None else R * self.weights[:, None], loss

    # -- columns that cannot matter -------------------------------------------------------------------

    @cached_property
    def spread(self) -> Floats:
        """sqrt(sum c_i (x_ij - mean_j)^2) of each column; without a bias about zero."""
        c = np.ones(self.n) if self.weights is None else self.weights
        first, second = np.zeros((2, self.d + 1))
        kernels.curvature_diagonal(kernels.rows(self.X), c, 0, self.n, first, second)
        first, second = first[:-1], second[:-1]
        if not np.isfinite(second).all():
            raise DataError("the squares of the numbers in X or y overflow: scale the columns.")
        centred = second - (first * (first / c.sum()) if self.lift else 0.0)
        return np.sqrt(np.maximum(centred, 0.0) + 1e-9 * second)

    def kept(self, place: WeightsPoint, net: ElasticNet, share: float, gap: float) -> Columns:
        """Columns that the gap does not rule out.

        The dual is concave with c_i/4 as its least curvature in each residual, so that the residuals R* of the
        minimum satisfy  sum (R - R*)^2/c <= gap/2  in each class, and |x_j.R*| < alpha rules out column j.
        """
        if net.ridge > 0 and share == 1.0 and float(np.abs(place.slopes).max(initial=0.0)) > net.alpha:
            return np.arange(self.d)
        reach = share * np.abs(place.slopes).max(axis=0) + np.sqrt(gap / 2.0) * self.spread
        return np.flatnonzero((reach >= net.alpha) | (place.V != 0).any(axis=0))


def lower_bound(loss: CentredLoss, place: WeightsPoint, net: ElasticNet) -> tuple[float, float]:
    """A lower bound of the minimum from the probabilities of a place, and the share of them that gave it."""
    top = float(np.abs(place.slopes).max(initial=0.0))
    shares = [min(1.0, net.alpha / top) if top > 0 else 1.0]
    if net.ridge > 0 and shares[0] < 1.0:
        shares.append(1.0)
    best = (-np.inf, shares[0])
    for share in shares:
        above = np.maximum(share * np.abs(place.slopes) - net.alpha, 0.0)
        with np.errstate(over="ignore"):
            excess = 0.5 * float((above * (above / net.ridge)).sum()) if share == 1.0 and net.ridge > 0 else 0.0
        bound = entropies(loss, place.others, share) + share * place.shift - excess
        best = max(best, (bound, share))
    return best


def entropies(loss: CentredLoss, others: Floats, share: float) -> float:
    """The weighted sum of the entropies at a share of these probabilities, in blocks: many classes have long rows."""
    at_once, total = max(1, BLOCK // (others.size // max(1, loss.n))), 0.0
    for begin in range(0, loss.n, at_once):
        own = slice(begin, begin + at_once)
        part = entropy(share * others[own])
        total += float(part.sum() if loss.weights is None else loss.weights[own] @ part)
    return total
