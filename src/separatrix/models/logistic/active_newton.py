"""Coordinate descent with leaps: passes over the coordinates, and Newton steps where these hardly move.

    q(v) + alpha |v|_1 + ridge/2 |v|^2,    q a convex quadratic

Passes settle fast which coordinates are zero, and slowly what the others are where columns are nearly alike: k equal
columns share a weight at the rate ridge/(k curvature). On the coordinates that are not zero the function is a
quadratic, whose minimum conjugate gradients find in as many products as it has different eigenvalues; where these
are too many, its matrix is made and solved with. A leap goes towards that minimum, and stops coordinates at zero
that would change their sign (Byrd, Nocedal and Oztoprak 2016), or goes from the first of them on to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.logistic.interior_point import interior_minimum

Order = NDArray[np.int64]
MOST_PASSES = 2000
SLOW = 0.8  # passes that each change more than this share of what the one before changed are slow
PRODUCTS, MOST_PRODUCTS = 20, 100  # of one leap: before a matrix is made, and where it would be too large
EXACT, ROUGH = 1e-5, 1e-3  # how exactly conjugate gradients find a leap, and one whose matrix is too large
FEWEST_CORNERS, MOST_CORNERS, WORK = 2, 100, 3 * 10**9  # changes of signs that one leap goes past, by their cost
MOST_LEAPS = 3  # with matrices, before an interior point is tried
RESTS = 1e-9  # what passes after it may leave
LEFT, LEAST_LEFT = 0.1, 1e-11  # share of ``enough`` that it leaves of its gain, and the least share
FLAT = 1e-12  # of what the curvatures of the coordinates are: rounding
ARMIJO = 1e-4


@dataclass(frozen=True, slots=True)
class ElasticNet:
    """alpha |v|_1 + ridge/2 |v|^2"""

    alpha: float
    ridge: float

    def value(self, V: Floats) -> float:
        size = self.alpha * float(np.abs(V).sum())
        return size + 0.5 * self.ridge * float((V**2).sum()) if self.ridge else size


def least_common(V: Floats, net: ElasticNet) -> Floats:
    """Weights (K, d) of several classes less what all classes of a column may have in common, for the least penalty.

    Probabilities stay what they are. The median of a column, one of its weights, leaves the least sum of sizes.
    """
    moved = V - np.partition(V, (len(V) - 1) // 2, axis=0)[(len(V) - 1) // 2]

    def cost(W: Floats) -> Floats:
        return np.asarray(net.alpha * np.abs(W).sum(axis=0) + 0.5 * net.ridge * (W * W).sum(axis=0))

    return np.where(cost(moved) < cost(V), moved, V)


class Coordinates(Protocol):
    """Coordinates ``v`` of a quadratic, moved in place; ``free`` marks those that the penalty leaves alone."""

    v: Floats
    free: NDArray[np.bool_] | None
    most: int  # coordinates up to which their matrix is worth making
    movable: Order  # coordinates whose curvature is not zero

    @property
    def patience(self) -> int:
        """Slow passes in a row after which a leap is worth its cost."""
        ...

    @property
    def weights(self) -> Floats:
        """The coordinates in the shape of the weights."""
        ...

    @property
    def intercepts(self) -> Floats | None:
        """How far free intercepts have moved, if that is known."""
        ...

    @property
    def curvatures(self) -> Floats:
        """Of all coordinates."""
        ...

    def sweep(self, order: Order) -> float:
        """Put each of these coordinates at its minimum, and return the sum of curvature times step squared."""
        ...

    def slopes(self, order: Order) -> Floats: ...
    def product(self, order: Order, d: Floats) -> Floats: ...
    def matrix(self, order: Order) -> Floats: ...
    def move(self, order: Order, v: Floats) -> None: ...
    def settle(self) -> None:
        """Make the penalty smaller where the quadratic stays what it is."""
        ...


def descend(state: Coordinates, net: ElasticNet, every: Order, enough: float, least: float = 0.0) -> None:
    """Passes over all coordinates, and between them over those not zero until these rest.

    Ends when a pass over all changes less than ``enough`` of what has been changed, or ``least``.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # of which no step is made
        _descend(state, net, every, enough, least)


def _descend(state: Coordinates, net: ElasticNet, every: Order, enough: float, least: float) -> None:
    total, passes, leaps = 0.0, 0, 0
    while passes < MOST_PASSES:
        change = state.sweep(every)
        total, passes, rest, slow = total + change, passes + 1, 0.1 * change, 0
        if not change > max(least, enough * total):
            return
        while passes < MOST_PASSES:
            before, used = change, every[state.v[every] != 0]
            change = state.sweep(used)
            total, passes = total + change, passes + 1
            slow = slow + 1 if change > SLOW * before else 0
            if slow >= state.patience and len(used) > 1:
                state.settle()
                tried = leaps == MOST_LEAPS
                further = inside(state, net, every, enough) if tried else 0.0
                gained, products = leap(state, net, every[state.v[every] != 0])
                leaps = 0 if tried else leaps + (products >= PRODUCTS)
                enough, gained = max(enough, RESTS) if further > 0 else enough, gained + further
                total, passes, slow = total + gained, passes + products, 0
                change = max(change, gained)
            if not change > max(rest, least, enough * total):
                break


def leap(state: Coordinates, net: ElasticNet, used: Order) -> tuple[float, int]:
    """A Newton step on the coordinates that are not zero; twice what it gained, and the products it took."""
    penalised = np.ones(len(used))
    if state.free is not None:
        penalised[state.free[used]] = 0.0
    place = SignPattern(
        state.v[used], state.slopes(used), net.alpha * penalised, net.ridge * penalised, state.curvatures[used]
    )
    step, products = place.by_products(lambda d: state.product(used, d), len(used) <= state.most)
    if step is not None:
        u = place.stopped(step, 1.0)
        d = u - place.v
        gain, products = place.gain(d, state.product(used, d)), products + 1
        if gain > ARMIJO * float(place.gradient @ step):
            state.move(used, u)
            return 2.0 * gain, products
    if len(used) > state.most:
        return 0.0, products
    last = place.followed(state.matrix(used))
    gained = last.down
    if gained > 0:
        state.move(used, last.v)
    return 2.0 * max(gained, 0.0), products


def inside(state: Coordinates, net: ElasticNet, every: Order, enough: float) -> float:
    """Coordinates not zero, or with slopes above alpha, to their minimum; twice what that gains."""
    slopes = state.slopes(every) + net.ridge * state.v[every]
    chosen = (state.v[every] != 0) | (np.abs(slopes) > net.alpha)
    order = every[chosen]
    if state.free is not None or len(order) > state.most:
        return 0.0
    H, alpha = state.matrix(order), np.full(len(order), net.alpha)
    H[np.diag_indices(len(H))] += net.ridge
    v, gained = interior_minimum(H, state.v[order], slopes[chosen], alpha, max(LEFT * enough, LEAST_LEFT))
    if gained > 0:
        state.move(order, v)
    return 2.0 * gained


@dataclass(frozen=True, slots=True)
class SignPattern:
    """Coordinates not zero, with slopes and curvatures of the quadratic and the penalty of each.

    ``down`` is what was gained.
    """

    v: Floats
    slopes: Floats
    alpha: Floats
    ridge: Floats
    curvatures: Floats
    down: float = 0.0

    @property
    def gradient(self) -> Floats:
        """Of quadratic and penalty, as long as no sign changes."""
        return self.slopes + self.ridge * self.v + self.alpha * np.sign(self.v)

    def stopped(self, step: Floats, share: float) -> Floats:
        """v - share step, with zeros instead of changed signs."""
        u = self.v - share * step
        return np.where((u * self.v < 0) & (self.alpha + self.ridge > 0), 0.0, u)

    def gain(self, d: Floats, bent: Floats) -> float:
        """What a move by d gains, given the matrix times d, where no sign changes but to zero."""
        return -float(self.gradient @ d) - 0.5 * float(d @ (bent + self.ridge * d))

    def by_products(self, product: Callable[[Floats], Floats], small: bool) -> tuple[Floats | None, int]:
        """The Newton step by conjugate gradients; where a matrix could be made instead, None if it takes too many.

        They are scaled by the curvatures: columns have units of their own.
        """
        g, D = self.gradient, self.curvatures + self.ridge
        scale = np.divide(1.0, D, out=np.ones_like(D), where=D > 0)
        step, r, p = np.zeros_like(g), g.copy(), scale * g
        rho = first = float(g @ p)
        most, enough = (PRODUCTS, EXACT) if small else (MOST_PRODUCTS, ROUGH)
        for k in range(most):
            if not rho > enough**2 * first:
                return step, k
            bent = product(p) + self.ridge * p
            bend = float(p @ bent)
            if not bend > FLAT * float(p @ (p / scale)):
                return (None if small else step), k + 1
            step += (rho / bend) * p
            r -= (rho / bend) * bent
            z = scale * r
            rho, last = float(r @ z), rho
            p = z + (rho / last) * p
        return (None if small else step), most

    def followed(self, H: Floats) -> SignPattern:
        """Newton steps with the matrix, from one change of signs to the next."""
        at = self
        for _ in range(max(FEWEST_CORNERS, min(MOST_CORNERS, WORK // len(self.v) ** 3))):
            on = np.flatnonzero((at.v != 0) | (self.alpha + self.ridge == 0))
            g = at.gradient[on]
            step = _solved(H, on, at.ridge[on], g)
            if step is None:
                return at
            whole = np.zeros(len(at.v))
            whole[on] = step
            crossing = at.v * (at.v - whole) < 0
            edge = float((at.v[crossing] / whole[crossing]).min()) if crossing.any() else 1.0
            best = at
            for share in (1.0, edge) if edge < 1.0 else (1.0,):
                u = at.stopped(whole, share)
                if share < 1.0:
                    u = np.where(crossing & (np.abs(u) <= 1e-10 * np.abs(at.v)), 0.0, u)
                d = u - at.v
                bent = H @ d
                gain = at.gain(d, bent)
                if gain > best.down - at.down:
                    best = replace(at, v=u, slopes=at.slopes + bent, down=at.down + gain)
            if best is at or edge == 1.0:
                return best
            at = best
        return at


def _solved(H: Floats, on: Order, ridge: Floats, g: Floats) -> Floats | None:
    """(H + ridge)^-1 g for the coordinates ``on`` where that is a descent, computed in their units."""
    if not len(g):
        return None
    own = np.diag_indices(len(g))
    for flat in FLAT, FLAT**0.5:
        part = H[np.ix_(on, on)]
        part[own] += ridge
        size = np.sqrt(part[own])
        unit = np.divide(1.0, size, out=np.ones_like(size), where=size > 0)
        part *= unit[:, None]
        part *= unit
        part[own] += flat
        _, step, failed = scipy_linalg().lapack.dposv(part.T, unit * g, overwrite_a=1)  # symmetric, and lies in rows
        if not failed:
            step = unit * step
            return step if np.isfinite(step).all() and float(step @ g) > 0 else None
    return None
