"""Numbers as unevaluated sums high + low of two doubles (Dekker 1971), on arrays."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats


def twofold_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a + b exactly: the rounded sum and what its rounding left over (Knuth 1969)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def twofold_add(high: Floats, low: Floats, step: Floats) -> tuple[Floats, Floats]:
    """(high + low) + step, as a pair."""
    s, e = twofold_sum(high, step)
    return twofold_sum(s, low + e)


def twofold_product(a: Floats | float, b: Floats) -> tuple[Floats, Floats]:
    """a b exactly: the rounded product and what its rounding left over (Veltkamp 1968, Dekker 1971)."""
    p = a * b
    (ah, al), (bh, bl) = _halves(np.asarray(a)), _halves(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def twofold_times(a: float, high: Floats, low: Floats) -> tuple[Floats, Floats]:
    """a (high + low), as a pair, for any finite a: its exponent is put aside, so that nothing overflows on the way."""
    mantissa, exponent = np.frexp(a)
    product, left = twofold_product(float(mantissa), high)
    return np.ldexp(product, exponent), np.ldexp(left + float(mantissa) * low, exponent)


def _halves(a: Floats) -> tuple[Floats, Floats]:
    c = 134217729.0 * a  # 2^27 + 1
    high = c - (c - a)
    return high, a - high
