"""Square roots of rational numbers as doubles, rounded the safe way."""

from __future__ import annotations

import math
from fractions import Fraction


def rational_root(q: Fraction) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above the root of q >= 0, within 2**-100 of it."""
    if q <= 0:
        return Fraction(0), Fraction(0)
    shift = max(0, 104 - (q.numerator.bit_length() - q.denominator.bit_length()) // 2)
    whole = math.isqrt((q.numerator << 2 * shift) // q.denominator)
    low = Fraction(whole, 1 << shift)
    return low, low if low * low == q else Fraction(whole + 1, 1 << shift)


def root_below(q: Fraction) -> float:
    """The root of q >= 0 as a double that is not above it."""
    low = rational_root(q)[0]
    try:
        r = float(low)
    except OverflowError:
        return math.nextafter(math.inf, 0)
    return r if Fraction(r) <= low else math.nextafter(r, 0)


def root_above(q: Fraction) -> float:
    """The root of q >= 0 as a double that is not below it; infinite beyond the doubles."""
    return above(rational_root(q)[1])


def above(q: Fraction) -> float:
    """The smallest double that is at least q >= 0."""
    try:
        r = float(q)
    except OverflowError:
        return math.inf
    return r if Fraction(r) >= q else math.nextafter(r, math.inf)
