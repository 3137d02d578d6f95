"""Gradient descent on mean losses of linear scores (native/separatrix/descent.hpp)."""

from __future__ import annotations

import math

from reference.rows import Rows
from separatrix.arrays import Floats, Indices


def loss_at(loss: int, y: float, s: float) -> tuple[float, float]:
    """The value of a loss and its slope in the score: squared, perceptron, logistic, hinge, or (y - s)^2."""
    if loss == 4:
        return (y - s) * (y - s), 2 * (s - y)
    m = y * s
    if loss == 0:
        return (1 - m) * (1 - m), -2 * (1 - m) * y
    if loss == 1:
        return (-m, -y) if m <= 0 else (0.0, 0.0)
    if loss == 3:
        return (1 - m, -y) if m < 1 else (0.0, 0.0)
    e = math.exp(-abs(m))
    return math.log1p(e) + max(0.0, -m), -y * (e if m >= 0 else 1.0) / (1 + e)


def _soft(w: float, t: float) -> float:
    return w - t if w > t else w + t if w < -t else 0.0


def descent_pass(
    X: Rows,
    y: Floats,
    weights: Floats | None,
    order: Indices | None,
    alpha: Floats,
    begin: int,
    end: int,
    loss: int,
    lifted: Floats,
    factor: Floats,
    velocity: Floats | None,
    average: Floats | None,
    gradient: Floats,
    counts: Indices,
    sums: Floats,
    reach: Floats | None,
    columns: Floats | None,
    batch: int,
    l2: float,
    l1: float,
    momentum: float,
    bias: bool,
) -> None:
    """Rows begin .. end of ``order``; alpha[k] is the size of step k of this call."""
    first, d = int(counts[1]), X.d
    pending, waiting, together = 0.0, 0, X.d // 32 + 1
    plain = batch == 1 and l1 == 0 and velocity is None and average is None
    for t in range(begin, end):
        i = t if order is None else int(order[t])
        c = 1.0 if weights is None else float(weights[i])
        if c == 0:
            continue
        value, slope = loss_at(loss, float(y[i]), float(factor[0]) * X.dot(i, lifted) + float(lifted[d]))
        sums += (c * value, 1.0)
        stride = float(alpha[counts[1] - first])
        if reach is not None:
            reach[0] = max(float(reach[0]), c * (X.norm2(i) + 1))
            stride /= float(reach[0])
        g = c * slope
        if plain:
            if l2 != 0 and columns is None:
                factor[0] *= 1 - stride * l2
                if abs(factor[0]) < 1e-9:
                    lifted[:d] *= factor[0]
                    factor[0] = 1.0
            if g != 0:
                X.axpy(-stride * g / float(factor[0]), i, lifted)
                if bias:
                    lifted[d] -= stride * g
            counts[1] += 1
            if l2 != 0 and columns is not None:
                pending, waiting = pending + stride, waiting + 1
                if waiting == together:
                    _shrink(lifted, columns, pending * l2)
                    pending, waiting = 0.0, 0
            continue
        if g != 0:
            X.axpy(g, i, gradient)
            gradient[d] += g
        counts[0] += 1
        if counts[0] == batch:
            _step(lifted, velocity, average, gradient, counts, columns, stride, batch, l2, l1, momentum, bias)
            counts[0] = 0
    if waiting:
        assert columns is not None
        _shrink(lifted, columns, pending * l2)


def _shrink(lifted: Floats, columns: Floats, amount: float) -> None:
    for k in range(len(columns)):
        lifted[k] /= 1 + amount * float(columns[k]) * float(columns[k])


def _step(
    lifted: Floats,
    velocity: Floats | None,
    average: Floats | None,
    gradient: Floats,
    counts: Indices,
    columns: Floats | None,
    alpha: float,
    size: int,
    l2: float,
    l1: float,
    momentum: float,
    bias: bool,
) -> None:
    d, share = len(lifted) - 1, 1.0 / size
    for k in range(d + 1 if bias else d):
        D = 1.0 if columns is None or k == d else float(columns[k])
        g = float(gradient[k]) * share + (l2 * D * D * float(lifted[k]) if k < d else 0.0)
        if velocity is not None:
            velocity[k] = g = momentum * float(velocity[k]) + g
        w = float(lifted[k]) - alpha * g
        lifted[k] = w if l1 == 0 or k == d else _soft(w, alpha * l1 * D)
    gradient[:] = 0.0
    counts[1] += 1
    if average is not None:
        average += (lifted - average) * (1.0 / float(counts[1]))


def mean_loss(X: Rows, y: Floats, weights: Floats | None, loss: int, lifted: Floats, g: Floats) -> float:
    """The mean loss over all rows; its gradient is set in g."""
    total = 0.0
    g[:] = 0.0
    for i in range(X.n):
        c = 1.0 if weights is None else float(weights[i])
        value, slope = loss_at(loss, float(y[i]), X.dot(i, lifted) + float(lifted[X.d]))
        total += c * value
        if c * slope != 0:
            X.axpy(c * slope, i, g)
            g[X.d] += c * slope
    g /= X.n
    return total / X.n
