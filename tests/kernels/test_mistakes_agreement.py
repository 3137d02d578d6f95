"""The kernels behind the fewest mistakes: the same lines to the bit, the same minimum, proofs only of circuits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from separatrix import kernels
from separatrix.numerics.exact_signs import integer_row
from separatrix.proofs.exact.algebra import null_line

margins = st.lists(st.sampled_from([-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 3.0]), min_size=1, max_size=12)


@given(margins, st.data())
def test_the_best_point_of_a_line(s, data):
    q = np.array(data.draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0]), min_size=len(s), max_size=len(s))))
    s = np.array(s)
    t, mistakes = kernels.line_minimum(s, q)
    assert (t, mistakes) == reference.line_minimum(s, q)
    assert mistakes == (s + t * q <= 0).sum()
    crossings = sorted({-a / b for a, b in zip(s, q, strict=True) if b})
    between = [(a + b) / 2 for a, b in pairwise(crossings)]
    everywhere = [*between, *(c + e for c in crossings for e in (-9.0, 9.0)), 0.0]
    assert mistakes <= min((s + u * q <= 0).sum() for u in everywhere if u not in crossings)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("lines", [15, 10_000])
@pytest.mark.parametrize("seed", range(4))
def test_descents_agree_to_the_bit(seed, intercept, lines):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25, 3)) + seed
    y = rng.choice([-1, 1], 25).astype(np.int8)
    center, scale = X.mean(axis=0), 1 / X.std(axis=0)
    ends = []
    for backend in (kernels, reference):
        w, state = np.ones(3 + intercept), np.array([seed], dtype=np.uint64)
        rows = backend.Rows.dense(X)
        mistakes = backend.zero_one_descent(rows, y, intercept, center, scale, w, state, 3, lines)
        Z = np.column_stack([X, np.ones(25)])[:, : 3 + intercept] * y[:, None]
        assert mistakes == (Z @ w <= 0).sum()
        ends.append((mistakes, w.tolist(), int(state[0])))
    assert ends[0] == ends[1]


def prover(Z, asked):
    """Proves in integers, and keeps what it was asked."""

    def prove(codes):
        asked.append(list(codes))
        rows = [integer_row(((1 if c >= 0 else -1) * Z[max(c, ~c)]).tolist())[0] for c in codes]
        return codes if len(codes) <= Z.shape[1] + 1 and null_line(rows) is not None else []

    return prove


def search(backend, Z, exact, asked):
    tree = backend.MistakeTree(Z, exact)
    tree.start([], prover(Z, asked))
    while tree.lower < tree.best:
        tree.run(50, 0, prover(Z, asked))
        w = np.array(tree.take())
        if w.size:
            tree.offer(int((Z @ w <= 0).sum()), w)
    return tree


@pytest.mark.parametrize("seed", range(12))
def test_trees_end_at_the_same_number(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 20)), int(rng.integers(1, 4))
    Z = rng.standard_normal((n, p)) + 0.3
    native, plain = search(kernels, Z, True, []), search(reference, Z, True, [])
    assert native.lower == native.best == plain.lower == plain.best


def test_witnesses_taken_without_asking_are_circuits():
    """The floating-point proof against the integers: on grids many supports are degenerate and must be asked for."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = int(rng.integers(2, 6))
        Z = rng.standard_normal((30, p)) if seed % 3 else rng.integers(-3, 4, (30, p)).astype(float)
        Z = np.ascontiguousarray(Z[np.abs(Z).max(axis=1) > 0])
        asked: list[list[int]] = []
        tree = kernels.MistakeTree(Z, True)
        tree.start([], prover(Z, asked))
        tree.run(20, 0, prover(Z, asked))
        for codes in tree.witnesses:
            rows = [integer_row(((1 if c >= 0 else -1) * Z[max(c, ~c)]).tolist())[0] for c in codes]
            assert null_line(rows) is not None
        known = {tuple(sorted(codes)) for codes in asked}
        if seed % 3:
            assert not known & {tuple(codes) for codes in tree.witnesses}


@pytest.mark.parametrize("backend", [kernels, reference], ids=["native", "reference"])
def test_an_error_in_the_proof_leaves_the_tree_as_it_was(backend):
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((30, 3))
    tree = backend.MistakeTree(Z, False)
    tree.start([], prover(Z, []))
    tree.run(4, 0, prover(Z, []))
    tree.take()
    before = tree.lower, tree.tree()

    def fail(codes):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tree.run(50, 0, fail)
    assert tree.lower >= before[0]
    assert len(tree.tree()) >= len(before[1])
    while tree.lower < tree.best:
        tree.run(50, 0, prover(Z, []))
        w = np.array(tree.take())
        if w.size:
            tree.offer(int((Z @ w <= 0).sum()), w)
    assert tree.lower == search(backend, Z, False, []).lower


def test_rows_that_do_not_exist_are_refused():
    tree = kernels.MistakeTree(np.ones((2, 1)), True)
    with pytest.raises(ValueError, match="does not exist"):
        tree.start([[5]], lambda codes: codes)
    with pytest.raises(ValueError, match="every column"):
        tree.offer(1, np.ones(3))


def test_a_case_ends_when_the_caller_wants_an_end():
    """The root of 300 rows and 11 columns takes a second; what is known by then is kept, and the search can go on."""
    Z = np.random.default_rng(0).normal(size=(300, 11))
    whole, cut, broken = (kernels.MistakeTree(Z, True) for _ in range(3))
    whole.start([], prover(Z, []))
    calls = []
    cut.start([], prover(Z, []), lambda: calls.append(cut.nodes) or True)
    assert calls == [1]
    assert cut.lower < whole.lower
    cut.take()  # a better hyperplane would end the next run too
    cut.run(2, 0, prover(Z, []))
    assert cut.nodes == 3

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken.start([], prover(Z, []), interrupt)
