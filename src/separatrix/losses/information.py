"""The information of several classes:  sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i',  one vector for each class."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.numerics.moments import Moments
from separatrix.numerics.normal_equations import NormalEquations

EPS = float(np.finfo(np.float64).eps)
BLOCK = 2**19  # numbers of a chunk of rows times probabilities
PAIRS = 2**20  # multiplications of rows for one class, from which on a call for each pair of classes costs little


def class_information(lifted: Floats, P: Floats, weights: Floats | None) -> Floats:
    """The information by probabilities (k, n) of some or all classes, as a square matrix.

    Blocks of a class by p (1 - p), the others from one product.
    """
    n, p = lifted.shape
    free, c = len(P), np.ones(n) if weights is None else weights
    if in_pairs(lifted) or not p:
        return pairs_of_classes(lifted, P, c)
    linalg = scipy_linalg()
    scaled, out = np.ascontiguousarray((np.sqrt(c) * P).T), np.zeros((free * p, free * p), order="F")
    at_once = max(1, BLOCK // (free * p))
    Z = np.empty((min(n, at_once), free, p))
    for begin in range(0, n, at_once):
        rows = slice(begin, min(n, begin + at_once))
        part = np.multiply(scaled[rows, :, None], lifted[rows, None, :], out=Z[: rows.stop - begin])
        out = linalg.blas.dsyrk(-1.0, part.reshape(len(part), -1).T, beta=1.0, c=out, overwrite_c=1)
    out = np.ascontiguousarray(out + out.T)
    blocks = out.reshape(free, p, free, p)
    for k in range(free):
        blocks[k, :, k] = lifted.T @ (lifted * (c * P[k] * (1.0 - P[k]))[:, None])
    return out


def in_pairs(lifted: Floats) -> bool:
    """Whether the information is better added up pair by pair of classes: a call for each pair is then worth it."""
    return bool(lifted.size * lifted.shape[1] >= PAIRS)


def pairs_of_classes(lifted: Floats, P: Floats, c: Floats) -> Floats:
    """The same from  G_jk = sum c_i p_ij p_ik x_i x_i':  -G_jk between classes, and of one the sum over all others."""
    p, free = lifted.shape[1], len(P)
    out, every = np.zeros((free, p, free, p)), np.vstack([P, np.maximum(1.0 - P.sum(axis=0), 0.0)])
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


def inverse_between_classes(A: Floats) -> Floats:
    """An inverse of sum c (diag p - pp') for vectors that add up to zero; what all classes share has no curvature."""
    top = float(np.diagonal(A).max(initial=0.0))
    with np.errstate(all="ignore"):
        try:
            inverse: Floats = np.asarray(np.linalg.inv(A + top), dtype=np.float64)
        except np.linalg.LinAlgError:
            inverse = np.full_like(A, np.nan)
    return inverse if float(np.abs(inverse).max()) * top <= 1e12 else np.asarray(np.linalg.pinv(A, hermitian=True))


def all_classes(lifted: Floats, P: Floats, weights: Floats | None) -> Floats:
    """The information of all classes from that of all but the last: what is moved in all of them has no curvature."""
    if in_pairs(lifted):
        return class_information(lifted, P, weights)
    p, free = lifted.shape[1], len(P) - 1
    H = np.empty((free + 1, p, free + 1, p))
    H[:-1, :, :-1] = class_information(lifted, P[:-1], weights).reshape(free, p, free, p)
    H[-1, :, :-1] = -H[:-1, :, :-1].sum(axis=0)
    H[:-1, :, -1] = H[-1, :, :-1].transpose(1, 2, 0)
    last = P[-1] * (1.0 - P[-1])
    H[-1, :, -1] = lifted.T @ (lifted * (last if weights is None else weights * last)[:, None])
    return H.reshape((free + 1) * p, -1)


def weighted_gram(X: Any, weights: Floats, lift: bool) -> NormalEquations:
    """sum h_i (x_i, 1)(x_i, 1)', by moments: the intercept is eliminated without cancellation."""
    d = X.shape[1]
    totals = Moments(d).add(X, None, None, weights).totals(last=True)
    return NormalEquations(totals, d, 0.0, lift, lift)
