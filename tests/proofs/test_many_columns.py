"""What the package says of tables of more than 100 columns, where short weights prove it."""

from __future__ import annotations

import json
import math
import warnings

import numpy as np
import pytest
from hard_sets import noisy
from scipy import sparse

from separatrix import separability, verify
from separatrix.proofs.exact.algebra import combination
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.separability.facial_reduction import reduce
from separatrix.proofs.separability.small_null_vectors import small_null_vectors


def test_many_columns_are_proved_shortly():
    X, y = noisy(700, 110, 0.2, seed=2)
    found = separability(X, y)
    content = json.loads(found.certificate.text)
    assert found.verdict == "overlap"
    assert sorted(content["support"]) == found.witness.tolist()
    assert found.certificate.size < 8000
    assert f"these {len(found.witness)} rows" in verify(found.certificate, X, y)
    assert f"{len(found.witness)} rows already rule a hyperplane out" in str(found)
    fate = found.coefficients["x3"]
    assert fate == "finite"
    assert "is finite" in verify(fate.certificate, X, y)


def wide_set(kind):
    """700 rows of 110 columns or more: full and dropped dummies, a column twice, a dummy of one class, decimals."""
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((700, 110)), np.where(rng.random(700) < 0.5, 1, -1)
    if kind == "all dummies":
        X = np.hstack([np.eye(6)[rng.integers(0, 6, 700)] for _ in range(19)])
    elif kind == "a column twice":
        X[:, 7] = X[:, 3]
    elif kind == "a dummy of one class":
        X[:, 0] = rng.random(700) < 0.1
        y[X[:, 0] == 1] = 1
    elif kind == "sparse":
        X = sparse.random_array((700, 110), density=0.1, format="csr", rng=rng)
    elif kind == "scales":
        X *= 10.0 ** rng.uniform(-9, 9, 110)
    return X, y


@pytest.mark.parametrize(
    ("kind", "verdict", "null"),
    [
        ("plain", "overlap", 0),
        ("all dummies", "overlap", 19),
        ("a column twice", "overlap", 1),
        ("a dummy of one class", "quasi", 1),
        ("sparse", "overlap", 0),
        ("scales", "overlap", 0),
    ],
)
def test_verdicts_of_many_columns_agree_with_exact_circuits(kind, verdict, null):
    X, y = wide_set(kind)
    found = separability(X, y)
    assert found._reduction.short is not None
    assert found.verdict == reduce(found._reduction.rows, minimal=True).verdict == verdict
    assert len(found.certificate.content.get("null", [])) == null
    assert f"these {len(found.witness)} rows" in verify(found.certificate, X, y)
    if kind == "a dummy of one class":
        assert found.strict_rows.tolist() == np.flatnonzero(X[:, 0] == 1).tolist()
        assert found.coefficients["x0"] == "+inf"
        assert found.coefficients["x1"] == "finite"
        assert "tends to +infinity" in verify(found.coefficients["x0"].certificate, X, y)
    if kind == "a column twice":
        assert [found.coefficients[name] for name in ("x3", "x7", "x4")] == ["unidentifiable"] * 2 + ["finite"]
        assert "is finite" in verify(found.coefficients["x4"].certificate, X, y)


@pytest.mark.parametrize("power", [3, 7, 11, 17, 25])
def test_columns_that_are_nearly_dependent_have_a_short_proof(power):
    rng = np.random.default_rng(power)
    turned = np.linalg.qr(rng.standard_normal((105, 105)))[0]
    X = rng.standard_normal((500, 105)) @ (turned * 10.0 ** -np.linspace(0, power, 105)) @ turned.T
    y = np.where(rng.random(500) < 0.5, 1, -1)
    found = separability(X, y)
    assert found.verdict == "overlap"
    assert found._reduction.short is not None
    assert "overlap" in verify(found.certificate, X, y)


def test_a_circuit_of_many_columns_stays_minimal():
    """One label of separable rows is wrong: a search finds p + 1 rows, and short weights prove them."""
    X, y = noisy(1500, 104, 0.0, seed=3)
    y[np.argmax(np.abs(X[:, 0]))] *= -1
    found = separability(X, y)
    assert found.verdict == "overlap"
    assert len(found.witness) == 106
    assert max(found.certificate.content["near"]["weights"]) < 2**40
    assert "these 106 rows" in verify(found.certificate, X, y)
    fewer = np.delete(found.witness, 50)
    assert separability(X[fewer], y[fewer]).verdict == "complete"


def test_a_minimal_witness_on_request_is_a_circuit():
    X, y = noisy(700, 110, 0.2, seed=2)
    rows = LiftedRows(X, y.astype(np.int8), True)
    found = reduce(rows, minimal=True)
    assert found.short is None
    assert len(found.witness) == 112
    assert not any(combination(*weighted(rows, found.witness)))


def weighted(rows, weights):
    whole, factors = rows.integers(list(weights))
    m = math.lcm(*factors)
    return whole, [t * (m // factor) for t, factor in zip(weights.values(), factors, strict=True)]


def test_finite_coefficients_of_quasi_complete_rows_have_short_certificates():
    """Exact weights are asked for only by coefficients that are not finite."""
    X, y = noisy(1500, 110, 0.2, seed=9)
    X[:, 0] = 0.0
    X[np.flatnonzero(y == 1)[::20], 0] = 1.0
    found = separability(X, y)
    assert found.verdict == "quasi"
    assert found.coefficients["x5"] == "finite"
    certificate = found.coefficients["x5"].certificate
    assert certificate.size < 15_000
    assert "is finite" in verify(certificate, X, y)
    assert found.coefficients["x0"] == "+inf"
    assert "tends to +infinity" in verify(found.coefficients["x0"].certificate, X, y)


def test_null_vectors_of_the_largest_doubles_are_not_looked_for():
    X, y = noisy(300, 20, 0.2, seed=10)
    X[:, 4] = X[:, 3]
    rows = LiftedRows(X, y.astype(np.int8), True)
    assert len(small_null_vectors(rows, np.arange(300))) == 1
    X[:, 3:5] *= 1e300
    with warnings.catch_warnings(action="error"):
        assert small_null_vectors(LiftedRows(X, y.astype(np.int8), True), np.arange(300)) == {}
