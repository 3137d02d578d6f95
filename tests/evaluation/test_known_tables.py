"""The ledger knows a table by its rows together: rows of other tables that happen to be equal are no openings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.jsonl"


def opened(X, y, ledger, seed=0):
    """A test set of a fifth of the rows, used once."""
    h = sx.holdout(X, y, random_state=seed, validation=0, ledger=ledger)
    h.open_test(sx.LogisticRegression(C=1.0).fit(*h.development))
    return h


def labels(rng, n):
    return np.tile([0, 1], n)[rng.permutation(n)]


def test_a_row_that_equals_one_of_another_table_is_no_opening(ledger):
    rng = np.random.default_rng(0)
    X, Z, y = rng.normal(size=(400, 3)), rng.normal(size=(4000, 3)), labels(rng, 4000)
    known = np.setdiff1d(np.arange(400), opened(X, labels(rng, 400), ledger).train_rows)
    parts = sx.holdout(Z, y, random_state=0, ledger=ledger)
    Z[np.setdiff1d(np.arange(4000), [*parts.train_rows, *parts.validation_rows])[0]] = X[known[0]]
    other = sx.holdout(Z, y, random_state=0, ledger=ledger)
    assert other.openings().number == 0
    found = other.open_test(sx.LogisticRegression(C=1.0).fit(*other.development))
    assert str(found.openings) == "held-out test rows, used once"


def test_small_tables_of_yes_and_no_are_not_taken_for_each_other(ledger):
    rng = np.random.default_rng(0)
    first, second = (rng.integers(0, 2, (1000, 3)).astype(float) for _ in range(2))
    y = labels(rng, 1000)
    opened(first, y, ledger)
    assert sx.holdout(second, y, random_state=0, ledger=ledger).openings().number == 0
    again = sx.holdout(first, y, random_state=1, validation=0, ledger=ledger).openings()
    assert 0.1 < again.before < 0.9  # known by the digest of all its rows


def test_short_sparse_rows_are_not_taken_for_those_of_another_table(ledger):
    rng = np.random.default_rng(1)
    words, dense = rng.random((600, 500)) < 0.01, np.zeros((300, 500))
    dense[:3] = words[:3]
    y, z = labels(rng, 600), labels(rng, 300)
    opened(sparse.csr_array(words.astype(float)), y, ledger)
    assert sx.holdout(dense, z, random_state=0, ledger=ledger).openings().number == 0


def test_a_table_with_more_rows_is_recognised(ledger):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(600, 3)), labels(rng, 600)
    opened(X[:400], y[:400], ledger)
    assert sx.holdout(X, y, random_state=3, validation=0, ledger=ledger).openings().before > 0.05


@pytest.mark.parametrize("kind", ["numbers", "yes and no"])
def test_ledgers_from_before_tables_were_digested_recognise_theirs(ledger, kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3)) if kind == "numbers" else rng.integers(0, 2, (300, 3)).astype(float)
    y = labels(rng, 300)
    opened(X, y, ledger)
    line = json.loads(ledger.read_text())
    del line["table"]
    ledger.write_text(json.dumps(line) + "\n")
    assert sx.holdout(X, y, random_state=0, validation=0, ledger=ledger).openings().before == 1.0
    assert sx.holdout(X, y, random_state=1, validation=0, ledger=ledger).openings().before > 0.1
    assert sx.holdout(rng.normal(size=(300, 3)), y, random_state=0, ledger=ledger).openings().number == 0
