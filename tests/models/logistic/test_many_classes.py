"""Whether a maximum exists, where classes are too many for Kesler's construction: by the fit, or by groups of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.models.logistic.test_logistic import quiet

import separatrix as sx
from separatrix.models.logistic import existence
from separatrix.models.logistic.class_groups import ClassGroups, splits, tree
from separatrix.models.logistic.problem import UsedRows
from separatrix.validation import check_labels, check_table


def drawn(kind, classes, d, n, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    X = rng.standard_normal((n, d))
    if kind == "blobs":
        X += 30 * rng.standard_normal((classes, d))[y]
    elif kind == "one":  # class 0 is on one side of a plane
        X[:, 0] = np.where(y == 0, -1, 1) * np.abs(X[:, 0])
    elif kind == "halves":
        X[:, 0] = np.where(y % 2 == 0, -1, 1) * np.abs(X[:, 0])
    elif kind == "alone":  # three classes of one row each
        y[classes:] = np.maximum(y[classes:], 3)
    elif kind == "rare":  # a column that is zero but in class 0, where it is not always
        X[:, 0] = (y == 0) & (rng.random(n) < 0.5)
    return X, y


VERDICTS = {
    "noise": ("overlap", "bound"),
    "blobs": ("complete", "scores"),
    "one": ("quasi", "groups"),
    "halves": ("quasi", "groups"),
    "alone": ("quasi", "groups"),
    "rare": ("quasi", "groups"),
}


@pytest.fixture
def no_kesler(monkeypatch):
    """Kesler's construction is an error."""

    def refuse(given, against_rest):
        raise AssertionError("all classes were asked about at once")

    monkeypatch.setattr(existence, "_ask", refuse)


@pytest.mark.parametrize("kind", VERDICTS)
@pytest.mark.parametrize(("classes", "d", "n"), [(30, 12, 900), (60, 12, 1000)])
def test_many_classes_are_decided_without_all_of_them_at_once(no_kesler, kind, classes, d, n):
    X, y = drawn(kind, classes, d, n)
    model = quiet(sx.LogisticRegression(on_separation="ignore"), X, y)
    assert (model.separation_.verdict, model.separation_.by) == VERDICTS[kind]
    assert model.status_ is (sx.numerics.Status.OPTIMAL if kind == "noise" else sx.numerics.Status.NO_MAXIMUM)


def test_pairs_that_are_separable_leave_classes_that_overlap(no_kesler):
    """Five rows a class: any two classes are separable in 10 columns, but those that are left do overlap."""
    X, y = drawn("noise", 25, 10, 125)
    model = quiet(sx.LogisticRegression(on_separation="ignore"), X, y)
    assert (model.separation_.verdict, model.separation_.by) == ("quasi", "groups")


def test_a_proof_by_groups_says_so():
    X, y = drawn("one", 30, 8, 600)
    model = quiet(sx.LogisticRegression(on_separation="ignore"), X, y)
    assert str(model.separation_) == "quasi (proved by separability of groups of classes)"


def hostile(rng):
    """Small tables of integers, duplicates, rare and dependent columns, all units; and classes in any numbers."""
    classes, d, n = int(rng.integers(3, 7)), int(rng.integers(1, 7)), int(rng.integers(7, 61))
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    kind = rng.integers(0, 6)
    X = rng.integers(-2, 3, (n, d)).astype(np.float64) if kind in (0, 2, 4) else rng.standard_normal((n, d))
    if kind in (1, 2):
        X += rng.integers(-2, 3, (classes, d))[y]
    if kind == 3:
        X[:, 0] = np.abs(X[:, 0]) * np.where(y == 0, -1, 1)
    if kind == 4:
        X = np.column_stack([X, X[:, 0] + X[:, -1]])
    if kind == 5:
        X[:, 0] = rng.random(n) < 0.1
    if rng.random() < 0.3:
        again = rng.integers(0, n, n // 2)
        X, y = np.vstack([X, X[again]]), np.append(y, rng.integers(0, classes, n // 2))
    return X * 10.0 ** rng.integers(-6, 7, X.shape[1]) if rng.random() < 0.2 else X, y


def test_verdicts_of_the_fit_are_those_of_separability(monkeypatch):
    """However few the parameters, all that decides many classes is tried."""
    monkeypatch.setitem(existence.NAMED, "quasi", -1)
    rng, by = np.random.default_rng(5), set()
    for _ in range(150):
        X, y = hostile(rng)
        found = quiet(sx.LogisticRegression(on_separation="ignore"), X, y).separation_
        assert found.verdict == sx.separability(X, y, multiclass="kesler").verdict
        by.add(found.by)
    assert by == {"bound", "scores", "groups", "separability"}


@pytest.mark.parametrize("kind", ["noise", "blobs"])
def test_groups_prove_nothing_of_classes_that_overlap_or_are_separated(kind):
    X, y = drawn(kind, 12, 3, 600)
    rows = UsedRows.of(check_table(X), check_labels(y), None, None, False)
    groups = ClassGroups(rows.given(True), lambda classes: (np.ones((len(classes), len(classes))), False))
    assert not groups.quasi_separated(np.full((12, 12), len(X) / 144))


def test_the_tree_and_its_parts():
    between = np.array([[0, 5, 1, 0], [5, 0, 2, 0], [1, 2, 0, 9], [0, 0, 9, 0]], dtype=np.float64)
    links = tree(between)
    assert [set(link) for link in links] == [{1, 2}, {0, 1}, {2, 3}]
    assert [set(side) for side in splits(links)] == [{2, 3}, {1, 2, 3}, {3}]
