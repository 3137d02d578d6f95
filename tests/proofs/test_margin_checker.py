"""The checker refuses margins that are not proved."""

from __future__ import annotations

import copy
from fractions import Fraction

import hard_sets
import numpy as np
import pytest
from hard_sets import sealed, table_of

from separatrix import checker, margin, mistake_bound, separability


def check(content, X, y):
    return checker.check(content, table_of(X, y, content))


X6 = np.array([[1.0, 1], [2, 3], [2, 1], [-1, -2], [-3, -1], [-2, -2]])
Y6 = np.array([1, 1, 1, -1, -1, -1])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"m": "0x0"}, "not positive"),
        ({"m": "-0x1"}, "not positive"),
        ({"lo2": "0x0"}, "not positive"),
        ({"lo2": "0x100"}, "lower bound"),
        ({"hi2": "0x1"}, "upper bound"),
        ({"w": ["0x0", "0x0", "0x1"]}, "nearer than m"),
        ({"w": ["0x0", "0x0", "0x0"]}, "zero"),
        ({"support": [0, 0]}, "repeated"),
        ({"support": []}, "list of 0"),
        ({"support": [0, 1]}, "lacks a class"),
        ({"lambda": ["0x1", "-0x1"]}, "not positive"),
        ({"lambda": ["0x1", "0x0"]}, "not positive"),
        ({"m": "0x" + "f" * 100_000}, "too long"),
        ({"lo2": None}, "number"),
        ({"claim": "margin-lifted"}, "lower bound"),
        ({"intercept": False}, "list of 3"),
    ],
)
def test_holes_stay_closed(change, match):
    content = margin(X6, Y6, exact=True).certificate.content
    assert len(content["support"]) == 2
    with pytest.raises(checker.Rejected, match=match):
        check({**copy.deepcopy(content), **change}, X6, Y6)


@pytest.mark.parametrize("seed", range(3))
def test_mutated_certificates_are_rejected_or_true(seed):
    rng = np.random.default_rng(seed)
    outcomes = {True: 0, False: 0}
    while sum(outcomes.values()) < 250:
        X, y = hard_sets.small(rng)
        intercept, lifted = bool(rng.integers(2)), bool(rng.integers(2))
        if separability(X, y, fit_intercept=intercept).verdict != "complete":
            continue
        first = (mistake_bound if lifted else margin)(X, y, fit_intercept=intercept).certificate.content
        for _ in range(5):
            content, X2, y2 = copy.deepcopy(first), X.copy(), y.copy()
            kind = rng.integers(7)
            if kind < 3:
                numbers = content[["w", "lambda", "support"][kind]]
                at = rng.integers(len(numbers))
                value = str(rng.choice(["0x0", "-0x1", "0x1", "0x7/0x3", "-0x1.8p+3"]))
                numbers[at] = int(rng.integers(len(y))) if kind == 2 else value
            elif kind == 3:
                name = str(rng.choice(["lo2", "hi2", "m"]))
                content[name] = str(rng.choice(["0x1", "0x1/0x100", "0x100", "0x3/0x2"]))
            elif kind == 4:
                y2[rng.integers(len(y))] *= -1
            elif kind == 5:
                X2[rng.integers(len(y)), rng.integers(X.shape[1])] += rng.choice([-1.0, 1.0, 0.5])
            else:
                content["claim"] = "margin" if lifted else "margin-lifted"
            if abs(y2.sum()) == len(y2):
                continue
            sealed(content, X2, y2)
            try:
                check(content, X2, y2)
            except checker.Rejected:
                outcomes[False] += 1
                continue
            outcomes[True] += 1
            lo2, hi2 = (Fraction(*(int(part, 16) for part in content[k].split("/"))) for k in ("lo2", "hi2"))
            if content["claim"] == "margin":
                assert lo2 <= margin(X2, y2, fit_intercept=intercept, exact=True).squared <= hi2
            else:
                low, high = mistake_bound(X2, y2, fit_intercept=intercept).margin
                assert float(lo2) <= high**2 * (1 + 1e-12)
                assert float(hi2) >= low**2 * (1 - 1e-12)
    assert outcomes[False] > 100
