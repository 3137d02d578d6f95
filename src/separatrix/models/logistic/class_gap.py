"""A last Newton step for several classes, with a proved gap that does not ask for more digits than the step has.

For any probabilities p'_i whose residuals add up to zero in every class (where there is a free bias),

    F - min F <= sum_i c_i KL(p'_i | p_i) + |ridge W + sum_i c_i (p'_i - e_yi) x_i'|^2/(2 ridge)

(Fenchel's inequality; see duality_gap.py). With  p'_i = p_i - (diag p_i - p_i p_i') T (x_i, 1)  and  T = H^-1 g,  the
second part is ridge/2 |T|^2 and the whole about g'H^-1 g/2, what is left to gain; p' = p would give |g|^2/(2 ridge).
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import LossPoint
from separatrix.models.logistic.class_blocks import inverse_between_classes
from separatrix.models.logistic.multinomial_loss import MultinomialLoss, class_scores, class_sums
from separatrix.models.logistic.newton import conjugate_gradients, direction

SHARE = 1e-3  # how exactly the last step is solved, so that intercepts have six digits
ROUGH = 0.1  # the same for more columns than that is worth
REST = 0.1  # of the wanted gap: what the rest of the gradient may add to it
BALANCED = 1e-9  # of all weights: residuals of a class that are rounding


def last_step(
    loss: MultinomialLoss, point: LossPoint, tol: float, wide: bool, by_products: bool = True
) -> tuple[LossPoint, float]:
    """The point after a Newton step, by products with the Hessian or by itself, and a bound of what is left."""
    step, decrement = (point.gradient, np.nan) if by_products else direction(loss.model(point), point.gradient)
    if not decrement >= 0:
        wanted = tol * abs(point.value)
        inverse = (loss.kept or loss.preconditioner(point)).correction
        share, rest = ROUGH if wide else SHARE, 2.0 * REST * wanted * loss.ridge
        step = conjugate_gradients(loss, point, inverse, share, rest)
    gap, moved = tilted_gap(loss, point, step), loss.point(point.at - step)
    if not moved.value <= point.value:
        return point, gap
    return moved, max(0.0, gap - (point.value - moved.value))


def tilted_gap(loss: MultinomialLoss, point: LossPoint, step: Floats) -> float:
    """The bound at probabilities that the step moves; inf where they would leave (0, 1)."""
    T, G = step.reshape(loss.classes, -1), point.gradient.reshape(loss.classes, -1)
    P, c = point.curvature.T, 1.0 if loss.weights is None else loss.weights
    s = class_scores(loss.X, T) + T[:, -1:]
    D = c * P * (s - (P * s).sum(axis=0))
    if loss.lift:
        weighted = c * P
        A = np.diag(weighted.sum(axis=1)) - weighted @ P.T
        inverse = inverse_between_classes(A)
        for _ in range(2):  # the second time for the rounding of the first
            t = inverse @ (G[:, -1] - D.sum(axis=1))
            D += weighted * (t[:, None] - t @ P)
        if not float(np.abs(G[:, -1] - D.sum(axis=1)).max()) <= BALANCED * float(weighted.sum()):
            return np.inf
    slopes = G[:, :-1] - class_sums(loss.X, D)
    with np.errstate(all="ignore"):
        change = np.where(P > 0, -D / (c * P), 0.0)
        if not (change > -1.0).all():
            return np.inf
        divergence = float((c * (P * ((1.0 + change) * np.log1p(change) - change)).sum(axis=0)).sum())
        gap = divergence + 0.5 * float((slopes * (slopes / loss.ridge)).sum())
    return max(gap, 0.0) if np.isfinite(gap) else np.inf
