"""The rules for single rows: reference and native agree to the bit, in both schemes, on every level."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.test_agreement import LAYOUTS, MODULES, NATIVE, problem, rows

RULES = {
    "PlainRule": lambda v, d: ({"zero_is_mistake": False}, {}),
    "AveragedRule": lambda v, d: (
        {"zero_is_mistake": True},
        {"total": np.zeros((v, d + 1)), "looks": np.zeros(v, dtype=np.int64)},
    ),
    "MarginRule": lambda v, d: (
        {"margin": 0.3, "relative": True},
        {"norm2": np.zeros(v), "moved": np.full(v, 1020, dtype=np.int64)},
    ),
    "PassiveAggressiveRule": lambda v, d: ({"variant": 1, "C": 0.3}, {}),
    "ArowDiagonalRule": lambda v, d: ({"r": 0.7}, {"variance": np.ones((v, d + 1))}),
    "ArowFullRule": lambda v, d: ({"r": 0.7}, {"covariance": np.tile(np.eye(d + 1), (v, 1, 1))}),
}


def bound(module, name, count, d, bias, kesler):
    """A rule with fresh arrays, and all the arrays that it moves."""
    numbers, arrays = RULES[name](count, d)
    shared = {
        "lifted": np.zeros((count, d + 1)),
        "updates": np.zeros(count, dtype=np.int64),
        "visits": np.zeros(count, dtype=np.int64),
        "seen": np.zeros(count, dtype=np.int8) if kesler else None,
    }
    rule = getattr(module, name)(**shared, bias=bias, **numbers, **arrays)
    return rule, {**shared, **arrays}


def same(results):
    counts, arrays = results[0]
    for other_counts, other in results[1:]:
        assert other_counts == counts
        for name, array in arrays.items():
            assert array is None or np.array_equal(array, other[name], equal_nan=True), name


cases = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 25), st.integers(1, 40), st.integers(0, 3))


@pytest.mark.parametrize("name", RULES)
@given(case=cases, layout=st.sampled_from(LAYOUTS), bias=st.booleans(), weighted=st.booleans(), habitual=st.booleans())
def test_binary_passes_have_the_same_bits(name, case, layout, bias, weighted, habitual):
    X, y, rng = problem(*case)
    n, d = X.shape
    step = rng.uniform(0.5, 2.0, size=n) if weighted else None
    order = rng.permutation(n)
    results = []
    for module in MODULES:
        rule, arrays = bound(module, name, 2, d, bias, kesler=False)
        table = rows(module, X, layout)
        habit = np.zeros(n, dtype=np.int8) if habitual else None
        counts = [rule.binary(1, table, y, step, chosen, 0, n, 10**9, habit) for chosen in (None, order, None, None)]
        results.append((counts, {**arrays, "habit": habit}))
    same(results)


@pytest.mark.parametrize("name", RULES)
@given(case=cases, layout=st.sampled_from(LAYOUTS), bias=st.booleans())
def test_kesler_passes_have_the_same_bits(name, case, layout, bias):
    X, _, rng = problem(*case)
    n, d = X.shape
    codes = rng.integers(-1, 4, size=n).astype(np.int32)
    results = []
    for module in MODULES:
        rule, arrays = bound(module, name, 4, d, bias, kesler=True)
        table = rows(module, X, layout)
        counts = [rule.kesler(table, codes, None, None, 0, n, limit) for limit in (3, 10**9)]
        results.append((counts, arrays))
    same(results)


@pytest.mark.parametrize("name", RULES)
@given(case=cases, layout=st.sampled_from(LAYOUTS), bias=st.booleans(), weighted=st.booleans())
def test_a_scored_pass_learns_like_a_pass_and_scores_each_row_before_it(name, case, layout, bias, weighted):
    X, y, rng = problem(*case)
    y[rng.random(len(y)) < 0.2] = 0
    n, d = X.shape
    step = rng.uniform(0.5, 2.0, size=n) if weighted else None
    results = []
    for module in MODULES:
        plain, expected = bound(module, name, 2, d, bias, kesler=False)
        scored, arrays = bound(module, name, 2, d, bias, kesler=False)
        table, out = rows(module, X, layout), np.full(n, np.nan)
        cut = n // 3
        counts = [scored.binary_scored(1, table, y, step, begin, end, out) for begin, end in ((0, cut), (cut, n))]
        plain.binary(1, table, y, step, None, 0, n, 10**9)
        same([((), expected), ((), arrays)])
        before, _ = bound(module, name, 2, d, bias, kesler=False)
        single = np.empty(2)
        for i in range(n):
            before.scores_pairs(*pairs(X[i], layout), single)
            assert out[i] == pytest.approx(single[1], rel=1e-9, abs=1e-9)
            before.binary(1, table, y, step, None, i, i + 1, 1)
        results.append((counts, {**arrays, "out": out}))
    same(results)


@pytest.mark.parametrize("name", RULES)
@given(case=cases, layout=st.sampled_from(LAYOUTS), bias=st.booleans())
def test_scored_kesler_passes_have_the_same_bits(name, case, layout, bias):
    X, _, rng = problem(*case)
    n, d = X.shape
    codes = rng.integers(-1, 4, size=n).astype(np.int32)
    results = []
    for module in MODULES:
        plain, expected = bound(module, name, 4, d, bias, kesler=True)
        scored, arrays = bound(module, name, 4, d, bias, kesler=True)
        table, out = rows(module, X, layout), np.full((n, 4), np.nan)
        counts = scored.kesler_scored(table, codes, None, 0, n, out)
        plain.kesler(table, codes, None, None, 0, n, 10**9)
        same([((), expected), ((), arrays)])
        assert np.isfinite(out).all()
        results.append((counts, {**arrays, "out": out}))
    same(results)


def pairs(x, layout):
    """One row as values and columns, as the layout rounds it."""
    x = x.astype(np.float32).astype(np.float64) if "f32" in layout else x
    return x[x != 0], np.flatnonzero(x)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kesler", [False, True])
def test_one_row_at_a_time_is_a_pass(name, kesler):
    X, _, rng = problem(3, 30, 7, 1)
    codes = rng.integers(0, 3, size=len(X)).astype(np.int32)
    for module in MODULES:
        passed, expected = bound(module, name, 3, 7, True, kesler)
        single, found = bound(module, name, 3, 7, True, kesler)
        if kesler:
            passed.kesler(rows(module, X, "f64"), codes, None, None, 0, 30, 10**9)
        else:
            for k in range(3):
                signs = np.where(codes == k, 1, -1).astype(np.int8)
                passed.binary(k, rows(module, X, "f64"), signs, None, None, 0, 30, 10**9)
        for x, code in zip(X, codes.tolist(), strict=True):
            single.learn(x, code, 1.0)
        for array, other in zip(expected.values(), found.values(), strict=True):
            assert array is None or np.array_equal(array, other)


@pytest.mark.parametrize("name", RULES)
def test_scores_of_one_row_agree_dense_and_sparse(name):
    X, y, _ = problem(5, 40, 6, 2)
    out = []
    for module in MODULES:
        rule, _ = bound(module, name, 1, 6, True, kesler=False)
        rule.binary(0, rows(module, X, "f64"), y, None, None, 0, 40, 10**9)
        dense, sparse = np.empty(1), np.empty(1)
        rule.scores(X[0], dense)
        rule.scores_pairs(X[0][X[0] != 0], np.flatnonzero(X[0]), sparse)
        assert rule.score(X[0], 0) == dense[0]
        assert rule.best(X[0], 1) == 0
        assert sparse[0] == pytest.approx(dense[0], rel=1e-12)
        out.append((dense[0], sparse[0]))
    assert len(set(out)) == 1


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.level)
def test_the_best_vector_is_the_first_of_the_greatest_scores(module):
    rule, _ = bound(module, "PlainRule", 4, 6, True, kesler=False)
    X = np.random.default_rng(3).normal(size=(20, 6))
    scores = np.empty(4)
    assert rule.best(X[0], 4) == 0  # all alike
    for code, x in enumerate(X):
        rule.learn(x, code % 4, 1.0)
        rule.scores(x, scores)
        assert rule.best(x, 4) == scores.argmax()
        assert rule.best(x, 2) == scores[:2].argmax()
        assert [rule.score(x, k) for k in range(4)] == scores.tolist()
    for wrong in (0, 5):
        with pytest.raises(ValueError, match="not so many vectors"):
            rule.best(X[0], wrong)
    for wrong in (-1, 4):
        with pytest.raises(ValueError, match="does not exist"):
            rule.score(X[0], wrong)
    for ask in (lambda x: rule.best(x, 4), lambda x: rule.score(x, 0), lambda x: rule.learn(x, 0, 1.0)):
        with pytest.raises(ValueError, match="not finite"):
            ask(np.array([np.nan] * 6))
        with pytest.raises(ValueError, match="for every feature"):
            ask(X[0][:5])
        for odd in (X[0].astype(np.float32), X[:, 0][::2], [1.0] * 6, X[0].astype(">f8"), None):
            with pytest.raises((TypeError, ValueError)):
                ask(odd)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.level)
def test_a_row_that_cannot_be_learned_leaves_everything_as_it_was(module):
    rule, arrays = bound(module, "AveragedRule", 2, 3, True, kesler=False)
    rule.learn(np.array([1.0, 2.0, 3.0]), 1, 1.0)
    before = {name: None if a is None else a.copy() for name, a in arrays.items()}
    bad = [
        (np.array([1.0, np.nan, 3.0]), 1, 1.0),
        (np.array([1.0, np.inf, 3.0]), 1, 1.0),
        (np.array([1.0, 2.0]), 1, 1.0),
        (np.array([1.0, 2.0, 3.0]), 7, 1.0),
        (np.array([1.0, 2.0, 3.0]), 1, -1.0),
        (np.array([1.0, 2.0, 3.0]), 1, np.nan),
    ]
    for arguments in bad:
        with pytest.raises(ValueError, match=r"must|finite|exist"):
            rule.learn(*arguments)
    with pytest.raises(TypeError):
        rule.learn([1.0, 2.0, 3.0], 1, 1.0)
    with pytest.raises(ValueError, match="column"):
        rule.learn_pairs(np.array([1.0]), np.array([3]), 1, 1.0)
    for name, array in before.items():
        assert array is None or np.array_equal(array, arrays[name])


@pytest.mark.parametrize("module", NATIVE, ids=lambda m: m.level)
def test_native_rules_refuse_arrays_that_do_not_fit(module):
    rule, _ = bound(module, "PlainRule", 2, 3, True, kesler=False)
    table = rows(module, np.ones((4, 3)), "f64")
    signs = np.ones(4, dtype=np.int8)
    for change in (
        {"k": 2},
        {"begin": -1},
        {"end": 5},
        {"order": np.array([0, 9])},
        {"y": signs[:2]},
        {"habit": signs[:2]},
    ):
        arguments = {"k": 0, "X": table, "y": signs, "step": None, "order": None, "begin": 0, "end": 2, "limit": 9}
        with pytest.raises(ValueError, match=r"must|leave|exist"):
            rule.binary(**{**arguments, **change})
    with pytest.raises(ValueError, match="marks"):
        rule.kesler(table, np.zeros(4, dtype=np.int32), None, None, 0, 4, 9)
    with pytest.raises(ValueError, match="total"):
        module.AveragedRule(
            np.zeros((1, 4)), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), None, True, True,
            np.zeros((1, 3)), np.zeros(1, dtype=np.int64),
        )  # fmt: skip
    out = np.empty(4)
    for change in ({"k": 2}, {"begin": -1}, {"end": 5}, {"y": signs[:2]}, {"step": out[:2]}, {"out": out[:2]}):
        arguments = {"k": 0, "X": table, "y": signs, "step": None, "begin": 0, "end": 2, "out": out}
        with pytest.raises(ValueError, match=r"must|leave|exist"):
            rule.binary_scored(**{**arguments, **change})
    with pytest.raises(ValueError, match="marks"):
        rule.kesler_scored(table, np.zeros(4, dtype=np.int32), None, 0, 4, np.empty((4, 2)))
    competing, _ = bound(module, "PlainRule", 2, 3, True, kesler=True)
    numbers = np.zeros(4, dtype=np.int32)
    for change in ({"begin": -1}, {"end": 5}, {"y": numbers + 2}, {"y": numbers[:2]}, {"out": np.empty((4, 3))}):
        arguments = {"X": table, "y": numbers, "step": None, "begin": 0, "end": 2, "out": np.empty((4, 2))}
        with pytest.raises(ValueError, match=r"must|leave|exist"):
            competing.kesler_scored(**{**arguments, **change})
    with pytest.raises(ValueError, match="column for every vector"):
        rule.stream_dicts(iter(()), {}, {}, True, None, {}, np.empty((4, 3)), np.empty(4, dtype=np.int64), [])
    with pytest.raises(ValueError, match="room for every row"):
        rule.stream_dicts(iter(()), {}, {}, True, None, {}, np.empty((4, 2)), np.empty(3, dtype=np.int64), [])


@pytest.mark.parametrize("name", RULES)
@given(case=cases, kesler=st.booleans(), room=st.integers(1, 9), known=st.integers(0, 9), vocabulary=st.integers(0, 2))
def test_streams_of_dicts_have_the_same_bits(name, case, kesler, room, known, vocabulary):
    """Names that are known, and others: an open vocabulary, one that hashes, a closed one."""
    X, _, _ = problem(*case)
    d = X.shape[1]
    stream = []
    for i, x in enumerate(X.tolist()):
        numbers = {f"x{j}": v for j, v in enumerate(x) if (i + j) % 3}
        stream.append((numbers | ({"kind": "b"} if i % 4 else {"odd": 1.0}), None if i % 5 == 2 else i % 2))
    results = []
    for module in MODULES:
        rule, arrays = bound(module, name, 2, d, True, kesler)
        owner, index = {"_learner": rule}, {f"x{j}": j for j in range(min(d, known))}
        source, counts, levels = iter(stream), [], []
        column_of = (lambda text: ~(len(text) % d)) if vocabulary == 1 else None
        words = ({0: 0, 1: 1}, vocabulary == 0, column_of, owner)
        while not (counts and counts[-1][1]):
            scores, own = np.zeros((room, 2)), np.zeros(room, dtype=np.int64)
            done, ended, item = rule.stream_dicts(source, index, *words, scores, own, levels)
            counts.append((done, ended, item, scores[:done].tolist(), own[:done].tolist(), dict(index)))
        assert sum(code != -2 for *_, codes, _ in counts for code in codes) == int(arrays["visits"].max())
        results.append(((counts, levels, owner.get("n_features_in_")), arrays))
    same(results)
