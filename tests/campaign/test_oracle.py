"""The oracle itself, held against brute force by another theory.

Gordan (1873) and Tucker (1956): a row is tied iff it is in a positive circuit, a minimal set of rows that some
weights > 0 add up to zero. So verdicts come from all circuits, fates from circuits through a unit vector, the
fewest mistakes from the smallest set of rows that meets every circuit, and a distance from trying every support.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import hull_oracle
import numpy as np
import oracle
import pytest


def echelon(rows):
    """The reduced row echelon form of a matrix of Fractions, and its pivots."""
    rows, pivots = [list(row) for row in rows], []
    for j in range(len(rows[0]) if rows else 0):
        k = len(pivots)
        at = next((i for i in range(k, len(rows)) if rows[i][j]), None)
        if at is None:
            continue
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [v / rows[k][j] for v in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][j]:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[k], strict=True)]
        pivots.append(j)
    return rows, pivots


def positive_circuits(Z):
    """Every minimal set of rows with weights > 0 that add up to zero."""
    found = []
    for size in range(1, len(Z[0]) + 2):
        for chosen in combinations(range(len(Z)), size):
            rows, pivots = echelon([[Z[i][j] for i in chosen] for j in range(len(Z[0]))])
            if len(pivots) == size - 1:  # the null space is a line
                free = next(k for k in range(size) if k not in pivots)
                line = [Fraction(1)] * size
                for k, j in enumerate(pivots):
                    line[j] = -rows[k][free]
                if all(v > 0 for v in line):
                    found.append(set(chosen))
    return found


def tied(Z):
    return set().union(*positive_circuits(Z))


def spanned(Z, e):
    """Whether e is a combination of the rows."""
    return len(echelon([*Z, e])[1]) == len(echelon(Z)[1] if Z else [])


def brute_fate(Z, j):
    e = [Fraction(int(k == j)) for k in range(len(Z[0]))]
    held = tied(Z)
    if not spanned(Z, e):
        return "unidentifiable"
    if spanned([z for i, z in enumerate(Z) if i in held], e):
        return "finite"
    up = len(Z) in tied([*Z, [-v for v in e]])  # e is a combination of the rows with weights >= 0
    down = len(Z) in tied([*Z, e])
    return "+inf" if up else "-inf" if down else "undetermined"


def brute_fewest(Z):
    circuits = positive_circuits(Z)
    for size in range(len(Z) + 1):
        for wrong in combinations(range(len(Z)), size):
            if all(circuit & set(wrong) for circuit in circuits):
                return size
    raise AssertionError


def brute_nearest2(points):
    """The least over all supports whose affine point has weights >= 0: each is a point of the hull."""
    best = None
    for size in range(1, len(points[0]) + 2):
        for chosen in combinations(points, size):
            rows = [[sum(map(Fraction.__mul__, p, q)) for q in chosen] + [Fraction(1), Fraction(0)] for p in chosen]
            rows.append([Fraction(1)] * size + [Fraction(0), Fraction(1)])
            reduced, pivots = echelon(rows)
            if pivots == list(range(size + 1)):
                t = [reduced[k][-1] for k in range(size)]
                if min(t) >= 0:
                    x = [sum(a * p[j] for a, p in zip(t, chosen, strict=True)) for j in range(len(chosen[0]))]
                    length2 = sum(v * v for v in x)
                    best = length2 if best is None else min(best, length2)
    return best


def some_rows(seed):
    rng = Random(seed)
    n, p = rng.randint(1, 6), rng.randint(1, 4)
    most = rng.choice([1, 2, 3])
    Z = [[Fraction(rng.randint(-most, most), rng.choice([1, 1, 2])) for _ in range(p)] for _ in range(n)]
    if rng.random() < 0.3:
        for z in Z:
            z[-1] = z[0] * 2
    if rng.random() < 0.3:
        Z.append([-v for v in rng.choice(Z)])
    return Z


SEEDS = range(80)


def test_strict_rows_are_those_in_no_positive_circuit():
    seen = set()
    for seed in SEEDS:
        Z = some_rows(seed)
        strict = [i for i in range(len(Z)) if i not in tied(Z)]
        assert oracle.strict_rows(Z) == strict, Z
        verdict = "complete" if len(strict) == len(Z) else "quasi" if strict else "overlap"
        assert oracle.verdict(Z) == verdict
        seen.add(verdict)
        for circuit in positive_circuits(Z):
            assert oracle.is_minimal_witness([Z[i] for i in circuit]), (Z, circuit)
        if len(strict) < len(Z) and len(Z) > 1:
            circuits = positive_circuits(Z)
            assert oracle.is_minimal_witness(Z) == (circuits == [set(range(len(Z)))])
    assert len(seen) == 3


def test_fates():
    seen = set()
    for seed in SEEDS:
        Z = some_rows(seed)
        wanted = [brute_fate(Z, j) for j in range(len(Z[0]))]
        assert oracle.fates(Z) == wanted, Z
        seen |= set(wanted)
    assert len(seen) == 5


def test_fewest_mistakes_meet_every_circuit():
    for seed in SEEDS:
        Z = some_rows(seed)
        assert oracle.fewest_mistakes(Z) == brute_fewest(Z), Z


def test_distances():
    zero = 0
    for seed in SEEDS:
        Z = some_rows(seed)
        found = hull_oracle.nearest2(Z)
        assert found == brute_nearest2(Z), Z
        zero += not found
        assert (found > 0) == (oracle.verdict(Z) == "complete")
    assert 0 < zero < len(SEEDS)


def test_margins_of_known_sets():
    assert hull_oracle.margin2([[0.0], [3.0]], [-1, 1], True) == Fraction(9, 4)
    assert hull_oracle.margin2([[1.0, 0.0], [0.0, 1.0]], [1, 1], False) == Fraction(1, 2)
    assert hull_oracle.margin2([[0.1], [0.3]], [-1, 1], True, "decimal") == Fraction(1, 100)
    unit = hull_oracle.unit_rows([[Fraction(3), Fraction(4)]])[0]
    assert sum(v * v for v in unit) == pytest.approx(1, abs=1e-100)


def test_kesler_rows_of_a_linear_machine():
    """Numbers on a line in three classes: a linear machine has them in order, not in any other."""
    machine = oracle.kesler([[0.0], [1.0], [2.0]], [0, 1, 2], 3, True)[0]
    assert len(machine) == 6
    assert oracle.verdict(machine) == "complete"
    assert oracle.verdict(oracle.kesler([[0.0], [1.0], [2.0], [3.0]], [0, 1, 2, 0], 3, True)[0]) == "overlap"


def test_a_run_of_the_perceptron():
    rows = oracle.lifted([[0.0], [1.0]], [-1, 1], True)
    ones, start = [Fraction(1)] * 2, [Fraction(0)] * 2
    made = hull_oracle.perceptron_mistakes(rows, ones, start, [0, 1], 100)
    w, b, mistakes, clean = 0, 0, 0, 0
    while clean < 2:
        clean = 0
        for x, y in ((0, -1), (1, 1)):
            if y * (w * x + b) <= 0:
                w, b, mistakes = w + y * x, b + y, mistakes + 1
            else:
                clean += 1
    assert made == mistakes
    assert hull_oracle.perceptron_mistakes(rows, ones, start, [0, 1], mistakes - 1) == mistakes


def test_numbers_are_read_exactly():
    assert oracle.exact(0.1, "decimal") == Fraction(1, 10)
    assert oracle.exact(0.1, "binary64") == Fraction(*(0.1).as_integer_ratio())
    assert oracle.exact(np.float32(0.1), "binary64") == Fraction(float(np.float32(0.1)))
    assert oracle.exact(5e-324, "binary64") == Fraction(1, 1 << 1074)
