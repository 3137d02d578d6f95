"""How far an objective can be from its minimum at most: the gap to a dual point.

For any class probabilities p_i of the rows with  sum_i c_i (p_ik - 1[y_i = k]) = 0  for every k (where there is
a free bias),

    F >= sum_i c_i (H(p_i) + sum_k (p_ik - 1[y_i = k]) o_ik) - |sum_i c_i (p_i - e_yi) x_i'|^2/(2 ridge),

with the entropy H. The fitted probabilities nearly satisfy the condition; tilting them by
(diag(p) - p p') t, with the t that cancels what is left, satisfies it exactly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import Binary, Point
from separatrix.models.logistic.multinomial_loss import Multinomial
from separatrix.models.logistic.newton import direction

TINY = float(np.finfo(np.float64).tiny)


def duality_gap(objective: Binary | Multinomial, point: Point) -> float:
    """F at a point minus a lower bound of F, for a ridge above zero.

    Rows are held by the probabilities of their other classes, so that nearly certain ones do not cancel.
    """
    c = np.ones(objective.n) if objective.weights is None else objective.weights
    with np.errstate(over="ignore", invalid="ignore"):
        bound = _two(objective, point, c) if isinstance(objective, Binary) else _many(objective, point, c)
    return max(0.0, point.value - bound) if np.isfinite(bound) else np.inf


def curvature_gap(objective: Binary | Multinomial, point: Point) -> float:
    """An upper bound of F minus its minimum by Newton's decrement; inf where it says nothing.

    With l^2 = g'H^-1 g, and R the greatest size of a row in the norm of H^-1, F - min F <= l^2 where R l <= 1/2
    (Bach 2010, proposition 2, in the norm of H). A row of curvature h has at most the size h^-1/2 there, since H
    holds h x x'; of several classes, whose scores differ by at most u, H holds c p u^2/2 with the least probability p.
    For a penalty that is so small that a dual point would need more digits than there are.
    """
    step, decrement = direction(objective.model(point), point.gradient)
    least = float(point.curvature.min())
    if isinstance(objective, Multinomial):
        c = 1.0 if objective.weights is None else objective.weights
        least = 0.5 * float((c * point.curvature.min(axis=1)).min())
    if not (np.isfinite(decrement) and decrement >= 0 and 8.0 * decrement <= least):
        return np.inf
    return 2.0 * decrement if np.isfinite(step).all() else np.inf


def net_gap(objective: Binary, point: Point, alpha: float) -> float:
    """The same for a further penalty alpha |w|_1: its least subgradient takes the place of the gradient."""
    w, g = point.at[:-1], point.gradient[:-1]
    least = np.where(w != 0, g + alpha * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - alpha, 0.0))
    return curvature_gap(objective, replace(point, gradient=np.append(least, point.gradient[-1])))


def _two(objective: Binary, point: Point, c: Floats) -> float:
    q, bias = point.wrong, float(point.gradient[-1])
    if objective.lift and bias:
        q = q + (bias / max(float(point.curvature.sum()), TINY)) * objective.y * (q * (1.0 - q))
        if not ((q >= 0).all() and (q <= 1).all()):
            return -np.inf
    R = -objective.y * (c * q)
    slopes = objective.sums(R) if q is not point.wrong else point.gradient[:-1] - objective.ridge * point.at[:-1]
    shift = 0.0 if objective.offset is None else float(R @ objective.offset)
    return float(c @ entropy(q)) + shift - 0.5 * float(slopes @ (slopes / objective.ridge))


def _many(objective: Multinomial, point: Point, c: Floats) -> float:
    own, codes = np.arange(objective.n), objective.codes
    others = point.curvature.copy()
    others[own, codes] = 0.0
    if objective.lift:
        others = _tilted(others, codes, c)
    wrong = others.sum(axis=1)
    if not ((others >= 0).all() and (wrong <= 1).all()):
        return -np.inf
    surprise = float(c @ entropy(others))
    R = others
    R[own, codes] = -wrong
    R *= c[:, None]
    slopes = np.asarray(objective.X.T @ R)
    shift = 0.0 if objective.offset is None else float((R * objective.offset).sum())
    return surprise + shift - 0.5 * float((slopes * (slopes / objective.ridge)).sum())


def entropy(others: Floats) -> Floats:
    """The entropy of each row's probabilities, given those of its other classes: (n,) of one, or (n, K)."""
    wrong = others if others.ndim == 1 else others.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = -np.where(others > 0, others * np.log(others), 0.0)
        own = np.where(wrong < 1, (1.0 - wrong) * np.log1p(-wrong), 0.0)
    return np.asarray((parts if others.ndim == 1 else parts.sum(axis=1)) - own)


def _tilted(others: Floats, codes: NDArray[np.intp], c: Floats) -> Floats:
    """Probabilities moved so that the residuals of each class add up to zero."""
    own = np.arange(len(codes))
    P, R = others.copy(), others.copy()
    wrong = others.sum(axis=1)
    P[own, codes], R[own, codes] = 1.0 - wrong, -wrong
    H = np.diag(c @ P) - (P * c[:, None]).T @ P
    t = np.linalg.pinv(H, hermitian=True) @ (c @ R)
    return np.asarray(others * (1.0 - t + (P @ t)[:, None]))
