"""Profiles of Firth's penalised likelihood of two classes, by Newton's method with its exact second derivatives.

With I = X'WX, W = diag(c w), w = p (1 - p), w' = w (1 - 2p), w'' = w (1 - 6w), g_i = x_i'I^-1 x_i and I = L L',

    A = -d2/db2 (l + log|I|/2) = I - X'diag(c w'' g)X/2 + T'T/2,   T_k = sum_i c_i w'_i x_ik vec(z_i z_i')

with z = L^-1 x; of few rows T'T is made from their inner products, (z_i.z_j)^2. A coefficient is a linear
function a'b on orthonormal columns. At an end of its interval the score s is a multiple of a, and the likelihood is
at the level of the interval; the step to there (Venzon and Moolgavkar 1988) is A^-1 (s - m a), with

    m^2 = (2 (l - level) + s'A^-1 s)/(a'A^-1 a)

and the sign of m that of the side. With the coefficient held at a value v, m = (a'A^-1 s - v + a'b)/(a'A^-1 a).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.firth import LONGEST, firth
from separatrix.models.logistic.firth_likelihood import FirthLikelihood, PenalisedPoint, logdet_of, orthonormal
from separatrix.models.logistic.likelihood import FittedLikelihood

STEPS = 30  # after which a search is left to the slower method
CHUNK = 2**22  # numbers of products that are made at a time
FELT = 1e-9  # leverage below which a row adds nothing to T: the matrix guides steps, the score ends them
MOST_WORK = 2**31  # operations of one matrix of second derivatives, up to which it is made


@dataclass(frozen=True, slots=True)
class _Local:
    """A point with its score and the inverse of its second derivatives, in the sense of a quadratic model."""

    point: PenalisedPoint
    score: Floats
    inverse: Floats


class FirthProfiles:
    """The profiles of all coefficients of a fit, on one basis; None of them is promised to be found."""

    def __init__(self, fitted: FittedLikelihood) -> None:
        Q, R = orthonormal(fitted.lifted)
        self.likelihood = FirthLikelihood(fitted.problem, Q)
        self.to_given = np.asarray(np.linalg.inv(R))  # b of the given columns is to_given @ b
        start = (fitted.estimate @ R.T).reshape(-1)
        run = firth(self.likelihood, 100, start)
        self.top = self._local(run.state.point.b)
        self.logdet = logdet_of(R, 2)
        self.maximum = self.top.point.penalised + self.logdet

    @staticmethod
    def suit(fitted: FittedLikelihood) -> bool:
        """Whether the fit is Firth's of two classes, and small enough."""
        n, p = fitted.problem.n, fitted.estimate.size
        return fitted.penalised and fitted.problem.classes == 2 and n * p**3 <= MOST_WORK

    def end(self, j: int, side: float, z: float) -> float | None:
        """The end of the interval on one side (+1 or -1), where the likelihood is lower by z^2/2; None if not found."""
        a, level = self.to_given[j], self.top.point.penalised - 0.5 * z * z
        at = self.top
        for _ in range(STEPS):
            reach = self._reach(at, a)
            squared = 2.0 * (at.point.penalised - level) + float(at.score @ at.inverse @ at.score)
            if not (reach > 0 and squared >= 0):
                return None
            m = -side * float(np.sqrt(squared / reach))
            rest = at.score - m * a
            step = at.inverse @ rest
            if abs(at.point.penalised - level) <= 1e-10 and abs(float(rest @ step)) <= 1e-12:
                found = float(a @ at.point.b)
                return found if side * (found - float(a @ self.top.point.b)) > 0 else None
            moved = self._moved(at, step)
            if moved is None:
                return None
            at = moved
        return None

    def value(self, j: int, v: float) -> float | None:
        """The greatest penalised likelihood with coefficient j at v; None if not found."""
        a, at = self.to_given[j], self.top
        for _ in range(STEPS):
            reach = self._reach(at, a)
            if not reach > 0:
                return None
            away = v - float(a @ at.point.b)
            m = (float(a @ at.inverse @ at.score) - away) / reach
            rest = at.score - m * a
            step = at.inverse @ rest
            if abs(away) <= 1e-12 * (abs(v) + np.sqrt(reach)) and abs(float(rest @ step)) <= 1e-12:
                return at.point.penalised + self.logdet
            moved = self._moved(at, step)
            if moved is None:
                return None
            at = moved
        return None

    @staticmethod
    def _reach(at: _Local, a: Floats) -> float:
        return float(a @ at.inverse @ a)

    def _moved(self, at: _Local, step: Floats) -> _Local | None:
        size = self.likelihood.change(step)
        if not np.isfinite(size):
            return None
        return self._local(at.point.b + min(1.0, LONGEST / max(size, 1e-300)) * step)

    def _local(self, b: Floats) -> _Local:
        point = self.likelihood.at(b)
        root = np.asarray(np.linalg.inv(np.linalg.cholesky(point.information)))
        score = self.likelihood.score(point, root)
        A = self._curvature(point, root)
        try:
            np.linalg.cholesky(A)
            inverse = np.asarray(np.linalg.inv(A))
        except np.linalg.LinAlgError:  # not a maximum in all directions: the model of the likelihood alone
            inverse = root.T @ root
        return _Local(point, score, inverse)

    def _curvature(self, point: PenalisedPoint, root: Floats) -> Floats:
        """A of the module; T in chunks of rows."""
        assert point.rows is not None
        X, w = self.likelihood.lifted, point.rows.curvature  # c p (1 - p)
        Z = X @ root.T
        g = (Z * Z).sum(axis=1)
        felt = w * g > FELT
        slope = ((w * (2.0 * point.rows.wrong - 1.0) * self.likelihood.loss.y)[:, None] * X)[felt]
        Z = Z[felt]
        n, width = slope.shape
        if n <= width**2:
            twice = slope.T @ (np.square(Z @ Z.T) @ slope)
        else:
            T, rows = np.zeros((width**2, width)), max(1, CHUNK // width**2)
            for begin in range(0, n, rows):
                z = Z[begin : begin + rows]
                T += (z[:, :, None] * z[:, None, :]).reshape(len(z), -1).T @ slope[begin : begin + rows]
            twice = T.T @ T
        bend = w * (1.0 - 6.0 * w / self.likelihood.c) * g
        return np.asarray(point.information - 0.5 * X.T @ (bend[:, None] * X) + 0.5 * twice)
