"""What is left to gain at a point of a likelihood: a finite bound proves that it has a maximum.

Let F be the sum of logistic losses, plus a ridge if there is one, and A <= H a lower bound of its Hessian at a point.
Along a direction v the third derivative of a row's loss is at most the range of its scores (of two classes the size of
its score) times the second. With  t = |v|_A,  l = |g|_A^-1  and R the greatest range of any row at t = 1,

    F(w + v) >= F(w) - l t + (exp(-R t) + R t - 1)/R^2      (Bach 2010, in the norm of A).

Where  u = R l < 1,  the right side grows without limit with t: there is a minimum, so that classes overlap, and

    F(w) - min F <= l^2 (u + (1 - u) log(1 - u))/u^2,   about the decrement l^2/2.

A holds some of the rows (x_i - c, 1) with weights a_i, for any centre c:

- of two classes a_i = c_i p (1 - p), the curvature of the row;
- of several  a_i = c_i min_k p_ik,  for each class: on vectors whose classes add up to zero  diag p - pp' >= min_k p_k
  (the eigenvalues of diag p - pp' and of diag p interlace), and the squared range is at most twice the sum of squares.

The range of a row is at most  a_i^-1/2,  since H holds the row, and at most  |x_i|_A^-1 <= |D x_i|/sqrt(e),  with
D = diag(A)^-1/2 and e the least eigenvalue of DAD; several classes have sqrt(2) times as much.

Rounding errors are bounded: a sum of n terms is wrong by at most n units of the sum of their sizes, in any
order (Higham 2002, 3.1). By Cauchy and Schwarz that is at most n units in DAD, and n units of |r||x_j| in the gradient,
times sqrt(K) since the sums of the last class follow from the others. Probabilities are taken as they were computed:
they are those of scores with another offset, on which the existence of a minimum does not depend.

**A last step of several classes** (:func:`last_free_step`). The bound asks for a gradient that is small beside A:
nearly all digits, where classes are many. Here only what a step T leaves of it is held against A. With scores
s_i = T (x_i, 1), less their mean by p_i, let  p'_i = p_i (1 - s_i)  and  r = sum c_i (p'_i - e_yi) (x_i, 1)' = g - H T.
For any probabilities p'_i the loss at w + V is (Bregman 1967; Fenchel's equality)

    F(w + V) = F(w) - sum c_i KL(p'_i | p_i) + <r, V> + sum c_i f_i(d_i + V (x_i, 1)),
    f_i(u) = log sum_k p'_ik exp(u_k) - p'_i.u,   d_i = log p_i - log p'_i,   f_i(d_i) = KL(p'_i | p_i).

**Lemma.** Let |s_ik| <= 1/2,  E = sum c_i sum_k p_ik (s^2 + s^3/3 + 4 s^4/3)_ik / 2, the sum of the cubes only where it
is positive, and B the bound above of the gradient r by the curvature at p'. Then

    F(w) - min F <= (sqrt E + sqrt B)^2   if B <= E,   else 2 (E + B),   and there is a minimum if B is finite.

Proof. f is convex: for 0 < m <= 1 and  q = m/(1 + m),  q u = q (d + u) + (1 - q)(-m d), so that
f(d + u) >= f(q u)/q - f(-m d)/m.  Since  -d = log(1 - s)  and the p s of a row add up to zero,

    f(-m d) = log sum p (1 - s)^(1 + m) - m KL(p' | p) <= m (1 + m)/2 sum p (s^2 + (1 - m) s^3/3 + 4 s^4/3) - m KL

by Taylor's formula: the fourth derivative of (1 - s)^(1 + m) is at most 16 m (1 + m) here. The divergences cancel. The
sum of the c f(q V (x, 1)) has the gradient 0 at V = 0 and is a loss with the probabilities p' there, that is with other
offsets: with <r, V> it is at least -B/q by the bound, for all V. Together  F(w) - F(w + V) <= (1 + m) (E + B/m),
least at m = sqrt(B/E). Offsets do not matter for whether there is a minimum.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.losses.logistic import TINY, At, Logistic, dense
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.gram_matrix import least_eigenvalue_above
from separatrix.rows.protocol import Leaf, Pass, added
from separatrix.solvers.newton import DIGITS, ConjugateGradients

UNIT = 2.0**-53  # of rounding
ROWS, MORE = 8, 64  # rows of A for each column at least, and where these prove nothing
MOST_COLUMNS = 2000  # beyond which A would cost too much
OWN, MOST_BOUND = 0.8, 0.95  # of R l: by the curvature of rows themselves, and by their lengths
FEWER = 4  # rows are measured one by one where they are at most one in so many, else by the extremes of columns
ROUGH, FINER = 0.1, 0.3  # how exactly the last step is solved at first, and how much more exactly then
MOST = 0.5  # the most that a probability may change by it, as a share
ADDED = 0.02  # of the square of the wanted gap: what E B may be
SPARE = 0.25  # of the wanted gap, less at the first look: B itself


def weights_of(leaf: Leaf, loss: Logistic, at: At) -> Floats:
    """a_i of the rows, with some room for rounding."""
    return np.asarray((0.99 if loss.two else 1.98) * loss.least(leaf, loss.state(leaf, at)))


def _residuals(leaf: Leaf, loss: Logistic, at: At) -> float:
    """At least the sum of squares of all residuals."""
    P, wrong = loss.state(leaf, at)
    squares = wrong * wrong if loss.two else np.einsum("ij,ij->j", P, P) + wrong * wrong
    return float(squares.sum() if leaf.weights is None else (leaf.weights**2) @ squares)


def _lengths(leaf: Leaf) -> Floats:
    out = np.zeros(leaf.d + 1)
    kernels.curvature_diagonal(leaf.rows, np.ones(leaf.n), 0, leaf.n, None, out)
    return out


def _longest(leaf: Leaf, loss: Logistic, at: At, limit: float, centre: Floats, D: Floats) -> float:
    """The greatest |D (x - centre)|^2 of the rows whose weight is below a limit, at most; -1 where there are none."""
    far = np.flatnonzero(weights_of(leaf, loss, at) < limit)
    if not len(far):
        return -1.0
    if len(far) * FEWER <= leaf.n:
        Z = (dense(leaf.X[far]) - centre) * D
        return float(np.einsum("ij,ij->i", Z, Z).max())
    ends = leaf.X.max(axis=0), leaf.X.min(axis=0)
    top, low = (v.toarray().ravel() if hasattr(v, "toarray") else v for v in ends)
    return float(np.square(np.maximum(top - centre, centre - low) * D).sum())


RESIDUALS, LENGTHS = Pass(_residuals, added, "residuals"), Pass(_lengths, added, "columns")
LONGEST = Pass(_longest, max, "bound")


class LeftToGain:
    """Bounds what is left to gain at points of an objective; inf proves nothing.

    A finite bound proves that there is a minimum. Bounds above ``tol`` of the value are not needed; without it, more
    rows are taken where some prove nothing. ``share`` is about how much of the bound the decrement is.
    """

    def __init__(self, loss: Objective, tol: float = np.inf) -> None:
        self.loss, self.tol, self.columns = loss, tol, loss.d + int(loss.lift)
        self.classes = loss.loss.classes
        p = max(1, self.columns)
        few = self.classes // 2 * loss.n // (ROWS * p)  # as long as a pass
        steps = [max(1, loss.n // (k * max(p, few))) for k in (ROWS, MORE)]
        self.steps = steps[:1] if tol < np.inf else list(dict.fromkeys(steps))
        self.share = 1.0 / (self.classes * self.steps[0])

    def __call__(self, point: Point) -> float:
        if not self.columns:
            return 0.0  # there is no direction
        with np.errstate(all="ignore"):
            errors = self.errors(point)
            for norm in self.norms(point):
                bound = norm.left(point.gradient, errors, enough=self.tol * abs(point.value))
                if bound < np.inf:
                    return bound
        return np.inf

    def norms(self, point: Point) -> Iterator[SomeRows]:
        """A by the rows of the first step that determine it, then by more."""
        loss = self.loss
        if 0 < self.columns <= MOST_COLUMNS and loss.n > self.columns and np.isfinite(point.gradient).all():
            for step in self.steps:
                norm = SomeRows.of(loss, point, step)
                if norm is not None:
                    yield norm

    def errors(self, point: Point) -> Floats:
        """How far off by rounding each number of the gradient may be, in any class."""
        residuals = float(self.loss.rows.reduce(RESIDUALS, self.loss.loss, point.place)) ** 0.5
        return np.asarray(1.01 * residuals * self.rounding)

    @cached_property
    def rounding(self) -> Floats:
        """Errors of the gradient for residuals of length 1."""
        loss = self.loss
        lengths = loss.rows.reduce(LENGTHS)
        return np.asarray(2.02 * self.classes**0.5 * (loss.n + self.classes + 20) * UNIT * np.sqrt(lengths))


@dataclass(frozen=True, slots=True)
class SomeRows:
    """The norm of A by some of the rows (x - c, 1): A with a diagonal of ones, its inverse and its least eigenvalue.

    ``rounding`` is the share of the sizes of its terms that a number of the scaled matrix is wrong by at most, times
    the columns.
    """

    loss: Objective
    point: Point
    centre: Floats
    D: Floats
    scaled: Floats
    inverse: Floats
    least: float
    rounding: float

    @staticmethod
    def of(loss: Objective, point: Point, step: int) -> SomeRows | None:
        """A by every ``step``-th row; None where that is not positive definite."""
        leaf = loss.rows.take(step)
        d, some = loss.d, weights_of(leaf, loss.loss, point.place)
        p = d + int(loss.lift)
        X, Z = dense(leaf.X), np.ones((leaf.n, p))
        centre = some @ X / max(float(some.sum()), 1e-300) if loss.lift else np.zeros(d)
        np.subtract(X, centre, out=Z[:, :d])
        Z *= np.sqrt(some)[:, None]
        A = Z.T @ Z
        own = np.arange(d)
        A[own, own] += loss.ridge
        diagonal = np.diagonal(A)
        if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
            return None
        D = 1.0 / np.sqrt(diagonal)
        scaled, rounding = A * D * D[:, None], 2.0 * (len(X) + p + 20) * UNIT * p
        try:
            inverse = np.linalg.inv(scaled)
        except np.linalg.LinAlgError:
            return None
        least = 0.9 / float(np.linalg.norm(inverse))
        if not least_eigenvalue_above(scaled, least + rounding):
            return None
        return SomeRows(loss, point, centre, D, scaled, np.asarray(inverse, dtype=np.float64), least, rounding)

    def left(self, gradient: Floats, errors: Floats, kept: float = 1.0, enough: float = np.inf) -> float:
        """The bound for a gradient with such errors by ``kept`` times A; inf above ``enough``."""
        loss, d, p, least = self.loss, self.loss.d, len(self.D), self.least
        g, error = loss.loss.of_all(loss.vectors(gradient)).copy(), errors.copy()
        g[:, :d] -= g[:, d:] * self.centre
        error[:d] += np.abs(self.centre) * errors[d]
        g, error = g[:, :p] * self.D, error[:p] * self.D
        t = g @ self.inverse  # the exact DAD t differs from Dg by what is computed, and by rounding
        product = t @ self.scaled
        size, rest = float(np.linalg.norm(t)), float(np.linalg.norm(g - product)) + float(np.linalg.norm(error))
        length = (max(float(np.vdot(t, product)), 0.0) + self.rounding * size**2) ** 0.5
        length = 1.01 * (length + (rest + 2.0 * self.rounding * size) / least**0.5) / kept**0.5
        if not 0.5 * length**2 <= enough:
            return np.inf
        wide = 1.0 if loss.loss.two else 2.0
        u, limit = OWN, wide / kept * (length / OWN) ** 2
        squares = loss.rows.reduce(LONGEST, loss.loss, self.point.place, limit, self.centre, self.D[:d])
        if squares >= 0:
            longest = 1.01 * float(np.sqrt(squares + (self.D[d:] ** 2).sum()))
            u = max(u, length * (wide / (kept * least)) ** 0.5 * longest)
        return length**2 * (u + (1.0 - u) * float(np.log1p(-u))) / u**2 if u <= MOST_BOUND else np.inf


# -- a last step --


def _changed(leaf: Leaf, loss: Logistic, at: At, T: Floats) -> tuple[Floats, float, float, float, float]:
    """Sums of the residuals that a step moves, of p s^2, p s^3 and p s^4, and the greatest |s|."""
    P = loss.state(leaf, at)[0]
    s = np.vstack([loss.scores(leaf, T), np.zeros(leaf.n)])
    s -= np.einsum("ij,ij->j", P, s)
    D = P * s if leaf.weights is None else P * s * leaf.weights
    squares = s * s
    sums = loss.sums(leaf, D[:-1])
    second, third = float(np.vdot(D, s)), float(np.vdot(D, squares))
    return sums, second, third, float(np.vdot(D * s, squares)), float(np.abs(s).max(initial=0.0))


def _join_changed(left: tuple[Floats | float, ...], right: tuple[Floats | float, ...]) -> tuple[Floats | float, ...]:
    return *(a + b for a, b in zip(left[:-1], right[:-1], strict=True)), max(left[-1], right[-1])


CHANGED = Pass(_changed, _join_changed, "bound")


def last_free_step(loss: Objective, point: Point, tol: float, solver: ConjugateGradients) -> tuple[Point, float]:
    """The point after a Newton step of several classes, which ``solver`` begins, and a bound of what is left."""
    wanted, left = tol * abs(point.value), LeftToGain(loss, tol)
    step = solver.solve(ROUGH)
    decrement = max(0.5 * float(point.gradient @ step), TINY)
    enough = min(SPARE * wanted, ADDED * wanted**2 / decrement)
    gap = np.inf
    with np.errstate(all="ignore"):
        errors = 2.0 * left.errors(point)
        for norm in left.norms(point):
            share = ROUGH
            while not norm.left(solver.r, errors, MOST) <= enough and share > DIGITS:
                share *= FINER
                step = solver.solve(share)
            gap = changed_gap(loss, point, step, norm, errors)
    moved = loss.point(point.at - step)
    if not moved.value <= point.value:
        return point, gap
    values = 4.0 * (loss.n + loss.loss.classes + 20) * UNIT * abs(point.value)
    return moved, max(0.0, gap - (point.value - moved.value)) + values


def changed_gap(loss: Objective, point: Point, step: Floats, norm: SomeRows, errors: Floats) -> float:
    """The bound of the lemma at a point, by a lower bound of the Hessian there; inf proves nothing."""
    sums, second, third, fourth, size = loss.rows.reduce(CHANGED, loss.loss, point.place, loss.vectors(step))
    if not size <= MOST:
        return np.inf
    if not loss.lift:
        sums[:, -1] = 0.0
    B = norm.left(point.gradient - sums.reshape(-1), errors, 1.0 - size)
    E = 0.5 * (second + max(third, 0.0) / 3.0 + 4.0 * fourth / 3.0)
    E = 1.0001 * max(E, 0.0)  # sums of positive numbers, but for the cubes
    return float((E**0.5 + B**0.5) ** 2 if B <= E else 2.0 * (E + B))
