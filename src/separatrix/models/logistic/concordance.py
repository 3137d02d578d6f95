"""What is left to gain at a point, and that there is a minimum, from the gradient and the curvature there.

F is a sum of logistic losses, plus ridge/2 |w|^2 if there is a ridge, and A <= H a lower bound of its Hessian at a
point. Along a direction v the third derivative of a row's loss is at most the range of its scores (of two classes the
size of its score) times the second. With  t = |v|_A,  l = |g|_A^-1  and R the greatest range of any row at t = 1,

    F(w + v) >= F(w) - l t + (exp(-R t) + R t - 1)/R^2      (Bach 2010, in the norm of A).

Where  u = R l < 1,  the right side grows without limit with t: there is a minimum, so that classes overlap, and

    F(w) - min F <= l^2 (u + (1 - u) log(1 - u))/u^2,   about the decrement l^2/2.

A holds some of the rows (x_i - c, 1) with weights a_i, for any centre c:

- of two classes a_i = c_i p (1 - p), the curvature of the row;
- of several  a_i = c_i min_k p_ik,  for each class: on vectors whose classes add up to zero  diag p - pp' >= min_k p_k
  (the eigenvalues of diag p - pp' and of diag p interlace), and the squared range is at most twice the sum of squares.

The range of a row is at most  a_i^-1/2,  since H holds the row, and at most  |x_i|_A^-1 <= |D x_i|/sqrt(e),  with
D = diag(A)^-1/2 and e the least eigenvalue of DAD; several classes have sqrt(2) times as much.

Rounding is bounded: a sum of n terms is wrong by at most n units of the sum of their sizes, in any order (Higham 2002,
3.1); by Cauchy and Schwarz that is at most n units in DAD, and n units of |r||x_j| in the gradient, times sqrt(K)
since the sums of the last class follow from the others. Probabilities are taken as they were computed: they are those
of scores with another offset, on which the existence of a minimum does not depend.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import BinaryLoss, LossPoint, dense
from separatrix.models.logistic.multinomial_loss import MultinomialLoss

UNIT = 2.0**-53
ROWS, MORE = 8, 64  # rows of A for each column at least, and where these prove nothing
MOST_COLUMNS = 2000  # beyond which A would cost too much
OWN, MOST_BOUND = 0.8, 0.95  # of R l: by the curvature of rows themselves, and by their lengths
FEWER = 4  # rows are measured one by one where they are at most one in so many, else by the extremes of columns


class LeftToGain:
    """Bounds what is left to gain at points of a loss, with a ridge for two classes only; inf proves nothing.

    A finite bound proves that there is a minimum. Bounds above ``tol`` of the value are not needed; without it, more
    rows are taken where some prove nothing. ``share`` is about how much of the bound the decrement is.
    """

    def __init__(self, loss: BinaryLoss | MultinomialLoss, tol: float = np.inf) -> None:
        self.loss, self.tol, self.columns = loss, tol, loss.d + int(loss.lift)
        self.classes = loss.classes if isinstance(loss, MultinomialLoss) else 2
        self.wide = 1.0 if self.classes == 2 else 2.0
        p = max(1, self.columns)
        self.steps = [max(1, loss.n // (k * max(p, loss.n // (ROWS * p)))) for k in (ROWS, MORE)]  # as long as a pass
        self.share = 1.0 / (self.classes * self.steps[0])

    def __call__(self, point: LossPoint) -> float:
        loss, p = self.loss, self.columns
        if not 0 < p <= MOST_COLUMNS or loss.n <= p:
            return np.inf
        with np.errstate(all="ignore"):
            a, residuals = self._rows(point)
            if not (np.isfinite(point.gradient).all() and np.isfinite(residuals)):
                return np.inf
            for step in dict.fromkeys(self.steps[:1] if self.tol < np.inf else self.steps):
                bound = self._by_some(point, a, residuals * self.rounding, step)
                if bound < np.inf:
                    return bound
        return np.inf

    @cached_property
    def rounding(self) -> Floats:
        """Errors of the gradient for residuals of length 1."""
        loss, lengths = self.loss, np.zeros(self.loss.d + 1)
        kernels.curvature_diagonal(kernels.rows(loss.X), np.ones(loss.n), 0, loss.n, None, lengths)
        return np.asarray(2.02 * self.classes**0.5 * (loss.n + self.classes + 20) * UNIT * np.sqrt(lengths))

    def _rows(self, point: LossPoint) -> tuple[Floats, float]:
        """What each row gives to A, and the length of all residuals at most."""
        c = 1.0 if self.loss.weights is None else self.loss.weights
        if isinstance(self.loss, BinaryLoss):
            return 0.99 * point.curvature, float(np.linalg.norm(c * point.wrong))
        P = point.curvature.T
        residuals = float(np.max(c)) * (float(np.linalg.norm(P)) + float(np.linalg.norm(point.wrong)))
        return 0.99 * c * np.minimum(P.min(axis=0), np.maximum(1.0 - point.wrong, 0.0)), residuals

    def _by_some(self, point: LossPoint, a: Floats, rounding: Floats, step: int) -> float:
        """The bound by every ``step``-th row."""
        loss, d, some = self.loss, self.loss.d, a[::step]
        X, Z = dense(loss.X[::step]), np.ones((len(some), self.columns))
        centre = some @ X / max(float(some.sum()), 1e-300) if loss.lift else np.zeros(d)
        np.subtract(X, centre, out=Z[:, :d])
        Z *= np.sqrt(some)[:, None]
        A = Z.T @ Z
        p, own = len(A), np.arange(d)
        A[own, own] += loss.ridge
        diagonal = np.diagonal(A)
        if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
            return np.inf
        D = 1.0 / np.sqrt(diagonal)
        g, error = point.gradient.reshape(-1, d + 1).copy(), rounding.copy()
        g[:, :d] -= g[:, d:] * centre
        error[:d] += np.abs(centre) * rounding[d]
        g, error, scaled = g[:, :p] * D, error[:p] * D, A * D * D[:, None]
        share = 2.0 * (len(X) + p + 20) * UNIT * p
        try:
            inverse = np.linalg.inv(scaled)
        except np.linalg.LinAlgError:
            return np.inf
        least = 0.9 / float(np.linalg.norm(inverse))
        if not least_eigenvalue_above(scaled, least + share):
            return np.inf
        t = g @ inverse  # the exact DAD t differs from Dg by what is computed, and by rounding
        product = t @ scaled
        size, rest = float(np.linalg.norm(t)), float(np.linalg.norm(g - product)) + float(np.linalg.norm(error))
        length = (max(float(np.vdot(t, product)), 0.0) + share * size**2) ** 0.5
        length = 1.01 * (length + (rest + 2.0 * share * size) / least**0.5)
        if not 0.5 * length**2 <= self.tol * abs(point.value):
            return np.inf
        u, far = OWN, np.flatnonzero(a < self.wide * (length / OWN) ** 2)
        if len(far):
            u = max(u, length * (self.wide / least) ** 0.5 * _longest(loss.X, far, centre, D))
        return length**2 * (u + (1.0 - u) * float(np.log1p(-u))) / u**2 if u <= MOST_BOUND else np.inf


def _longest(X: Any, far: NDArray[np.intp], centre: Floats, D: Floats) -> float:
    """The length |D (x - centre, 1)| of these rows at most."""
    d = len(centre)
    if len(far) * FEWER <= X.shape[0]:
        Z = (dense(X[far]) - centre) * D[:d]
        squares = float(np.einsum("ij,ij->i", Z, Z).max())
    else:
        top, low = (v.toarray().ravel() if hasattr(v, "toarray") else v for v in (X.max(axis=0), X.min(axis=0)))
        squares = float(np.square(np.maximum(top - centre, centre - low) * D[:d]).sum())
    return 1.01 * float(np.sqrt(squares + (D[d:] ** 2).sum()))


def least_eigenvalue_above(A: Floats, needed: float) -> bool:
    """Whether a Cholesky factorisation proves it, of a matrix with a diagonal of ones (Rump 2006)."""
    shifted = A.copy()
    shifted[np.diag_indices(len(A))] -= needed + 16.0 * len(A) ** 2 * UNIT
    try:
        return bool(np.isfinite(np.linalg.cholesky(shifted)).all())
    except np.linalg.LinAlgError:
        return False
