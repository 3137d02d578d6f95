"""Where searches for Firth's estimate of two classes begin: on paths of Newton's method to easier maxima.

The first is the maximum of  l(b) + sum c_i h_i (log p_i + log(1 - p_i))/2  with the leverages h_i at zero, which is
concave and finite: the likelihood of rows to which h_i/2 successes and failures are added. The second is where Newton's
method for l(b) itself is after a few steps. Searches from the two mostly end at the same maximum; where that path is
long, zero is a third start. Where they end at different ones, columns with rows far out have several scales at which
log|I|/2 offsets the likelihood, and the steps in between, from small coefficients to large ones, lead to the maxima at
these scales.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import BinaryLoss
from separatrix.models.logistic.firth_likelihood import FirthLikelihood

EASY = 5  # points of a path up to which a search from zero waits until the two end at different maxima
STEPS, FEW = 12, 10  # of a path; FEW for large tables
LEFT = 1e-3  # what is still to gain where a path ends
RIDGE = 1e-9  # of the rows: classes may be separated


def added_leverages(likelihood: FirthLikelihood) -> Floats:
    """The first of the module's two starts."""
    point, y, c = likelihood.at(np.zeros(likelihood.lifted.shape[1])), likelihood.loss.y, likelihood.c
    if point.factor is None or point.rows is None:
        return point.b
    half = 0.5 * likelihood.norms(np.asarray(np.linalg.inv(point.factor))) * point.rows.curvature
    return newton_path(likelihood, [likelihood.rows_of(y, c + half), likelihood.rows_of(-y, half)])[-1]


def newton_path(likelihood: FirthLikelihood, losses: list[BinaryLoss], most: int = STEPS) -> list[Floats]:
    """Zero and the points that Newton's method for the sum of some losses goes through."""
    b = np.zeros(likelihood.lifted.shape[1])
    path, rows = [b], [loss.point(np.append(b, 0.0)) for loss in losses]
    ridge = RIDGE * float(likelihood.c.sum()) * np.eye(len(b))
    for _ in range(most):
        value, slope = sum(row.value for row in rows), sum(row.gradient[:-1] for row in rows)
        curvature = sum(row.curvature for row in rows)
        step = np.linalg.solve(likelihood.gram(np.asarray(curvature)) + ridge, slope)
        if not 0.5 * float(slope @ step) > LEFT:
            break
        for _ in range(10):
            ahead = [loss.point(np.append(b - step, 0.0)) for loss in losses]
            if sum(row.value for row in ahead) < value:
                break
            step = 0.5 * step
        else:
            break
        b, rows = b - step, ahead
        path.append(b)
    return path
