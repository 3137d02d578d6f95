"""Coordinate descent with an elastic-net penalty, pass by pass (native/separatrix/lasso.hpp)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.rows import Rows, _Csr
from separatrix.arrays import Floats

Order = NDArray[np.int64]


def best(v: float, slope: float, curvature: float, alpha: float, ridge: float) -> float:
    """The best value of a coordinate that is v now, where the quadratic has this slope and curvature."""
    a = curvature * v - slope
    shrunk = a - alpha if a > alpha else a + alpha if a < -alpha else 0.0
    return shrunk / (curvature + ridge)


def weighted_sums(Z: Rows, order: Order, h: Floats, first: Floats | None, second: Floats | None) -> None:
    """Where asked for, first_j = sum_i h_i z_ji and second_j = sum_i h_i z_ji^2, for listed rows of Z"""
    for j in order.tolist():
        if first is not None:
            first[j] = Z.dot(j, h)
        if second is not None:
            second[j] = float((h * Z.row(j) ** 2).sum())


def turned(X: Rows, start: NDArray[np.int32], row: NDArray[np.int32], value: NDArray[Any]) -> None:
    """The columns of sparse rows as rows: ``start`` has one more of them than there are columns"""
    if not isinstance(X, _Csr):
        raise ValueError("turned takes sparse rows, and values of their type")
    order = np.argsort(X.column, kind="stable")
    start[0] = 0
    start[1:] = np.cumsum(np.bincount(X.column, minlength=X.d))
    row[:] = np.repeat(np.arange(X.n), np.diff(X.start))[order]
    value[:] = X.value[order]


def combine(Z: Rows, order: Order, v: Floats, out: Floats) -> None:
    """out += sum of v_j z_j over listed rows of Z"""
    for j in order.tolist():
        Z.axpy(float(v[j]), j, out)


def chosen_gram(X: Rows, h: Floats, place: Order, begin: int, end: int, sums: Floats, half: Floats) -> None:
    """half += half of the sum of h_i z_i z_i', sums += the sum of h_i z_i, of the columns with a place"""
    width = len(sums)
    matrix = half.reshape(width, width)
    chosen = np.flatnonzero(place >= 0)
    at = place[chosen]
    for i in range(begin, end):
        z = X.row(i)[chosen]
        product = float(h[i]) * np.outer(z, z)
        matrix[np.ix_(at, at)] += np.tril(product, -1) + 0.5 * np.diag(np.diagonal(product))
        sums[at] += float(h[i]) * z


def _coordinates(
    Z: Rows,
    order: Order,
    g: Floats,
    curvature: Floats,
    along: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    kept: Floats,
    drift: Floats,
    keep: Callable[[int, float], None],
) -> float:
    change = 0.0
    for j in order.tolist():
        slope = float(g[j]) + (Z.dot(j, kept) - float(along[j]) * float(drift[0]))
        after = best(float(v[j]), slope, float(curvature[j]), alpha, ridge)
        step = after - float(v[j])
        if step == 0:
            continue
        keep(j, step)
        drift[0] += step * along[j]
        v[j] = after
        change += (float(curvature[j]) + ridge) * step * step
    return change


def lasso_pass(
    Z: Rows,
    order: Order,
    g: Floats,
    curvature: Floats,
    along: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    moved: Floats,
    drift: Floats,
) -> float:
    """Put each listed coordinate where it is best; ``moved`` = sum (v_j - w_j) z_j is kept up to date."""

    def keep(j: int, step: float) -> None:
        Z.axpy(step, j, moved)

    return _coordinates(Z, order, g, curvature, along, alpha, ridge, v, moved, drift, keep)


def curved_pass(
    X: Rows,
    order: Order,
    h: Floats,
    g: Floats,
    curvature: Floats,
    along: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    bent: Floats,
    drift: Floats,
) -> float:
    """The same for z_j = sqrt(h) x_j; ``bent`` = h sum (v_j - w_j) x_j is kept up to date."""

    def keep(j: int, step: float) -> None:
        bent[:] += (step * X.row(j)) * h

    return _coordinates(X, order, g, curvature, along, alpha, ridge, v, bent, drift, keep)


def gram_pass(A: Floats, order: Order, alpha: float, ridge: float, v: Floats, slope: Floats) -> float:
    """The same with all products of coordinates known; ``slope`` = g + A (v - w) is kept up to date."""
    change = 0.0
    for j in order.tolist():
        after = best(float(v[j]), float(slope[j]), float(A[j, j]), alpha, ridge)
        step = after - float(v[j])
        if step == 0:
            continue
        slope += step * A[j]
        v[j] = after
        change += (float(A[j, j]) + ridge) * step * step
    return change


def class_lasso_pass(
    X: Rows,
    order: Order,
    width: int,
    weights: Floats | None,
    P: Floats,
    g: Floats,
    curvature: Floats,
    alpha: float,
    ridge: float,
    v: Floats,
    U: Floats,
    mean: Floats,
) -> float:
    """Several classes at once: P and U have a row a class, ``mean`` = sum_k p_k u_k."""
    n, change = X.d, 0.0
    c = np.ones(n) if weights is None else weights
    for k, coordinates in groupby(order.tolist(), key=lambda q: q // width):
        p, u = P[k * n : (k + 1) * n], U[k * n : (k + 1) * n]
        r, h, before = c * p * (u - mean), c * p * (1.0 - p), u.copy()
        for q in coordinates:
            bias = q % width == X.n
            x = np.ones(n) if bias else X.row(q % width)
            slope = float(g[q]) + float((x * r).sum())
            after = best(float(v[q]), slope, float(curvature[q]), 0.0 if bias else alpha, 0.0 if bias else ridge)
            step = after - float(v[q])
            u += step * x
            r += step * x * h
            v[q] = after
            change += (float(curvature[q]) + (0.0 if bias else ridge)) * step * step
        mean += p * (u - before)
    return change
