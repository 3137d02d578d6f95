"""False claims built by construction, and files built to keep a checker busy. All must be refused.

Small tables are tried with every proof over a small alphabet: whatever is accepted has to be true by brute force.
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import brute_force
import numpy as np
import pytest
from hard_sets import sealed, table_of
from scipy import sparse

from separatrix import checker

LAMBDA = "lambda"


def forged(X, y, claim, *, intercept=True, reading="binary64", **fields):
    """A certificate of these data that with any claim, and the right fingerprint."""
    names = sorted({checker.label_name(t) for t in y.tolist()})
    head = {"format": checker.FORMAT, "claim": claim, "reading": reading, "intercept": intercept}
    kesler = fields.pop("kesler", None)
    sides = {"positive": names[1:], "negative": names[:1]} if kesler is None else {"kesler": kesler}
    data = {"n": X.shape[0], "d": X.shape[1], "columns": None, "target": None, "dropped": []}
    return sealed({**head, "data": {**data, "classes": names}, **sides, **fields}, X, y)


def accepted(content, X, y):
    try:
        checker.check(content, table_of(X, y, content))
    except checker.Rejected:
        return False
    return True


def hexed(values):
    return [hex(v) for v in values]


def subsets(items):
    return [list(chosen) for k in range(1, len(items) + 1) for chosen in itertools.combinations(items, k)]


SETS = [  # complete, quasi-complete, overlapping, and with a column that is there twice
    (np.array([[-1.0], [-2.0], [1.0]]), np.array([0, 0, 1]), True),
    (np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1]), True),
    (np.array([[-1.0], [1.0], [0.0]]), np.array([0, 0, 1]), True),
    (np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 2.0]]), np.array([0, 1, 1]), False),
    (np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 1, 1]), False),
]


def every_proof(keys, p):
    """Claims of verdicts and fates with every support, weights of 1 and 2, and vectors of -1, 0 and 1."""
    circulations = [
        {"support": chosen, LAMBDA: hexed(weights)}
        for chosen in subsets(keys)
        for weights in itertools.product((1, 2), repeat=len(chosen))
    ]
    vectors = [hexed(v) for v in itertools.product((-1, 0, 1), repeat=p)]
    for fields in circulations:
        yield "not-complete", fields
        yield "not-complete", {"support": fields["support"]}
        yield "overlap", fields
        for null in vectors:
            yield "overlap", {**fields, "null": [null]}
    for w in vectors:
        yield "complete", {"w": w}
        for j in range(p):
            yield "coefficient-unidentifiable", {"coefficient": j, "v": w}


def truth_of(rows, claim, fields):
    strict = brute_force.strict_rows(rows)
    verdict = "complete" if len(strict) == len(rows) else "quasi" if strict else "overlap"
    if claim.startswith("coefficient-"):
        fate = brute_force.fate_of_rows(rows, fields["coefficient"])
        return claim.removeprefix("coefficient-") == {"+inf": "infinite", "-inf": "infinite"}.get(fate, fate)
    return verdict == claim or (claim == "not-complete" and verdict != "complete")


def try_all(X, y, keys, rows, proofs, **options):
    """The claims that are accepted, each of them true."""
    known, found = {}, set()
    for claim, fields in proofs:
        if accepted(forged(X, y, claim, **options, **fields), X, y):
            key = claim, fields.get("coefficient")
            if key not in known:
                known[key] = truth_of(rows, claim, fields)
            assert known[key], (claim, X.tolist(), y.tolist(), fields)
            found.add(claim)
    return found


@pytest.mark.parametrize("which", range(len(SETS)))
def test_every_small_proof_that_is_accepted_is_true(which):
    X, y, intercept = SETS[which]
    keys, p = list(range(len(X))), X.shape[1] + intercept
    rows = brute_force.exact_rows(X, 2 * y - 1, intercept)
    found = try_all(X, y, keys, rows, every_proof(keys, p), intercept=intercept)
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 1, 2, 1], [0, 2, 1, 0]])
def test_every_small_proof_about_all_classes_at_once_is_true(labels):
    """Kesler's construction, without an intercept: two blocks of one number."""
    X, y = np.array([[1.0], [2.0], [-1.0], [1.0]])[: len(labels)], np.array(labels)
    rows = brute_force.kesler_rows(X, y, 3, intercept=False)
    keys = [list(key) for key in rows]
    proofs = [
        (claim, fields)
        for claim, fields in every_proof(keys[:6], 2)
        if "null" not in fields or len(fields["support"]) < 3
    ]
    options = {"intercept": False, "kesler": ["0", "1", "2"]}
    found = try_all(X, y, keys, list(rows.values()), proofs, **options)
    strict = brute_force.strict_rows(list(rows.values()))
    assert ("complete" in found) == (len(strict) == len(rows))


TIED, EDGE, _ = SETS[1]


@pytest.mark.slow
def test_every_small_proof_of_a_fate_is_true():
    """Finite, infinite and undetermined, with combinations of -1, 0 and 1 and vectors that are nowhere negative."""
    undetermined = (np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]]), np.array([1, 1, 0]), True)
    accepted_kinds = set()
    for X, y, intercept in [SETS[0], SETS[1], SETS[2], undetermined]:
        rows = brute_force.exact_rows(X, 2 * y - 1, intercept)
        n, p = len(X), len(rows[0])
        weak = [
            w
            for w in itertools.product(range(-2, 3), repeat=p)
            if any(w) and all(sum(a * b for a, b in zip(z, w, strict=True)) >= 0 for z in rows)
        ]
        circulations = [
            {"support": chosen, LAMBDA: hexed(weights)}
            for chosen in subsets(range(n))
            for weights in itertools.product((1, 2), repeat=len(chosen))
            if not any(sum(t * rows[i][j] for i, t in zip(chosen, weights, strict=True)) for j in range(p))
        ] or [{"support": [0], LAMBDA: ["0x1"]}]
        for j, c in itertools.product(range(p), itertools.product((-1, 0, 1), repeat=n)):
            base = {"coefficient": j, "rows": list(range(n)), "c": hexed(c), "mu": hexed(c)}
            tries = [("finite", {**base, "rows": given["support"], "c": hexed(c[i] for i in given["support"]), **given})
                     for given in circulations]  # fmt: skip
            tries += [("infinite", {**base, "w": hexed(w), "sign": s}) for w in weak[:6] for s in (1, -1)]
            ups, downs = ([w for w in weak if s * w[j] > 0][:2] for s in (1, -1))
            tries += [("undetermined", {**base, "w1": hexed(a), "w2": hexed(b)}) for a in ups for b in downs]
            for kind, fields in tries:
                if accepted(forged(X, y, f"coefficient-{kind}", intercept=intercept, **fields), X, y):
                    fate = {"infinite": "+inf" if fields.get("sign") == 1 else "-inf"}.get(kind, kind)
                    assert fate == brute_force.fate_of_rows(rows, j), (X.tolist(), y.tolist(), kind, fields)
                    accepted_kinds.add(kind)
    assert accepted_kinds == {"finite", "infinite", "undetermined"}


def test_the_fewest_mistakes_are_not_one_more():
    """Every pack of every pair of witnesses of two or three rows, over 1 and 2, claimed to prove one mistake more."""
    X, y, w, wrong = np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), ["0x2", "-0x1"], [2]
    witnesses = [list(t) for k in (2, 3) for t in itertools.combinations([-4, -3, -2, -1, 0, 1, 2, 3], k)]
    base = {"w": w, "wrong": wrong, "upper": 1}
    true = {**base, "lower": 1, "witnesses": [[0, 1, 2]], "nodes": [{"pack": [0]}]}
    true = next({**true, "witnesses": [t]} for t in witnesses
                if accepted(forged(X, y, "min-errors", **{**true, "witnesses": [t]}), X, y))  # fmt: skip
    for lower, upper in ((2, 1), (2, 2), (1, 0)):
        assert not accepted(forged(X, y, "min-errors", **{**true, "lower": lower, "upper": upper}), X, y)
    worse = {"w": ["0x0", "0x1"], "wrong": [0, 2], "upper": 2, "lower": 2}
    for first, second in itertools.product(witnesses[::3], witnesses[::3]):
        for node in ({"pack": [0, 1]}, {"pack": [0, 1], "weights": [1, 1], "over": 1}, {"pack": [0, 1, 0]}):
            fields = {**worse, "witnesses": [first, second], "nodes": [node]}
            assert not accepted(forged(X, y, "min-errors", **fields), X, y), (first, second, node)


@pytest.mark.parametrize("claim", ["margin", "margin-lifted"])
def test_margins_are_exact_to_the_last_bit(claim):
    """The bound of mistakes rests on the lifted margin: one part in 2^200 more or less is refused."""
    X, y = np.array([[-1.0], [2.0]]), np.array([0, 1])
    true, w, m = (Fraction(9, 4), [2, -1], 3) if claim == "margin" else (Fraction(9, 5), [1, 0], 1)
    proof = {"support": [0, 1], LAMBDA: ["0x1", "0x1"], "w": hexed(w), "m": hex(m)}
    if claim == "margin-lifted":  # the nearest point of the hull of (1, -1) and (2, 1) to the origin
        share, true = Fraction(1, 5), Fraction(9, 5)
        proof |= {LAMBDA: [hex(4), hex(1)], "w": ["0x6", "-0x3"], "m": "0x9"}
        assert true == sum(((1 - share) * a + share * b) ** 2 for a, b in ((1, 2), (-1, 1)))

    def number(q):
        return f"{hex(q.numerator)}/{hex(q.denominator)}"

    tiny = Fraction(1, 1 << 200)
    assert accepted(forged(X, y, claim, **proof, lo2=number(true), hi2=number(true)), X, y)
    for low, high in ((true + tiny, true + tiny), (true - tiny, true - tiny), (true + tiny, true), (true, true - tiny)):
        assert not accepted(forged(X, y, claim, **proof, lo2=number(low), hi2=number(high)), X, y)


def test_a_proof_in_one_reading_of_the_numbers_is_none_in_the_other():
    """0.1 + 0.2 = 0.3 in decimals alone."""
    X, y = np.array([[0.1], [0.2], [0.3]]), np.array([1, 1, 0])
    proof = {"support": [0, 1, 2], LAMBDA: ["0x1"] * 3, "intercept": False}
    assert accepted(forged(X, y, "not-complete", reading="decimal", **proof), X, y)
    assert not accepted(forged(X, y, "not-complete", reading="binary64", **proof), X, y)


# -- bundles ---------------------------------------------------------------------------------------------------


def test_each_part_of_a_bundle_is_checked_against_its_own_rows():
    """The second part borrows the proof of the first for other classes, intercepts and readings."""
    X, y = np.array([[0.0], [1.0], [2.0], [1.0]]), np.array([0, 1, 2, 2])
    whole = forged(X, y, "complete", kesler=["0", "1", "2"], w=["0x1"] * 4)
    first = {"claim": "complete", "intercept": True, "positive": ["1"], "negative": ["0"]}
    first["w"] = ["0x2", "-0x1"]
    others = [
        {**first, "negative": ["2"]},
        {**first, "negative": None},
        {**first, "positive": ["0"], "negative": ["1"]},
        {**first, "positive": ["1", "2"], "negative": ["0"], "w": ["0x2", "-0x4"]},
        {**first, "intercept": False},
        {**first, "intercept": 1},
        {**first, "kesler": ["0", "1"]},
        {name: value for name, value in first.items() if name != "negative"},
        {
            **{name: value for name, value in first.items() if name not in ("positive", "negative")},
            "kesler": ["0", "1"],
        },
        {**first, "data": whole["data"]},
        {**first, "format": checker.FORMAT},
    ]

    def bundle(*parts):
        return {"format": checker.FORMAT, "data": whole["data"], "certificates": list(parts)}

    assert accepted(bundle(first, first), X, y)
    for other in others:
        assert not accepted(bundle(first, other), X, y), other
        assert not accepted(bundle(first, other, first), X, y), other


# -- signs by floating point -----------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
@pytest.mark.parametrize("seed", range(4))
def test_no_vector_is_positive_by_rounding(seed, reading):
    """L1: vectors that are nearly orthogonal to a row, values of every size, against Fractions."""
    rng = np.random.default_rng(seed)
    for _ in range(150):
        d = int(rng.integers(2, 5))
        x = (rng.integers(1, 1 << 53, d) * 2.0 ** rng.choice([0, 1, -40, 900, -1060], d)) * rng.choice([1.0, -1.0], d)
        exact = [Fraction(repr(v)) if reading == "decimal" else Fraction(v) for v in x.tolist()]
        w = [Fraction(int(v)) for v in rng.integers(1, 1 << 60, d)]
        w[-1] = -sum(a * b for a, b in zip(w[:-1], exact[:-1], strict=True)) / exact[-1]
        w[-1] += Fraction(int(rng.integers(-1, 2)), 1 << int(rng.integers(0, 3000)))
        total = sum(a * b for a, b in zip(w, exact, strict=True))
        X, y = np.array([x, -x]), np.array([1, 0])
        texts = [f"{hex(q.numerator)}/{hex(q.denominator)}" for q in w]
        content = forged(X, y, "complete", intercept=False, reading=reading, w=texts)
        assert accepted(content, X, y) == (total > 0), (x.tolist(), texts)


# -- files that keep a checker busy ----------------------------------------------------------------------------


def busy():
    """Claims that would take hours: the work is in the number of parts, nodes, witnesses, vectors, columns."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 40)), np.arange(60) % 2
    X[1] = X[0]
    pair = {"support": [0, 1], LAMBDA: ["0x1", "0x1"]}
    head = {"claim": "not-complete", "reading": "binary64", "positive": ["1"], "negative": ["0"], **pair}
    parts = [{**head, "intercept": bool(k % 2)} for k in range(2000)]
    data = forged(X, y, "not-complete", **pair)["data"]
    yield "parts", {"format": checker.FORMAT, "data": data, "certificates": parts}, X, y
    wrong = np.flatnonzero((2 * y - 1) * X[:, 0] <= 0).tolist()
    base = {"lower": 1, "upper": len(wrong), "wrong": wrong, "w": ["0x1"] + ["0x0"] * 40, "nodes": [{"pack": [0]}]}
    yield "witnesses", forged(X, y, "min-errors", **base, witnesses=[[0, 1]] * 10_000), X, y
    yield "solved witnesses", forged(X, y, "min-errors", **base, witnesses=[list(range(2, 42))] * 100), X, y
    leaves = [{"split": 5, "wrong": 1, "right": 2}, {"pack": [0] * 100_000, "over": 100_000}, {"pack": [0]}]
    yield "packs", forged(X, y, "min-errors", **{**base, "nodes": leaves}, witnesses=[[0, 1]]), X, y
    Z = np.zeros((60, 100))
    Z[:, 0], Z[:2, 0] = rng.standard_normal(60), 1.0
    E = np.repeat(Z[:, :1], 100, axis=1)
    null = [["0x1", "-0x1"] * k + ["0x0"] * (101 - 2 * k) for k in (*range(2, 51), *range(2, 51))]
    yield "null vectors", forged(E, y, "overlap", **pair, null=null), E, y
    B = np.vstack([rng.integers(-1, 2, (60, 60)), np.zeros((1, 60))]).astype(float)
    B, both = np.vstack([B, B, np.ones((1, 60))]), np.repeat([0, 1, 1], [61, 61, 1])
    all_but_one = {"support": list(range(122)), LAMBDA: ["0x1"] * 122}
    yield "ranks", forged(B, both, "overlap", **all_but_one), B, both
    many = np.arange(120)
    names = sorted(map(str, range(120)))
    angles = 2 * np.pi * np.arange(120) / 120
    C = np.column_stack([np.cos(angles), np.sin(angles)])  # each class has the largest score on its own row
    w = [float(v).hex() for name in names[:-1] for v in (*(C[int(name)] - C[int(names[-1])]), 0.0)]
    yield "comparisons", forged(C, many, "complete", kesler=names, w=w), C, many
    long = [f"0x1/0x{(1 << 20_000) + 2 * k + 1:x}" for k in range(41)]
    yield "denominators", forged(X, y, "complete", w=long), X, y
    far = [f"0x{(1 << 30_000) + k:x}" for k in range(60)]
    yield "weights", forged(X, y, "not-complete", support=list(range(60)), **{LAMBDA: far}), X, y
    coprime = [f"0x1/0x{3**k:x}" for k in (12_000, 12_001)] + ["0x1/0x" + "f" * 4000] + ["0x0"] * 38
    yield "coprime denominators", forged(X, y, "complete", w=coprime), X, y
    wide = [["0x1p9999"] * 101] * 100
    yield "powers", forged(Z, y, "overlap", **pair, null=wide), Z, y


BUSY = ["parts", "witnesses", "solved witnesses", "packs", "null vectors", "ranks", "comparisons",
        "denominators", "weights", "coprime denominators", "powers"]  # fmt: skip


@pytest.mark.parametrize("name", BUSY)
def test_work_is_counted_before_it_is_done(name, monkeypatch):
    """With a thousandth of the steps that are allowed, each of these ends by the count, and not in a sentence."""
    content, X, y = next(rest for kind, *rest in busy() if kind == name)
    monkeypatch.setattr(checker, "MOST_WORK", 1 << 21)
    monkeypatch.setattr(checker, "PER_NUMBER", 1 << 8)
    monkeypatch.setattr(checker, "MOST_FOR_TEXT", 1 << 20)  # however long the numbers are
    with pytest.raises(checker.Rejected, match="far more work"):
        checker.check(content, table_of(X, y, content))


@pytest.mark.parametrize("name", BUSY)
def test_the_second_checker_counts_it_too(name, second_checker):
    content, X, y = next(rest for kind, *rest in busy() if kind == name)
    code, (why,) = second_checker.check(json.dumps(content), table_of(X, y), 1 << 21)
    assert (code, why) == (1, f"checking it would take more than {1 << 21} steps")


def test_work_for_the_characters_of_a_proof_has_a_limit():
    meter = checker.Meter()
    meter.read(1 << 40)
    assert meter.left == checker.MOST_WORK + checker.MOST_FOR_TEXT


def test_a_file_that_is_far_too_long_is_not_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(checker, "MOST_TEXT", 100)
    path = tmp_path / "long.json"
    path.write_text(" " * 100 + "{}")
    with pytest.raises(ValueError, match="longer than 100 characters"):
        checker.load(str(path))


def test_columns_that_are_not_there_cost_nothing():
    """Ten million columns, four rows: a witness of two rows does not span them."""
    X = sparse.csr_array((np.ones(4), ([0, 1, 2, 3], [0, 0, 1, 10**7])), shape=(4, 10**7 + 1))
    y = np.array([0, 1, 0, 1])
    content = forged(X, y, "overlap", support=[0, 1], **{LAMBDA: ["0x1", "0x1"]})
    with pytest.raises(checker.Rejected, match="does not span"):
        checker.check(content, table_of(X, y, content))
