"""Short proofs of overlap: the lemmas L17 and L18, forgeries of every field, and verdicts against brute force."""

from __future__ import annotations

import copy
from fractions import Fraction

import brute_force
import numpy as np
import pytest
from hard_sets import noisy, small, table_of
from test_forged_claims import accepted, forged

from separatrix import checker, separability
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import short_proof
from separatrix.proofs.separability.balanced_weights import balanced_weights
from separatrix.proofs.separability.facial_reduction import reduce


def semidefinite(M):
    """Whether a symmetric matrix has no negative eigenvalue, by elimination in Fractions."""
    a = [[Fraction(v) for v in row] for row in M]
    for k in range(len(a)):
        if a[k][k] < 0 or (a[k][k] == 0 and any(a[k])):
            return False
        for i in range(k + 1, len(a)):
            factor = a[i][k] / a[k][k] if a[k][k] else 0
            a[i] = [u - factor * v for u, v in zip(a[i], a[k], strict=True)]
    return True


def near_of(found, **other):
    return {
        "weights": found.weights,
        "inner": found.inner,
        "exponents": found.exponents,
        "floor": found.floor,
        **other,
    }


def short_of(X, y, intercept=True):
    """A short proof, with however few columns."""
    rows = LiftedRows(X, y.astype(np.int8), intercept)
    weights = balanced_weights(rows)
    return None if weights is None else short_proof(rows, *weights)


def certificate_of(X, y, found, claim="overlap", intercept=True, reading="binary64", **other):
    return forged(X, y, claim, intercept=intercept, reading=reading, support=found.ids, near=near_of(found), **other)


# -- L17 -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [4, 8, 16])
def test_packed_rows_are_added_and_multiplied_like_rows(width):
    rng = np.random.default_rng(width)
    top = (1 << 8 * width - 1) - 1
    rows = [[int(v) * top >> 66 for v in rng.integers(-(2**62), 2**62, 7)] for _ in range(3)]
    packed = checker.PackedRows(top, 7)
    assert packed.width == width
    assert packed.combination([]) == [0] * 7
    for row in rows:
        packed.append(row)
    total = [2 * a - 3 * b + c for a, b, c in zip(*rows, strict=True)]
    for left_out in range(0, 7, 2):
        assert packed.combination([2, -3, 1]) == total[left_out:]
        assert packed.combination([0, 0, 1]) == rows[2][left_out:]
        packed.drop(2 if left_out < 6 else 1)
    ends = [-top - 1, top, 0, -1]
    packed = checker.PackedRows(top, 4)
    packed.append(ends)
    assert packed.combination([1]) == ends
    assert checker.PackedRows(top + 1, 4).width > width


def test_no_eigenvalue_is_below_the_bound():
    rng = np.random.default_rng(0)
    proved = 0
    for _ in range(300):
        c, bits = int(rng.integers(1, 9)), int(rng.choice([1, 3, 8, 16, 31, 40]))
        a = [[int(v) for v in rng.integers(-(2**bits), 2**bits + 1, c)] for _ in range(c + int(rng.integers(0, 6)))]
        if rng.random() < 0.3:
            for row in a:  # nearly dependent columns
                row[-1] = row[0] + int(rng.integers(0, 2))
        meter = checker.Meter()
        upper, top = checker.gram(a, meter)
        M = [[sum(row[i] * row[j] for row in a) for j in range(c)] for i in range(c)]
        assert upper == [row[i:] for i, row in enumerate(M)]
        assert top == max(M[i][i] for i in range(c))
        shift = int(rng.choice([0, 1, c, 2**bits, 4**bits // 4, 4**bits]))
        try:
            bound = checker.eigenvalues_above(upper, top, shift, int(rng.choice([1, 1 + shift // 2])), meter)
        except checker.Rejected:
            continue
        proved += 1
        assert bound <= shift
        assert semidefinite([[v - bound * (i == j) for j, v in enumerate(row)] for i, row in enumerate(M)])
    assert proved > 100


def test_an_indefinite_matrix_is_refused():
    M = [[2, 5], [5, 2]]
    with pytest.raises(checker.Rejected, match=r"span|grow"):
        checker.eigenvalues_above([M[0], [M[1][1]]], 5, 0, 1, checker.Meter())


def test_a_rank_is_shown_by_a_least_singular_value():
    rng = np.random.default_rng(3)
    c = 12
    rows = [dict(enumerate(map(int, rng.integers(-999, 1000, c)))) for _ in range(c + 2)]
    rows = [{j: v << 7 * i + 3 * j for j, v in row.items()} for i, row in enumerate(rows)]
    assert checker.spans(rows, c, 20, checker.Meter())
    for row in rows:
        row[c - 1] = row[0] - 5 * row[1]
    assert not any(checker.spans(rows, c, bits, checker.Meter()) for bits in (2, 20, 44, 200))
    rows[3][c - 1] += 1  # of numbers up to 2^140: far below what is looked at, and nothing is claimed
    assert not checker.spans(rows, c, 44, checker.Meter())
    assert checker.spans(rows, c, 200, checker.Meter())
    assert checker.have_rank(rows, c, checker.Meter())
    for row in rows:
        row.pop(2)
    assert not any(checker.spans(rows, c, bits, checker.Meter()) for bits in (20, 44))


@pytest.mark.slow
def test_old_proofs_of_many_columns_are_checked_as_before(monkeypatch):
    """Exact weights on a circuit of 140 columns: by a least singular value, coarse or fine."""
    X, y = noisy(900, 139, 0.2, seed=6)
    rows = LiftedRows(X, y.astype(np.int8), True)
    weights = reduce(rows, minimal=True).witness
    fields = {"support": list(weights), "lambda": [hex(v) for v in weights.values()]}
    content = forged(X, y, "overlap", **fields)
    assert accepted(content, X, y)
    monkeypatch.setattr(checker, "ROUNDED_TO", (1000,))
    assert accepted(content, X, y)


# -- L18: what is proved is true ---------------------------------------------------------------------------------


def test_forced_short_proofs_agree_with_brute_force():
    rng = np.random.default_rng(1)
    proved = overlapping = 0
    for _ in range(250):
        X, y = small(rng)
        X, y = np.vstack([X, X[: len(X) // 2]]), np.concatenate([y, y[: len(X) // 2]])  # rows that occur twice
        full = len(brute_force.independent_columns(brute_force.exact_rows(X, y))) == X.shape[1] + 1
        overlap = brute_force.verdict(X, y)[0] == "overlap" and full
        overlapping += overlap
        found = short_of(X, y)
        if found is not None:
            proved += 1
            assert overlap
            assert accepted(certificate_of(X, y, found), X, y)
    assert proved > overlapping / 3 > 10


def test_both_readings_and_no_intercept():
    X, y = noisy(90, 4, 0.3, seed=3)
    X = X.round(2)
    found = short_of(X, y)
    for reading in ("binary64", "decimal"):
        content = certificate_of(X, y, found, reading=reading)
        assert f"these {len(found.ids)} rows" in checker.check(content, table_of(X, y, content))[0]
    found = short_of(X, y, intercept=False)
    assert accepted(certificate_of(X, y, found, intercept=False), X, y)
    assert not accepted(certificate_of(X, y, found, intercept=True), X, y)


# -- L18: forgeries ------------------------------------------------------------------------------------------------


def proved_set():
    X, y = noisy(60, 3, 0.3, seed=5)
    return X, y, certificate_of(X, y, short_of(X, y))


def with_near(content, **fields):
    content = copy.deepcopy(content)
    content["near"].update(fields)
    return content


def test_every_field_of_the_claim_is_checked():
    X, y, good = proved_set()
    assert accepted(good, X, y)
    near, rows = good["near"], good["support"]
    q, inner, e, floor = near["weights"], near["inner"], near["exponents"], near["floor"]
    bad = [
        {"weights": [0, *q[1:]]},
        {"weights": [-v for v in q]},
        {"weights": [*q[:-1], -q[-1]]},
        {"weights": q[:-1]},
        {"weights": [1] * len(q)},
        {"weights": [q[0] << 40, *q[1:]]},
        {"weights": [1 << 5000, *q[1:]]},
        {"weights": [float(v) for v in q]},
        {"weights": [hex(v) for v in q]},
        {"weights": [True, *q[1:]]},
        {"weights": None},
        {"inner": len(e) - 1},
        {"inner": len(rows) + 1},
        {"inner": 0},
        {"inner": -inner},
        {"inner": float(inner)},
        {"exponents": e[:-1]},
        {"exponents": [*e, 0]},
        {"exponents": [v - 20 for v in e]},
        {"exponents": [5000, *e[1:]]},
        {"exponents": [-5000, *e[1:]]},
        {"floor": 0},
        {"floor": -floor},
        {"floor": 1},
        {"floor": 1000 * floor},
        {"floor": 1 << 4097},
        {"floor": float(floor)},
        {"free": [0]},
        {"free": "0"},
    ]
    for fields in bad:
        assert not accepted(with_near(good, **fields), X, y), fields
    for fields in ({"support": [rows[0], *rows[:-1]]}, {"support": rows[:-1]}, {"support": []}, {"near": []}):
        assert not accepted({**good, **fields}, X, y), fields
    assert not accepted({**good, "lambda": ["0x1"] * len(rows)}, X, y)
    for name in ("weights", "inner", "exponents", "floor"):
        content = copy.deepcopy(good)
        del content["near"][name]
        assert not accepted(content, X, y), name


def test_other_labels_and_other_rows_are_refused():
    X, y, good = proved_set()
    other = y.copy()
    other[good["support"][:5]] *= -1
    found = certificate_of(X, other, short_of(X, y))
    assert not accepted(found, X, other)
    moved = X.copy()
    moved[good["support"][0]] += 10
    assert not accepted(certificate_of(moved, y, short_of(X, y)), moved, y)


def least_squares_forgery(X, y, rng):
    """A claim without regard to truth: weights that nearly cancel, on rows of all kinds."""
    p = X.shape[1] + 1
    ids = rng.permutation(len(y))[: int(rng.integers(p, len(y) + 1))]
    Z = np.column_stack([X, np.ones(len(y))])[ids] * y[ids, None]
    scale = np.round(-np.log2(np.maximum(np.abs(Z).max(axis=0), 1e-30))).astype(int)
    A = np.ldexp(Z, scale)
    q = np.maximum(1 - A @ np.linalg.lstsq(A, np.ones(len(ids)), rcond=None)[0], 1e-9)
    order = np.argsort(-q)
    bits, inner = int(rng.integers(2, 60)), int(rng.integers(p, len(ids) + 1))
    weights = [max(1, int(v)) for v in np.ldexp(q[order] / q.max(), int(rng.integers(4, 50)))]
    floor = int(inner * p / 4 * rng.choice([1.1, 2, 10, 1000])) + int(rng.choice([1, 10]))
    near = {"weights": weights, "inner": inner, "exponents": (scale + bits).tolist(), "floor": floor}
    return forged(X, y, "overlap", support=ids[order].tolist(), near=near)


def test_no_forgery_is_accepted_unless_it_is_true():
    rng = np.random.default_rng(7)
    false = true = 0
    for _ in range(250):
        X, y = small(rng)
        if len(y) <= X.shape[1]:
            continue
        content = least_squares_forgery(X, y, rng)
        ids = content["support"]
        Z = brute_force.exact_rows(X[ids], y[ids])
        overlap = not brute_force.strict_rows(Z) and len(brute_force.independent_columns(Z)) == X.shape[1] + 1
        taken = accepted(content, X, y)
        assert overlap or not taken
        false, true = false + (not overlap), true + taken
    assert false > 50
    assert true > 5


def test_mutants_are_refused_unless_they_are_true():
    rng = np.random.default_rng(11)
    X, y, good = proved_set()
    kept = 0
    for _ in range(60):
        content = copy.deepcopy(good)
        near, k = content["near"], int(rng.integers(len(content["support"])))
        name = ["weights", "rows", "floor", "inner", "exponents", "drop"][int(rng.integers(6))]
        if name == "weights":
            near["weights"][k] += int(rng.choice([-1, 1, 50, -50, 10**6]))
        elif name == "rows":
            content["support"][k] = int(rng.integers(len(y)))
        elif name == "floor":
            near["floor"] = int(near["floor"] * rng.choice([0.3, 0.9, 1.1, 3]))
        elif name == "inner":
            near["inner"] += int(rng.choice([-3, -1, 1, 3]))
        elif name == "exponents":
            near["exponents"][k % 4] += int(rng.choice([-2, -1, 1, 2]))
        else:
            del content["support"][k], near["weights"][k]
            near["inner"] -= k < near["inner"]
        if accepted(content, X, y):
            kept += 1
            ids = content["support"]
            assert not brute_force.strict_rows(brute_force.exact_rows(X[ids], y[ids]))
    assert 5 < kept < 60


# -- L18: null vectors, quasi-complete rows, coefficients, all classes at once -------------------------------------


def dependent_set():
    """Four columns, the last the sum of the first two; the short proof of the others."""
    X, y = noisy(80, 3, 0.3, seed=9)
    X = np.round(X * 8) / 8
    found = short_of(X, y)
    return np.column_stack([X, X[:, 0] + X[:, 1]]), y, found


def test_dependent_columns_need_null_vectors():
    X, y, found = dependent_set()
    null = [["0x1", "0x1", "0x0", "-0x1", "0x0"]]
    content = forged(X, y, "overlap", support=found.ids, near=near_of(found, free=[3]), null=null)
    assert accepted(content, X, y)
    assert accepted({**content, "claim": "not-complete"}, X, y)
    for j, holds in enumerate([False, False, True, False, True]):
        claim = {**content, "claim": "coefficient-finite", "coefficient": j}
        assert accepted(claim, X, y) == holds
    wrong = [
        {"null": []},
        {"null": null + null, "near": near_of(found, free=[3, 3])},
        {"null": [["0x1", "0x1", "0x0", "0x1", "0x0"]]},
        {"null": [["0x0"] * 5]},
        {"near": near_of(found, free=[2])},
        {"near": near_of(found, free=[5])},
        {"near": near_of(found, free=[-1])},
        {"near": near_of(found)},
    ]
    for fields in wrong:
        assert not accepted({**content, **fields}, X, y), fields


def test_rows_that_overlap_in_a_face_prove_that_no_hyperplane_separates_strictly():
    X, y = noisy(80, 3, 0.3, seed=9)
    found = short_of(X, y)
    dummy = np.zeros(len(y) + 10)
    dummy[len(y) :] = 1.0
    X = np.column_stack([np.vstack([X, np.random.default_rng(0).standard_normal((10, 3))]), dummy])
    y = np.concatenate([y, np.ones(10, dtype=y.dtype)])
    near = {**near_of(found), "free": [3]}
    unit = ["0x0", "0x0", "0x0", "0x1", "0x0"]
    content = forged(X, y, "quasi", support=found.ids, near=near, null=[unit], w=unit)
    assert "10 of the 90 rows" in checker.check(content, table_of(X, y, content))[0]
    assert not accepted({**content, "claim": "overlap"}, X, y)
    assert accepted({**content, "claim": "coefficient-finite", "coefficient": 0}, X, y)
    assert not accepted({**content, "claim": "coefficient-finite", "coefficient": 3}, X, y)


def test_all_classes_at_once():
    rng = np.random.default_rng(4)
    X, y = np.round(rng.standard_normal((60, 2)), 3), rng.integers(0, 3, 60)
    found = separability(X, y, multiclass="kesler").parts["all"]
    rows = found._reduction.rows
    short = short_proof(rows, *balanced_weights(rows))
    support = [found._subject.row(i) for i in short.ids]
    content = forged(X, y, "overlap", kesler=["0", "1", "2"], support=support, near=near_of(short))
    assert "comparisons" in checker.check(content, table_of(X, y, content))[0]
    content["support"][0] = [support[0][0], (support[0][1] + 1) % 3]
    assert not accepted(content, X, y)


def test_huge_exponents_and_weights_end_soon():
    """Numbers of thousands of bits in every cell are refused by the meter or by the lemma, before the work is done."""
    X, y = noisy(400, 60, 0.2, seed=1)
    found = short_of(X, y)
    good = certificate_of(X, y, found)
    assert accepted(good, X, y)
    e, q = found.exponents, found.weights
    for fields in (
        {"exponents": [4096] * len(e)},
        {"exponents": [4096] * len(e), "floor": (1 << 4096) - 1},
        {"weights": [v << 4000 for v in q], "exponents": [-4096] * len(e)},
        {"weights": [1, *(v << 4000 for v in q[1:])]},
    ):
        assert not accepted(with_near(good, **fields), X, y)
    same = with_near(good, weights=[v << 3000 for v in q])  # the same weights in other units
    assert accepted(same, X, y)


def test_numbers_whose_products_are_not_finite_have_no_balanced_weights():
    X = np.array([[1e308, -1e308], [1e308, 1e308], [-1e308, 1e308], [1e308, 1e-308]])
    assert balanced_weights(LiftedRows(X, np.array([1, -1, 1, -1], dtype=np.int8), True)) is None
