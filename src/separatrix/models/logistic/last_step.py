"""A last Newton step, with a proved gap that does not ask for more digits than the step has.

For any probabilities p'_i whose residuals add up to zero in every class (where there is a free bias),

    F - min F <= sum_i c_i KL(p'_i | p_i) + |ridge W + sum_i c_i (p'_i - e_yi) x_i'|^2/(2 ridge)

(Fenchel's inequality; see duality_gap.py). With  p'_i = p_i - (diag p_i - p_i p_i') T (x_i, 1)  and  T = H^-1 g,  the
second part is ridge/2 |T|^2 and the whole about g'H^-1 g/2, what is left to gain; p' = p would give |g|^2/(2 ridge).
"""

from __future__ import annotations

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import TINY, BinaryLoss, LossPoint
from separatrix.models.logistic.class_blocks import inverse_between_classes
from separatrix.models.logistic.duality_gap import BALANCED
from separatrix.models.logistic.multinomial_loss import MultinomialLoss, class_scores, class_sums
from separatrix.models.logistic.newton import ConjugateGradients, direction

SHARE = 1e-3  # how exactly the last step is solved at most
ROUGH = 0.1  # and at least
REST = 0.1  # of the wanted gap: what the rest of the gradient may add to it
ROUNDED = 1e-13  # of all weights: residuals of a class that another tilt leaves


def last_step(
    loss: BinaryLoss | MultinomialLoss,
    point: LossPoint,
    tol: float,
    wide: bool,
    by_products: bool = True,
    solver: ConjugateGradients | None = None,
) -> tuple[LossPoint, float]:
    """The point after a Newton step, by products with the Hessian or by itself, and a bound of what is left.

    Where ``solver`` has begun the step, it goes on from there, until it is as exact as the wanted gap asks for.
    """
    step, decrement = (point.gradient, np.nan) if by_products else direction(loss.model(point), point.gradient)
    if not decrement >= 0:
        wanted = tol * abs(point.value)
        solver = solver or ConjugateGradients(loss, point, loss.preconditioner(point).correction)
        step = solver.solve(ROUGH)
        decrement = max(0.5 * float(point.gradient @ step), TINY)
        share = ROUGH if wide else min(ROUGH, max(SHARE, (REST * wanted / decrement) ** 0.5))
        step = solver.solve(share, 2.0 * REST * wanted * loss.ridge)
    gap = binary_gap(loss, point, step) if isinstance(loss, BinaryLoss) else tilted_gap(loss, point, step)
    moved = loss.point(point.at - step)
    if not moved.value <= point.value:
        return point, gap
    return moved, max(0.0, gap - (point.value - moved.value))


def binary_gap(loss: BinaryLoss, point: LossPoint, step: Floats) -> float:
    """The bound of two classes, where a step moves the scores by s; inf where it moves one by more than 1/2.

    With  q' = q (1 + p y s)  and  p' = p (1 - q y s)  the divergence of a row is at most
    p q (s^2/2 + |s|^3/6 + s^4/6),  by the same terms of both series.
    """
    s = np.empty(loss.n)
    kernels.scores(loss.rows, step, s)
    a = point.curvature
    if loss.lift:  # residuals add up to zero
        s += (float(point.gradient[-1]) - float(a @ s)) / max(kernels.total(a), TINY)
    slopes = point.gradient[:-1] - loss.sums(a * s)
    s = np.abs(s)
    if not float(s.max()) <= 0.5:
        return np.inf
    divergence = float(a @ (s * s * (0.5 + s * (1.0 + s) / 6.0)))
    return divergence + 0.5 * float(slopes @ (slopes / loss.ridge))


def tilted_gap(loss: MultinomialLoss, point: LossPoint, step: Floats) -> float:
    """The bound at probabilities that the step moves; inf where they would leave (0, 1).

    With p' = p (1 - s) the divergence is the sum of  p ((1 - s) log(1 - s) + s) <= p (s^2/2 + s^3/6 + s^4/6),  for
    |s| <= 1/2: the first terms of its series, and twice the third for all that follow.
    """
    T, G = step.reshape(loss.classes, -1), point.gradient.reshape(loss.classes, -1)
    P = point.curvature.T
    weighted = P if loss.weights is None else loss.weights * P
    s = class_scores(loss.X, T)
    s += T[:, -1:]
    s -= np.einsum("ij,ij->j", P, s)
    D = weighted * s
    if loss.lift:
        sums = weighted.sum(axis=1)
        inverse, total = inverse_between_classes(np.diag(sums) - weighted @ P.T), float(sums.sum())
        rest = G[:, -1] - D.sum(axis=1)
        for _ in range(2):  # the second time for the rounding of the first
            if not float(np.abs(rest).max()) > ROUNDED * total:
                break
            t = inverse @ rest
            s += t[:, None] - t @ P
            np.multiply(weighted, s, out=D)
            rest = G[:, -1] - D.sum(axis=1)
        if not float(np.abs(rest).max()) <= BALANCED * total:
            return np.inf
    slopes = G[:, :-1] - class_sums(loss.X, D)
    with np.errstate(all="ignore"):
        if max(float(s.max()), -float(s.min())) <= 0.5:
            divergence = float(np.vdot(D, s * (0.5 + s * (1.0 + s) / 6.0)))
        else:
            s = np.where(P > 0, s, 0.0)
            if not float(s.max()) < 1.0:
                return np.inf
            divergence = float((weighted * ((1.0 - s) * np.log1p(-s) + s)).sum())
        gap = divergence + 0.5 * float((slopes * (slopes / loss.ridge)).sum())
    return max(gap, 0.0) if np.isfinite(gap) else np.inf
