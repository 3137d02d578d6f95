"""The information about several classes as a matrix: for whole Hessians, of few parameters.

I = sum c_i (diag(p_i) - p_i p_i') (x) x_i x_i',   one vector for each of some or all classes
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.logistic.binary_loss import EPS
from separatrix.numerics.moments import Moments

BLOCK = 2**19  # numbers of a chunk of rows times probabilities
PAIRS = 2**20  # multiplications of rows for one class, from which on a call for each pair of classes costs little


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
