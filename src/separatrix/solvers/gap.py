"""How far an objective with a ridge can be from its minimum at most.

For any probabilities p'_i whose residuals add up to zero in every class (where there is a free intercept),

    F - min F <= sum c_i KL(p'_i | p_i) + |ridge W + sum c_i (p'_i - e_yi) x_i'|^2/(2 ridge)    (Fenchel's inequality).

At p' = p the second part is |g|^2/(2 ridge), which asks for many more digits than the weights need where the penalty is
small. With residuals that a step T moves,  p' = p - (diag p - pp') T (x, 1)  and  T = H^-1 g,  it is ridge/2 |T|^2 and
the whole about g'H^-1 g/2, what is left to gain (:func:`step_gap`). Intercepts of T are moved until the residuals add
up to zero.

A sample of the rows can take up the gradient instead (:class:`SampleGap`): with T = A^-1 g for the Hessian A of the
sample, scaled up, only its rows have other probabilities, and the rest need not be read. The bound is then about n/m
times what is left to gain, for m of n rows.

Where the penalty is too small for that, the Hessian itself proves it (:func:`hessian_gap`). With l^2 = g'H^-1 g and R
the greatest size of a row in the norm of H^-1 (Bach 2010, in the norm of H), at a distance t

    F(w - t) >= F - l t + (exp(-R t) + R t - 1)/R^2,   so that   F - min F <= l^2 (u + (1 - u) log(1 - u))/u^2

with u = R l < 1, about the decrement. H holds a_i x_i x_i' of each row, so that R^2 <= 1/min a_i. A Hessian that was
made elsewhere serves too: no row has less than some share of the curvature it had there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.losses.hessian import inverse
from separatrix.losses.logistic import TINY, At, Logistic
from separatrix.losses.objective import Objective, Point
from separatrix.rows.protocol import Leaf, Pass, added
from separatrix.solvers.newton import ConjugateGradients, Model, direction

BALANCED = 1e-12  # of all residuals: what those of a class add up to by rounding
ROUNDED = 1e-13  # the same, that another turn leaves
SHARE = 1e-3  # how exactly the last step is solved at most
ROUGH = 0.1  # and at least
REST = 0.1  # of the wanted gap: what the rest of the gradient may add to it


def _moved(leaf: Leaf, loss: Logistic, at: At, T: Floats) -> tuple[Floats, Floats, float]:
    """How much the sums of the residuals move, how intercepts move them, and the weight of the rows."""
    state = loss.state(leaf, at)
    S = loss.scores(leaf, T)
    leaf.memo.named["moved"] = at[0], T, S
    weight = float(leaf.n if leaf.weights is None else leaf.weights.sum())
    return loss.bend(leaf, state, S).sum(axis=1), loss.between(leaf, state), weight


def _tilted(leaf: Leaf, loss: Logistic, at: At, T: Floats, t: Floats) -> tuple[Floats, float]:
    """Sums of the moved residuals times (x, 1), and a bound of the divergence; the intercepts of T move by t."""
    state, known = loss.state(leaf, at), leaf.memo.named.get("moved")
    S = known[2] if known is not None and known[0] == at[0] and known[1] is T else loss.scores(leaf, T)
    S = S + t[:, None]
    return loss.sums(leaf, loss.bend(leaf, state, S)), loss.spent(leaf, state, S)


MOVED, TILTED = Pass(_moved, added, "gap"), Pass(_tilted, added, "gap")


def step_gap(loss: Objective, point: Point, step: Floats) -> float:
    """F at a point minus a lower bound of its minimum, by the probabilities that a step moves; inf proves nothing."""
    T, G = loss.vectors(step), loss.vectors(point.gradient)
    t = np.zeros(loss.k)
    with np.errstate(all="ignore"):
        if loss.lift:
            sums, between, total = loss.rows.reduce(MOVED, loss.loss, point.place, T)
            back = inverse(between)
            t = back @ (G[:, -1] - sums)
        for _ in range(2):  # the second time for the rounding of the first
            sums, spent = loss.rows.reduce(TILTED, loss.loss, point.place, T, t)
            rest = G - sums
            if not loss.lift or not float(np.abs(rest[:, -1]).max()) > ROUNDED * total:
                break
            t = t + back @ rest[:, -1]
        if loss.lift and not float(np.abs(rest[:, -1]).max()) <= BALANCED * total:
            return np.inf
        W = loss.loss.of_all(rest)[:, :-1]
        gap = spent + 0.5 * float((W * (W / loss.ridge)).sum())
    return max(gap, 0.0) if np.isfinite(gap) else np.inf


def _certain(leaf: Leaf, loss: Logistic, at: At, before: At | None) -> tuple[float, float]:
    """The least curvature of a row, and the least share of what it was at another point."""
    state = loss.state(leaf, at)
    least = float(loss.least(leaf, state).min(initial=np.inf))
    return least, 1.0 if before is None else min(1.0, loss.kept_share(state, loss.state(leaf, before)))


def _least(left: tuple[float, ...], right: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(map(min, left, right))


CERTAIN = Pass(_certain, _least, "gap")


def hessian_gap(loss: Objective, point: Point, model: Model, made_at: Point | None = None) -> float:
    """The bound by a Hessian, made at this point or another; inf where it is singular, or some row too certain."""
    if not getattr(model, "regular", True):
        return np.inf
    least, share = loss.rows.reduce(CERTAIN, loss.loss, point.place, None if made_at is None else made_at.place)
    decrement = direction(model, point.gradient)[1]
    with np.errstate(all="ignore"):
        decrement /= share
        squared = 2.0 * decrement / max(least, TINY)  # (R l)^2
        if decrement == 0.0:
            return 0.0
        if 0 < squared < 1 and np.isfinite(decrement):
            u = squared**0.5
            return float(2.0 * decrement * (u + (1.0 - u) * np.log1p(-u)) / squared)
    return np.inf


@dataclass(frozen=True, slots=True)
class KeptGap:
    """The gap by a Hessian that is kept, or where rows are too certain for that by a dual point."""

    loss: Objective
    model: Model
    made_at: Point

    def __call__(self, point: Point) -> float:
        gap = hessian_gap(self.loss, point, self.model, None if point is self.made_at else self.made_at)
        if gap < np.inf or not self.loss.ridge:
            return gap
        return step_gap(self.loss, point, direction(self.model, point.gradient)[0])


@dataclass(frozen=True, slots=True)
class SampleGap:
    """The gap of a loss of two classes by a sample: its rows with their own weights, and ``part`` of it with others.

    ``model`` is the Hessian of ``part`` at ``made_at``, scaled up from its ``share`` of all rows. Where the gradient
    is small enough (``tol`` of the value) the fitted probabilities serve as they are.
    """

    loss: Objective
    sample: Leaf
    part: Objective
    model: Model
    made_at: Point
    share: float
    tol: float

    def __call__(self, point: Point) -> float:
        loss = self.loss
        if loss.left(point) <= 0.5 * self.tol * abs(point.value):  # a strong penalty
            return step_gap(loss, point, np.zeros_like(point.gradient))
        own, G = loss.loss, loss.vectors(point.gradient)
        (weighted,) = self.part.rows.leaves()
        with np.errstate(all="ignore"):
            S = own.scores(weighted, loss.vectors(self.model.correction(point.gradient)))
            D = own.bend(weighted, own.state(weighted, self.made_at.place), S) / self.share
            rest = own.of_all(G - own.sums(self.sample, D))[:, :-1]
            state = own.state(self.sample, point.place)
            spent = own.spent(self.sample, state, D / np.maximum(state[0], TINY))
            gap = spent + 0.5 * float((rest * (rest / loss.ridge)).sum())
        return max(gap, 0.0) if np.isfinite(gap) else np.inf


def last_step(loss: Objective, point: Point, tol: float, solver: Any, thorough: bool = True) -> tuple[Point, float]:
    """The point after a Newton step by a model or by conjugate gradients, and a bound of what is left.

    Conjugate gradients go on until the step is as exact as the wanted gap asks for, or roughly if not ``thorough``.
    """
    if isinstance(solver, ConjugateGradients):
        wanted = tol * abs(point.value)
        step = solver.solve(ROUGH)
        decrement = max(0.5 * float(point.gradient @ step), TINY)
        share = min(ROUGH, max(SHARE, (REST * wanted / decrement) ** 0.5)) if thorough else ROUGH
        step = solver.solve(share, 2.0 * REST * wanted * loss.ridge)
        gap = step_gap(loss, point, step)
    else:
        step = direction(solver, point.gradient)[0]
        gap = step_gap(loss, point, step)
        if not gap <= tol * abs(point.value):
            gap = min(gap, hessian_gap(loss, point, solver))
    moved = loss.point(point.at - step)
    if not moved.value <= point.value:
        return point, gap
    return moved, max(0.0, gap - (point.value - moved.value))
