"""Rows have the same sums wherever they live, and passes see the same rows through the same views."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import separatrix.rows.protocol as protocol
from separatrix.rows.places import PieceRows, TableRows
from separatrix.rows.protocol import Leaf, Pass, Rows, View, added, joined


def sums(leaf, power):
    return leaf.X.T @ (leaf.counts * leaf.codes**power), float(leaf.counts.sum())


SUMS = Pass(sums, added)
CUTS = [0, 1, 77, 300, 301, 640, 999, 1000]


@pytest.fixture(autouse=True)
def small_leaves(monkeypatch):
    monkeypatch.setattr(protocol, "LEAF", 256)
    monkeypatch.setattr(protocol, "NARROW", 1)


def table(kind="dense"):
    r = np.random.default_rng(5)
    X, codes, weights = r.normal(size=(1000, 4)), r.integers(0, 3, 1000), r.uniform(0.5, 2.0, 1000)
    return sparse.csr_matrix(X) if kind == "sparse" else X, codes, weights


def in_pieces(X, codes, weights):
    def pieces():
        for a, b in pairwise(CUTS):
            yield Leaf(X[a:b], 0, codes[a:b], None, weights[a:b])

    return PieceRows(pieces, 1000, 4, 3, not isinstance(X, np.ndarray))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_pieces_of_any_size_have_the_bits_of_memory(kind):
    X, codes, weights = table(kind)
    memory, pieces = TableRows(X, codes, 3, weights), in_pieces(X, codes, weights)
    assert len(list(memory.leaves())) >= 4
    for one, other in zip(memory.reduce(SUMS, 2), pieces.reduce(SUMS, 2), strict=True):
        np.testing.assert_array_equal(one, other)
    assert [leaf.first for leaf in memory.leaves()] == [leaf.first for leaf in pieces.leaves()]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_view_is_the_same_rows_in_memory_and_elsewhere(kind):
    X, codes, weights = table(kind)
    view = View(columns=(2, 0), scale=(2.0, 0.5), against=1, class_weights=(1.0, 3.0, 0.5))
    memory, pieces = TableRows(X, codes, 3, weights).view(view), in_pieces(X, codes, weights).view(view)
    assert memory.d == pieces.d == 2
    assert memory.classes == pieces.classes == 2
    rows = np.asarray(X.toarray() if kind == "sparse" else X)[:, [2, 0]] / [2.0, 0.5]
    counts = weights * np.array([1.0, 3.0, 0.5])[codes]
    for place in (memory, pieces):
        first, total = place.reduce(SUMS, 1)
        np.testing.assert_allclose(first, rows.T @ (counts * (codes == 1)), rtol=1e-12)
        assert total == pytest.approx(counts.sum())


def test_every_so_manieth_row_is_the_same_row_everywhere():
    X, codes, weights = table()
    one, other = TableRows(X, codes, 3, weights).take(7), in_pieces(X, codes, weights).take(7)
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.codes, codes[::7])
    np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_leaf_travels_between_processes_without_its_memo(kind):
    X, codes, weights = table(kind)
    leaf = Leaf(X, 7, codes, None, weights)
    leaf.memo.keep(1, np.ones(1000))
    there = pickle.loads(pickle.dumps(leaf))
    assert (there.first, there.n, there.d, there.targets, there.memo.points) == (7, 1000, 4, None, {})
    for one, other in zip(SUMS.of(leaf, 2), SUMS.of(there, 2), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_place_needs_its_leaves_and_nothing_else():
    class Toy(Rows):
        n, d = 6, 1

        def leaves(self):
            return (Leaf(np.full((2, 1), x), 2 * k, np.full(2, 1)) for k, x in enumerate((1.0, 2.0, 4.0)))

    first, total = Toy().reduce(SUMS, 1)
    assert first.tolist() == [14.0]
    assert total == 6.0
    assert Toy().take(4).X.tolist() == [[1.0], [4.0]]


def test_the_tree_of_joins_is_fixed():
    assert joined(map(str, range(7)), lambda a, b: f"({a}{b})") == "(((01)(23))((45)6))"


def test_values_of_old_points_are_memory_for_new_ones():
    memo = protocol.Memo()
    for key in range(memo.POINTS + 1):
        memo.keep(key, [key])
    assert list(memo.points) == [1, 2, 3, 4]
    assert memo.taken() == [0]
    assert memo.taken() is None
