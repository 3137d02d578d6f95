"""Blocks of rows and small witnesses: true by brute force, proved, and refused when tampered with."""

from __future__ import annotations

import copy
import math

import brute_force
import numpy as np
import pytest
from hard_sets import noisy, table_of
from scipy import sparse

from separatrix import checker, fewest_mistakes, verify
from separatrix.proofs.exact.lifted_rows import LiftedRows, decimal_rows
from separatrix.proofs.fewest_mistakes import block_bounds, branch_and_bound, row_blocks
from separatrix.proofs.fewest_mistakes.block_bounds import near_packing
from separatrix.proofs.fewest_mistakes.branch_and_bound import Search
from separatrix.proofs.fewest_mistakes.case_tree import proof
from separatrix.proofs.fewest_mistakes.packing import Packing


@pytest.fixture
def small_blocks(monkeypatch):
    """Tables of a few rows are divided too, before the tree has done anything."""
    monkeypatch.setattr(block_bounds, "TINY", 0)
    monkeypatch.setattr(row_blocks, "LEAST", (3, 4))
    monkeypatch.setattr(row_blocks, "PARTS", 2)
    monkeypatch.setattr(branch_and_bound, "EARLY", 0)
    monkeypatch.setattr(Search, "_pack", lambda search: None)  # which settles nearly all of them


def solve(part, nodes):
    inner = Search(part, math.inf, None)
    inner.run(nodes, 0)
    return (inner.lower, inner.lower == inner.upper, inner.nodes, *proof(inner, inner.lower))


def lifted(X, y, make=LiftedRows, intercept=True):
    return make(X, np.asarray(y, dtype=np.int8), intercept)


def test_blocks_never_exceed_brute_force(small_blocks):
    """All tables of two classes on a small grid, dense and sparse, both readings, with an intercept and without."""
    more = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(8, 12)), int(rng.integers(1, 3))
        X = rng.integers(-2, 3, (n, d)) * rng.integers(0, 2, (n, d)) * (0.1 if seed % 2 else 1.0)
        y = np.where(rng.random(n) < 0.5, 1, -1)
        y[:2] = 1, -1
        intercept, decimal = bool(rng.integers(2)), bool(rng.integers(2))
        table = sparse.csr_array(X) if rng.random() < 0.3 else X
        options = {"fit_intercept": intercept, "reading": "decimal" if decimal else "binary64"}
        k = brute_force.fewest_mistakes(brute_force.exact_rows(X, y, intercept, decimal))
        found = fewest_mistakes(table, y, max_nodes=1, **options)
        assert found.lower <= k <= found.upper, seed
        assert f"at least {found.lower} " in verify(found.certificate, X, y)
        more += "blocks" in str(found.certificate.content["nodes"][:1])
        rows = lifted(X, y, decimal_rows if decimal else LiftedRows, intercept)
        wrong = np.arange(0, n, 3)
        for blocks in (
            row_blocks.row_blocks(rows, solve, 1e6, lambda: False),
            block_bounds.column_blocks(rows, solve, 1e6, lambda: False, wrong),
        ):
            assert sum(block.lower for block in blocks) <= k
            taken = [i for block in blocks for i in block.rows]
            assert len(set(taken)) == len(taken)
    assert more > 1  # else the blocks were not tried


def test_blocks_prove_more_than_a_short_tree_where_labels_are_noisy():
    X, y = noisy(600, 5, 0.25)
    tree = Search(lifted(X, y), math.inf, None)
    tree.run(100, 0)
    blocks = row_blocks.row_blocks(lifted(X, y), solve, 1e9, lambda: False)
    assert len(blocks) > 1
    assert sum(block.lower for block in blocks) > tree.lower


def test_blocks_of_few_columns_prove_more_than_runs_of_rows_where_most_numbers_are_zero():
    rng = np.random.default_rng(0)
    X = rng.random((600, 12)) * (rng.random((600, 12)) < np.linspace(0.5, 0.05, 12))
    y = np.where((X[:, :4].sum(axis=1) > 0.8) ^ (rng.random(600) < 0.15), 1, -1)
    rows = lifted(X, y)
    runs = row_blocks.row_blocks(rows, solve, 3e8, lambda: False)
    wrong = np.flatnonzero((X[:, :4].sum(axis=1) > 0.8) != (y > 0))
    first, *others = block_bounds.column_blocks(rows, solve, 3e8, lambda: False, wrong)
    assert (X[first.rows] != 0).any(axis=0).sum() <= 3  # a fifth of the columns, and those of nearly all rows
    assert first.lower + sum(block.lower for block in others) > sum(block.lower for block in runs)
    late = block_bounds.column_blocks(rows, solve, 3e8, lambda: True, wrong)
    assert late == []


@pytest.mark.slow
def test_blocks_of_few_columns_are_solved_again_with_more_work():
    """Time that ends after the first level leaves a bound for each block; more levels prove more and share no row."""
    rng = np.random.default_rng(1)
    X = rng.random((900, 15)) * (rng.random((900, 15)) < np.linspace(0.6, 0.05, 15))
    y = np.where((X[:, :5].sum(axis=1) > 1.0) ^ (rng.random(900) < 0.25), 1, -1)
    rows, wrong, bounds = lifted(X, y), np.arange(0, 900, 4), []
    for looks in (len(block_bounds.SHARES), 1000):
        left = iter(range(looks))
        blocks = block_bounds.column_blocks(rows, solve, 5e9, lambda left=left: next(left, None) is None, wrong)
        taken = [i for block in blocks for i in block.rows]
        assert len(set(taken)) == len(taken)
        assert len(blocks) > 2
        bounds.append(sum(block.lower for block in blocks))
    assert bounds[0] < bounds[1]


def test_columns_that_depend_on_others_within_a_block_fall_away():
    """One-hot columns: three of each group of four are enough, and on a block often fewer."""
    rng = np.random.default_rng(0)
    chosen = rng.integers(0, 4, (60, 3))
    X = (chosen[:, :, None] == np.arange(4)).reshape(60, 12).astype(float)
    rows = lifted(X, np.where(rng.random(60) < 0.5, 1, -1))
    part = row_blocks._part(rows, np.arange(40))
    assert part is not None
    assert (part.n, part.p) == (40, np.linalg.matrix_rank(rows.dense(np.arange(40))))
    assert part.intercept
    none = lifted(X, np.ones(60))
    assert row_blocks._part(none, np.arange(40)) is None


def sparse_table(seed, n=40, d=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 9, (n, d)) * (rng.random((n, d)) < 0.3) / 8
    return X, np.where(rng.random(n) < 0.5, 1, -1)


def test_small_witnesses_are_proved_and_pack():
    for seed in range(3):
        X, y = sparse_table(seed)
        rows = lifted(X, y)
        search = Search(rows, math.inf, None)
        packing = near_packing(rows, [], [], search.prove, lambda: False, 6)
        optimum = fewest_mistakes(X, y)
        assert 1 < packing.bound <= optimum.upper
        load = np.zeros(rows.n, dtype=np.int64)
        for codes, t in zip(packing.witnesses, packing.weights, strict=True):
            assert search.prove(codes)
            load[codes] += t
        assert load.max() <= packing.over
        again = near_packing(rows, [], [], search.prove, lambda: False, 6)
        assert again == packing


@pytest.fixture(scope="module")
def content():
    """A certificate of two blocks of XOR and one witness apart, with its table."""
    X = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]] * 2 + [[5.0, 5], [5, 5]])
    y = np.array([1, 1, -1, -1] * 2 + [1, -1])
    found = copy.deepcopy(fewest_mistakes(X, y).certificate.content)
    found["witnesses"] = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9], [0, ~4]]
    found["nodes"] = [
        {
            "pack": [2],
            "blocks": [{"rows": [0, 1, 2, 3], "lower": 1, "node": 1}, {"rows": [7, 6, 5, 4], "lower": 1, "node": 2}],
        },
        {"pack": [0]},
        {"pack": [1]},
    ]
    found["lower"] = 3
    assert "at least 3 " in checker.check(found, table_of(X, y, found))[0]
    return found, X, y


FORGED = {
    "fewer than 3": lambda c: c["nodes"][0]["blocks"].pop(),
    "blocks share a row": lambda c: c["nodes"][0]["blocks"][1]["rows"].append(3),
    "witnesses share a row": lambda c: c["nodes"][0].update(pack=[2, 2]),
    "outside the block": lambda c: c["nodes"][0]["blocks"][0].update(rows=[0, 1, 2]),
    "a node occurs twice": lambda c: c["nodes"][0]["blocks"][1].update(node=1),
    "or does not exist": lambda c: c["nodes"][0]["blocks"][1].update(node=0),
    "fewer than 2": lambda c: c["nodes"][0]["blocks"][0].update(lower=2),
    "bound of a block": lambda c: c["nodes"][0]["blocks"][0].update(lower=-1),
    "weight of a block": lambda c: c["nodes"][0]["blocks"][0].update(weight=0),
    "over is not": lambda c: c["nodes"][0].update(over=-1),
    "does not apply": lambda c: c["nodes"][0].update(pack=[3]),
    "not an object": lambda c: c["nodes"][0].update(blocks=[[0, 1]]),
    "a row is repeated": lambda c: c["nodes"][0]["blocks"][0].update(rows=[0, 1, 2, 3, 3]),
    "a weight of a witness": lambda c: c["nodes"][0].update(weights=[-1]),
    "the tree is missing": lambda c: c.update(nodes=[]),
}


@pytest.mark.parametrize("why", FORGED)
def test_forged_blocks_are_refused(content, why):
    honest, X, y = content
    forged = copy.deepcopy(honest)
    FORGED[why](forged)
    with pytest.raises(checker.Rejected, match=why):
        checker.check(forged, table_of(X, y, forged))


def test_a_split_stays_within_its_block(content):
    """A row of another block would count its mistake twice."""
    honest, X, y = content
    forged = copy.deepcopy(honest)
    forged["nodes"][1] = {"split": 4, "wrong": 3, "right": 4}
    forged["nodes"] += [{"pack": [0]}, {"pack": [0]}]
    with pytest.raises(checker.Rejected, match="outside the block"):
        checker.check(forged, table_of(X, y, forged))


def test_blocks_below_the_root_prove_nothing(content):
    honest, X, y = content
    forged = copy.deepcopy(honest)
    forged["nodes"] = [{"split": 8, "wrong": 1, "right": 2}, forged["nodes"][0], {"pack": [0, 1, 2]}]
    with pytest.raises((checker.Rejected, KeyError)):
        checker.check(forged, table_of(X, y, forged))


def test_two_thirds_never_exceed_brute_force():
    """Half the sum of the bounds of three blocks, each without a third of the rows."""
    total = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(8, 13)), int(rng.integers(1, 3))
        X = rng.integers(-2, 3, (n, d)).astype(float)
        y = np.where(rng.random(n) < 0.5, 1, -1)
        y[:2] = 1, -1
        rows = lifted(X, y)
        blocks = tuple(row_blocks.two_thirds(rows, solve, 1e6, lambda: False))
        assert all(len(block.rows) <= n - n // 3 for block in blocks)
        bound = Packing([], [], 2, blocks, (1,) * len(blocks)).bound
        assert bound <= brute_force.fewest_mistakes(brute_force.exact_rows(X, y, True, False)), seed
        total += bound
    assert total > 20
