"""Residuals and gradients in twofold precision (native/separatrix/twofold.hpp).

Sums run over the columns with all rows at once; the product's error comes from splitting each factor
into halves of 26 bits (Veltkamp 1968, Dekker 1971) instead of a fused multiply-add.
"""

from __future__ import annotations

import math

import numpy as np

from reference.rows import Rows
from separatrix.arrays import Floats

Pair = tuple[Floats, Floats]


def _two_sum(a: Floats, b: Floats) -> Pair:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _halves(a: Floats) -> Pair:
    c = 134217729.0 * a  # 2^27 + 1
    high = c - (c - a)
    return high, a - high


def _two_product(a: Floats, b: Floats) -> Pair:
    p = a * b
    (ah, al), (bh, bl) = _halves(np.asarray(a)), _halves(np.asarray(b))
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _plus(a: Pair, b: Pair) -> Pair:
    s, e = _two_sum(a[0], b[0])
    return _two_sum(s, e + (a[1] + b[1]))


def _times(a: Floats, b: Pair) -> Pair:
    p, e = _two_product(a, b[0])
    return _two_sum(p, e + a * b[1])


def _product(table: Floats, high: Floats, low: Floats) -> Pair:
    """Table times a twofold vector."""
    total: Pair = (np.zeros(len(table)), np.zeros(len(table)))
    for k, column in enumerate(table.T):
        total = _plus(total, _times(column, (high[k], low[k])))
    return total


def _sums(table: Floats, c: Pair) -> Pair:
    """The columns of the table, each summed with twofold factors, without error until the end."""
    high, low = np.zeros(table.shape[1]), np.zeros(table.shape[1])
    for k, column in enumerate(table.T):
        p, e = _two_product(column, c[0])
        s = math.fsum([*p.tolist(), *e.tolist(), *(column * c[1]).tolist()])
        high[k] = s
        low[k] = math.fsum([*p.tolist(), *e.tolist(), *(column * c[1]).tolist(), -s])
    return high, low


def residual_gradient(
    X: Rows,
    y: Floats,
    weights: Floats | None,
    high: Floats,
    low: Floats,
    g_high: Floats,
    g_low: Floats,
    residuals: Floats | None,
) -> tuple[float, float]:
    """r = y - X w - b, g = sum c_i r_i (x_i, 1), and the sum of c_i r_i^2."""
    table = np.column_stack([np.array([X.row(i) for i in range(X.n)]), np.ones(X.n)])
    s = _product(table, high, low)
    r = _plus((y, np.zeros(X.n)), (-s[0], -s[1]))
    if residuals is not None:
        residuals[:] = r[0]
    cr = _times(np.ones(X.n) if weights is None else weights, r)
    g_high[:], g_low[:] = _sums(table, cr)
    squares = _sums(r[0][:, None], cr)
    return float(squares[0][0]), float(squares[1][0] + (r[1] * cr[0]).sum())


def augmented_defects(
    A: Rows,
    y: Floats,
    weights: Floats | None,
    x_high: Floats,
    x_low: Floats,
    u_high: Floats,
    u_low: Floats,
    f: Floats,
    g: Floats,
) -> None:
    """f = y - u - A x and g = -A' C u at twofold u and x."""
    table = np.array([A.row(i) for i in range(A.n)])
    ax = _product(table, x_high, x_low)
    f[:] = _plus(_plus((y, np.zeros(A.n)), (-u_high, -u_low)), (-ax[0], -ax[1]))[0]
    c = -np.ones(A.n) if weights is None else -weights
    g[:] = _sums(table, _times(c, (u_high, u_low)))[0]


def sum_parts(parts: Floats, out: Floats) -> None:
    """The sum of vectors by a tree of pairs, with the rounding errors of the additions kept aside (Neumaier 1974)."""
    high = np.zeros((2 ** (len(parts) - 1).bit_length(), parts.shape[1]))
    high[: len(parts)] = parts
    rest = np.zeros_like(high)
    while len(high) > 1:
        high, more = _two_sum(high[::2], high[1::2])
        rest = (rest[::2] + rest[1::2]) + more
    np.add(high[0], rest[0], out=out)
