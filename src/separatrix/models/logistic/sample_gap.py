"""A lower bound of a ridge's minimum from a sample of the rows, at the cost of the sample.

Any probabilities q' of the other class bound the minimum of  F(w) = sum c_i loss_i + ridge/2 |w|^2  from below, and
the gap between F and that bound is

    sum c_i KL(q'_i | q_i) + |X'r' + ridge w|^2/(2 ridge),    r'_i = -c_i y_i q'_i,

where q_i = 1 - P(y_i|x_i) at w (Fenchel's inequality; with a free bias the r' have to add up to zero). For q' = q it
is |g|^2/(2 ridge), with the gradient g, which asks for many more digits than the weights need where the penalty is
small. Rows of a sample can take up the gradient instead: with  t = (sum a_i x_i x_i' + ridge)^-1 g  over them and
r'_i = r_i - a_i t.x_i,  the second part is  ridge/2 |t|^2,  and the gap about n/m times what is left to gain, for m
of n rows and a_i of n/m times their curvatures. All rows but these keep their probabilities, and need not be read.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import Binary, Model, Point


class Tilt:
    """Dual points that differ from the fitted probabilities in ``rows``, of which ``part`` is the objective.

    ``model`` is the Hessian  sum a_i x_i x_i' + ridge  over these rows; ``a`` has their weights in it.
    """

    def __init__(self, objective: Binary, part: Binary, rows: NDArray[np.intp], a: Floats, model: Model) -> None:
        self.objective, self.part, self.rows, self.a, self.model = objective, part, rows, a, model
        self.c = np.ones(len(rows)) if objective.weights is None else objective.weights[rows]

    def gap(self, point: Point) -> float:
        """F at a point minus a lower bound of its minimum; inf where probabilities would leave (0, 1)."""
        g, c, ridge = point.gradient, self.c, self.objective.ridge
        with np.errstate(all="ignore"):
            t = self.model.correction(g)
            shift = np.empty(len(self.rows))
            kernels.scores(self.part.rows, t, shift)
            shift *= self.a
            q = point.wrong[self.rows]
            p = np.where(q > 0.5, point.curvature[self.rows] / (c * q), 1.0 - q)  # 1 - q, with all its digits
            more = self.part.y * shift / c
            moved = more != 0
            c, q, p, more = c[moved], q[moved], p[moved], more[moved]
            divergence = (q + more) * np.log1p(more / q) + (p - more) * np.log1p(-more / p)
            slopes = g[:-1] - self.part.sums(shift)
            gap = float(c @ divergence) + 0.5 * float(slopes @ (slopes / ridge))
        return max(gap, 0.0) if ((-q < more) & (more < p)).all() and np.isfinite(gap) else np.inf
