"""Kernels of a row with many, and scores in the dual (native/separatrix/dual.hpp).

kind 0 is linear, x.z; 1 polynomial, (gamma x.z + coef0)^degree; 2 Gaussian, exp(-gamma |x - z|^2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from reference.linear import is_wrong
from reference.rows import Rows
from separatrix.arrays import Floats


def _value(kind: int, gamma: float, coef0: float, degree: int, dot: float, x2: float, z2: float) -> float:
    if kind == 0:
        return dot
    if kind == 1:
        base = power = gamma * dot + coef0
        for _ in range(degree - 1):
            power *= base
        return power
    return math.exp(-gamma * max((x2 + z2) - 2 * dot, 0.0))


def _spread(X: Rows, i: int) -> Floats:
    z = np.zeros(X.d)
    X.axpy(1.0, i, z)
    return z


def kernel_column(
    X: Rows, norm2: Floats, i: int, kind: int, gamma: float, coef0: float, degree: int, out: Floats
) -> None:
    """out[j] = k(x_j, x_i)"""
    z = _spread(X, i)
    for j in range(X.n):
        out[j] = _value(kind, gamma, coef0, degree, X.dot(j, z), float(norm2[j]), float(norm2[i]))


def kernel_scores(
    S: Rows,
    support_norm2: Floats,
    a: Floats,
    X: Rows,
    norm2: Floats,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    one: float,
    out: Floats,
) -> None:
    """out[i, v] = sum over j of a_vj (k(s_j, x_i) + one), in the order of the support rows."""
    for i in range(X.n):
        z = _spread(X, i)
        for v in range(len(a)):
            s = 0.0
            for j in range(S.n):
                if a[v, j] != 0:
                    k = _value(kind, gamma, coef0, degree, S.dot(j, z), float(support_norm2[j]), float(norm2[i]))
                    s += float(a[v, j]) * (k + one)
            out[i, v] = s


def kernel_update(
    X: Rows,
    norm2: Floats,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
    row: NDArray[np.int64],
    a: Floats,
    one: float,
    begin: int,
    end: int,
    scores: Floats,
) -> None:
    """scores[i] += a_l (k(x_r(l), x_i) + one) for the rows begin .. end and all entries l in turn."""
    for r, weight in zip(row.tolist(), a.tolist(), strict=True):
        z = _spread(X, r)
        for i in range(begin, end):
            k = _value(kind, gamma, coef0, degree, X.dot(i, z), float(norm2[i]), float(norm2[r]))
            scores[i] += weight * (k + one)


def first_mistake(
    s: Floats,
    y: NDArray[np.int8],
    order: NDArray[np.int64] | None,
    begin: int,
    end: int,
    zero_is_mistake: bool,
) -> int:
    """The first position from ``begin`` on whose row is wrong under the scores; ``end`` if there is none."""
    for t in range(begin, end):
        i = t if order is None else int(order[t])
        if y[i] != 0 and is_wrong(int(y[i]), float(s[i]), zero_is_mistake):
            return t
    return end
