"""Votes, pocket and kernels: reference and native agree, to the bit but for the exponential."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.test_agreement import LAYOUTS, MODULES, NATIVE, problem, rows

cases = st.tuples(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 20), st.integers(0, 2))


@given(case=cases, layout=st.sampled_from(LAYOUTS), room=st.integers(0, 6), bias=st.booleans(), tie=st.booleans())
def test_voted_passes_have_the_same_bits(case, layout, room, bias, tie):
    X, y, rng = problem(*case)
    n, d = X.shape
    order = rng.permutation(n)
    results = []
    for module in MODULES:
        lifted, kept = np.zeros(d + 1), np.zeros((room, d + 1))
        votes, born = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        account = np.zeros(4, dtype=np.int64)
        table = rows(module, X, layout)
        shared = (lifted, bias, tie, kept, votes, born, account)
        counts = [module.voted_pass(table, y, None, chosen, *shared, 0, n, 10**9) for chosen in (None, order, None)]
        out = np.empty(n)
        module.votes(table, kept, votes, out)
        results.append([counts, lifted, kept, votes, born, account, out])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.array_equal(a, b)
    counted = 3 * np.count_nonzero(y)
    account, votes = results[0][5], results[0][3]
    assert account[0] + votes.sum() + account[3] == counted  # no vote is lost without being counted


@given(case=cases, layout=st.sampled_from(LAYOUTS), share=st.sampled_from([0.0, 0.25, np.inf]), weighted=st.booleans())
def test_pocket_passes_have_the_same_bits(case, layout, share, weighted):
    X, y, rng = problem(*case)
    n, d = X.shape
    weight = rng.uniform(0.5, 2, size=n) if weighted else None
    results = []
    for module in MODULES:
        lifted, pocket = np.zeros(d + 1), np.zeros(d + 1)
        error, account = np.array([np.inf]), np.zeros(5, dtype=np.int64)
        table = rows(module, X, layout)
        module.pocket_count(table, y, lifted, True, pocket, error, weight, account)
        shared = (lifted, True, True, pocket, error, weight, account, share)
        counts = [module.pocket_pass(table, y, weight, None, *shared, 0, n, 10**9) for _ in range(3)]
        results.append([counts, lifted, pocket, error, account])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("kind", [0, 1, 2])
@given(case=cases, layout=st.sampled_from(LAYOUTS), other=st.sampled_from(LAYOUTS))
def test_kernels_agree(kind, case, layout, other):
    X, _, rng = problem(*case)
    n = len(X)
    a = rng.normal(size=(2, n))
    columns, scores = [], []
    for module in MODULES:
        table, support = rows(module, X, layout), rows(module, X, other)
        norm2 = np.empty(n)
        module.norms2(table, norm2)
        column, out = np.empty(n), np.empty((n, 2))
        module.kernel_column(table, norm2, n // 2, kind, 0.3, 0.5, 3, column)
        module.kernel_scores(support, norm2, a, table, norm2, kind, 0.3, 0.5, 3, 1.0, out)
        updated = np.zeros(n)
        module.kernel_update(
            table, norm2, kind, 0.3, 0.5, 3, np.array([n // 2, 0]), np.array([1.0, -0.5]), 1.0, n // 3, n, updated
        )
        assert not updated[: n // 3].any()
        columns.append(np.concatenate([column, updated]))
        scores.append(out)
    for column, out in zip(columns[1:-1], scores[1:-1], strict=True):  # the levels
        assert np.array_equal(column, columns[0])
        assert np.array_equal(out, scores[0])
    if kind == 2:
        np.testing.assert_allclose(columns[-1], columns[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(scores[-1], scores[0], rtol=1e-12, atol=1e-11)
    else:
        assert np.array_equal(columns[-1], columns[0])
        assert np.array_equal(scores[-1], scores[0])


@pytest.mark.parametrize("module", NATIVE, ids=lambda m: m.level)
def test_our_exponential_is_accurate(module):
    """k(x, 0) with gamma = 1 is exp(-x^2): compared over the whole range of the result."""
    x = np.sqrt(np.concatenate([np.linspace(0, 708, 20001), np.geomspace(1e-300, 1, 500), [708.5, 800, 1e10]]))
    table = module.Rows.dense(np.ascontiguousarray(np.append(x, 0.0)[:, None]))
    norm2, out = np.empty(len(x) + 1), np.empty(len(x) + 1)
    module.norms2(table, norm2)
    module.kernel_column(table, norm2, len(x), 2, 1.0, 0.0, 1, out)
    expected = np.exp(-norm2)
    normal = norm2 < 708
    np.testing.assert_allclose(out[normal], expected[normal], rtol=5e-16)
    assert (out[norm2 > 708.1] == 0).all()
    assert out[-1] == 1.0


@given(case=cases, tie=st.booleans())
def test_the_first_mistake_is_found(case, tie):
    _, y, rng = problem(*case)
    s = np.round(rng.normal(size=len(y)), 0)
    order = rng.permutation(len(y))
    for begin in range(len(y) + 1):
        found = {m.first_mistake(s, y, None, begin, len(y), tie) for m in MODULES}
        shuffled = {m.first_mistake(s, y, order, begin, len(y), tie) for m in MODULES}
        assert len(found) == len(shuffled) == 1


@pytest.mark.parametrize("module", NATIVE, ids=lambda m: m.level)
@pytest.mark.parametrize("d", [1, 7, 8, 9, 31, 32, 33, 50, 63, 64, 65, 1100])
def test_tiles_have_the_bits_of_single_kernels(module, d):
    """Many entries at once, with rows and entries that do not fill their tiles, against one entry at a time."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(171 if d < 1000 else 45, d)).astype(np.float32)
    n, entries = len(X), 140 if d < 1000 else 37
    row, a = rng.integers(0, n, entries), rng.normal(size=entries)
    for values in (X, X.astype(np.float64)):
        table, norm2 = module.Rows.dense(values), np.empty(n)
        module.norms2(table, norm2)
        for kind in (0, 1, 2):
            kernel = (kind, 0.5 / d, 0.25, 2)
            together, single = np.zeros(n), np.zeros(n)
            module.kernel_update(table, norm2, *kernel, row, a, 1.0, 3, n - 2, together)
            for k in range(entries):
                module.kernel_update(table, norm2, *kernel, row[k : k + 1], a[k : k + 1], 1.0, 3, n - 2, single)
            assert together.tobytes() == single.tobytes()
            weights, out = np.array([a, np.where(a > 0, a, 0)]), np.empty((n, 2))
            support = module.Rows.dense(np.ascontiguousarray(values[row]))
            module.kernel_scores(support, norm2[row], weights, table, norm2, *kernel, 1.0, out)
            assert out[3 : n - 2, 0].tobytes() == together[3 : n - 2].tobytes()


@pytest.mark.parametrize("module", NATIVE, ids=lambda m: m.level)
def test_native_functions_refuse_arrays_that_do_not_fit(module):
    table = module.Rows.dense(np.ones((3, 2)))
    y, longs = np.ones(3, dtype=np.int8), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="account"):
        module.voted_pass(
            table, y, None, None, np.zeros(3), True, True, np.zeros((2, 3)), longs, longs.copy(), longs, 0, 3, 9
        )
    with pytest.raises(ValueError, match="pocket"):
        module.pocket_count(table, y, np.zeros(3), True, np.zeros(2), np.zeros(1), None, np.zeros(5, dtype=np.int64))
    with pytest.raises(ValueError, match="row that does not exist"):
        module.kernel_column(table, np.ones(3), 3, 0, 1.0, 0.0, 1, np.empty(3))
    with pytest.raises(ValueError, match="degree"):
        module.kernel_column(table, np.ones(3), 0, 1, 1.0, 0.0, 0, np.empty(3))
    with pytest.raises(ValueError, match="same features"):
        module.kernel_scores(
            table, np.ones(3), np.ones((1, 3)), module.Rows.dense(np.ones((1, 4))), np.ones(1), 0, 1.0, 0.0, 1, 0.0,
            np.empty((1, 1)),
        )  # fmt: skip
