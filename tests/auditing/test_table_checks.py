"""The checks of the columns and rows: what is checked, of which tables, and what is said where nothing is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix.auditing.audit_table import encode_table
from separatrix.auditing.checks import log_odds, normality
from separatrix.auditing.checks.table_checks import check_columns, check_independence
from separatrix.auditing.inputs import SplitRule, task_for_audit
from separatrix.features.encoder import Choices


def table_of(X, y):
    return encode_table(task_for_audit(X, y, None, None), Choices(words="tfidf"), (), SplitRule())


def lines_of(X, y, duplicates=0):
    table = table_of(X, y)
    normal, _ = normality.check(table, 0)
    lines = [*normal, *log_odds.check(table, 0, True), *check_columns(table), *check_independence(table, duplicates)]
    return {line.name: line for line in lines}


@pytest.fixture(scope="module")
def counts():
    """Counts in three columns, sparse, of which the third is the sum of the others."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.6, size=(400, 3)).astype(float)
    X[:, 2] = X[:, 0] + X[:, 1]
    return X, (X[:, 0] + rng.logistic(size=400) > 0.6).astype(int)


def test_sparse_rows_have_the_same_checks_as_dense_ones(counts):
    X, y = counts
    dense, thin = lines_of(X, y), lines_of(sparse.csr_array(X), y)
    checked = {"normal classes", "equal covariances", "linear log-odds", "full rank", "comparable scales"}
    assert checked <= thin.keys()
    for name in checked - {"full rank"}:
        assert (thin[name].verdict, thin[name].evidence) == (dense[name].verdict, dense[name].evidence)
    assert thin["full rank"].verdict == "fails"
    assert "1 exact relation" in thin["full rank"].evidence


def test_what_is_not_checked_says_so(counts):
    rng = np.random.default_rng(1)
    wide = sparse.random_array((300, 5000), density=0.01, rng=rng, format="csr")
    lines = lines_of(wide, rng.integers(0, 2, 300))
    for name in ("normal classes", "equal covariances", "linear log-odds", "no leak"):
        assert lines[name].verdict == "unknown"
        assert lines[name].evidence.startswith("not checked: ")
    assert lines["full rank"].verdict == "fails"
    X, _ = counts
    rare = (np.arange(400) < 4).astype(int)
    assert lines_of(X, rare)["no leak"].evidence == (
        "not checked: one class has nearly all rows, or there are too few rows"
    )


def test_rows_sorted_by_class_carry_information_in_their_order():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(100, 2)), np.repeat(["a", "b"], 50)
    line = lines_of(X, y)["order of rows"]
    assert line.verdict == "look"
    assert "sorted by class" in line.evidence
    assert "shuffled before" in line.advice
    alternating = lines_of(X, np.tile(["a", "b"], 50))["order of rows"]
    assert "differ more often than by chance" in alternating.evidence
    assert "batches" not in alternating.advice
    batches = lines_of(X, np.tile(np.repeat(["a", "b"], 10), 5))["order of rows"]
    assert "batches" in batches.advice
    assert lines_of(X, rng.permutation(y))["order of rows"].verdict == "holds"


def test_spreads_a_hundredfold_apart_need_a_look():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 2)) * [1.0, 348.0]
    assert lines_of(X, rng.integers(0, 2, 100))["comparable scales"].verdict == "look"


def test_only_numbers_that_can_be_rounded_make_a_fragile_gap(counts):
    X, y = counts
    assert table_of(X, y).whole_numbers
    assert table_of(sparse.csr_array(X), y).whole_numbers
    assert not table_of(X + 0.5, y).whole_numbers


def test_copies_are_named_with_the_rows_that_estimates_count():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    line = lines_of(np.tile(X, (3, 1)), np.tile(y, 3), duplicates=120)["few duplicates"]
    assert line.verdict == "look"
    assert "120 rows repeat the features of an earlier one" in line.evidence
    assert "they are copies" in line.evidence
    assert line.advice == "Copies were kept in one fold: estimates count 60 rows."
