"""How far a penalised loss can be from its minimum at most: the gap to a dual point.

For any class probabilities p_i of the rows with  sum_i c_i (p_ik - 1[y_i = k]) = 0  for every k (where there is
a free bias),

    F >= sum_i c_i (H(p_i) + sum_k (p_ik - 1[y_i = k]) o_ik) - |sum_i c_i (p_i - e_yi) x_i'|^2/(2 ridge),

with the entropy H. The fitted probabilities nearly satisfy the condition; tilting them by
(diag(p) - p p') t, with the t that cancels what is left, satisfies it exactly.

For p = P this is |g|^2/(2 ridge), with the gradient g, which asks for many more digits than the weights need where
the penalty is small. Of two classes, a sample of the rows can take up the gradient instead. With q_i = 1 - P(y_i|x_i)
the gap at any other q' is  sum c_i KL(q'_i | q_i) + |X'r' + ridge w|^2/(2 ridge),  r'_i = -c_i y_i q'_i  (Fenchel's
inequality), and :func:`divergence_bound` has what KL is at most. With  t = (sum a_i x_i x_i' + ridge)^-1 g  over the
sample and  r'_i = r_i - a_i t.x_i,  the second part is  ridge/2 |t|^2,  and the gap about n/m times what is left to
gain, for m of n rows and a_i of n/m times their curvatures. The other rows keep their probabilities, and need not be
read (:class:`SampleGap`).

A last Newton step has a gap that does not ask for more digits than the step has (:func:`last_step`). For any
probabilities p'_i whose residuals add up to zero in every class (where there is a free bias),

    F - min F <= sum_i c_i KL(p'_i | p_i) + |ridge W + sum_i c_i (p'_i - e_yi) x_i'|^2/(2 ridge)

by the same inequality. With  p'_i = p_i - (diag p_i - p_i p_i') T (x_i, 1)  and  T = H^-1 g,  the second part is
ridge/2 |T|^2 and the whole about g'H^-1 g/2, what is left to gain; p' = p would give |g|^2/(2 ridge).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import (
    TINY,
    BinaryLoss,
    ConjugateGradients,
    HessianModel,
    LossPoint,
    direction,
    entropy,
)
from separatrix.models.logistic.class_hessians import inverse_between_classes
from separatrix.models.logistic.multinomial_loss import MultinomialLoss, class_scores, class_sums

BALANCED = 1e-12  # of all weights: what the residuals of a class add up to by rounding
SPREAD = 64  # numbers that are read in the time of the entropy of a row
TERMS = 8  # the same for the bound of a divergence, in larger parts: its operations take Python's lock in turn
SHARE = 1e-3  # how exactly the last step is solved at most
ROUGH = 0.1  # and at least
REST = 0.1  # of the wanted gap: what the rest of the gradient may add to it
ROUNDED = 1e-13  # of all weights: residuals of a class that another tilt leaves


def duality_gap(loss: BinaryLoss | MultinomialLoss, point: LossPoint) -> float:
    """F at a point minus a lower bound of F, for a ridge above zero.

    Rows are held by the probabilities of their other classes, so that nearly certain ones do not cancel.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        bound = _two(loss, point) if isinstance(loss, BinaryLoss) else _many(loss, point)
    return max(0.0, point.value - bound) if np.isfinite(bound) else np.inf


def curvature_gap(loss: BinaryLoss | MultinomialLoss, point: LossPoint) -> float:
    """An upper bound of F minus its minimum by Newton's decrement; inf where it says nothing.

    With l^2 = g'H^-1 g, and R the greatest size of a row in the norm of H^-1, F - min F <= l^2 where R l <= 1/2
    (Bach 2010, proposition 2, in the norm of H). A row of curvature h has at most the size h^-1/2 there, since H
    holds h x x'; of several classes, whose scores differ by at most u, H holds c p u^2/2 with the least probability p.
    For a penalty that is so small that a dual point would need more digits than there are.
    """
    step, decrement = direction(loss.model(point), point.gradient)
    least = float(point.curvature.min())
    if isinstance(loss, MultinomialLoss):
        c = 1.0 if loss.weights is None else loss.weights
        least = 0.5 * float((c * point.curvature.min(axis=1)).min())
    if not (np.isfinite(decrement) and decrement >= 0 and 8.0 * decrement <= least):
        return np.inf
    return 2.0 * decrement if np.isfinite(step).all() else np.inf


def net_gap(loss: BinaryLoss, point: LossPoint, alpha: float) -> float:
    """The same for a further penalty alpha |w|_1: its least subgradient takes the place of the gradient."""
    w, g = point.at[:-1], point.gradient[:-1]
    least = np.where(w != 0, g + alpha * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - alpha, 0.0))
    return curvature_gap(loss, replace(point, gradient=np.append(least, point.gradient[-1])))


@dataclass(frozen=True, slots=True)
class KeptGap:
    """The same by a Hessian that was made elsewhere, where rows had the curvatures ``kept``.

    No row has less than some share of that, nor has then the Hessian. With u = R l < 1, what is left to gain is at
    most  l^2 (u + (1 - u) log(1 - u))/u^2,  about the decrement: of Bach's lower bound
    F - l t + (exp(-R t) + R t - 1)/R^2  at a distance t the least value. Where some row is too certain for that, a dual
    point bounds what is left.
    """

    loss: BinaryLoss
    model: HessianModel
    kept: Floats

    def __call__(self, point: LossPoint) -> float:
        with np.errstate(all="ignore"):
            share = min(1.0, float((point.curvature / self.kept).min()))
            decrement = direction(self.model, point.gradient)[1] / share
            size = 2.0 * decrement / max(float(point.curvature.min()), TINY)  # (R l)^2
            if 0 < size < 1:
                u = size**0.5
                return float(2.0 * decrement * (u + (1.0 - u) * np.log1p(-u)) / size)
        return duality_gap(self.loss, point)


@dataclass(frozen=True, slots=True)
class SampleGap:
    """The gap of ``loss`` from a sample of its ``rows``, of which ``part`` is the loss.

    ``model`` is the Hessian  sum a_i x_i x_i' + ridge  over these rows; ``a`` has their weights in it. Where the
    gradient is small enough (``tol`` of the value) the fitted probabilities serve as they are.
    """

    loss: BinaryLoss
    part: BinaryLoss
    rows: NDArray[np.intp]
    a: Floats
    model: HessianModel
    tol: float = 0.0

    def __call__(self, point: LossPoint) -> float:
        """F at a point minus a lower bound of its minimum; inf where probabilities would move too far for it."""
        if self.loss.left(point) <= 0.5 * self.tol * abs(point.value):  # a strong penalty
            return duality_gap(self.loss, point)
        g, ridge = point.gradient, self.loss.ridge
        with np.errstate(all="ignore"):
            shift = np.empty(len(self.rows))
            kernels.scores(self.part.rows, self.model.correction(g), shift)
            shift *= self.a

            def divergence(block: tuple[int, int]) -> float:
                own = slice(*block)
                v = point.curvature[self.rows[own]]
                return divergence_bound(v, np.abs(shift[own] / np.maximum(v, TINY)))

            first = sum(kernels.each_part(divergence, kernels.row_blocks(len(shift), TERMS * len(shift))))
            slopes = g[:-1] - self.part.sums(shift)
            gap = first + 0.5 * float(slopes @ (slopes / ridge))
        return max(gap, 0.0) if np.isfinite(gap) else np.inf


def _two(loss: BinaryLoss, point: LossPoint) -> float:
    """Block by block: temporary vectors as long as the table would be most of the memory of a fit."""
    bias = float(point.gradient[-1])
    tilt = bias / max(kernels.total(point.curvature), TINY) if loss.lift else 0.0
    R = np.empty(loss.n)

    def part(block: tuple[int, int]) -> float:
        own = slice(*block)
        q, y, c = point.wrong[own], loss.y[own], 1.0 if loss.weights is None else loss.weights[own]
        with np.errstate(over="ignore", invalid="ignore"):
            if tilt:
                q = q + tilt * y * (q * (1.0 - q))
            R[own] = -y * (c * q)
            inside = bool((q >= 0).all() and (q <= 1).all())
            return float((c * entropy(q)).sum()) if inside else -np.inf

    blocks = kernels.row_blocks(loss.n, SPREAD * loss.n)
    surprise = sum(kernels.each_part(part, blocks))
    slopes = loss.sums(R) if tilt else point.gradient[:-1] - loss.ridge * point.at[:-1]
    shift = 0.0 if loss.offset is None else float(R @ loss.offset)
    return surprise + shift - 0.5 * float(slopes @ (slopes / loss.ridge))


def _many(loss: MultinomialLoss, point: LossPoint) -> float:
    c = np.ones(loss.n) if loss.weights is None else loss.weights
    own, codes = np.arange(loss.n), loss.codes
    others = point.curvature.copy()
    others[own, codes] = 0.0
    tilted = _tilted(others, codes, c) if loss.lift else others
    if tilted is None:
        return -np.inf
    others, wrong = tilted, tilted.sum(axis=1)
    if not ((others >= 0).all() and (wrong <= 1).all()):
        return -np.inf
    surprise = float(c @ entropy(others))
    R = others
    R[own, codes] = -wrong
    R *= c[:, None]
    slopes = np.asarray(loss.X.T @ R)
    shift = 0.0 if loss.offset is None else float((R * loss.offset).sum())
    return surprise + shift - 0.5 * float((slopes * (slopes / loss.ridge)).sum())


def _tilted(others: Floats, codes: NDArray[np.intp], c: Floats) -> Floats | None:
    """Probabilities moved so that the residuals of each class add up to zero; None where rounding keeps them from it.

    Twice, the second time for the rounding of the first.
    """
    own, total = np.arange(len(codes)), float(c.sum())
    for _ in range(2):
        P, R = others.copy(), others.copy()
        wrong = others.sum(axis=1)
        P[own, codes], R[own, codes] = 1.0 - wrong, -wrong
        t = inverse_between_classes(np.diag(c @ P) - (P * c[:, None]).T @ P) @ (c @ R)
        others = np.asarray(others * (1.0 - t + (P @ t)[:, None]))
    rest = c @ others - np.bincount(codes, c * others.sum(axis=1), minlength=others.shape[1])
    return others if float(np.abs(rest).max()) <= BALANCED * total else None


# -- a last step --


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
    """The bound of two classes, where a step moves the scores by s; inf where it moves one by more than 1/2."""
    s = np.empty(loss.n)
    kernels.scores(loss.rows, step, s)
    a = point.curvature
    if loss.lift:  # residuals add up to zero
        s += (float(point.gradient[-1]) - float(a @ s)) / max(kernels.total(a), TINY)
    slopes = point.gradient[:-1] - loss.sums(a * s)
    return divergence_bound(a, np.abs(s)) + 0.5 * float(slopes @ (slopes / loss.ridge))


def divergence_bound(a: Floats, s: Floats) -> float:
    """A bound of  sum c KL(q'|q)  with  q' = q (1 + p y s)  and  p' = p (1 - q y s),  given a = c p q and sizes of s.

    With the same terms of both series a row has at most  p q (s^2/2 + |s|^3/6 + s^4/6)  for |s| <= 1/2; else inf.
    """
    return float(a @ (s * s * (0.5 + s * (1.0 + s) / 6.0))) if float(s.max(initial=0.0)) <= 0.5 else np.inf


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
