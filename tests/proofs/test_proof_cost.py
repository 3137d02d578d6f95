"""No certificate is handed out that a checker refuses because of its limit of work."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
from hard_sets import sealed, table_of
from scipy import sparse

from separatrix import checker, fewest_mistakes, separability, verify
from separatrix.errors import CertificateError
from separatrix.proofs.certificate.certificate import Certificate
from separatrix.proofs.exact.lifted_rows import LiftedRows, decimal_rows
from separatrix.proofs.fewest_mistakes import witness_entries
from separatrix.proofs.fewest_mistakes.block_bounds import _keep_better
from separatrix.proofs.fewest_mistakes.branch_and_bound import Search
from separatrix.proofs.fewest_mistakes.case_tree import packed_proof, proof
from separatrix.proofs.fewest_mistakes.packing import Packing
from separatrix.proofs.fewest_mistakes.row_blocks import row_blocks
from separatrix.proofs.fewest_mistakes.witness_entries import ProofCost
from separatrix.proofs.separability.verdict import given_data


def overlapping(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, ((X[:, 0] > 0) ^ (rng.random(n) < 0.25)).astype(int)


@pytest.mark.parametrize("share", [1, 40, 400])
def test_a_bracket_has_the_bound_that_its_certificate_proves(share, monkeypatch):
    """With less work allowed by the checker the lower end is lower, and the certificate still checks."""
    X, y = overlapping(120, 5)
    free = fewest_mistakes(X, y, max_nodes=1500)
    for module, name in (
        (witness_entries, "LIMIT"),
        (witness_entries, "PLAIN"),
        (checker, "MOST_WORK"),
        (checker, "ROW_TEXT"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name) // share)
    found = fewest_mistakes(X, y, max_nodes=1500)
    assert f"at least {found.lower} of" in verify(found.certificate, X, y)
    assert (found.lower < free.lower) == (found.stopped == "proof") == (share > 1)


def test_the_proof_without_the_limit_is_refused(monkeypatch):
    X, y = overlapping(120, 5)
    certificate = fewest_mistakes(X, y, max_nodes=1500).certificate
    monkeypatch.setattr(checker, "MOST_WORK", checker.MOST_WORK // 400)
    monkeypatch.setattr(checker, "ROW_TEXT", 0)
    with pytest.raises(CertificateError, match="far more work"):
        verify(certificate, X, y)


def test_blocks_of_long_proofs_are_left_out(monkeypatch):
    X, y = overlapping(300, 3)
    rows = LiftedRows(X, np.where(y, 1, -1).astype(np.int8), True)

    def solve(part, nodes):
        inner = Search(part, np.inf, None)
        inner.run(nodes, 0)
        return (inner.lower, True, inner.nodes, *proof(inner, inner.lower))

    blocks = tuple(row_blocks(rows, solve, 1e6, lambda: False))
    packing = Packing([], [], 1, blocks, (1,) * len(blocks))
    search = Search(rows, np.inf, None)
    _keep_better(search, packing)
    assert search.lower == packing.bound == sum(block.lower for block in blocks)
    nodes, witnesses = packed_proof(packing)
    each = witness_entries.STEP * (4 * 5 * sum(len(node.get("pack", ())) for node in nodes) + 32 * len(nodes))
    most = (len(witnesses) * search.cost.weighted(5, 20) + each) // 2
    monkeypatch.setattr(witness_entries, "LIMIT", most)
    monkeypatch.setattr(checker, "ROW_TEXT", 0)
    less = Search(rows, np.inf, None)
    _keep_better(less, packing)
    assert less.long
    assert 0 < less.lower < search.lower
    assert 0 < len(less.fraction.blocks) < len(blocks)


def test_of_very_many_witnesses_some_are_claimed(monkeypatch):
    X, y = overlapping(400, 3)
    rows = LiftedRows(X, np.where(y, 1, -1).astype(np.int8), True)
    witnesses = list(Search(rows, np.inf, None).disjoint(np.arange(400)))
    monkeypatch.setattr(witness_entries, "LIMIT", 10 * ProofCost(rows).weighted(5, 20))
    monkeypatch.setattr(checker, "ROW_TEXT", 0)
    found = fewest_mistakes(X, y, max_nodes=0)
    assert 5 < found.lower < len(witnesses)
    assert found.stopped == "proof"
    assert verify(found.certificate, X, y)


def tables():
    yield "doubles", LiftedRows, overlapping(80, 4)[0]
    yield "of very different size", LiftedRows, overlapping(80, 4)[0] * [1e-9, 1.0, 1e12, 1.0]
    yield "integers", LiftedRows, np.rint(3 * overlapping(80, 4)[0])
    yield "many columns", LiftedRows, overlapping(150, 20)[0]
    yield "decimals", decimal_rows, np.round(overlapping(80, 4)[0], 3)
    yield "long decimals", decimal_rows, overlapping(80, 4)[0]
    few = np.where(np.random.default_rng(1).random((120, 9)) < 0.3, overlapping(120, 9)[0], 0.0)
    scales = 2.0 ** np.random.default_rng(3).integers(-60, 60, (80, 10))
    yield "cells of very different size", LiftedRows, overlapping(80, 10)[0] * scales
    yield "sparse", LiftedRows, sparse.csr_array(few)


def priced(make, X, few):
    """The content of a claim and its table, and witnesses with their entries and estimates."""
    y = np.random.default_rng(0).integers(0, 2, X.shape[0])
    rows = make(X, np.where(y, 1, -1).astype(np.int8), True)
    reading = "decimal" if make is decimal_rows else "binary64"
    subject = given_data(X, y, None, True, reading).subject([1], [0])
    content, cost, witnesses = subject.certify("min-errors", lower=0).content, ProofCost(rows), []
    for codes in Search(rows, np.inf, None).disjoint(np.arange(rows.n)):
        entry = witness_entries.entry_of(codes, rows, subject, few)
        plain = isinstance(entry, list)
        estimate = cost.plain(codes) if plain else cost.weighted(len(codes), cost._cells(codes))
        witnesses.append((codes, entry, estimate))
    assert witnesses
    return content, table_of(X, y, content), witnesses


each_table = pytest.mark.parametrize(
    ("make", "X"), [case[1:] for case in tables()], ids=[name for name, _, _ in tables()]
)


@pytest.mark.parametrize("few", [0, 12])
@each_table
def test_the_estimates_are_not_below_what_the_checker_counts(make, X, few):
    content, table, witnesses = priced(make, X, few)
    meter = checker.Meter()
    data = checker.Data(content, checker.Scope(content["data"], table), meter)
    for codes, entry, estimate in witnesses:
        for i in codes:
            data.z(i)  # each row is made integral once, which the table allows for
        meter.for_text, before = 0, meter.left
        checker.witness(data, entry)
        assert before - meter.left <= estimate <= 40 * (before - meter.left)


@pytest.mark.parametrize("few", [0, 12])
@each_table
def test_the_second_checker_counts_at_most_twice_the_estimates(make, X, few, second_checker):
    """It allows twice as many steps."""
    content, table, witnesses = priced(make, X, few)
    entries, estimates = [entry for _, entry, _ in witnesses], sum(estimate for _, _, estimate in witnesses)
    copies = 20  # so that the table itself, for which one more is allowed here, matters little
    text = json.dumps(content | {"lower": 1, "witnesses": copies * entries, "nodes": [{"pack": [0]}]})
    assert second_checker.check(text, table, 2 * (copies + 1) * estimates)[0] == 0


def test_witnesses_of_many_rows_are_short_and_checked_by_both_checkers():
    X, y = overlapping(70, 12)
    found = fewest_mistakes(X, y, max_nodes=400)
    entries = found.certificate.content["witnesses"]
    assert any("near" in entry for entry in entries if len(entry["support"]) == 14)
    assert any(min(entry["support"]) < 0 for entry in entries), "no row is reversed"
    assert verify(found.certificate, X, y)


def test_forged_short_witnesses_are_refused():
    """A sign, a row, a weight or a bound that is not the witness's; a row taken away."""
    X, y = overlapping(70, 12)
    content = fewest_mistakes(X, y, max_nodes=400).certificate.content
    place = next(k for k, entry in enumerate(content["witnesses"]) if min(entry["support"]) < 0)
    original = content["witnesses"][place]

    def refused(**near):
        forged = copy.deepcopy(content)
        entry = forged["witnesses"][place]
        entry["support"] = near.pop("support", entry["support"])
        entry["near"] |= near
        with pytest.raises(CertificateError):
            verify(Certificate(sealed(forged, X, y)), X, y)

    support, weights = original["support"], original["near"]["weights"]
    refused(support=[~support[0], *support[1:]])
    refused(support=[~code for code in support[:7]] + support[7:])
    refused(support=[next(i for i in range(70) if i not in support and ~i not in support), *support[1:]])
    refused(support=[*support[:-1], support[0]])
    refused(support=support[1:], weights=weights[1:], inner=len(weights) - 1)
    refused(weights=[2 * weights[0], *weights[1:]])
    refused(weights=[-weights[0], *weights[1:]])
    refused(weights=[0, *weights[1:]])
    refused(floor=1)
    refused(floor=original["near"]["floor"] * 1000)
    refused(inner=3)
    refused(exponents=[e - 12 for e in original["near"]["exponents"]])


def test_sparse_tables_of_many_columns_allow_for_their_factorisation(monkeypatch):
    """The work of a short proof grows with the columns cubed, however few numbers are not zero."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(np.where(rng.random((1500, 120)) < 0.1, rng.standard_normal((1500, 120)), 0.0))
    y = (np.ravel(X.sum(axis=1)) > 0) ^ (rng.random(1500) < 0.2)
    found = separability(X, y).certificate
    assert "near" in found.content
    monkeypatch.setattr(checker, "MOST_WORK", 1 << 25)  # which is enough for the other checker
    monkeypatch.setattr(checker, "PER_NUMBER", 0)
    with pytest.raises(CertificateError, match="far more work"):
        verify(found, X, y)
    monkeypatch.setattr(checker, "PER_CUBE", 40)  # of few columns those parts of the work are larger that grow less
    assert verify(found, X, y)
