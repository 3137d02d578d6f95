"""Numbers chosen against the arithmetic: multiples of the prime, underflow, the largest doubles."""

from __future__ import annotations

import math
from fractions import Fraction

import hard_sets
import numpy as np
import pytest

from separatrix import margin, mistake_bound, separability, verify
from separatrix.proofs.exact.algebra import PRIME, combination, independent, null_line, other_prime, pivots, transpose
from separatrix.proofs.exact.face import Face, solve_in_span
from separatrix.proofs.exact.lifted_rows import LongDecimals

LARGEST = 1.7976931348623157e308
MULTIPLE = [[PRIME, 0, 2 * PRIME], [0, PRIME, PRIME]]  # of rank 2, and of rank 0 modulo the prime


def test_rows_that_vanish_modulo_the_prime_are_independent():
    assert pivots(transpose(MULTIPLE)) == []
    assert independent(MULTIPLE) == [0, 1]
    assert independent([[0, 0], [0, 0]]) == []
    assert null_line([*MULTIPLE, [-PRIME, -PRIME, -3 * PRIME]]) == [1, 1, 1]


def test_rows_that_vanish_modulo_both_primes_still_bound_a_face():
    """The second prime depends on the rows modulo the first: rows that are zero modulo both must be found exactly."""
    other = other_prime(transpose([[0, 0, 0]] * 2))
    rows = [[v * other for v in row] for row in MULTIPLE]
    assert len(independent(rows)) == 1
    face = Face.of(rows, 3)
    assert face.dimension == 1
    assert not any(map(any, face.coordinates(rows)))
    target = combination(rows, [3, -5])
    c, m = solve_in_span(rows, target)
    assert m > 0
    assert combination(rows, c) == [m * t for t in target]


PRIME_SETS = [
    ([[2.0**61], [1.0]], [1, 0]),
    ([[1.0], [1.0], [2.0**61]], [0, 1, 1]),
    ([[1.0, 0.0], [1.0, 0.0], [2.0**61, 1.0], [2.0**61, 2.0], [2.0**61, 2.0]], [0, 1, 1, 0, 1]),
    ([[2.0**61, 1.0], [1.0, 2.0**61], [2.0**61, 1.0], [1.0, 2.0**61]], [0, 0, 1, 1]),
    ([[1.0], [1.0], [2.0**61], [2.0**61], [5.0], [7.0]], [0, 1, 0, 1, 1, 0]),
    ([[2.0**122, 2.0**61], [1.0, 2.0**61], [2.0**61, 1.0], [1.0, 1.0], [2.0**61, 2.0**61]], [0, 1, 0, 1, 1]),
]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("data", PRIME_SETS)
def test_multiples_of_the_prime_are_decided_like_any_other_numbers(data, intercept):
    X, y = data
    found = separability(X, y, fit_intercept=intercept)
    assert found.verdict != "undecided"
    assert verify(found.certificate, X, y)
    for fate in found.coefficients.values():
        assert verify(fate.certificate, X, y)


def test_a_wide_table_of_contradicted_rows_and_multiples_of_the_prime():
    X = np.zeros((6, 5001))
    X[[0, 1, 2, 3], [0, 0, 1, 1]] = 2.0**61
    X[[0, 1, 2, 3], 5000] = 1.0
    X[4, 7], X[5, 8] = 3.0, 4.0
    y = [0, 1, 0, 1, 0, 1]
    found = separability(X, y)
    assert found.verdict == "quasi"
    assert found.strict_rows.tolist() == [4, 5]
    assert verify(found.certificate, X, y)


@pytest.mark.parametrize("seed", range(40))
def test_signs_of_long_decimals_over_the_whole_range(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 3)) * 10.0 ** rng.choice([-320, -300, -100, 0, 100, 300, 307], (6, 3))
    y = rng.choice([-1, 1], 6).astype(np.int8)
    w = [int(v) * 10 ** int(e) for v, e in zip(rng.integers(-9, 10, 4), rng.choice([0, 20, 330, 650], 4), strict=True)]
    exact = [[Fraction(repr(v)) for v in row] for row in X.tolist()]
    scores = [sum(a * b for a, b in zip(row, w, strict=False)) + w[3] for row in exact]
    wanted = [int(sign) * ((s > 0) - (s < 0)) for sign, s in zip(y, scores, strict=True)]
    assert LongDecimals(X, y, True).signs(w).tolist() == wanted


def test_a_weight_that_underflows_decides_a_sign():
    rows = LongDecimals(np.array([[1e-100, 1e300]]), np.ones(1, dtype=np.int8), False)
    assert rows.signs([10**330, -1]).tolist() == [-1]


def test_the_margin_of_the_largest_doubles():
    """The intercept is a double, though it is not on the way there."""
    X = [
        [-1.79e308, 1.15575586e308, -9.62329952e307],
        [-7.32395044e307, -1.79e308, 4.78821544e307],
        [-3.16741237e307, 1.2503009e308, 2.19606894e307],
        [-9.74997884e307, -8.23722672e307, -1.12161405e308],
        [-1.32596698e308, 3.97406066e307, -8.75068427e307],
    ]
    y = [0, 1, 1, 0, 1]
    found = margin(X, y, exact=True)
    assert found.exact
    assert found.intercept == pytest.approx(1.5212747680540938e308, rel=1e-14)
    assert verify(found.certificate, X, y)


def test_an_intercept_beyond_the_doubles_is_infinite():
    X, y = [[LARGEST, LARGEST], [0.9 * LARGEST, 0.9 * LARGEST]], [1, 0]
    found = margin(X, y, exact=True)
    assert found.intercept == -math.inf
    assert found.to_dict()["intercept"] is None
    assert found.lower == pytest.approx(0.05 * math.sqrt(2) * LARGEST)
    assert verify(found.certificate, X, y)


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
@pytest.mark.parametrize("seed", range(30))
def test_rows_at_both_ends_of_the_doubles(seed, reading):
    X, y = hard_sets.extreme(np.random.default_rng(seed))
    for intercept in (True, False):
        found = margin(X, y, exact=True, fit_intercept=intercept, reading=reading)
        assert found.verdict != "undecided"
        assert verify(found.certificate, X, y)
        assert separability(X, y, fit_intercept=intercept, reading=reading).verdict == found.verdict
    assert mistake_bound(X, y).verdict != "undecided"
