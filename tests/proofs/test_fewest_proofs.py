"""Proofs of the fewest mistakes: the checker refuses what is tampered with, and what other data say."""

from __future__ import annotations

import copy
from collections import Counter

import brute_force
import hard_sets
import numpy as np
import pytest
from hard_sets import noisy, table_of

from separatrix import checker, fewest_mistakes, verify
from separatrix.errors import CertificateError
from separatrix.proofs.fewest_mistakes.case_tree import flat_tree, leaner


def rejected(content, X, y):
    with pytest.raises(checker.Rejected) as why:
        checker.check(content, table_of(X, np.asarray(y), content))
    return str(why.value)


@pytest.fixture(scope="module")
def proof():
    X, y = noisy(80, 2, 0.2, seed=1)
    found = fewest_mistakes(X, y)
    assert found.proved
    assert len(found.certificate.content["nodes"]) > 4
    return found.certificate.content, X, y


def test_tampered_proofs_are_refused(proof):
    content, X, y = proof
    split = next(k for k, node in enumerate(content["nodes"]) if "split" in node)
    leaf = next(k for k, node in enumerate(content["nodes"]) if len(node.get("pack", [])) > 1)

    def changed(change):
        copied = copy.deepcopy(content)
        change(copied)
        return rejected(copied, X, y)

    def with_node(k, **fields):
        return changed(lambda c: c["nodes"][k].update(fields))

    assert "bounds" in changed(lambda c: c.update(lower=c["lower"] + 1))
    assert "bounds" in changed(lambda c: c.update(upper=c["upper"] - 1))
    assert "bounds" in changed(lambda c: c.update(lower=True))
    assert "as the certificate says" in changed(lambda c: c.update(wrong=c["wrong"][1:], upper=c["upper"] - 1, lower=1))
    assert "as the certificate says" in changed(lambda c: c.update(w=[f"-{t}".replace("--", "") for t in c["w"]]))
    assert "fewer than" in changed(lambda c: c["nodes"][leaf]["pack"].pop())
    assert "share a row" in changed(lambda c: c["nodes"][leaf]["pack"].append(c["nodes"][leaf]["pack"][0]))
    assert "twice" in with_node(split, wrong=0)
    assert "does not exist" in with_node(split, right=10**9)
    assert "does not exist" in with_node(split, right=-1)
    again = content["nodes"][split]
    assert "cannot be split" in with_node(again["wrong"], split=again["split"], wrong=1, right=2)
    assert "does not exist" in with_node(split, split=len(X))
    assert changed(lambda c: c["nodes"].clear())
    assert changed(lambda c: c["witnesses"][0].pop())
    assert changed(lambda c: c["witnesses"][0].__setitem__(0, ~c["witnesses"][0][0]))
    assert "repeated" in changed(lambda c: c["witnesses"][0].append(c["witnesses"][0][0]))
    assert "not a number" in changed(lambda c: c["witnesses"][0].__setitem__(0, 1.0))
    assert "positive integer" in with_node(leaf, weights=[-1] * len(content["nodes"][leaf]["pack"]))
    assert "weights are missing" in with_node(leaf, weights=[1])
    for over in (0, -5, True, 1.0, "1", None):
        assert "not a positive integer" in with_node(leaf, over=over)


@pytest.mark.parametrize("over", [-1, 0, -(10**9)])
def test_an_empty_pack_over_a_negative_number_proves_nothing(over):
    """0 > (lower - 1) * over holds for every negative over."""
    X, y = np.arange(6.0)[:, None], np.repeat([0, 1], 3)
    content = copy.deepcopy(fewest_mistakes(X, y).certificate.content)
    assert content["upper"] == 0
    content.update(lower=2, upper=2, wrong=[3, 4], w=["0x1", "-0x9/0x2"], witnesses=[])
    content["nodes"] = [{"pack": [], "over": over}]
    assert "not a positive integer" in rejected(content, X, y)


def test_a_reversed_row_counts_only_where_it_is_wrong(proof):
    content, X, y = proof
    signed = next(k for k, entry in enumerate(content["witnesses"]) if min(entry) < 0)
    copied = copy.deepcopy(content)
    copied["nodes"] = [{"pack": [signed]}]
    copied["lower"] = 1
    assert "does not apply" in rejected(copied, X, y)


def test_a_zero_row_cannot_be_split_on():
    """Reversed it would be a contradiction by itself, yet z.w = 0 is no contradiction to z.w <= 0."""
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    content = fewest_mistakes(X, y, fit_intercept=False).certificate.content
    assert content["lower"] == 1
    content = copy.deepcopy(content)
    content.pop("ahead")  # of which the rows on its hyperplane alone would count
    content.update(upper=2, wrong=[0, 1], w=["-0x1"], lower=2, witnesses=[[-1], [0]])
    content["nodes"] = [{"split": 0, "wrong": 1, "right": 2}, {"pack": [0]}, {"pack": [1]}]
    assert "cannot be split" in rejected(content, X, y)


def test_fractions_of_witnesses_add_up_to_what_each_row_can_bear():
    X, labels = np.ones((3, 1)), np.array([0, 1, 1])
    content = copy.deepcopy(fewest_mistakes(X, labels).certificate.content)
    assert (content["lower"], content["upper"]) == (1, 1)
    content["nodes"] = [{"pack": [0, 1], "weights": [1, 1], "over": 2}]
    content["witnesses"] = [[0, 1], [0, 2]]
    assert "at least 1 " in checker.check(content, table_of(X, labels, content))[0]
    content["nodes"][0]["weights"] = [1, 2]
    assert "share a row" in rejected(content, X, labels)


def test_a_fractional_packing_is_proved_by_fractions():
    X, y = noisy(120, 12, 0.5)
    found = fewest_mistakes(X, y, max_nodes=40)
    assert f"at least {found.lower} " in verify(found.certificate, X, y)
    content = copy.deepcopy(found.certificate.content)
    node = next(node for node in content["nodes"] if "over" in node)
    assert max(node["weights"]) <= node["over"] < sum(node["weights"])
    node["weights"][0] = node["over"] + 1
    assert "share a row" in rejected(content, X, y)


def test_other_data_are_refused(proof):
    _, X, y = proof
    other = X.copy()
    other[0, 0] += 1
    with pytest.raises(CertificateError, match="other data"):
        verify(fewest_mistakes(X, y).certificate, other, y)


def test_random_changes_are_refused_or_leave_a_true_claim():
    rng = np.random.default_rng(5)
    accepted = 0
    for _ in range(300):
        X, y = hard_sets.small(rng)
        found = fewest_mistakes(X, y)
        content = copy.deepcopy(found.certificate.content)
        kind = rng.integers(5)
        if kind == 0:
            content["lower"] += int(rng.integers(-1, 2))
        elif kind == 1 and content["witnesses"]:
            entry = content["witnesses"][rng.integers(len(content["witnesses"]))]
            entry[rng.integers(len(entry))] = int(rng.integers(-len(y), len(y)))
        elif kind == 2 and content["nodes"]:
            node = content["nodes"][rng.integers(len(content["nodes"]))]
            node["over"] = int(rng.integers(1, 3))
            node["weights"] = rng.integers(1, 3, len(node.get("pack", ""))).tolist()
        elif kind == 3 and content["wrong"]:
            content["wrong"].pop()
            content["upper"] -= 1
            content["lower"] = min(content["lower"], content["upper"])
        elif kind == 4:
            content["w"][0] = "-0x3"
        try:
            checker.check(content, table_of(X, y, content))
        except checker.Rejected:
            continue
        accepted += 1
        fewest = brute_force.fewest_mistakes(brute_force.exact_rows(X, y, True, False))
        assert content["lower"] <= fewest <= content["upper"]
    assert accepted > 20


def test_a_hyperplane_of_the_tree_is_taken_as_it_is():
    """Rows on one line through the origin but for one: on whitened columns the best w was lost to rounding."""
    X, y = np.array([[0.9, 0.9], [0.3, 0.3], [0.8, 0.0], [0.3, 0.3]]), np.array([-1, 1, -1, 1])
    found = fewest_mistakes(X, y, fit_intercept=False, reading="decimal")
    assert (found.lower, found.upper) == (1, 1)


@pytest.mark.parametrize("less", [0, 2])
def test_no_leaf_has_a_witness_of_its_own_that_it_can_spare(less):
    X, y = noisy(150, 8, 0.25)
    found = fewest_mistakes(X, y, max_nodes=80)
    lower = int(found._search.tree.lower) - less
    nodes, witnesses = leaner(*flat_tree(found._search.tree, lower), lower)
    leaves = [(0, 0)]  # nodes to visit, with the rows that are wrong there
    uses, spare = Counter(), {}
    while leaves:
        at, wrong = leaves.pop()
        node = nodes[at]
        if "split" in node:
            leaves += [(node["wrong"], wrong + 1), (node["right"], wrong)]
            continue
        uses.update(node["pack"])
        over = node.get("over", 1)
        room = wrong * over + sum(node.get("weights", [1] * len(node["pack"]))) - (lower - 1) * over - 1
        assert room >= 0 or len(node["pack"]) == 1  # one shows that the case cannot occur
        if room >= 0:
            spare[at] = room
    assert len(spare) > 5
    assert sum("weights" in nodes[at] for at in spare) > 5
    assert set(uses) == set(range(len(witnesses)))
    own = [
        (t, room)
        for at, room in spare.items()
        for k, t in zip(nodes[at]["pack"], nodes[at].get("weights", [1] * len(nodes[at]["pack"])), strict=True)
        if uses[k] == 1
    ]
    assert own
    assert all(t > room for t, room in own)
