"""Tables with many faces: columns of one class only, chains, contradictions, dependent columns, thousands of rows."""

from __future__ import annotations

from fractions import Fraction

import brute_force
import hard_sets
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from separatrix import separability, verify
from separatrix.proofs.exact.algebra import null_line
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.separability import circulation, facial_reduction
from separatrix.proofs.separability.facial_reduction import outweighed
from separatrix.proofs.separability.newton_partition import PartitionSearch


def proved(X, y, **options):
    found = separability(X, y, **options)
    assert found.verdict != "undecided", found.tried
    assert verify(found.certificate, X, y)
    reduction = found._reduction
    if reduction.witness:
        assert null_line(reduction.rows.integers(list(reduction.witness))[0]) is not None, "the witness is not minimal"
    return found


def strictly_separated(X, y, intercept=True):
    """The same partition by one linear programme: max sum s, s <= Zw, 0 <= s <= 1."""
    Z = sparse.csr_array(X)
    Z = sparse.hstack([Z, np.ones((Z.shape[0], 1))]) if intercept else Z
    Z = sparse.diags_array(y.astype(float)) @ Z
    n, p = Z.shape
    solved = linprog(
        np.concatenate([np.zeros(p), -np.ones(n)]),
        A_ub=sparse.hstack([-Z, sparse.eye_array(n)], format="csr"),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * p + [(0, 1)] * n,
        method="highs",
    )
    return np.flatnonzero(solved.x[p:] > 0.5).tolist()


@pytest.mark.parametrize("form", ["csr", "dense"])
@pytest.mark.parametrize("seed", range(6))
def test_keywords(seed, form):
    X, y = hard_sets.keywords(700, 60, seed, density=4, share=0.1, contradicted=10, dependent=0.2, chain=10)
    found = proved(X if form == "csr" else X.toarray(), y)
    assert found.strict_rows.tolist() == strictly_separated(X, y)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("depth", [12, 40, pytest.param(100, marks=pytest.mark.slow)])
def test_circuits_that_close_one_after_another(depth, intercept):
    X, y = hard_sets.nested(depth, 150, depth)
    found = proved(X, y, fit_intercept=intercept)
    assert found.verdict == "quasi"
    assert found.strict_rows.tolist() == strictly_separated(X, y, intercept)


@pytest.mark.parametrize("depth", [15, 70, 110, pytest.param(300, marks=pytest.mark.slow)])
def test_weights_that_double_from_column_to_column(depth):
    """From some 60 columns on no vector of doubles separates the rows."""
    X, y = hard_sets.ladder(depth, 1)
    found = proved(X, y, fit_intercept=False)
    assert found.verdict == "quasi"
    assert len(found.strict_rows) == depth + 1


@pytest.mark.parametrize("d", [10, 11, 15])
def test_a_witness_cancels_in_all_columns_though_the_face_was_smaller_before_it_came_up(d):
    """Newton's method takes the first rows of T here, so that the first circuit is one of a face only."""
    late = 0
    for seed in range(60):
        found = proved(*hard_sets.contradicted(d, seed))
        assert found.verdict == "overlap"
        late += "stage 1, partition by Newton's method: proved" in found.tried
    assert late


def test_a_hyperplane_is_ruled_out_by_rows_of_both_classes(real_data):
    *columns, labels = np.loadtxt(real_data("false_witness.csv"), delimiter=",", skiprows=1, unpack=True)
    found = proved(np.array(columns).T, labels)
    assert set(labels[found.witness]) == {0, 1}


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_depend_on_others_but_for_rounding(seed):
    X, y = hard_sets.rounded_product(300, 30, 6 + seed, seed)
    found = proved(X, y)
    assert not any("simplex" in line for line in found.tried)


@pytest.mark.parametrize("seed", range(4))
def test_small_sets_by_newtons_partition_equal_brute_force(seed, monkeypatch):
    monkeypatch.setattr(facial_reduction, "FEW", 0)
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(120):
        X, y = hard_sets.small(rng)
        intercept, reading = bool(rng.integers(2)), ["binary64", "decimal"][rng.integers(2)]
        truth, strict = brute_force.verdict(X, y, intercept, reading == "decimal")
        found = proved(X, y, fit_intercept=intercept, reading=reading)
        assert found.verdict == truth, (X.tolist(), y.tolist(), intercept, reading)
        assert set(found.strict_rows.tolist()) == strict
        seen |= {line.split(", ")[1] for line in found.tried}
    assert "partition by Newton's method: proved" in seen


@pytest.mark.parametrize("few", [0, 10])
@pytest.mark.parametrize("seed", range(2))
def test_rows_chosen_against_the_draw_are_not_overlooked(seed, few, monkeypatch):
    """Rows that vanish at the vector drawn from a face, and not on all of it."""
    monkeypatch.setattr(facial_reduction, "FEW", few)
    monkeypatch.setattr(circulation, "drawn", lambda dimension: [1] * dimension)
    rng = np.random.default_rng(seed)
    for _ in range(50):
        d = int(rng.integers(2, 5))
        X = rng.integers(-2, 3, (int(rng.integers(4, 14)), d)).astype(float)
        y = rng.permutation(np.where(np.arange(len(X)) % 2, 1, -1))
        pairs = int(rng.integers(0, 3))
        X, y = np.vstack([X, X[:pairs]]), np.append(y, -y[:pairs])
        X[rng.random(len(X)) < 0.4, -1] = 0
        truth, strict = brute_force.verdict(X, y, False)
        found = proved(X, y, fit_intercept=False)
        assert (found.verdict, set(found.strict_rows.tolist())) == (truth, strict), (X.tolist(), y.tolist())


def test_a_wrong_guess_is_not_proved():
    """Rows that are strictly separated have no circulation, also when a guess ties them."""
    X, y = hard_sets.keywords(700, 60, 0, density=4, share=0.1, contradicted=0, dependent=0.0)
    rows = LiftedRows(X, y.astype(np.int8), True)
    strict = np.array(strictly_separated(X, y))
    assert len(strict)
    search = PartitionSearch(rows, np.arange(rows.n))
    tied = np.flatnonzero(np.isin(search.ids, strict))
    assert search.circulation(tied) is None


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_sums_of_rows_are_exact_at_any_size(form):
    top = 1.7976931348623157e308
    for X in ([[top, 1.0], [top, 2.0**53]], [[2.0**53, 1.0], [1.0, 1.0]], [[0.5, 3.0], [0.25, -3.0]]):
        rows = LiftedRows(form(X), np.ones(2, dtype=np.int8), True)
        total, m = rows.total(np.arange(2))
        assert [Fraction(v, m) for v in total] == [Fraction(a) + Fraction(b) for a, b in zip(*X, strict=True)] + [2]


def test_a_large_vector_outweighs_a_small_one():
    X = np.array([[1.0, -3e9], [1.0, 5.0], [2.0, -7.0]])
    rows = LiftedRows(X, np.ones(3, dtype=np.int8), False)
    w = outweighed(rows, [1, 0], [0, 1], np.arange(3))
    assert rows.signs(w).tolist() == [1, 1, 1]
    assert w[0].bit_length() == 33


def test_more_words_than_texts_some_with_both_labels():
    X, y = hard_sets.texts(400, 6000, 15, 0)
    found = proved(X, y)
    assert found.verdict == "quasi"
    assert len(found.tied_rows) >= 30


def test_a_certificate_of_overlap_with_many_null_vectors_gives_weights_to_all_rows():
    X, y = hard_sets.keywords(6000, 120, 3, density=6, share=0.4, contradicted=300, dependent=0.7)
    found = proved(X, y)
    assert found.verdict == "overlap"
    assert len(found.certificate.content["lambda"]) == 6000
    assert "null" not in found.certificate.content


LARGE = [
    ((49_749, 300, 11), {"density": 11, "contradicted": 76, "chain": 40}, "quasi"),
    ((50_000, 500, 16), {"density": 2, "share": 0.005, "contradicted": 5, "dependent": 0.02, "chain": 300}, "quasi"),
    ((50_000, 500, 12), {"density": 6, "share": 0.02, "contradicted": 0, "dependent": 0.3, "chain": 150}, "quasi"),
    ((50_000, 500, 13), {"density": 3, "share": 0.5, "contradicted": 500, "dependent": 0.05}, "overlap"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "kind", "verdict"), LARGE)
def test_large_tables(size, kind, verdict):
    assert proved(*hard_sets.keywords(*size, **kind)).verdict == verdict


@pytest.mark.slow
def test_large_tables_of_circuits_that_close_one_after_another():
    found = proved(*hard_sets.nested(240, 20_000, 5))
    assert (found.verdict, len(found.strict_rows)) == ("quasi", 20_000)


@pytest.mark.slow
def test_a_large_table_of_texts():
    found = proved(*hard_sets.texts(4143, 54_877, 300, 0))
    assert found.verdict == "quasi"
