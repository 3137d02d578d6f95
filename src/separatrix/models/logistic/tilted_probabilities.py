"""A last Newton step for several classes without a penalty, with a proved gap that is about what is left to gain.

The bound of existence.py asks for a gradient that is small beside a lower bound A of the Hessian by the least
probabilities of the rows: nearly all digits, where classes are many. Here only what a step T leaves of it is held
against A. With scores  s_i = T (x_i, 1), less their mean by p_i, let  p'_i = p_i (1 - s_i)  and  r = sum c_i (p'_i -
e_yi) (x_i, 1)' = g - H T.  For any probabilities p'_i the loss at w + V is (Bregman 1967; Fenchel's equality)

    F(w + V) = F(w) - sum c_i KL(p'_i | p_i) + <r, V> + sum c_i f_i(d_i + V (x_i, 1)),
    f_i(u) = log sum_k p'_ik exp(u_k) - p'_i.u,   d_i = log p_i - log p'_i,   f_i(d_i) = KL(p'_i | p_i).

**Lemma.** Let |s_ik| <= 1/2,  E = sum c_i sum_k p_ik (s^2 + s^3/3 + 4 s^4/3)_ik / 2, the sum of the cubes only where it
is positive, and B what existence.py leaves of the gradient r by the curvature at p'. Then

    F(w) - min F <= (sqrt E + sqrt B)^2   if B <= E,   else 2 (E + B),   and there is a minimum if B is finite.

Proof. f is convex: for 0 < m <= 1 and  q = m/(1 + m),  q u = q (d + u) + (1 - q)(-m d), so that
f(d + u) >= f(q u)/q - f(-m d)/m.  Since  -d = log(1 - s)  and the p s of a row add up to zero,

    f(-m d) = log sum p (1 - s)^(1 + m) - m KL(p' | p) <= m (1 + m)/2 sum p (s^2 + (1 - m) s^3/3 + 4 s^4/3) - m KL

by Taylor's formula: the fourth derivative of (1 - s)^(1 + m) is at most 16 m (1 + m) here. The divergences cancel. The
sum of the c f(q V (x, 1)) has the gradient 0 at V = 0 and is a loss with the probabilities p' there, that is with other
offsets: with <r, V> it is at least -B/q by existence.py, for all V. Together  F(w) - F(w + V) <= (1 + m) (E + B/m),
least at m = sqrt(B/E). Offsets do not matter for whether there is a minimum.

After the step the gap is less by what the step has gained, about E.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import DIGITS, TINY, ConjugateGradients, LossPoint
from separatrix.models.logistic.existence import UNIT, LeftToGain, SomeRows
from separatrix.models.logistic.multinomial_loss import MultinomialLoss, class_scores, class_sums

ROUGH, FINER = 0.1, 0.3  # how exactly the step is solved at first, and how much more exactly then
MOST = 0.5  # the most that a probability may change, as a share
ADDED = 0.02  # of the square of the wanted gap: what E B may be
SPARE = 0.25  # of the wanted gap, less at the first look: B itself


def last_free_step(
    loss: MultinomialLoss, point: LossPoint, tol: float, solver: ConjugateGradients
) -> tuple[LossPoint, float]:
    """The point after a Newton step, which ``solver`` begins, and a bound of what is left; inf proves nothing."""
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
            gap = tilted_gap(loss, point, step, norm, errors)
    moved = loss.point(point.at - step)
    if not moved.value <= point.value:
        return point, gap
    values = 4.0 * (loss.n + loss.classes + 20) * UNIT * abs(point.value)
    return moved, max(0.0, gap - (point.value - moved.value)) + values


def tilted_gap(loss: MultinomialLoss, point: LossPoint, step: Floats, norm: SomeRows, errors: Floats) -> float:
    """The bound of the lemma at a point, by a lower bound of the Hessian there; inf proves nothing."""
    T, P = step.reshape(loss.classes, -1), point.curvature.T
    s = class_scores(loss.X, T)
    s += T[:, -1:]
    s -= np.einsum("ij,ij->j", P, s)
    size = max(float(s.max()), -float(s.min()))
    if not size <= MOST:
        return np.inf
    D = P * s
    D *= 1.0 if loss.weights is None else loss.weights
    rest = point.gradient.reshape(T.shape).copy()
    rest[:, :-1] -= class_sums(loss.X, D)
    rest[:, -1] -= D.sum(axis=1) if loss.lift else 0.0
    B = norm.left(rest.reshape(-1), errors, 1.0 - size)
    second = float(np.vdot(D, s))
    D *= s
    squares = s * s
    E = 0.5 * (second + max(float(np.vdot(D, s)), 0.0) / 3.0 + 4.0 * float(np.vdot(D, squares)) / 3.0)
    E = 1.0001 * max(E, 0.0)  # sums of positive numbers, but for the cubes
    return (E**0.5 + B**0.5) ** 2 if B <= E else 2.0 * (E + B)
