"""A quadratic model of the logistic loss by the columns of sparse rows, for many columns in use at once.

    q(v) = g.(v - w) + |X(v - w)|^2_h/2 + alpha |v|_1 + ridge/2 |v|^2,    h the curvatures of the rows

Nothing is made of the table: passes of coordinate descent read its columns and keep h X(v - w) up to date (Yuan, Ho
and Lin 2012). They go through the columns in an order drawn for each: from frequent columns to rare ones they need ten
times as many. They settle which columns are in use; what they leave is spread over all of these, where conjugate
gradients scaled by the curvatures take an eighth of the work. The residuals that belong to the minimum of the model
bound the minimum of the loss from below, however far the next point is from it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.centred_loss import CentredLoss, WeightsPoint, lower_bound

Order = NDArray[np.intp]
ENOUGH = 0.03  # passes end when one changes less than this share of what all have changed
MOST_PASSES, MOST_PRODUCTS = 200, 400
SLOW, PATIENCE = 0.8, 4  # passes in a row that each change more than this share of the one before: a solution is tried
SETTLED = 0.01  # the share of the columns in use up to which these passes may have changed whether they are
ASIDE = 0.2  # share of a wanted gap that a step may leave


class SparseQuadratic:
    """Coordinates v from the weights of a place, with  bent = h X(v - w)  and the part that a free bias takes of it."""

    def __init__(
        self, loss: CentredLoss, place: WeightsPoint, net: ElasticNet, chosen: Order, draws: np.random.Generator
    ) -> None:
        self.loss, self.place, self.net = loss, place, net
        self.rows, self.h = kernels.rows(loss.across), place.curvature
        self.w, self.g = place.V[0], np.ascontiguousarray(place.slopes[0])
        self.v, self.bent, self.drift = self.w.copy(), np.zeros(loss.n), np.zeros(1)
        self.total = float(self.h.sum()) if loss.lift else 0.0
        self.along, self.curvature = np.zeros((2, loss.d))
        self.known = np.zeros(loss.d, dtype=bool)
        self.learn(chosen)
        self.chosen, self.draws = self.movable(chosen), draws
        g = self.g + net.ridge * self.w
        off = np.where(self.w != 0, np.abs(g + net.alpha * np.sign(self.w)), np.maximum(np.abs(g) - net.alpha, 0.0))
        self.first = float(off[self.chosen].max(initial=0.0))

    def learn(self, chosen: Order) -> None:
        """The curvatures of further columns."""
        first, second = np.zeros((2, self.loss.d))
        kernels.weighted_sums(self.rows, chosen, self.h, first if self.total > 0 else None, second)
        second = second[chosen]
        self.along[chosen] = first[chosen] / np.sqrt(self.total) if self.total > 0 else 0.0
        centred = second - self.along[chosen] ** 2
        self.curvature[chosen] = np.where(centred > 1e-12 * second, centred, 0.0)  # else rounding is all that is left
        self.known[chosen] = True

    def movable(self, chosen: Order) -> Order:
        return chosen[self.curvature[chosen] + self.net.ridge > 0]

    # -- the minimum of the model ---------------------------------------------------------------------

    def descend(self) -> None:
        """Passes until they rest; where they are slow and the columns in use settled, the minimum for their signs."""
        before, total, slow, order, then = np.inf, 0.0, 0, self.chosen, np.sign(self.v)
        for _ in range(MOST_PASSES):
            change = self.sweep(self.draws.permutation(order))
            total += change
            if not change > ENOUGH * total:
                return
            slow, before = slow + 1 if change > SLOW * before else 0, change
            used = self.chosen[self.v[self.chosen] != 0]
            order = used if 2 * len(used) < len(self.chosen) else self.chosen
            if slow == PATIENCE:
                slow, signs = 0, np.sign(self.v)
                if np.count_nonzero(signs != then) <= SETTLED * len(used):
                    self.leap(used)
                    before = np.inf
                then = signs

    def sweep(self, order: Order) -> float:
        return kernels.curved_pass(
            self.rows, order, self.h, self.g, self.curvature, self.along, self.net.alpha, self.net.ridge,
            self.v, self.bent, self.drift,
        )  # fmt: skip

    def leap(self, used: Order) -> None:
        """Towards the minimum for the signs as they are, until too many would change. Kept if it gains."""
        v, bent, drift, value = self.v.copy(), self.bent.copy(), self.drift.copy(), self.value()
        enough = min(1e-3 * self.net.alpha, self.first * min(0.1, self.first / self.net.alpha))  # Newton's square
        self.solve(used, np.sign(self.v[used]), enough, most=SETTLED * len(used))
        self.stop(v)
        if not self.value() < value:
            self.v, self.bent, self.drift = v, bent, drift

    def stop(self, signs: Floats) -> None:
        """Zeros where signs have changed."""
        crossed = np.flatnonzero(self.v * signs < 0)
        self.shift(crossed, -self.v[crossed])

    def value(self) -> float:
        d = self.v - self.w
        squares = np.divide(self.bent**2, self.h, out=np.zeros_like(self.h), where=self.h > 0)
        bend = float(squares.sum()) - float(self.drift[0]) ** 2
        return float((self.g * d).sum()) + 0.5 * bend + self.net.value(self.v)

    def shift(self, chosen: Order, step: Floats) -> None:
        scores, along = self._scores(chosen, step)
        self.v[chosen] += step
        self.bent += self.h * scores
        self.drift[0] += along

    def slopes(self, chosen: Order) -> Floats:
        """Of the quadratic, at v."""
        return self.g[chosen] + self._across(chosen, self.bent, float(self.drift[0]))

    def _scores(self, chosen: Order, d: Floats) -> tuple[Floats, float]:
        whole, scores = np.zeros(self.loss.d), np.zeros(self.loss.n)
        whole[chosen] = d
        kernels.combine(self.rows, chosen, whole, scores)
        return scores, float((self.along[chosen] * d).sum())

    def _across(self, chosen: Order, bent: Floats, drift: float) -> Floats:
        out = np.zeros(self.loss.d)
        kernels.weighted_sums(self.rows, chosen, bent, out, None)
        return np.asarray(out[chosen] - drift * self.along[chosen])

    def solve(self, chosen: Order, signs: Floats, enough: float, share: float = 1.0, most: float = np.inf) -> None:
        """Slopes of these signs times -alpha, to within ``enough``: conjugate gradients scaled by the curvatures.

        Of the decimals that are missing, ``share`` of them. It ends where ``most`` coordinates have changed their sign.
        """
        ridge, scale = self.net.ridge, 1.0 / (self.curvature[chosen] + self.net.ridge)
        r = -(self.slopes(chosen) + ridge * self.v[chosen] + self.net.alpha * signs)
        step, p, rho = np.zeros(len(chosen)), scale * r, float((r * (scale * r)).sum())
        enough = enough**share * max(enough, float(np.abs(r).max(initial=0.0))) ** (1.0 - share)
        for _ in range(MOST_PRODUCTS):
            if not np.abs(r).max(initial=0.0) > enough:
                break
            scores, along = self._scores(chosen, p)
            product = self._across(chosen, self.h * scores, along) + ridge * p
            bend = float((p * product).sum())
            if not bend > 1e-14 * float((p * (p / scale)).sum()):  # flat
                break
            step += (rho / bend) * p
            if np.count_nonzero((self.v[chosen] + step) * signs < 0) > most:
                break
            r -= (rho / bend) * product
            rho, last = float((r * (scale * r)).sum()), rho
            p = scale * r + (rho / last) * p
        self.shift(chosen, step)

    # -- what the model proves --------------------------------------------------------------------------

    def beyond(self) -> float:
        """About what a step to v leaves, since the loss is no quadratic: an eighth of sum h u^4, u the new scores."""
        moved = self.bent - self.h * self._bias()
        u = np.divide(moved, self.h, out=np.zeros_like(moved), where=self.h > 0)
        return float((moved * u * u * u).sum()) / 8.0

    def _bias(self) -> float:
        return float(self.bent.sum()) / self.total if self.total > 0 else 0.0

    def prove(self, expected: float, tol: float) -> float:
        """Solve the model, and return a lower bound of the minimum from the probabilities that belong to its solution.

        A slope that is e above alpha costs e |v|_1 of the bound, which says how exactly to solve. The first solution
        goes a third of the way, and shows which columns are in use at the minimum too.
        """
        enough = 0.5 * tol * expected / max(float(np.abs(self.v).sum()), np.finfo(float).tiny)
        before, value = (self.v.copy(), self.bent.copy(), self.drift.copy()), self.value()
        signs, best = np.sign(self.v), -np.inf
        for share in (0.0, 0.3, 1.0, 1.0):
            if share > 0:
                chosen = self.movable(np.flatnonzero(signs))
                self.solve(chosen, signs[chosen], enough, share)
            found = self.dual()
            if found is None:
                break
            slopes = found.slopes[0]
            over = np.flatnonzero((np.abs(slopes) > self.net.alpha + enough) & (signs == 0))
            if share > 0:
                best = max(best, lower_bound(self.loss, found, self.net)[0])
            if (share == 1.0 and not len(over)) or expected - best <= 2.0 * ASIDE * tol * expected:
                break
            self.learn(over[~self.known[over]])
            signs[over] = -np.sign(slopes[over])
        self.stop(signs)
        if not self.value() < value:  # columns that are alike
            self.v, self.bent, self.drift = before
        return best

    def dual(self) -> WeightsPoint | None:
        """The place with the residuals R + h X(v - w) and their slopes; None where these are no probabilities.

        Without a bias any probabilities will do; with one, residuals have to add up to zero.
        """
        loss, place = self.loss, self.place
        c = 1.0 if loss.weights is None else loss.weights
        moved = self.bent - self.h * self._bias()
        others = place.others - loss.signs * np.divide(moved, c, out=np.zeros_like(moved), where=self.h > 0)
        if not ((others >= 0).all() and (others <= 1).all()):
            if loss.lift or not np.isfinite(others).all():
                return None
            others = np.clip(others, 0.0, 1.0)
        R = -(others * loss.signs) * c
        shift = 0.0 if loss.offset is None else float(R @ loss.offset)
        return replace(place, slopes=loss.slopes(R[:, None]), others=others, shift=shift)
