"""The logistic loss of two classes as a smooth function: value, gradient and Hessian.

    F(w, b) = sum c_i log(1 + exp(-y_i (w.x_i + b + o_i))) + ridge/2 |w|^2

The gradient is  -sum c_i (1 - P(y_i|x_i)) y_i (x_i, 1)  plus that of the penalty. Parameters are one vector, (w, b);
without an intercept its place stays zero. More than two classes are in multinomial_loss.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.moments import Moments
from separatrix.numerics.normal_equations import NormalEquations

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
SAME = 1.1  # a preconditioner is made anew once the sum of the curvatures has changed by this factor
ALONG = 1000  # rows that tell how long a first step should be
ARMIJO = 1e-4
REST = 1e-5  # the greatest change of a score by a last step
DIGITS = 1e-7  # of what is solved for: the rest is rounding of the products, or what the preconditioner does not see
FEWEST = 2.0**-30  # a step that has been halved thirty times leads nowhere


@dataclass(frozen=True, slots=True)
class LossPoint:
    """Parameters with what one pass over the rows says of them.

    ``curvature`` has what the Hessian needs of each row: c p (1 - p) for two classes, the probabilities of all classes
    for more. ``wrong`` is 1 - P(y_i|x_i), for two classes without cancellation.
    """

    at: Floats
    value: float
    gradient: Floats
    curvature: Floats
    wrong: Floats


class HessianModel(Protocol):
    """A Hessian, exact or rough, that can be solved with."""

    def correction(self, g: Floats) -> Floats:
        """The step that a gradient asks for."""
        ...


class SmoothLoss(Protocol):
    """A smooth convex function of the parameters, with its Hessian."""

    def point(self, at: Floats) -> LossPoint: ...
    def model(self, point: LossPoint) -> HessianModel: ...
    def reach(self, step: Floats) -> float:
        """The greatest change of a score by a step."""
        ...

    def rounding(self, point: LossPoint) -> Floats:
        """A gradient as large as the rounding errors of the one at a point."""
        ...


class LogisticLoss(SmoothLoss, Protocol):
    """The loss of all rows plus a ridge, whose Hessian is also known by its products with vectors."""

    ridge: float

    @property
    def length(self) -> int: ...
    def product(self, point: LossPoint, v: Floats) -> Floats: ...
    def preconditioner(self, point: LossPoint) -> HessianModel: ...
    def left(self, point: LossPoint) -> float:
        """|g|^2/(2 ridge), which bounds what is left to gain; for intercepts with their own curvature, about."""
        ...


class BinaryLoss:
    """Two classes: y is -1 or +1; ``weights`` and ``offset`` may be None."""

    def __init__(
        self,
        X: Any,
        y: NDArray[np.int8],
        weights: Floats | None = None,
        offset: Floats | None = None,
        ridge: float = 0.0,
        lift: bool = True,
    ) -> None:
        self.X, self.y, self.weights, self.offset = X, y, weights, offset
        self.ridge, self.lift = ridge, lift
        self.rows = kernels.rows(X)
        self.n, self.d = self.rows.n, self.rows.d
        self.spare: list[tuple[Floats, Floats]] = []
        self.bordered: tuple[float, float, BorderedDiagonal] | None = None

    @property
    def length(self) -> int:
        return self.d + 1

    def point(self, at: Floats) -> LossPoint:
        gradient = np.zeros(self.d + 1)
        curvature, wrong = self.spare.pop() if self.spare else (np.empty(self.n), np.empty(self.n))
        value = kernels.logistic_pass(
            self.rows, self.y, self.weights, self.offset, at, 0, self.n, gradient, curvature, wrong
        )
        w = at[:-1]
        value += 0.5 * self.ridge * float(w @ w)
        gradient[:-1] += self.ridge * w
        if not self.lift:
            gradient[-1] = 0.0
        return LossPoint(at, value, gradient, curvature, wrong)

    def release(self, point: LossPoint) -> None:
        """Let the next point reuse the memory of one that is done with: new memory costs a third of a pass."""
        self.spare.append((point.curvature, point.wrong))

    def reach(self, step: Floats) -> float:
        moved = np.empty(self.n)
        kernels.scores(self.rows, step, moved)
        return float(np.abs(moved).max())

    def multiple(self, step: Floats, bias: Floats | None = None, cost: float = 0.0) -> float:
        some = slice(None, None, max(1, self.n // ALONG))
        rows = self.rows if some.step == 1 else kernels.rows(self.X[some].copy())
        moved = np.empty(rows.n)
        kernels.scores(rows, step, moved)
        table, y = kernels.rows(-moved[:, None]), self.y[some].copy()
        c, o = (None if v is None else v[some].copy() for v in (self.weights, self.offset))
        penalty, share = self.ridge * float(step[:-1] @ step[:-1]), table.n / self.n
        b = 0.0 if bias is None else float(bias[0])

        def slope(a: float) -> float:
            g = np.zeros(2)
            kernels.logistic_pass(table, y, c, o, np.array([a, b]), 0, table.n, g, None, None)
            return float(g[0]) + share * (a * penalty + cost)

        return least_along(slope)

    def rounding(self, point: LossPoint) -> Floats:
        out = rounding_of(self.rows, point.wrong if self.weights is None else self.weights * point.wrong)
        if not self.lift:
            out[-1] = 0.0
        return out

    def sums(self, r: Floats) -> Floats:
        """sum r_i x_i"""
        out = np.zeros(self.d + 1)
        kernels.curvature_product(self.rows, r, np.append(np.zeros(self.d), 1.0), 0, self.n, out)
        return out[:-1]

    def model(self, point: LossPoint) -> NormalEquations:
        return weighted_gram(self.X, point.curvature, self.ridge, self.lift)

    def product(self, point: LossPoint, v: Floats) -> Floats:
        """The Hessian times v, in one read of the rows."""
        out = np.zeros(self.d + 1)
        kernels.curvature_product(self.rows, point.curvature, v, 0, self.n, out)
        out[:-1] += self.ridge * v[:-1]
        if not self.lift:
            out[-1] = 0.0
        return out

    def left(self, point: LossPoint) -> float:
        g, bias = point.gradient[:-1], float(point.gradient[-1])
        with np.errstate(over="ignore"):
            weights = float(g @ (g / self.ridge))  # in this order: squares may underflow
        return 0.5 * (weights + bias * (bias / max(kernels.total(point.curvature), TINY)))

    def preconditioner(self, point: LossPoint) -> BorderedDiagonal:
        """The Hessian without what columns have in common, but for the intercept; kept while the curvature is alike."""
        curvature, before = kernels.total(point.curvature), self.bordered
        if before is not None and before[0] == self.ridge and 1.0 / SAME < curvature / before[1] < SAME:
            return before[2]
        made = self._bordered(point)
        self.bordered = (self.ridge, curvature, made) if curvature > 0 else None
        return made

    def _bordered(self, point: LossPoint) -> BorderedDiagonal:
        first, D = np.zeros((2, self.d + 1))
        kernels.curvature_diagonal(self.rows, point.curvature, 0, self.n, first if self.lift else None, D)
        total = float(first[-1])
        if not total > 0:
            return BorderedDiagonal(D[:-1] + self.ridge, np.zeros(self.d), 0.0)
        mean = first[:-1] / total
        return BorderedDiagonal(np.maximum(D[:-1] - total * mean**2, 0.0) + self.ridge, mean, total)


class BorderedDiagonal:
    """A diagonal matrix of weights, bordered by an intercept of curvature ``total`` (0 for none)."""

    def __init__(self, D: Floats, mean: Floats, total: float) -> None:
        self.D, self.mean, self.total = np.maximum(D, 1e-12 * float(D.max(initial=0.0)) or 1.0), mean, total

    def correction(self, g: Floats) -> Floats:
        w = (g[:-1] - self.mean * g[-1]) / self.D
        return np.append(w, g[-1] / self.total - self.mean @ w if self.total > 0 else 0.0)


class SampleHessian:
    """The inverse of a weighted Gram matrix, kept for many steps; ``share`` scales its rows up to all rows."""

    def __init__(self, gram: NormalEquations, share: float) -> None:
        self.gram, self.share, self.rows = gram, share, int(gram.rows.sum())
        self.inverse = np.linalg.inv(gram.scaled) / gram.scale / gram.scale[:, None]

    def correction(self, g: Floats) -> Floats:
        out, gram = np.zeros(len(g)), self.gram
        if not gram.free:
            out[:-1] = self.share * (self.inverse @ g[:-1])
            return out
        out[:-1] = self.inverse @ (g[:-1] - gram.x_mean * g[-1])
        out[-1] = g[-1] / gram.weight - gram.x_mean @ out[:-1]
        out *= self.share
        return out


def least_along(slope: Callable[[float], float]) -> float:
    """About where a slope that grows with its place becomes zero, by secants from 0 and 1; at least a tenth."""
    before, low, at = 0.0, slope(0.0), 1.0
    for _ in range(8):
        here = slope(at)
        bend = (here - low) / (at - before)
        if not bend > 0:
            break
        before, low, at = at, here, min(max(at - here / bend, 0.1), 3.0 * at)
        if abs(at - before) <= 0.05 * at:
            break
    return at


def rounding_of(rows: kernels.Rows, sizes: Floats) -> Floats:
    """Errors that the sums of +-sizes (x, 1) may have, with signs that centring does not cancel.

    They are about EPS times the sum of the sizes, and  sum r |x_j| <= sqrt(sum r sum r x_j^2).
    """
    first, second = np.zeros((2, rows.d + 1))
    kernels.curvature_diagonal(rows, np.ascontiguousarray(sizes), 0, rows.n, first, second)
    out = EPS * np.sqrt(second) * np.sqrt(second[-1])
    out[:-1] *= np.where(first[:-1] > 0, -1.0, 1.0)
    return np.asarray(out)


def weighted_gram(X: Any, weights: Floats, ridge: float, lift: bool) -> NormalEquations:
    """sum h_i (x_i, 1)(x_i, 1)' + ridge, by moments: the intercept is eliminated without cancellation."""
    d = X.shape[1]
    totals = Moments(d).add(X, None, None, weights).totals(last=True)
    return NormalEquations(totals, d, ridge, lift, lift)


def dense(X: Any) -> Floats:
    """Rows as a float64 array."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


def entropy(others: Floats) -> Floats:
    """The entropy of each row's probabilities, given those of its other classes: (n,) of one, or (n, K)."""
    wrong = others if others.ndim == 1 else others.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = -np.where(others > 0, others * np.log(others), 0.0)
        own = np.where(wrong < 1, (1.0 - wrong) * np.log1p(-wrong), 0.0)
    return np.asarray((parts if others.ndim == 1 else parts.sum(axis=1)) - own)


# -- steps on any smooth loss --


def direction(model: HessianModel, g: Floats) -> tuple[Floats, float]:
    """The step of a model and its decrement g'H^-1 g/2; not a number where the model has no step."""
    try:
        step = model.correction(g)
    except np.linalg.LinAlgError:
        return np.zeros_like(g), np.nan
    return step, 0.5 * float(g @ step)


def expected_next(decrement: float, before: float) -> float:
    """The decrement after a step, if that divides it as the one before did."""
    return decrement * min(1.0, decrement / before) if 0 < before < np.inf else decrement


def backtrack(loss: SmoothLoss, point: LossPoint, step: Floats, decrement: float) -> LossPoint | None:
    """The first of the points at step, step/2, step/4, ... that gains enough, or None.

    Where rows are certain, and wrong, the curvature is next to nothing and a step many times too long: it is then
    halved until it moves no score any more.
    """
    share, least = 1.0, FEWEST
    noise = 8 * EPS * abs(point.value)
    while share >= least:
        moved = loss.point(point.at - share * step)
        if moved.value <= point.value - ARMIJO * share * 2 * decrement + noise:
            return moved
        share *= 0.5
        if share < FEWEST == least:
            least = min(FEWEST, REST / max(loss.reach(step), REST))
    return None


class ConjugateGradients:
    """The solution of H v = g, to a share of what is left; a later call goes on from where the last one ended.

    ``inverse`` is a preconditioner, and every v on the way descends.
    """

    def __init__(self, loss: LogisticLoss, point: LossPoint, inverse: Callable[[Floats], Floats]) -> None:
        self.loss, self.point, self.inverse = loss, point, inverse
        self.v, self.r = np.zeros_like(point.gradient), point.gradient.copy()
        self.p = inverse(self.r)
        self.weighed = self.r.copy()  # the preconditioner times p
        self.first = self.rho = float(self.r @ self.p)

    def solve(self, share: float, rest: float = np.inf) -> Floats:
        """v with |H v - g| <= share |g| in the norm of the preconditioner, and the square of the plain one <= rest."""
        for _ in range(min(10 * len(self.v), 1000)):
            enough = self.rho <= share**2 * self.first and float(self.r @ self.r) <= rest
            if enough or not self.rho > DIGITS**2 * self.first:
                break
            bent = self.loss.product(self.point, self.p)
            bend = float(self.p @ bent)
            if bend <= EPS * float(self.p @ self.weighed):  # flat: what has been found so far, or the slope itself
                return self.v if self.v.any() else self.p
            a = self.rho / bend
            self.v += a * self.p
            self.r -= a * bent
            z = self.inverse(self.r)
            self.rho, last = float(self.r @ z), self.rho
            self.p, self.weighed = z + (self.rho / last) * self.p, self.r + (self.rho / last) * self.weighed
        return self.v
