"""Tables made against the bound on rounding errors of L1: cancellation to the last digit, far exponents, denormals.

Signs by columns and row by row are held against the same sums in fractions.
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np

from second_checker import plain
from separatrix import checker
from separatrix.proofs.certificate.checkable_rows import exact_table

TINY, LARGEST = 5e-324, 1.7976931348623157e308


def cell(rng, kind):
    if kind == 0:  # far exponents
        return rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.choice([-307, -300, -10, 0, 10, 300, 307])
    if kind == 1:  # denormals among ordinary numbers
        return rng.choice([TINY * rng.randint(-9, 9), 2.0**-1022, 1.0, -1.0, rng.gauss(0, 1)])
    if kind == 2:  # few units in the last place apart
        return math.nextafter(rng.choice([1.0, -1.0, 3.0, 1e16]), rng.choice([-math.inf, math.inf]))
    if kind == 3:
        return rng.choice([LARGEST, -LARGEST, 1e154, -1e154, 0.0, 1.0])
    return rng.gauss(0, 1)


def make_attack(seed):
    """(rows, labels, w as integers, a level, whether there is an intercept); most rows nearly cancel w."""
    rng = Random(seed)
    d, intercept, kind = rng.randint(1, 5), rng.random() < 0.5, rng.randrange(5)
    w = [cell(rng, rng.choice([kind, 4])) for _ in range(d + intercept)]
    top = math.lcm(*(v.as_integer_ratio()[1] for v in w))
    whole = [int(Fraction(v) * top) for v in w]
    if not any(whole):
        whole[0] = 1
    rows = []
    for _ in range(rng.randint(2, 6)):
        row = [cell(rng, kind) for _ in range(d)]
        j = rng.randrange(d)
        if whole[j]:  # the last cell makes the sum as near to zero as doubles can
            rest = sum(
                (Fraction(v) * c for k, (v, c) in enumerate(zip(row, whole, strict=False)) if k != j), Fraction(0)
            )
            rest += whole[d] if intercept else 0
            near = -rest / whole[j]
            if abs(near) < Fraction(LARGEST):
                row[j] = float(near)
                if rng.random() < 0.5:
                    row[j] = math.nextafter(row[j], rng.choice([-1e308, 1e308]))
        rows.append(row)
    labels = [0, 1, *(rng.randrange(2) for _ in rows[2:])]
    level = rng.choice([0, 0, whole[0], 1])
    return rows, labels, whole, level, intercept


def check_attack(seed, tally):
    rows, labels, w, level, intercept = make_attack(seed)
    X, y = np.array(rows), np.array(labels)
    told = {"n": len(rows), "d": X.shape[1], "columns": None, "target": None, "classes": ["0", "1"], "dropped": []}
    told |= {"reading": "binary64", "exponents": [-1099, 1099]}
    cert = {"intercept": intercept, "positive": ["1"], "negative": ["0"]}
    wanted = []
    for row, label in zip(rows, labels, strict=True):
        score = sum((Fraction(v) * c for v, c in zip(row, w, strict=False)), Fraction(w[-1] if intercept else 0))
        score = (1 if label else -1) * score - level
        wanted.append(checker.POSITIVE if score > 0 else checker.NEGATIVE if score else checker.ZERO)
    table = exact_table(X, y, ["0", "1"], "binary64")
    for one in (table, plain(table)):
        found = checker.Data(cert, checker.Scope(told, one, False), checker.Meter()).signs(list(w), level)
        assert list(found) == wanted, (rows, labels, w, level)
    tally["tables"] += 1
    tally["signs"] += len(wanted)


def show_attack(seed):
    return repr(make_attack(seed))
