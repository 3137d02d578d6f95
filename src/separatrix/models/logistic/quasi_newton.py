"""Minimising with a Hessian that is only roughly known: L-BFGS on top of a model, and Newton-CG.

For many rows and few columns the model is the Hessian of a sample of the rows at the minimum of that
sample: a few full passes then suffice (Byrd, Chin, Neveitt and Nocedal 2011). For many columns the Hessian
is known through its products with vectors only, and each step is found by conjugate gradients (Steihaug
1983; Lin, Weng and Keerthi 2008).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import Interruption
from separatrix.models.logistic.binary_loss import Binary, Model, Objective, Point
from separatrix.models.logistic.newton import EPS, REST, Run, backtrack
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status

MEMORY = 20


class Pairs:
    """The steps and changes of the gradient that correct a model (Nocedal 1980)."""

    def __init__(self) -> None:
        self.steps: list[Floats] = []
        self.changes: list[Floats] = []

    def learn(self, step: Floats, change: Floats) -> None:
        with np.errstate(over="ignore"):
            size = float(np.linalg.norm(step) * np.linalg.norm(change))
        if float(step @ change) > EPS * size:
            self.steps, self.changes = [*self.steps, step][-MEMORY:], [*self.changes, change][-MEMORY:]

    def correct(self, g: Floats, model: Callable[[Floats], Floats]) -> Floats:
        """The two loops around the model's own step."""
        q, shares = g.copy(), []
        for s, c in zip(reversed(self.steps), reversed(self.changes), strict=True):
            shares.append(float(s @ q) / float(s @ c))
            q -= shares[-1] * c
        r = model(q)
        for s, c, share in zip(self.steps, self.changes, reversed(shares), strict=True):
            r += (share - float(c @ r) / float(s @ c)) * s
        return r


class Inverse:
    """The inverse of a weighted Gram matrix, kept for many steps; ``share`` scales its rows up to all rows."""

    def __init__(self, gram: NormalEquations, share: float) -> None:
        self.gram, self.share = gram, share
        self.inverse = np.linalg.inv(gram.scaled) / gram.scale / gram.scale[:, None]

    def correction(self, g: Floats) -> Floats:
        if not self.gram.free:
            return np.append(self.share * (self.inverse @ g[:-1]), 0.0)
        w = self.inverse @ (g[:-1] - self.gram.x_mean * g[-1])
        return np.asarray(self.share * np.append(w, g[-1] / self.gram.weight - self.gram.x_mean @ w))


def with_model(
    objective: Binary, start: Point, model: Model, tol: float, max_iter: float, gap: Callable[[Point], float]
) -> Run:
    """L-BFGS whose first Hessian is ``model``, until ``gap`` is below ``tol``; MAX_ITERATIONS if it is slow.

    ``gap`` bounds what is left to gain, which is never less than about the decrement.
    """
    pairs, point, steps, before = Pairs(), start, 0, np.inf
    try:
        while True:
            step = pairs.correct(point.gradient, model.correction)
            decrement = 0.5 * float(point.gradient @ step)
            enough = tol * abs(point.value)
            if not np.isfinite(decrement):
                return Run(point, Status.NONFINITE, steps, decrement)
            if decrement <= enough and (bound := gap(point)) <= enough:
                return Run(point, Status.OPTIMAL, steps, bound)
            if steps >= max_iter or (steps >= 3 and decrement > 0.5 * before):
                return Run(point, Status.MAX_ITERATIONS, steps, decrement)
            moved = backtrack(objective, point, step, decrement)
            if moved is None:
                return Run(point, Status.ILL_CONDITIONED, steps, decrement)
            pairs.learn(moved.at - point.at, moved.gradient - point.gradient)
            if steps:
                objective.release(point)
            point, before, steps = moved, decrement, steps + 1
    except KeyboardInterrupt as stop:
        raise Interruption(point.at) from stop


Product = Callable[[Point, Floats], Floats]


def newton_cg(
    objective: Objective,
    start: Point,
    max_iter: float,
    tol: float = 0.0,
    *,
    ridge: float = 0.0,
    model: Model | None = None,
) -> Run:
    """Newton steps by conjugate gradients, each as exact as the gradient before it deserves.

    The preconditioner is the inverse of ``model``, or of the diagonal. With a ridge the run ends once what is left
    to gain, bounded by strong convexity, is below ``tol`` of the value.
    """
    point, steps, before = start, 0, np.inf
    first = float(np.linalg.norm(point.gradient)) or 1.0
    try:
        while True:
            size = float(np.linalg.norm(point.gradient))
            if not np.isfinite(size):
                return Run(point, Status.NONFINITE, steps, size)
            level = max(abs(point.value), np.finfo(float).tiny)
            share = min(0.25, (size / first) ** 0.5)
            if ridge > 0:
                left, enough = objective.left(point), 0.5 * tol * level
                if left <= enough:
                    return Run(point, Status.OPTIMAL, steps, left)
                share = max(share, min(0.25, 0.5 * (enough / left) ** 0.5))  # the bound falls as |g|^2
            inverse = (model or objective.diagonal(point)).correction
            step = conjugate_gradients(objective.product, point, inverse, share)
            decrement = 0.5 * float(point.gradient @ step)
            near = decrement <= 64 * EPS * level
            if decrement <= tol * level * (0.0 if ridge > 0 else 1.0) or (near and decrement > 0.25 * before):
                if ridge > 0 or tol > 0 or objective.reach(step) <= REST:
                    return Run(point, Status.OPTIMAL, steps, decrement)
                if decrement >= before or decrement <= 0:
                    return Run(point, Status.ILL_CONDITIONED, steps, decrement)
            if steps >= max_iter:
                return Run(point, Status.MAX_ITERATIONS, steps, decrement)
            moved = objective.point(point.at - step) if near else backtrack(objective, point, step, decrement)
            if moved is None:
                return Run(point, Status.ILL_CONDITIONED, steps, decrement)
            point, before, steps = moved, decrement if near else np.inf, steps + 1
    except KeyboardInterrupt as stop:
        raise Interruption(point.at) from stop


def conjugate_gradients(product: Product, point: Point, inverse: Callable[[Floats], Floats], share: float) -> Floats:
    """v with |H v - g| <= share |g| in the norm of the preconditioner; every v on the way descends."""
    g = point.gradient
    v, r = np.zeros_like(g), g.copy()
    z = inverse(r)
    p, weighed, rho = z.copy(), r.copy(), float(r @ z)  # weighed is the preconditioner times p
    enough = share**2 * rho
    for _ in range(min(10 * len(g), 1000)):
        if rho <= enough or rho <= 0:
            break
        bent = product(point, p)
        bend = float(p @ bent)
        if bend <= EPS * float(p @ weighed):  # flat: what has been found so far, or the slope itself
            return v if v.any() else z
        a = rho / bend
        v += a * p
        r -= a * bent
        z = inverse(r)
        rho, last = float(r @ z), rho
        p, weighed = z + (rho / last) * p, r + (rho / last) * weighed
    return v
