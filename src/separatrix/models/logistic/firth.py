"""Firth's bias reduction: maximise  l(b) + log|I(b)|/2, which is finite whatever the separation (Firth 1993).

For K classes with the first as baseline, b = (b_1, ..., b_K-1) and I = sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i'.
The derivative of log|I|/2 adds to the residual 1[y_i = k] - p_ik of each row

    a_ik = p_ik/2 (M_kk - 2 (M p)_k - sum_l M_ll p_l + 2 p'M p),   M_kl = x_i' [I^-1]_kl x_i,

from the third cumulants of one draw; for two classes that is h_i (1/2 - p_i) with the leverage h_i
(Heinze and Schemper 2002; Bull, Mak and Greenwood 2002). Steps are I^-1 times the adjusted score, corrected by
the pairs of earlier steps, limited in length and halved until they gain. The function may have several maxima, and
a long step may cross from one to another: two searches start at zero and at a second point, and the better one wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.multinomial_loss import class_information, softmax
from separatrix.models.logistic.quasi_newton import Pairs
from separatrix.numerics.status import Status

EPS = float(np.finfo(np.float64).eps)
LONGEST = 1.0  # the root mean square change of the scores by one step
APART = 1e-4  # two maxima differ by more than this, measured in the same way


@dataclass(frozen=True, slots=True)
class Penalised:
    """Class vectors (K - 1, p) against the baseline, with the likelihoods and the information there.

    ``inferior`` is the penalised likelihood of a lower maximum, where a second search ended at one.
    """

    vectors: Floats
    loglik: float
    penalised: float
    information: Floats
    status: Status
    steps: int
    inferior: float | None = None


class FirthLikelihood:
    """``lifted`` rows of full column rank (n, p), class numbers, weights and offset (n, K) or None."""

    def __init__(
        self, lifted: Floats, codes: NDArray[np.intp], classes: int, weights: Floats | None, offset: Floats | None
    ) -> None:
        self.lifted, self.codes, self.classes = lifted, codes, classes
        self.weights, self.offset = weights, offset
        self.own = np.arange(len(codes)), np.asarray(codes, dtype=np.intp)
        self.c = np.ones(len(codes)) if weights is None else weights

    def at(self, b: Floats) -> tuple[float, float, Floats, Floats]:
        """The likelihood, its penalised version, the information, and the probabilities of all classes."""
        n, p = self.lifted.shape
        scores = np.column_stack([np.zeros(n), self.lifted @ b.reshape(self.classes - 1, p).T])
        if self.offset is not None:
            scores = scores + self.offset
        P, loss = softmax(scores, self.own)
        information = class_information(self.lifted, P[:, 1:], self.weights)
        sign, logdet = np.linalg.slogdet(information)
        loglik = -float(np.sum(self.c * loss))
        return loglik, loglik + 0.5 * logdet if sign > 0 else -np.inf, information, P

    def change(self, free: NDArray[np.bool_], step: Floats) -> float:
        """The root mean square change of the scores by a step in the free coefficients."""
        whole = np.zeros(len(free))
        whole[free] = step
        moved = self.lifted @ whole.reshape(self.classes - 1, -1).T
        return float(np.sqrt(np.square(moved).sum() / len(moved)))

    def score(self, P: Floats, inverse: Floats) -> Floats:
        """The adjusted score, of the length of b."""
        n, p = self.lifted.shape
        free = self.classes - 1
        q = P[:, 1:]
        M = np.empty((n, free, free))
        for k in range(free):
            for m in range(k + 1):
                block = inverse[k * p : (k + 1) * p, m * p : (m + 1) * p]
                M[:, k, m] = M[:, m, k] = np.einsum("ij,ij->i", self.lifted @ block, self.lifted)
        Mp = np.einsum("ikl,il->ik", M, q)
        diagonal = np.einsum("ikk->ik", M)
        inner = (diagonal * q).sum(axis=1) - 2.0 * (Mp * q).sum(axis=1)
        adjust = 0.5 * q * (diagonal - 2.0 * Mp - inner[:, None])
        truth = np.zeros_like(q)
        has = self.own[1] > 0
        truth[np.flatnonzero(has), self.own[1][has] - 1] = 1.0
        R = self.c[:, None] * (truth - q + adjust)
        return np.asarray((R.T @ self.lifted).reshape(-1))


def firth(
    likelihood: FirthLikelihood,
    max_iter: float,
    start: Floats | None = None,
    fixed: NDArray[np.bool_] | None = None,
) -> Penalised:
    """Maximise from ``start``; coefficients marked in ``fixed`` stay where they are (the determinant is of all)."""
    p = likelihood.lifted.shape[1]
    size = (likelihood.classes - 1) * p
    b = np.zeros(size) if start is None else start.copy()
    free = np.ones(size, dtype=bool) if fixed is None else ~fixed
    loglik, value, information, P = likelihood.at(b)
    pairs, steps, before, status = Pairs(), 0, np.inf, Status.MAX_ITERATIONS
    slope: Floats | None = None
    last = b
    while True:
        try:
            inverse = np.asarray(np.linalg.inv(information), dtype=np.float64)
            own = np.linalg.inv(information[np.ix_(free, free)])
        except np.linalg.LinAlgError:  # all rows are certain: an offset, or vectors, of hundreds
            status = Status.NONFINITE
            break
        g = -likelihood.score(P, inverse)[free]
        if slope is not None:
            pairs.learn((b - last)[free], g - slope)
        step = pairs.correct(g, own.__matmul__)
        decrement = 0.5 * float(g @ step)
        scale = max(abs(value), abs(loglik), 1.0)
        if not np.isfinite(decrement):
            status = Status.NONFINITE
            break
        near = abs(decrement) <= 64 * EPS * scale
        if near and abs(decrement) >= 0.25 * before:
            status = Status.OPTIMAL
            break
        if steps >= max_iter:
            break
        share = 1.0 if near else min(1.0, LONGEST / max(likelihood.change(free, step), EPS))
        while True:
            moved = b.copy()
            moved[free] -= share * step
            ahead = likelihood.at(moved)
            if near or ahead[1] >= value + 1e-4 * share * decrement - 8 * EPS * scale:
                break
            share *= 0.5
            if share < 2.0**-30:
                return Penalised(b.reshape(-1, p), loglik, value, information, Status.ILL_CONDITIONED, steps)
        last, slope, b = b, g, moved
        loglik, value, information, P = ahead
        before, steps = abs(decrement) if near else np.inf, steps + 1
    return Penalised(b.reshape(-1, p), loglik, value, information, status, steps)


def firth_in_basis(
    likelihood: FirthLikelihood, max_iter: float, starts: Sequence[Floats | None] = (None,)
) -> Penalised:
    """The maximum, found on orthonormal columns: Firth's estimate moves with the basis, rounding does not.

    With rows x = R'q, vectors b = R^-1 b_q and log|I| = log|I_q| + 2 (K - 1) log|R|. A search is made from each of the
    ``starts`` (class vectors, or None for zero), and the highest maximum is returned.
    """
    scale = np.linalg.norm(likelihood.lifted, axis=0)
    Q, R = np.linalg.qr(likelihood.lifted / scale)
    length = np.sqrt(len(Q))
    R = R * scale / length
    inner = FirthLikelihood(Q * length, likelihood.codes, likelihood.classes, likelihood.weights, likelihood.offset)
    free = likelihood.classes - 1
    logdet = free * float(np.log(np.abs(np.diagonal(R))).sum())
    runs = [firth(inner, max_iter, None if at is None else (at @ R.T).reshape(-1)) for at in starts]
    found = reduce(lambda first, second: better(first, second, logdet), runs)
    wide = np.kron(np.eye(free), R)
    return replace(
        found,
        vectors=np.linalg.solve(R, found.vectors.T).T,
        penalised=found.penalised + logdet,
        information=wide.T @ found.information @ wide,
    )


def better(first: Penalised, second: Penalised, logdet: float) -> Penalised:
    """The higher of two maxima on orthonormal columns; the first where they are one, or the second is none."""
    if second.status is not Status.OPTIMAL:
        return first
    steps = first.steps + second.steps
    if first.status is not Status.OPTIMAL:
        return replace(second, steps=steps)
    if np.linalg.norm(first.vectors - second.vectors) <= APART:
        return first
    high, low = (first, second) if first.penalised >= second.penalised else (second, first)
    return replace(high, steps=steps, inferior=low.penalised + logdet)


def likelihood_intercepts(
    scores: Floats, codes: NDArray[np.intp], weights: Floats | None, max_iter: int = 100
) -> Floats:
    """What to add to the scores (n, K) so that fitted probabilities add up to the class counts (FLIC).

    The maximum-likelihood intercepts at fixed other coefficients (Puhr, Heinze, Nold, Lusa and Geroldinger 2017).
    """
    n, classes = scores.shape
    own = np.arange(n), np.asarray(codes, dtype=np.intp)
    c = np.ones(n) if weights is None else weights
    counts = np.bincount(codes, weights=c, minlength=classes)
    shift = np.zeros(classes)
    for _ in range(max_iter):
        P, _ = softmax(scores + shift, own)
        g = counts - c @ P
        H = class_information(np.ones((n, 1)), P[:, 1:], weights)
        step = np.linalg.solve(H, g[1:])
        shift[1:] += step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < 1e-14:
            break
    return shift
