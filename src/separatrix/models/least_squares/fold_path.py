"""Penalties of least squares judged on folds, from the moments of the folds alone.

With centred moments (W, m, S) of a fold's rows z = (x, y), a model w, b has on them

    sum c (y - w.x - b)^2 = S_yy - 2 w.S_xy + w'S_xx w + W (m_y - w.m_x - b)^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.least_squares.choose import LIMITS
from separatrix.models.moment_learner import MomentFolds
from separatrix.numerics.moments import Totals
from separatrix.numerics.normal_equations import NormalEquations


@dataclass(frozen=True)
class PenaltiesOnFolds(MomentFolds):
    """Mean squared errors (alphas, folds), and what one penalty needs to be fitted to all rows."""

    squared: Floats | None = None

    def errors(self) -> Floats | None:
        """The mean squared error of each penalty on each fold."""
        return self.squared


def errors_of(judged: Totals, least: NormalEquations, alphas: Sequence[float]) -> list[float]:
    """The mean squared error of each penalty on the rows of these moments."""
    d, mean, S, weight = least.d, judged.mean[0], judged.scatter, float(judged.weight[0])
    out = []
    for lifted in _solutions(least, alphas):
        w, b = lifted[:d], lifted[-1]
        inside = S[d, d] - 2 * w @ S[:d, d] + w @ S[:d, :d] @ w
        out.append(float((inside + weight * (mean[d] - w @ mean[:d] - b) ** 2) / weight))
    return out


def _solutions(least: NormalEquations, alphas: Sequence[float]) -> list[Floats]:
    """Lifted weights for every penalty, by one eigendecomposition A = Q L Q' (b free): w = Q (L + alpha)^-1 Q'c.

    Small eigenvalues of columns in very different units have no digits: there, and where b is not free, each penalty
    is solved for by itself, with columns of length 1.
    """
    lengths = np.sqrt(np.diagonal(least.A))
    alike = float(lengths.max(initial=0.0)) <= LIMITS.mixable * float(lengths.min(initial=np.inf))
    if not (least.free and alike):
        return [least.penalised(alpha).solve()[0] for alpha in alphas]
    values, Q = np.linalg.eigh(least.A)
    c = Q.T @ least.c[:, 0]
    found = [Q @ (c / (values + alpha)) for alpha in alphas]
    return [np.append(w, least.y_mean[0] - least.x_mean @ w) for w in found]
