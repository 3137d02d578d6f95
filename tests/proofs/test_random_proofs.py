"""Certificates with proofs at random, against brute force: each is refused, or what it says is true."""

from __future__ import annotations

import itertools
from fractions import Fraction

import brute_force
import numpy as np
import pytest
from test_forged_certificates import EDGE, LAMBDA, LINE, SORTED, TIED, accepted, forged

from separatrix import checker


def small_sets(rng):
    """Rows of few small integers, in one or two columns."""
    n, d = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    X = rng.integers(-1, 2, (n, d)).astype(float)
    y = rng.permutation(np.arange(n) % 2)
    return X, y, bool(rng.integers(2))


def subsets(n):
    return [list(rows) for k in range(n + 1) for rows in itertools.combinations(range(n), k)]


KNOWN = [  # of each verdict, and with coefficients of each kind
    (np.array([[-1.0], [1.0]]), np.array([0, 1]), True),
    (np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]), False),
    (TIED, EDGE, True),
    (np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 0]), True),
    (np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 1.0]]), np.array([0, 1, 1]), False),
]
CLAIMS = sorted(set(checker.CLAIMS) - {"min-errors", "margin", "margin-lifted"})


def random_proof(rng, n, p, circulations, weak):
    """Fields of every claim, small numbers and rows at random; circulations and weak vectors are often true ones."""

    def numbers(count, least=-1):
        return [hex(v) for v in rng.integers(least, 3, count).tolist()]

    def vector():
        return weak[int(rng.integers(len(weak)))] if rng.random() < 0.8 else numbers(p, -2)

    rows = np.flatnonzero(rng.random(n) < 0.6).tolist()
    weights = {"support": np.flatnonzero(rng.random(n) < 0.7).tolist()}
    weights[LAMBDA] = numbers(len(weights["support"]), 0)
    if circulations and rng.random() < 0.8:
        weights = dict(circulations[int(rng.integers(len(circulations)))])
    fields = {"coefficient": int(rng.integers(-1, p + 1)), "sign": int(rng.integers(-1, 2)), "rows": rows}
    fields |= {"c": numbers(len(rows)), "mu": numbers(len(rows)), **weights}
    fields |= {name: vector() for name in ("w", "w1", "w2", "v")}
    if rng.random() < 0.5:
        fields["null"] = [numbers(p) for _ in range(int(rng.integers(1, p + 1)))]
    return fields


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 3))])
def test_random_proofs_of_verdicts_and_coefficients_are_refused_or_true(seed):
    """Whatever the checker accepts is true by brute force, and it accepts some of every kind."""
    rng = np.random.default_rng(seed)
    found, count = set(), 0
    for X, y, intercept in [*KNOWN, *(small_sets(rng) for _ in range(4))]:
        n, p, signs = len(X), X.shape[1] + intercept, 2 * y - 1
        rows = brute_force.exact_rows(X, signs, intercept)
        truths = {"complete", "quasi", "overlap"} & {brute_force.verdict(X, signs, intercept)[0]}
        truths |= {"not-complete"} if truths != {"complete"} else set()
        fates = [brute_force.fate(X, signs, intercept, j) for j in range(p)]
        circulations = [
            {"support": chosen, LAMBDA: [hex(v) for v in weights]}
            for chosen in subsets(n)[1:]
            for weights in itertools.product((1, 2), repeat=len(chosen))
            if not any(sum(t * rows[i][j] for i, t in zip(chosen, weights, strict=True)) for j in range(p))
        ]
        weak = [
            [hex(v) for v in w]
            for w in itertools.product(range(-2, 3), repeat=p)
            if all(sum(a * b for a, b in zip(z, w, strict=True)) >= 0 for z in rows)
        ]
        for _ in range(1000):
            fields = random_proof(rng, n, p, circulations, weak)
            claim, j = CLAIMS[int(rng.integers(len(CLAIMS)))], fields["coefficient"]
            if accepted(forged(X, y, claim, intercept=intercept, **fields), X, y):
                fate = {"infinite": "+inf" if fields["sign"] > 0 else "-inf"}
                kind = claim.removeprefix("coefficient-")
                truth = claim in truths if kind == claim else 0 <= j < p and fates[j] == fate.get(kind, kind)
                assert truth, (claim, X.tolist(), y.tolist(), intercept, fields)
                found.add(claim)
                count += 1
    assert found >= set(CLAIMS) - {"coefficient-undetermined"}  # whose five parts seldom fit by chance
    assert count > 100


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 4))])
def test_random_proofs_of_mistakes_are_refused_or_true(seed):
    """Trees, packings and weights at random, over witnesses that are true and some that are not."""
    rng = np.random.default_rng(seed)
    outcomes = {True: 0, False: 0}
    for _ in range(25):
        X, y, intercept = small_sets(rng)
        n, p = len(X), X.shape[1] + intercept
        fewest = brute_force.fewest_mistakes(brute_force.exact_rows(X, 2 * y - 1, intercept))
        codes = [list(c) for k in (1, 2, 3) for c in itertools.combinations(range(-n, n), k)]
        for _ in range(60):
            w = [hex(v) for v in rng.integers(-2, 3, p).tolist()]
            values = brute_force.exact_rows(X, 2 * y - 1, intercept)
            wrong = [i for i, z in enumerate(values) if sum(a * int(t, 16) for a, t in zip(z, w, strict=True)) <= 0]
            pool = [codes[k] for k in rng.integers(len(codes), size=3).tolist()]
            pool = [entry for entry in pool if true_witness(values, entry)] if rng.random() < 0.9 else pool
            nodes = random_tree(rng, n, len(pool))
            lower = int(rng.integers(0, len(wrong) + 1))
            fields = {"lower": lower, "upper": len(wrong), "w": w, "wrong": wrong, "witnesses": pool, "nodes": nodes}
            ok = accepted(forged(X, y, "min-errors", intercept=intercept, **fields), X, y)
            outcomes[ok] += 1
            if ok:
                assert lower <= fewest <= len(wrong), (X.tolist(), y.tolist(), intercept, fields)
    assert min(outcomes.values()) > 20


def true_witness(rows, codes):
    """Whether the rows, reversed ones as -1 - j, have weights 1, 2 or 3 that cancel."""
    chosen = [rows[c] if c >= 0 else [-v for v in rows[-1 - c]] for c in codes]
    distinct = len({max(c, -1 - c) for c in codes}) == len(codes)
    return distinct and any(
        not any(sum(t * z[j] for t, z in zip(weights, chosen, strict=True)) for j in range(len(rows[0])))
        for weights in itertools.product((1, 2, 3), repeat=len(codes))
    )


def random_tree(rng, n, witnesses):
    """A tree of one to three splits; leaves pack witnesses, with weights and divisors that need not fit."""
    splits = int(rng.integers(0, 4))
    nodes = [
        {"split": int(rng.integers(n)), "wrong": 2 * k + 1, "right": 2 * k + 2} if k < splits else None
        for k in range(2 * splits + 1)
    ]
    for k in range(splits, 2 * splits + 1):
        pack = rng.integers(witnesses, size=int(rng.integers(0, 3))).tolist() if witnesses else []
        nodes[k] = {"pack": pack}
        if rng.random() < 0.3:
            nodes[k] |= {"weights": rng.integers(0, 3, len(pack)).tolist(), "over": int(rng.integers(-1, 3))}
    return nodes


def hull_distance(points, others):
    """The square of the distance between two hulls in the plane that do not meet, as a Fraction."""
    best = None
    for near, far in ((points, others), (others, points)):
        for a, (b, c) in itertools.product(near, itertools.combinations_with_replacement(far, 2)):
            edge = [q - r for q, r in zip(c, b, strict=True)]
            length = sum(e * e for e in edge)
            t = sum((q - r) * e for q, r, e in zip(a, b, edge, strict=True)) / length if length else Fraction(0)
            t = min(max(t, Fraction(0)), Fraction(1))
            found = sum((q - r - t * e) ** 2 for q, r, e in zip(a, b, edge, strict=True))
            best = found if best is None else min(best, found)
    return best


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 4))])
def test_random_proofs_of_margins_are_refused_or_true(seed):
    rng = np.random.default_rng(seed)
    bounds = ["0x1/0x40", "0x1/0x8", "0x1/0x4", "0x1/0x2", "0x1", "0x2", "0x4"]
    outcomes = {True: 0, False: 0}
    for X, y, _ in [KNOWN[0], (LINE, SORTED, True), *(small_sets(rng) for _ in range(5))]:
        X = X + 2.0 * y[:, None]
        plane = X if X.shape[1] == 2 else np.column_stack([X, np.zeros(len(X))])
        points = [[Fraction(v) for v in row] for row in plane.tolist()]
        sides = [[q for q, t in zip(points, y, strict=True) if t == side] for side in (0, 1)]
        separable = brute_force.verdict(X, 2 * y - 1)[0] == "complete"
        half2 = hull_distance(*sides) / 4 if separable else None
        for _ in range(600):
            rows = np.flatnonzero(rng.random(len(X)) < 0.6).tolist()
            v = rng.integers(0, 3, X.shape[1])
            w = [hex(t) for t in [*v.tolist(), round(-float(v @ X.mean(0))) + int(rng.integers(-1, 2))]]
            low, high, m = (str(rng.choice(choice)) for choice in (bounds, bounds, ["0x1", "0x2", "0x0"]))
            fields = {"w": w, "m": m, "lo2": low, "hi2": high, "support": rows, LAMBDA: ["0x1"] * len(rows)}
            ok = accepted(forged(X, y, "margin", **fields), X, y)
            outcomes[ok] += 1
            if ok:
                assert half2 is not None, (X.tolist(), y.tolist(), fields)
                assert Fraction(*(int(t, 16) for t in low.split("/"))) <= half2, (X.tolist(), y.tolist(), fields)
                assert half2 <= Fraction(*(int(t, 16) for t in high.split("/"))), (X.tolist(), y.tolist(), fields)
    assert min(outcomes.values()) > 5
