"""The logistic loss of rows, its gradient and curvature (native/separatrix/logistic.hpp)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from reference.rows import Rows
from separatrix.arrays import Floats


def logistic_pass(
    X: Rows,
    y: NDArray[np.int8],
    weights: Floats | None,
    offset: Floats | None,
    lifted: Floats,
    begin: int,
    end: int,
    gradient: Floats,
    curvature: Floats | None,
    wrong: Floats | None,
) -> float:
    """Add rows begin .. end to the gradient, and return their loss."""
    loss = 0.0
    for i in range(begin, end):
        c = 1.0 if weights is None else float(weights[i])
        m = float(y[i]) * (X.dot(i, lifted) + lifted[X.d] + (0.0 if offset is None else offset[i]))
        e = math.exp(-abs(m)) if abs(m) <= 708 else 0.0
        q = (1.0 if m < 0 else e) / (1.0 + e)  # 1 - P(y|x)
        loss += c * (max(-m, 0.0) + math.log1p(e))
        r = -c * q * float(y[i])
        X.axpy(r, i, gradient)
        gradient[X.d] += r
        if curvature is not None:
            curvature[i] = c * e / (1.0 + e) ** 2
        if wrong is not None:
            wrong[i] = q
    return loss


def curvature_product(X: Rows, curvature: Floats, v: Floats, begin: int, end: int, out: Floats) -> None:
    """out += sum of h_i (x_i, 1) (x_i, 1).v over rows begin .. end"""
    for i in range(begin, end):
        r = float(curvature[i]) * (X.dot(i, v) + float(v[X.d]))
        X.axpy(r, i, out)
        out[X.d] += r


@np.errstate(over="ignore")  # an overflow is for the caller to find, as behind the native kernel
def curvature_diagonal(X: Rows, curvature: Floats, begin: int, end: int, sums: Floats | None, squares: Floats) -> None:
    """squares += the diagonal of the sum of h_i (x_i, 1) (x_i, 1)', sums += the sum of h_i (x_i, 1)"""
    for i in range(begin, end):
        h, x = float(curvature[i]), X.row(i)
        squares[: X.d] += h * (x * x)
        squares[X.d] += h
        if sums is not None:
            sums[: X.d] += h * x
            sums[X.d] += h


def two_probabilities(scores: Floats, zero_is_second: bool, out: Floats) -> None:
    """out_i = 1/(1 + e^s), 1/(1 + e^-s); the second is the greater where its class is predicted."""
    for i, s in enumerate(scores.tolist()):
        e = math.exp(-abs(s))
        great = 1.0 / (1.0 + e)
        out[i] = (e * great, great) if s > 0 else (great, e * great)
        if out[i, 1] <= out[i, 0] and (s > 0 or (s == 0 and zero_is_second)):
            out[i, 1] = math.nextafter(out[i, 0], 2.0)


def class_probabilities(
    scores: Floats,
    shift: Floats,
    codes: NDArray[np.int64],
    weights: Floats | None,
    P: Floats,
    residuals: Floats | None,
    wrong: Floats | None,
    losses: Floats | None,
) -> float:
    """P (K, n) from scores plus a shift of each class, and the sum of the losses; scores may be P itself."""
    total = 0.0
    for i, y in enumerate(codes.tolist()):
        t = scores[:, i] + shift
        t = t - t.max()
        e = np.where(t < -708, 0.0, np.exp(t))
        rest = float(np.delete(e, y).sum())
        loss = math.log1p(rest) if t[y] == 0 else math.log(rest + e[y]) - float(t[y])
        c = 1.0 if weights is None else float(weights[i])
        total += c * loss
        P[:, i] = e / (rest + e[y])
        if residuals is not None:
            residuals[:, i] = c * P[:, i]
            residuals[y, i] = -c * rest / (rest + e[y])
        if wrong is not None:
            wrong[i] = rest / (rest + e[y])
        if losses is not None:
            losses[i] = loss
    return total


def rows_above(X: Rows, limits: Floats, out: NDArray[np.int8]) -> None:
    """out_i = 1 for each row with a number farther from zero than the limit of its column, 0 for the others"""
    for i in range(X.n):
        out[i] = bool((np.abs(X.row(i)) > limits).any())
