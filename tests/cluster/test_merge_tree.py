"""The tree joins the same pairs in the same order, wherever the leaves are."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from separatrix.cluster.rounds import condensed, root


def shown(left, right):
    return f"({left} {right})"


@given(st.integers(1, 40), st.lists(st.integers(0, 40), max_size=5))
def test_any_division_into_runs_gives_the_same_expression(leaves, cuts):
    values = {(0, k): str(k) for k in range(leaves)}
    alone = root(values, leaves, shown)
    ends = sorted({0, leaves, *(cut for cut in cuts if cut <= leaves)})
    nodes = {}
    for begin, end in pairwise(ends):
        nodes |= condensed({(0, k): str(k) for k in range(begin, end)}, leaves, shown)
    assert root(nodes, leaves, shown) == alone
    assert alone.replace("(", "").replace(")", "").split() == [str(k) for k in range(leaves)]


def test_the_tree_is_balanced():
    assert root({(0, k): str(k) for k in range(5)}, 5, shown) == "(((0 1) (2 3)) 4)"


def test_nothing_joins_as_nothing():
    values = {(0, k): None if k in (1, 2, 3) else str(k) for k in range(6)}
    assert root(values, 6, shown) == "(0 (4 5))"
    assert root({(0, 0): None, (0, 1): None}, 2, shown) is None


def test_a_run_of_leaves_travels_as_few_nodes():
    assert sorted(condensed({(0, k): str(k) for k in range(3, 14)}, 16, shown)) == [(0, 3), (1, 6), (2, 1), (2, 2)]
