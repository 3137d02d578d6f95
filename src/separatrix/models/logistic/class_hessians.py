"""The Hessian of several classes: whole, by the blocks of its diagonal, and by products in single precision.

    I = sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i',   one vector for each of some or all classes

is made of few parameters. Of many, a preconditioner has the Hessian's diagonal blocks, one factorisation per class:

    block k = sum c_i p_ik (1 - p_ik) (x_i, 1)(x_i, 1)' + ridge

The whole Hessian has K (d + 1) parameters and costs K times as much per row as all blocks together; conjugate
gradients with the blocks need a few products with it instead. Some rows are enough for a block: those in every
place where the running sum of their curvatures passes a whole multiple, so that rows with much curvature are taken
more often and weighted down accordingly.

Conjugate gradients need the Hessian to a few digits only: the gradient that they solve for is computed in double
precision, and Newton's next step corrects what this one has missed. Half the memory is twice the speed. Columns are
standardised first, so that neither an offset nor a unit costs a digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, keep_freed_blocks
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.logistic.binary_loss import EPS, TINY
from separatrix.numerics.moments import Moments

BLOCK = 2**19  # numbers of a chunk of rows times probabilities
PAIRS = 2**20  # multiplications of rows for one class, from which on a call for each pair of classes costs little
ROWS = 8  # rows of a block for each column
CANDIDATES = 8  # rows that each of them is chosen from
STANDARD = 4096  # rows that tell the mean and the scale of a column
FLAT = 1e-10  # of the largest: added to the diagonal, for columns that do not vary where a class has curvature
FEW = 3  # vectors that are multiplied one by one, which BLAS does faster
SAME = 1.5  # blocks are made anew once the mean curvature has changed by this factor


@dataclass(frozen=True, slots=True)
class ClassBlocks:
    """Inverses of all blocks (K, d, d) with the intercept eliminated, by the means and weights of their rows.

    ``mean`` is the mean curvature of the rows that they were made for.
    """

    inverses: Floats
    x_means: Floats
    weights: Floats
    mean: float
    lift: bool

    @staticmethod
    def at(X: Floats, P: Floats, weights: Floats | None, ridge: float, lift: bool) -> ClassBlocks:
        """The blocks at probabilities P (n, K)."""
        d, K, mean = X.shape[1], P.shape[1], mean_curvature(P)
        stride = max(1, len(X) // (CANDIDATES * ROWS * (d + 1)))
        X, P, weights = X[::stride], P[::stride], None if weights is None else weights[::stride]
        blocks, x_means, totals = np.empty((K, d, d)), np.zeros((K, d)), np.ones(K)
        for k, p in enumerate(P.T):
            h = stride * p * (1.0 - p)
            if weights is not None:
                h *= weights
            chosen, h = in_proportion(h, ROWS * (d + 1))
            rows = np.asarray(X[chosen] if len(chosen) < len(X) else X, dtype=np.float64)
            totals[k] = max(float(h.sum()), TINY)
            if lift:
                x_means[k] = h @ rows / totals[k]
                rows = rows - x_means[k]
            blocks[k] = (rows.T * h) @ rows
        own = np.arange(d)
        diagonals = blocks[:, own, own] + ridge
        blocks[:, own, own] = diagonals + np.maximum(FLAT * diagonals.max(axis=1, keepdims=True), TINY)
        scale = np.sqrt(blocks[:, own, own])
        blocks /= scale[:, :, None] * scale[:, None, :]
        inverses = np.linalg.inv(blocks) / (scale[:, :, None] * scale[:, None, :])
        return ClassBlocks(inverses, x_means, totals, mean, lift)

    def still_good(self, P: Floats) -> bool:
        """Whether the curvature at P is about that of the blocks."""
        return 1.0 / SAME < mean_curvature(P) / self.mean < SAME

    def correction(self, g: Floats) -> Floats:
        G = g.reshape(len(self.weights), -1)
        G = G - G.sum(axis=0) / len(G)  # what all classes have in common is rounding
        out = np.zeros_like(G)
        centred = G[:, :-1] - self.x_means * G[:, -1:] if self.lift else G[:, :-1]
        out[:, :-1] = np.matmul(self.inverses, centred[:, :, None])[:, :, 0]
        if self.lift:
            out[:, -1] = G[:, -1] / self.weights - (self.x_means * out[:, :-1]).sum(axis=1)
        out -= out.sum(axis=0) / len(G)  # the vectors of the minimum add up to zero
        return np.asarray(out.reshape(-1))


class PlainDiagonal:
    """A diagonal matrix of all parameters."""

    def __init__(self, D: Floats) -> None:
        self.D = D

    def correction(self, g: Floats) -> Floats:
        return np.asarray(g / self.D)


def mean_curvature(P: Floats) -> float:
    return max(1.0 - float(np.vdot(P.T, P.T)) / len(P), 1e-12)  # the classes lie one after the other


def in_proportion(h: Floats, most: int) -> tuple[NDArray[np.intp], Floats]:
    """About ``most`` row numbers in proportion to h, and weights that make their sums those of all rows."""
    total = float(h.sum())
    if len(h) <= 1.5 * most or not total > 0:
        return np.arange(len(h)), np.maximum(h, 1e-300)
    chance = np.minimum(h * (most / total), 1.0)
    place = np.floor(np.cumsum(chance) + 0.5)
    chosen = np.flatnonzero(np.diff(place, prepend=0.0))
    return chosen, h[chosen] / chance[chosen]


class NarrowRows:
    """Rows x as ((x - mean)/scale, 1) in float32; mean and scale are about those of the columns."""

    def __init__(self, X: Floats, chunks: list[slice]) -> None:
        n, d = X.shape
        keep_freed_blocks()
        self.narrow = np.ones((n, d + 1), dtype=np.float32)
        some = X[:: max(1, n // STANDARD)].astype(np.float64)
        with np.errstate(all="ignore"):
            self.mean, scale = some.mean(axis=0), some.std(axis=0)
            self.scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
            unit = 1.0 / self.scale
            for part in chunks:
                centred = X[part] - self.mean
                np.multiply(centred, unit, out=self.narrow[part, :-1], casting="same_kind")

    @cached_property
    def usable(self) -> bool:
        """Whether all numbers are finite: squares of columns may overflow."""
        return bool(np.isfinite(self.narrow).all() and np.isfinite(self.mean).all())

    @cached_property
    def longest(self) -> float:
        """The greatest length of a standardised row without its 1, to six digits."""
        Z = self.narrow[:, :-1]
        return float(np.sqrt(np.einsum("ij,ij->i", Z, Z).max(initial=0.0)))

    def moved(self, V: Floats) -> tuple[Any, float]:
        """Lifted vectors (K, d + 1) for the standardised rows, in float32, and their unit."""
        out = np.empty_like(V)
        with np.errstate(over="ignore", invalid="ignore"):
            np.multiply(V[:, :-1], self.scale, out=out[:, :-1])
            np.add(V[:, -1], V[:, :-1] @ self.mean, out=out[:, -1])
            unit = float(np.abs(out).max())
            unit = unit if 0 < unit < np.inf else 1.0
            return (out / unit).astype(np.float32), unit

    def add(self, part: slice, P: Any, c: Any, V: Any, out: Floats) -> None:
        """Add sum c_i (diag p_i - p_i p_i') V (x_i, 1) (x_i, 1)' over rows; P (K, n), c (n,) or None, V in float32."""
        X, p = self.narrow[part], P[:, part]
        s = scores_against_last(X, V)
        s *= p
        s -= p * s.sum(axis=0)
        if c is not None:
            s *= c[part]
        add_balanced(out, X, s)

    def back(self, out: Floats, unit: float) -> Floats:
        """Sums over the standardised rows as sums over the rows."""
        with np.errstate(over="ignore"):
            out[:, :-1] = (out[:, :-1] * self.scale + out[:, -1:] * self.mean) * unit
            out[:, -1] *= unit
        return out

    def slopes(self, G: Floats) -> Floats:
        """Gradients (K, d + 1) by lifted vectors, as gradients by those of the standardised rows."""
        out = G.copy()
        out[:, :-1] = (G[:, :-1] - G[:, -1:] * self.mean) / self.scale
        return out

    def vectors(self, V: Floats) -> Floats:
        """Lifted vectors (K, d + 1) of the standardised rows, as those of the rows: V is overwritten."""
        V[:, :-1] /= self.scale
        V[:, -1] -= V[:, :-1] @ self.mean
        return V


# -- products of all classes, of which the last follows from the others -------------------------------


def scores_against_last(X: Any, V: Any, out: Any = None) -> Any:
    """Scores (K, n) of dense rows by vectors, less those of the last class."""
    out, W = np.empty((len(V), len(X)), dtype=V.dtype) if out is None else out, V[:-1] - V[-1]
    out[-1] = 0.0
    if len(W) > FEW:
        np.matmul(W, X.T, out=out[:-1])
        return out
    X = X.astype(V.dtype, copy=False)
    for k, w in enumerate(W):
        np.matmul(X, w, out=out[k])
    return out


def add_balanced(out: Floats, X: Any, R: Any) -> None:
    """Add  sum_i r_ki x_i  of each class to (K, columns) numbers; the r of a row add up to zero."""
    if len(R) - 1 > FEW:
        sums = R[:-1] @ X
    else:
        X = X.astype(R.dtype, copy=False)
        sums = np.array([r @ X for r in R[:-1]])
    out[:-1] += sums
    out[-1] -= sums.sum(axis=0)


def inverse_between_classes(A: Floats) -> Floats:
    """An inverse of sum c (diag p - pp') for vectors that add up to zero; what all classes share has no curvature."""
    top = float(np.diagonal(A).max(initial=0.0))
    with np.errstate(all="ignore"):
        try:
            inverse: Floats = np.asarray(np.linalg.inv(A + top), dtype=np.float64)
        except np.linalg.LinAlgError:
            inverse = np.full_like(A, np.nan)
    return inverse if float(np.abs(inverse).max()) * top <= 1e12 else np.asarray(np.linalg.pinv(A, hermitian=True))


# -- whole --


def class_information(lifted: Floats, P: Floats, weights: Floats | None) -> Floats:
    """sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i'; blocks of a class with p (1 - p), the others from one product."""
    n, p = lifted.shape
    free, c = P.shape[1], np.ones(n) if weights is None else weights
    if in_pairs(lifted) or not p:
        return pairs_of_classes(lifted, P, c)
    linalg = scipy_linalg()
    scaled, out = np.ascontiguousarray(np.sqrt(c)[:, None] * P), np.zeros((free * p, free * p), order="F")
    at_once = max(1, BLOCK // (free * p))
    Z = np.empty((min(n, at_once), free, p))
    for begin in range(0, n, at_once):
        rows = slice(begin, min(n, begin + at_once))
        part = np.multiply(scaled[rows, :, None], lifted[rows, None, :], out=Z[: rows.stop - begin])
        out = linalg.blas.dsyrk(-1.0, part.reshape(len(part), -1).T, beta=1.0, c=out, overwrite_c=1)
    out = np.ascontiguousarray(out + out.T)
    blocks = out.reshape(free, p, free, p)
    for k in range(free):
        blocks[k, :, k] = lifted.T @ (lifted * (c * P[:, k] * (1.0 - P[:, k]))[:, None])
    return out


def in_pairs(lifted: Floats) -> bool:
    """Whether the information is better added up pair by pair of classes: a call for each pair is then worth it."""
    return bool(lifted.size * lifted.shape[1] >= PAIRS)


def pairs_of_classes(lifted: Floats, P: Floats, c: Floats) -> Floats:
    """The same from  G_jk = sum c_i p_ij p_ik x_i x_i':  -G_jk between classes, and of one the sum over all others."""
    p, free = lifted.shape[1], P.shape[1]
    out, every = np.zeros((free, p, free, p)), np.vstack([P.T, np.maximum(1.0 - P.sum(axis=1), 0.0)])
    whole = float(every[-1].max(initial=0.0)) <= 8 * EPS * free  # no class is left out
    for k in range(free + (not whole)):
        own = c * every[k]
        for j in range(k):
            total = Moments(p).add(lifted, None, None, own * every[j]).totals(last=True)
            G = total.scatter + float(total.weight[0]) * np.outer(total.mean[0], total.mean[0])
            out[j, :, j] += G
            if k < free:
                out[k, :, k] += G
                out[k, :, j] = out[j, :, k] = -G
    return out.reshape(free * p, free * p)


def all_classes(lifted: Floats, P: Floats, weights: Floats | None) -> Floats:
    """The information of all classes from that of all but the last: what is moved in all of them has no curvature."""
    if in_pairs(lifted):
        return class_information(lifted, P, weights)
    p, free = lifted.shape[1], P.shape[1] - 1
    H = np.empty((free + 1, p, free + 1, p))
    H[:-1, :, :-1] = class_information(lifted, P[:, :-1], weights).reshape(free, p, free, p)
    H[-1, :, :-1] = -H[:-1, :, :-1].sum(axis=0)
    H[:-1, :, -1] = H[-1, :, :-1].transpose(1, 2, 0)
    last = P[:, -1] * (1.0 - P[:, -1])
    H[-1, :, -1] = lifted.T @ (lifted * (last if weights is None else weights * last)[:, None])
    return H.reshape((free + 1) * p, -1)
