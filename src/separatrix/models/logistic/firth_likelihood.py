"""Firth's penalised likelihood  l(b) + log|I(b)|/2  and its score (Firth 1993).

For K classes with the first as baseline, b = (b_1, ..., b_K-1) and I = sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i'.
The derivative of log|I|/2 adds to the residual 1[y_i = k] - p_ik of each row

    a_ik = p_ik/2 (M_kk - 2 (M p)_k - sum_l M_ll p_l + 2 p'M p),   M_kl = x_i' [I^-1]_kl x_i,

from the third cumulants of one draw; for two classes that is h_i (1/2 - p_i) with the leverage h_i
(Heinze and Schemper 2002; Bull, Mak and Greenwood 2002).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.losses.information import class_information
from separatrix.losses.logistic import TINY
from separatrix.models.logistic.probabilities import softmax
from separatrix.models.logistic.problem import LogisticProblem

NOISE = 1e-6  # of values whose matrices are narrow
ALONE = 1e-2  # the part of a column that the columns before it do not explain, from which on a fast method is exact


@dataclass(frozen=True, slots=True)
class PenalisedPoint:
    """Coefficients with the likelihood there, its penalised version, the information and its factor.

    ``factor`` is the lower triangle L of I = L L', and None where I is not positive definite. Of two classes
    ``rows`` has curvatures and 1 - P(y|x), of more ``P`` has all probabilities.
    """

    b: Floats
    loglik: float
    penalised: float
    information: Floats
    factor: Floats | None
    rows: RowValues | None = None
    P: Floats | None = None


@dataclass(frozen=True, slots=True)
class RowValues:
    """The loss of two classes at a point: value, gradient, and of each row c p (1 - p) and 1 - P(y|x)."""

    value: float
    gradient: Floats
    curvature: Floats
    wrong: Floats


class RowLoss:
    """The loss of two classes of dense rows without an intercept."""

    def __init__(self, X: Floats, y: NDArray[np.int8], weights: Floats | None, offset: Floats | None) -> None:
        self.rows, self.y, self.weights, self.offset = kernels.rows(X), y, weights, offset

    def point(self, b: Floats) -> RowValues:
        n, gradient, (curvature, wrong) = self.rows.n, np.zeros(len(b) + 1), np.empty((2, self.rows.n))
        at = np.append(b, 0.0)
        value = kernels.logistic_pass(
            self.rows, self.y, self.weights, self.offset, at, 0, n, gradient, curvature, wrong
        )
        return RowValues(value, gradient[:-1], curvature, wrong)


class FirthLikelihood:
    """The penalised likelihood on ``lifted`` rows of full column rank (n, p).

    With ``narrow``, matrices of two classes are made of numbers with 24 bits, in half the time: values then have an
    error of about ``noise``.
    """

    def __init__(self, problem: LogisticProblem, lifted: Floats, narrow: bool = False) -> None:
        self.problem, self.lifted, self.free = problem, lifted, problem.classes - 1
        self.own, self.offset, self.c = (np.arange(problem.n), problem.codes), problem.class_offset, problem.counts
        self.noise = NOISE if narrow else 0.0
        if self.free == 1:
            self.columns: Any = np.ascontiguousarray(lifted.T, dtype=np.float32 if narrow else np.float64)
            self.loss = self.rows_of(problem.signs, problem.weights)
        else:
            self.truth = truth(problem)

    def at(self, b: Floats) -> PenalisedPoint:
        if self.free == 1:
            rows = self.loss.point(b)
            return self._point(b, -rows.value, self.gram(rows.curvature), rows=rows)
        n, p = self.lifted.shape
        scores = np.column_stack([np.zeros(n), self.lifted @ b.reshape(self.free, p).T])
        P, loss = softmax(scores if self.offset is None else scores + self.offset, self.own)
        return self._point(
            b, -float(np.sum(self.c * loss)), class_information(self.lifted, P.T[1:], self.problem.weights), P=P
        )

    @staticmethod
    def _point(b: Floats, loglik: float, information: Floats, **rows: Any) -> PenalisedPoint:
        try:
            factor = np.asarray(np.linalg.cholesky(information))
        except np.linalg.LinAlgError:  # all rows are certain: an offset, or vectors, of hundreds
            return PenalisedPoint(b, loglik, -np.inf, information, None, **rows)
        penalised = loglik + float(np.log(np.diagonal(factor)).sum())
        return PenalisedPoint(b, loglik, penalised, information, factor, **rows)

    def rows_of(self, signs: NDArray[np.int8], weights: Floats | None) -> RowLoss:
        """The loss of two classes on the same rows."""
        return RowLoss(self.lifted, signs, weights, self.problem.offset)

    def gram(self, weights: Floats) -> Floats:
        """sum of w_i x_i x_i', of two classes."""
        scaled = self.columns * np.sqrt(weights).astype(self.columns.dtype)
        return np.asarray(scaled @ scaled.T, dtype=np.float64)

    def change(self, step: Floats, point: PenalisedPoint | None = None) -> float:
        """The root mean square change of the scores by a step; with a point of two classes, weighed by curvature."""
        if point is not None and point.rows is not None:
            moved, weight = float(step @ point.information @ step), float(point.rows.curvature.sum())
            return float(np.sqrt(max(moved, 0.0) / max(weight, TINY)))
        return float(np.sqrt(np.square(self.lifted @ step.reshape(self.free, -1).T).sum() / len(self.lifted)))

    def norms(self, root: Floats) -> Floats:
        """x_i' I^-1 x_i of all rows of two classes, given the inverse of the factor: |root x_i|^2."""
        half, narrow = len(root) // 2, root.astype(self.columns.dtype)
        upper, lower = narrow[:half, :half] @ self.columns[:half], narrow[half:] @ self.columns
        return np.asarray(np.einsum("ij,ij->j", upper, upper) + np.einsum("ij,ij->j", lower, lower), dtype=np.float64)

    def score(self, point: PenalisedPoint, root: Floats) -> Floats:
        """The adjusted score, of the length of b, given the inverse of the factor of the information."""
        if point.rows is not None:
            rows = point.rows
            adjust = self.norms(root) * rows.curvature * ((rows.wrong - 0.5) * self.loss.y)
            return np.asarray(adjust @ self.lifted - rows.gradient)
        assert point.P is not None
        n, p = self.lifted.shape
        q, inverse, M = point.P[:, 1:], root.T @ root, np.empty((n, self.free, self.free))
        for k in range(self.free):
            for m in range(k + 1):
                block = inverse[k * p : (k + 1) * p, m * p : (m + 1) * p]
                M[:, k, m] = M[:, m, k] = np.einsum("ij,ij->i", self.lifted @ block, self.lifted)
        Mp = np.einsum("ikl,il->ik", M, q)
        diagonal = np.einsum("ikk->ik", M)
        inner = (diagonal * q).sum(axis=1) - 2.0 * (Mp * q).sum(axis=1)
        adjust = 0.5 * q * (diagonal - 2.0 * Mp - inner[:, None])
        R = self.c[:, None] * (self.truth - q + adjust)
        return np.asarray((R.T @ self.lifted).reshape(-1))


def truth(problem: LogisticProblem) -> Floats:
    """1[y_i = k] for the classes but the first."""
    return np.asarray(problem.codes[:, None] == np.arange(1, problem.classes), dtype=np.float64)


def orthonormal(lifted: Floats) -> tuple[Floats, Floats]:
    """Columns q with mean square 1 and no correlation, and R with rows x = R'q.

    Firth's estimate moves with the basis, rounding does not: vectors are b = R^-1 b_q.
    """
    scale, length = np.linalg.norm(lifted, axis=0), np.sqrt(len(lifted))
    scaled = lifted / scale
    try:
        R = np.linalg.cholesky(scaled.T @ scaled).T
        alone = float(np.diagonal(R).min(initial=1.0))
    except np.linalg.LinAlgError:
        alone = 0.0
    Q, R = (scaled @ np.linalg.inv(R), R) if alone > ALONE else np.linalg.qr(scaled)
    return np.ascontiguousarray(Q * length), R * scale / length


def logdet_of(R: Floats, classes: int) -> float:
    """log|I|/2 in the given columns minus that in orthonormal ones."""
    return (classes - 1) * float(np.log(np.abs(np.diagonal(R))).sum())
