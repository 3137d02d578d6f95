"""Good hyperplanes by the 0-1 line search (native/separatrix/zero_one.hpp), in coordinates where columns are alike.

Columns that move together make narrow valleys; on whitened columns lines in any direction are worth trying. The
copy is for the search only: what it finds is judged on the rows as they are.

The search starts from logistic regression, also with rows given up. The logistic loss grows with the distance of a row
on the wrong side, so that a few rows far away decide; the number of mistakes does not. Rows are weighted with the
probability that the last hyperplane gave them, sharper each time, and the weighted loss is minimised again: rows that
it gets far wrong are given up one by one (a smooth form of the 0-1 loss, minimised as a sequence of convex ones). The
same from the best hyperplane so far, with rows weighted at random besides, leads out of its valley to others.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.proofs.exact.lifted_rows import LiftedRows

SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
FIRST = SHARPNESS[:4]  # one of them begins a search near a hyperplane
LATER = (1.0, 2.0, 4.0, 8.0)  # and goes on with so many times that
UNEVEN = (0.3, 1.0)  # powers of the random weights of rows
AFRESH = 0.25  # share of the searches that begin at zero
STEPS = 8  # of Newton's method, each time
RIDGE = 1e-7  # per row, on columns of variance 1: it holds where the classes can be separated, and changes little else


def smooth_starts(Z: Floats) -> Iterator[Floats]:
    """Weights for the rows times their labels (the constant 1 included where there is an intercept)."""
    u = np.zeros(Z.shape[1])
    for sharp in (0.0, *SHARPNESS):
        u = _newton(Z, _kept(Z @ u, sharp) if sharp else np.ones(len(Z)), u)
        if not np.isfinite(u).all():
            return
        yield u.copy()


def smooth_near(Z: Floats, u: Floats, chance: np.random.Generator) -> Floats:
    """Weights that give up rows like those that u gets far wrong, where rows are weighted at random."""
    own = chance.exponential(size=len(Z)) ** chance.choice(UNEVEN)
    first = chance.choice(FIRST)
    if chance.random() < AFRESH:
        u = np.zeros_like(u)
    else:
        size = np.median(np.abs(Z @ u))
        u = u / (size if size > 0 else 1.0)
    for times in LATER:
        u = _newton(Z, own * _kept(Z @ u, first * times), u)
    return u


def _kept(margin: Floats, sharp: float) -> Floats:
    """The probabilities of the labels, margins in units of their median: rows far on the wrong side are given up."""
    size = np.median(np.abs(margin))
    kept: Floats = 1 / (1 + np.exp(-np.clip(sharp * margin / (size if size > 0 else 1.0), -30, 30)))
    return kept


def _newton(Z: Floats, weight: Floats, u: Floats) -> Floats:
    """The minimum of sum weight log(1 + exp(-Z u)) with a small ridge, after some steps."""
    n, p = Z.shape
    for _ in range(STEPS):
        wrong = 1 / (1 + np.exp(np.clip(Z @ u, -30, 30)))
        slope = -(weight * wrong) @ Z + RIDGE * n * u
        curve = (Z * (weight * wrong * (1 - wrong))[:, None]).T @ Z + RIDGE * n * np.eye(p)
        try:
            u = u - np.linalg.solve(curve, slope)
        except np.linalg.LinAlgError:
            return np.full(p, np.nan)
    return u


WHITENED = 20_000_000  # numbers of a table that is copied
SMOOTH = 1_000_000  # numbers of a table of which logistic regressions are fitted
WORK = 300_000_000  # rows times columns times lines of one call


class Lines:
    """The search, with the chance it draws from."""

    B: Floats

    def __init__(self, rows: LiftedRows) -> None:
        self.rows = rows
        self.state = np.array([0x5EED], dtype=np.uint64)
        self.chance = np.random.default_rng(0)
        self.most = max(20, WORK // (rows.n * (rows.p + 20)))
        self.center, self.scale = np.zeros(rows.d), np.ones(rows.d)
        self.view = rows.view
        self.into: Floats | None = None
        self.back: Floats | None = None
        self.middle = self.center
        self.unfinished = True
        X = rows.X
        with np.errstate(all="ignore"):
            if not isinstance(X, np.ndarray):
                self._scale(np.sqrt(np.asarray(X.multiply(X).mean(axis=0), dtype=np.float64).ravel()))
            elif X.size > WHITENED or rows.d > 500:
                if rows.intercept:
                    self.center = np.asarray(X.mean(axis=0, dtype=np.float64))
                self._scale(X.std(axis=0, dtype=np.float64, mean=self.center[None]))
            else:
                self._whiten(np.asarray(X, dtype=np.float64))

    def _scale(self, spread: Floats) -> None:
        fine = np.isfinite(spread) & (spread > 0) & np.isfinite(1 / spread) & np.isfinite(self.center)
        self.center = np.where(fine, self.center, 0.0)
        self.scale = np.where(fine, 1 / np.where(fine, spread, 1.0), 1.0)

    def _whiten(self, X: Floats) -> None:
        """B = (X - center) T with T = diag(scale) V / s; what is not finite is left as it is."""
        if self.rows.intercept:
            self.center = X.mean(axis=0)
        top = np.abs(X - self.center).max(axis=0)
        top = np.where((top > 0) & np.isfinite(top), top, 1.0)
        self._scale(top * np.sqrt(np.mean(((X - self.center) / top) ** 2, axis=0)))
        A = (X - self.center) * self.scale
        square = A.T @ A / len(A)
        if not np.isfinite(square).all():
            return
        values, V = np.linalg.eigh(square)
        s = np.sqrt(np.maximum(values, max(float(values.max()), 1e-300) * 1e-14))
        into, back, B = (s[:, None] * V.T) / self.scale, self.scale[:, None] * V / s, A @ (V / s)
        if not all(np.isfinite(M).all() for M in (into, back, B)):
            return
        self.into, self.back, self.B = into, back, np.ascontiguousarray(B)
        self.view, self.middle = kernels.rows(self.B), self.center
        self.center, self.scale = np.zeros(self.rows.d), np.ones(self.rows.d)

    def start(self, otherwise: Floats) -> Floats:
        """Where least squares points, on all rows or on some of many."""
        rows = self.rows
        if rows.p > 2000:
            return otherwise
        ids = np.arange(0, rows.n, rows.n * rows.p // 4_000_000 + 1)
        part = rows.X[ids] if self.into is None else self.B[ids]
        A = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
        with np.errstate(all="ignore"):
            A = (A - self.center) * self.scale
            if rows.intercept:
                A = np.column_stack([A, np.ones(len(A))])
            if not np.isfinite(A).all():
                return otherwise
            w: Floats = np.asarray(np.linalg.lstsq(A, rows.y[ids].astype(np.float64), rcond=None)[0], dtype=np.float64)
            w[: rows.d] *= self.scale
            if rows.intercept:
                w[rows.d] -= w[: rows.d] @ self.center
            w = self._outward(w)
        return w if np.isfinite(w).all() and w.any() else otherwise

    def smooth(self) -> Floats | None:
        """The best of logistic regression and logistic regressions that give up rows; on small tables only."""
        Z = self._signed
        if Z is None:
            return None
        with np.errstate(all="ignore"):
            u = min(smooth_starts(Z), key=lambda u: int((Z @ u <= 0).sum()), default=None)
            return None if u is None else self._from_signed(u)

    def smooth_again(self, w: Floats) -> Floats:
        """Another one near w, drawn at random; w itself on large tables."""
        Z = self._signed
        if Z is None:
            return w
        with np.errstate(all="ignore"):
            u = self._inward(w)
            if self.rows.intercept:
                u[self.rows.d] += u[: self.rows.d] @ self.center
            u[: self.rows.d] /= self.scale
            return self._from_signed(smooth_near(Z, u, self.chance))

    @cached_property
    def _signed(self) -> Floats | None:
        """The rows of the search times their labels, in columns of variance 1; none of large tables."""
        rows = self.rows
        if rows.n * rows.p > SMOOTH or rows.p > 500:
            return None
        with np.errstate(all="ignore"):
            X = self.B if self.into is not None else rows.X if isinstance(rows.X, np.ndarray) else rows.X.toarray()
            A = (np.asarray(X, dtype=np.float64) - self.center) * self.scale
            if rows.intercept:
                A = np.column_stack([A, np.ones(len(A))])
            return A * rows.y[:, None] if np.isfinite(A).all() else None

    def _from_signed(self, u: Floats) -> Floats:
        d = self.rows.d
        u[:d] *= self.scale
        if self.rows.intercept:
            u[d] -= u[:d] @ self.center
        return self._outward(u)

    def _outward(self, u: Floats) -> Floats:
        if self.back is None:
            return u
        d = self.rows.d
        w = np.append(self.back @ u[:d], u[d:])
        if self.rows.intercept:
            w[d] -= w[:d] @ self.middle
        return w

    def _inward(self, w: Floats) -> Floats:
        if self.into is None:
            return np.array(w, dtype=np.float64)
        d = self.rows.d
        u = np.append(self.into @ w[:d], w[d:])
        if self.rows.intercept:
            u[d] += w[:d] @ self.middle
        return u

    def improve(self, w: Floats, restarts: int) -> Floats:
        """w with no more mistakes, up to rounding; ``unfinished`` when the limit of lines ended it too early."""
        with np.errstate(all="ignore"):
            u = self._inward(w)
            if not np.isfinite(u).all():
                return w
            before = u.copy()
            rows = self.rows
            kernels.zero_one_descent(
                self.view, rows.y, rows.intercept, self.center, self.scale, u, self.state, restarts, self.most
            )
            self.unfinished = self.most < 10_000 and not np.array_equal(u, before)
            return self._outward(u)
