"""Short proofs where columns are nearly dependent, rare, or of one class: eigenvalues in integers, and verdicts."""

from __future__ import annotations

import math
from fractions import Fraction

import brute_force
import numpy as np
import pytest
from hard_sets import noisy, table_of
from scipy.sparse import csr_array
from test_forged_claims import accepted
from test_short_circulations import certificate_of, semidefinite

from separatrix import checker, separability, verify
from separatrix.proofs.exact.ill_conditioned import eigenvalues_exceed, hidden_singular_value, proved_in_integers
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import least_singular_value, short_proof
from separatrix.proofs.separability.balanced_weights import balanced_weights, layers


def conditioned(n, d, condition, seed, share=0.2):
    """Rows with columns of that condition number, a share of the labels wrong."""
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    X = rng.standard_normal((n, d)) * np.logspace(0, -np.log10(condition), d) @ Q
    y = np.where(X @ rng.standard_normal(d) >= 0, 1, -1)
    y[rng.random(n) < share] *= -1
    return X, y


def test_eigenvalues_above_a_level_are_above_it():
    rng = np.random.default_rng(0)
    shown = 0
    for _ in range(200):
        p, bits = int(rng.integers(1, 7)), int(rng.choice([3, 10, 25, 45]))
        A = np.rint(np.ldexp(rng.standard_normal((p + int(rng.integers(0, 4)), p)), bits))
        if p > 1 and rng.random() < 0.6:  # columns that differ in few digits
            A[:, -1] = A[:, 0] + rng.integers(-3, 4, len(A))
        least = float(np.linalg.svd(A, compute_uv=False)[-1]) ** 2
        level = int(least * rng.choice([0.3, 0.9, 1.1, 3])) + 1
        rows = [[int(v) for v in row] for row in A.tolist()]
        M = [[sum(row[i] * row[j] for row in rows) - level * (i == j) for j in range(p)] for i in range(p)]
        if eigenvalues_exceed(A, level):
            shown += 1
            assert semidefinite(M)
    assert shown > 50


def test_eigenvalues_that_doubles_cannot_tell_from_zero():
    """A column that is another one but for its last digits, in integers of 70 bits."""
    rng = np.random.default_rng(1)
    shown = 0
    for _ in range(100):
        p = int(rng.integers(2, 6))
        A = np.rint(np.ldexp(rng.standard_normal((p + 3, p)), 70))
        A[:, -1] = A[:, 0] + np.ldexp(rng.integers(-2, 3, len(A)), 20)  # lost in most of the rows
        rows = [[int(v) for v in row] for row in A.tolist()]
        level = 4 ** int(rng.integers(15, 25))
        M = [[sum(row[i] * row[j] for row in rows) - level * (i == j) for j in range(p)] for i in range(p)]
        if eigenvalues_exceed(A, level):
            shown += 1
            assert semidefinite(M)
    assert 20 < shown < 90


def test_dependent_columns_have_no_eigenvalues_above_zero():
    A = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]) * 2.0**40
    assert not eigenvalues_exceed(A, 1)
    assert least_singular_value(A) == 0
    assert hidden_singular_value(A / 2.0**40) == 0


def test_a_singular_value_that_doubles_cannot_tell_from_zero():
    rng = np.random.default_rng(2)
    A = rng.standard_normal((40, 8))
    A[:, -1] = A[:, 0] + A[:, 1]  # rounded
    v = [1, 1, *[0] * 5, -1]
    exact = [sum(Fraction(a) * t for a, t in zip(row, v, strict=True)) for row in A.tolist()]
    bound = math.sqrt(sum(t * t for t in exact) / 3)  # |A v| / |v|
    assert least_singular_value(A) == 0
    assert 0.3 * bound < hidden_singular_value(A) <= bound * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_columns_but_for_rounding_have_short_certificates(seed):
    X, y = noisy(1200, 110, 0.2, seed)
    X[:, -10:] = X[:, :10] + X[:, 10:20]
    found = separability(X, y)
    assert found.verdict == "overlap"
    assert max(found.certificate.content["near"]["exponents"]) > 52  # more digits than a double has
    assert found.certificate.size < 10_000
    assert "overlap" in verify(found.certificate, X, y)


@pytest.mark.parametrize("condition", [1e7, 1e9, 1e11])
def test_short_proofs_of_nearly_dependent_columns_are_accepted(condition):
    X, y = conditioned(120, 12, condition, seed=3)
    rows = LiftedRows(X, y.astype(np.int8), True)
    found = short_proof(rows, *balanced_weights(rows, whitened=True))
    assert max(found.exponents) > 26  # more than floating point can prove
    content = certificate_of(X, y, found)
    assert accepted(content, X, y)
    other = y.copy()
    other[content["support"][:4]] *= -1
    assert not accepted(certificate_of(X, other, found), X, other)


def test_weights_are_corrected_until_the_rows_nearly_cancel():
    X, y = conditioned(120, 12, 1e8, seed=4)
    rows = LiftedRows(X, y.astype(np.int8), True)
    ids, q = balanced_weights(rows, whitened=True)
    Z = rows.dense(ids)
    order = np.argsort(-q)
    scaled, q = np.ldexp(Z[order], 36), q[order] * (1 + 1e-8 * np.sin(np.arange(len(q))))
    weights, floor = proved_in_integers(scaled, q, 20)
    assert floor > 0
    assert min(weights) > 0
    assert proved_in_integers(np.abs(scaled), q, 20) is None  # rows that do not cancel
    assert proved_in_integers(np.ldexp(scaled, 45), q, 20) is None  # integers of more than 76 bits


@pytest.mark.parametrize("least", [5e-324, 1e-300])
def test_weights_that_differ_too_much_prove_nothing_in_integers(least):
    """Their proportions are beyond the doubles, or nearly."""
    rows = LiftedRows(np.array([[16.0], [-1e-300], [0.0]]), np.array([1, -1, 1], dtype=np.int8), True)
    assert short_proof(rows, np.arange(3), np.array([least, 1.0, 1.0]), first=1) is None


def test_many_nearly_dependent_columns_have_short_certificates():
    X, y = conditioned(900, 110, 1e10, seed=5)
    found = separability(X, y)
    content = found.certificate.content
    assert found.verdict == "overlap"
    assert max(content["near"]["exponents"]) > 26
    assert found.certificate.size < 10_000
    assert "overlap" in verify(found.certificate, X, y)


@pytest.mark.parametrize("also", ["a copy", "dummies of all levels", "a dummy of one class"])
def test_rounded_sums_beside_columns_that_are_dependent_exactly(also):
    X, y = noisy(2000, 120, 0.2, seed=7)
    X[:, -10:] = X[:, :10] + X[:, 10:20]
    if also == "a copy":
        X[:, 50] = X[:, 51]
    elif also == "dummies of all levels":
        X[:, 50:54] = np.arange(2000)[:, None] % 4 == np.arange(4)
    else:
        X[:, 50] = 0.0
        X[np.flatnonzero(y == 1)[::20], 50] = 1.0
    found = separability(X, y)
    assert found.verdict == ("quasi" if also == "a dummy of one class" else "overlap")
    content = found.certificate.content
    assert len(content["null"]) == 1
    assert max(content["near"]["exponents"]) > 52
    assert found.verdict in verify(found.certificate, X, y)


def test_a_rare_dummy_of_both_classes_is_weighed_too():
    """Rows of a column that the chosen rows do not have: they must be found for the rows to span the space."""
    X, y = noisy(6000, 110, 0.2, seed=6)
    X[:, 3] = 0.0
    rare = np.flatnonzero(y == 1)[100:103].tolist() + np.flatnonzero(y == -1)[100:103].tolist()
    X[rare, 3] = 1.0
    found = separability(X, y)
    assert found.verdict == "overlap"
    assert "near" in found.certificate.content
    assert set(rare) & set(found.certificate.content["support"])
    assert "overlap" in verify(found.certificate, X, y)


def test_a_dummy_of_one_class_has_a_short_certificate():
    """The rows of the dummy lose their weights, and what is left of its column must not be rounding alone."""
    for seed in range(4):
        X, y = noisy(1500, 130, 0.2, seed)
        X[:, 0] = 0.0
        X[np.flatnonzero(y == 1)[::20], 0] = 1.0
        found = separability(X, y)
        assert found.verdict == "quasi"
        assert "near" in found.certificate.content
        assert "quasi-complete" in verify(found.certificate, X, y)


def test_many_dummies_of_one_class_have_a_short_certificate():
    """Half of the rows of class 1 bear no weight: those that are chosen must be others."""
    for seed in range(3):
        X, y = noisy(2000, 130, 0.2, seed)
        rng = np.random.default_rng(seed)
        X[:, :20] = (rng.random((2000, 20)) < 0.04) & (y == 1)[:, None]
        rows = LiftedRows(X, y.astype(np.int8), True)
        ids, _ = balanced_weights(rows)
        assert not X[ids, :20].any()
        found = separability(X, y)
        assert found.verdict == "quasi"
        assert len(found.certificate.content["null"]) == 20
        assert "near" in found.certificate.content
        assert "quasi-complete" in verify(found.certificate, X, y)


@pytest.mark.parametrize("sparse", [False, True])
def test_layers_of_columns_of_one_sign(sparse):
    Z = np.array([[1.0, 0, 2, 1], [0, -3, 0, -1], [0, 1, -1, 1], [0, 0, 1, -1], [0, 0, 0, 1], [0, 0, 0, 0]])
    found = [(pure.tolist(), rows.tolist()) for pure, rows in layers(csr_array(Z) if sparse else Z)]
    # the first column is positive; without its row no other one is of one sign
    assert found == [([1, 0, 0, 0], [0])]
    Z[2, 1] = 0  # then the second column is negative too, and next the last but for the third row
    Z[3, 3] = 1
    found = [(pure.tolist(), rows.tolist()) for pure, rows in layers(csr_array(Z) if sparse else Z)]
    assert found == [([1, -1, 0, 0], [0, 1]), ([0, 0, 0, 1], [2, 3, 4])]
    free = np.array([False, True, True, True])
    assert [rows.tolist() for _, rows in layers(csr_array(Z) if sparse else Z, free)] == [[1], [0, 2, 3, 4]]


def test_small_sets_with_nearly_dependent_columns_agree_with_brute_force():
    rng = np.random.default_rng(8)
    proved = 0
    for seed in range(60):
        X, y = conditioned(int(rng.integers(8, 16)), 2, 10.0 ** rng.uniform(5, 12), seed, share=0.3)
        if len(set(y.tolist())) < 2:
            continue
        rows = LiftedRows(X, y.astype(np.int8), True)
        weights = balanced_weights(rows, whitened=True)
        found = None if weights is None else short_proof(rows, *weights)
        if found is not None:
            proved += 1
            assert brute_force.verdict(X, y)[0] == "overlap"
            assert checker.check(certificate_of(X, y, found), table_of(X, y))
    assert proved > 10
