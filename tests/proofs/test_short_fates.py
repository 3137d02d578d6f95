"""Coefficients of many columns by short weights: the lemma L19, forgeries of every field, and fates by brute force."""

from __future__ import annotations

import copy
import json

import brute_force
import numpy as np
import pytest
from hard_sets import noisy, small, table_of
from scipy import sparse
from scipy.optimize import linprog
from test_forged_claims import accepted, forged

from separatrix import checker, separability, verify
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import UnitRow, short_proof, spanning_rows
from separatrix.proofs.separability import coefficient_fates


def near_of(short):
    near = {"exponents": short.exponents, "floor": short.floor}
    return near | ({"weights": short.weights, "inner": short.inner, "push": short.push} if short.weights else {})


def dummy_set(n=80, d=3, more=10, seed=9):
    """Rows that overlap, and more in which a dummy of one class is 1: its coefficient tends to +infinity."""
    X, y = noisy(n, d, 0.3, seed=seed)
    X = np.vstack([X, np.random.default_rng(seed).standard_normal((more, d))])
    dummy = np.concatenate([np.zeros(n), np.ones(more)])
    return np.column_stack([dummy, X]), np.concatenate([y, np.ones(more, dtype=y.dtype)])


@pytest.fixture
def shortly(monkeypatch):
    """Short proofs of however few columns."""
    monkeypatch.setattr(coefficient_fates, "FEWEST", 0)
    monkeypatch.setattr("separatrix.proofs.separability.facial_reduction.FEWEST", 0)


def good_claim(shortly):
    X, y = dummy_set()
    found = separability(X, y)
    return X, y, json.loads(found.coefficients["x0"].certificate.text)


def with_near(content, **fields):
    content = copy.deepcopy(content)
    content["near"].update(fields)
    return content


# -- infinite ------------------------------------------------------------------------------------------------------


def test_every_field_of_an_infinite_coefficient_is_checked(shortly):
    X, y, good = good_claim(shortly)
    assert good["claim"] == "coefficient-infinite"
    assert "tends to +infinity" in checker.check(good, table_of(X, y, good))[0]
    near, rows, p = good["near"], good["support"], X.shape[1] + 1
    q, push = near["weights"], near["push"]
    unit = [hex(int(j == 0)) for j in range(p)]
    for fields in (
        {"push": 0},
        {"push": -push},
        {"push": 100 * push},
        {"push": float(push)},
        {"push": [push]},
        {"push": None},
        {"push": True},
        {"push": 1 << 4097},
        {"weights": [-q[0], *q[1:]]},
        {"weights": [0, *q[1:]]},
        {"weights": [*q, push]},
        {"inner": len(rows) + 1},
        {"inner": p - 1},
        {"floor": 1},
        {"exponents": near["exponents"][:-1]},
        {"free": [0]},
    ):
        assert not accepted(with_near(good, **fields), X, y), fields
    for fields in (
        {"sign": -1},
        {"sign": -1, "w": [hex(-int(v, 16)) for v in unit]},
        {"coefficient": 1},
        {"coefficient": p - 1},
        {"w": ["0x0"] * p},
        {"mu": ["0x1"] * len(rows), "rows": rows},
        {"lambda": ["0x1"] * len(rows)},
        {"support": [*rows[:-1], rows[0]]},
        {"support": []},
        {"null": [unit], "near": {**near, "free": [0], "exponents": near["exponents"][1:]}},
    ):
        assert not accepted({**good, **fields}, X, y), fields
    without = copy.deepcopy(good)
    del without["near"]["push"]
    assert not accepted(without, X, y)
    for claim in ("overlap", "quasi", "not-complete", "coefficient-finite", "coefficient-undetermined"):
        assert not accepted({**good, "claim": claim}, X, y), claim  # without its unit vector nothing cancels


def test_weights_alone_do_not_make_a_coefficient_of_overlapping_rows_infinite(shortly):
    """Where all rows overlap any unit vector is a positive combination of them: w is needed."""
    X, y = noisy(60, 3, 0.3, seed=5)
    rows = LiftedRows(X, y.astype(np.int8), True)
    for sign in (1, -1):
        Z = np.vstack([rows.dense(np.arange(60)), -sign * np.eye(4)[:1]])
        q = positive_null_vector(Z)
        short = short_proof(rows, np.arange(60), q[:60], unit=UnitRow(0, -sign, float(q[60])))
        assert short is not None
        claim = {"coefficient": 0, "sign": sign, "support": short.ids, "near": near_of(short)}
        vectors = [[hex(sign), *["0x0"] * 3], [hex(-sign), *["0x0"] * 3], ["0x0"] * 4]
        assert not any(accepted(forged(X, y, "coefficient-infinite", **claim, w=w), X, y) for w in vectors)


def positive_null_vector(Z):
    """Weights of the rows that cancel them, the least as large as it can be."""
    n, p = Z.shape
    equal, above = np.column_stack([Z.T, np.zeros(p)]), np.column_stack([-np.eye(n), np.ones(n)])
    limits = [(0, 1)] * (n + 1)
    return linprog(-np.eye(n + 1)[n], above, np.zeros(n), equal, np.zeros(p), bounds=limits).x[:n]


def test_fates_of_small_sets_by_short_proofs_agree_with_brute_force(shortly):
    rng = np.random.default_rng(2)
    near = {"infinite": 0, "undetermined": 0}
    for _ in range(120):
        X, y = small(rng)
        found = separability(X, y)
        for j, fate in enumerate(found.coefficients.values()):
            assert fate == brute_force.fate(X, y, True, j)
            content = json.loads(fate.certificate.text)
            assert accepted(content, X, y)
            kind = content["claim"].removeprefix("coefficient-")
            near[kind] = near.get(kind, 0) + ("near" in content)
    assert near["infinite"] > 20
    assert near["undetermined"] > 20


def test_no_forged_push_is_accepted_unless_it_is_true(shortly):
    """Least-squares weights for any coefficient and sign, with a true w."""
    rng = np.random.default_rng(8)
    false = true = 0
    for _ in range(600):
        X, y = small(rng)
        found, p = separability(X, y), X.shape[1] + 1
        if found.verdict == "overlap" or len(y) < p:
            continue
        j, sign = int(rng.integers(p)), int(rng.choice([-1, 1]))
        ids = rng.permutation(len(y))[: int(rng.integers(p, len(y) + 1))]
        Z = np.column_stack([X, np.ones(len(y))])[ids] * y[ids, None]
        scale = np.round(-np.log2(np.maximum(np.abs(Z).max(axis=0), 1e-30))).astype(int)
        A = np.ldexp(np.vstack([Z, -sign * np.eye(p)[[j]]]), scale)
        q = np.maximum(1 - A @ np.linalg.lstsq(A, np.ones(len(A)), rcond=None)[0], 1e-9)
        weights = [max(1, int(v)) for v in np.ldexp(q / q.max(), int(rng.integers(4, 50)))]
        bits, inner = int(rng.integers(2, 60)), int(rng.integers(p, len(ids) + 1))
        floor = int(inner * p / 4 * rng.choice([1.1, 2, 10])) + 1
        near = {"weights": weights[:-1], "push": weights[-1], "inner": inner, "floor": floor}
        near["exponents"] = (scale + bits).tolist()
        w = [hex(v) for v in found._reduction.w]
        content = forged(X, y, "coefficient-infinite", coefficient=j, sign=sign, w=w, support=ids.tolist(), near=near)
        truth = brute_force.fate(X, y, True, j) == ("+inf" if sign > 0 else "-inf")
        taken = accepted(content, X, y)
        assert truth or not taken
        false, true = false + (not truth), true + taken
    assert false > 30
    assert true > 3


# -- undetermined --------------------------------------------------------------------------------------------------


def test_every_field_of_an_undetermined_coefficient_is_checked(shortly):
    X, y = noisy(60, 3, 0.0, seed=3)
    X[:, 2] = X[:, 0] + X[:, 1]
    X = np.round(X * 8) / 8
    X[:, 2] = X[:, 0] + X[:, 1]
    X, y = np.column_stack([X, np.zeros(60)]), np.where(X[:, 0] > 0, 1, -1)
    X[:20, 3] = np.linspace(-1, 1, 20)
    found = separability(X, y)
    assert found.coefficients["x3"] == "undetermined"
    good = json.loads(found.coefficients["x3"].certificate.text)
    near = good["near"]
    assert len(good["null"]) == 1
    assert accepted(good, X, y)
    assert found.coefficients["x0"] == "unidentifiable"
    for fields in (
        {"coefficient": 0},
        {"coefficient": 2},
        {"null": []},
        {"null": [good["null"][0]] * 2},
        {"null": [["0x1", "0x0", "0x0", "0x0", "0x0"]]},
        {"w1": good["w2"]},
        {"rows": good["rows"][:3]},
        {"rows": [good["rows"][0], *good["rows"][:-1]]},
        {"c": ["0x1"] * len(good["rows"])},
        {"near": {**near, "free": []}},
        {"near": {**near, "free": [3]}},
        {"near": {**near, "floor": 1}},
        {"near": {**near, "floor": 1000 * near["floor"]}},
        {"near": {**near, "exponents": [e - 30 for e in near["exponents"]]}},
        {"near": {}},
        {"near": []},
    ):
        assert not accepted({**good, **fields}, X, y), fields


def test_rows_that_do_not_span_are_not_shown_to():
    X, _ = noisy(40, 4, 0.1, seed=1)
    X[:, 3] = X[:, 0]
    assert spanning_rows(LiftedRows(X, np.ones(40, dtype=np.int8), False), np.arange(40), {}) is None


# -- many columns --------------------------------------------------------------------------------------------------


def many_dummies(kind, n=900, d=120):
    rng = np.random.default_rng(4)
    X, y = noisy(n, d, 0.2, seed=7)
    if kind == "dummies of one class":
        for j in range(4):
            X[:, j] = (rng.random(n) < 0.05) & (y == (1 if j % 2 else -1))
    elif kind == "dummies and a column twice":
        X[:, 0] = (rng.random(n) < 0.05) & (y == 1)
        X[:, 7] = X[:, 9]
    elif kind == "decimals":
        X = np.round(X, 2)
        X[:, 0] = 0.1 * ((rng.random(n) < 0.05) & (y == 1))
    elif kind == "sparse":
        X[rng.random((n, d)) < 0.7] = 0.0
        X[:, 0] = (rng.random(n) < 0.05) & (y == 1)
        X = sparse.csr_array(X)
    return X, y


@pytest.mark.parametrize("kind", ["dummies of one class", "dummies and a column twice", "decimals", "sparse"])
def test_infinite_coefficients_of_many_columns_have_short_certificates(kind, monkeypatch):
    monkeypatch.setattr(coefficient_fates, "reduce", None)  # exact weights are not asked for
    X, y = many_dummies(kind)
    options = {"reading": "decimal"} if kind == "decimals" else {}
    found = separability(X, y, **options)
    assert found.verdict == "quasi"
    assert found._reduction.short is not None
    wanted = {"x0": "+inf", "x20": "finite"}
    if kind == "dummies of one class":
        wanted |= {"x0": "-inf", "x1": "+inf", "x2": "-inf", "x3": "+inf"}
    if kind == "dummies and a column twice":
        wanted |= {"x7": "unidentifiable", "x9": "unidentifiable"}
    for name, fate in wanted.items():
        assert found.coefficients[name] == fate
        certificate = found.coefficients[name].certificate
        assert certificate.size < 20_000
        assert "coefficient" in verify(certificate, X, y)


def test_coefficients_of_separated_rows_of_many_columns_have_short_certificates():
    X, y = noisy(1500, 110, 0.0, seed=4)
    found = separability(X, y)
    assert found.verdict == "complete"
    fates = {str(fate): fate.certificate for fate in list(found.coefficients.values())[:12]}
    assert "undetermined" in fates
    assert {"+inf", "-inf"} & set(fates)
    for certificate in fates.values():
        assert certificate.size < 20_000
        assert "near" in certificate.content
        assert verify(certificate, X, y)


def test_the_second_way_is_exact(shortly, monkeypatch):
    """Where short weights are not found the certificate has exact ones."""
    X, y = dummy_set()
    monkeypatch.setattr(coefficient_fates, "pushed", lambda *_: None)
    certificate = separability(X, y).coefficients["x0"].certificate
    assert "mu" in certificate.content
    assert "tends to +infinity" in verify(certificate, X, y)
